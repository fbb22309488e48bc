"""Commands that set a folder up."""
