"""``kw check`` on kernels with a known truth: ``measure.py`` counts, ``planted_kernels.py`` reads ``kernels/*.cu``."""
