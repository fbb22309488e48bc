"""Blocked LU decomposition."""
