"""``kw tune``."""
