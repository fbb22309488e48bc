"""What commands find in a folder."""
