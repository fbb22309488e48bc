"""Thermal simulation of a chip."""
