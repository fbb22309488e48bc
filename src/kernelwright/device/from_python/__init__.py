"""Kernels from Python, on NumPy arrays: ``Device``, what it launches on, and how arrays become arguments."""
