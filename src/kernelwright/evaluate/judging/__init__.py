"""A candidate run on the cases of a workload: right or wrong, and what it costs on the virtual GPU."""
