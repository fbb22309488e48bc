"""What breeding is made of: judging programs, the ways to run them, the run on disk."""
