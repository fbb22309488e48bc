"""Needleman-Wunsch: global alignment of two sequences, a wavefront of 16x16 tiles."""
