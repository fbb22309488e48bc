"""How long a variant takes: estimated from what a launch did, or measured on a real GPU against the original."""
