"""``kw space``."""
