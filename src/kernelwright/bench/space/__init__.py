"""Spaces of implementations: what ``kw bench space`` measures."""
