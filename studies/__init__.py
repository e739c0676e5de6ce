"""Studies: kumitate timed beside other programs, the tables of the papers, and the pages of docs that commands write."""
