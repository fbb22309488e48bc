"""Unstructured-grid Euler solver."""
