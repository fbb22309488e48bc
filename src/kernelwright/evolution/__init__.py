"""Genomes as candidates: how they are written and built (``genomes``), how a run of them begins (``new_run``), which genes are drawn
and listed (``proposals``) and where the time goes (``hot_instructions``)."""
