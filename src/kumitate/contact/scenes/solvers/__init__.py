"""The impulses of an island: its laws, the matrix in blocks and its factors, and the methods that solve them."""
