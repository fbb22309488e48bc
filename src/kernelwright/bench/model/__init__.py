"""The timing model without a GPU: exact counts, published microbenchmarks, samples beside whole grids; ``measure.py`` has the three."""
