"""ADA in rounds that grow with the logarithm of the number of links, each a batch of one program."""
