"""Mistakes about memory: what lies where, what shares it, which index leads there."""
