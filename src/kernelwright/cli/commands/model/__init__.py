"""``kw model``: the timing model against measured times."""
