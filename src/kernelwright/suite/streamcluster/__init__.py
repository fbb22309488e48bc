"""Stream clustering: medians of a stream of points by local search, chunk by chunk."""
