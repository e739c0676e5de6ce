"""What leaves the program: files of runs for other programs, and what notebooks display."""
