"""Estimates held against measured times: a tuner's cache file, the kernel it belongs to, and how well the two agree."""
