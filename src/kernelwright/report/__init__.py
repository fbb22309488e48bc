"""What was recorded, as pages and tables."""
