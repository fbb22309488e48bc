"""Genomes as candidates: how they are written and built (``genomes``), and which genes are drawn and listed (``proposals``), where
the time goes (``hot_instructions``)."""
