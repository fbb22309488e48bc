"""``kw explore``."""
