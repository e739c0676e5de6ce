"""Studies: kumitate timed against other programs, the tables of the papers, and the pages of docs that commands write."""
