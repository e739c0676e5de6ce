"""What is said about an identification: its doubts, and the report with figures."""
