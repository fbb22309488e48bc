"""``kw bench prove``: variants with a known truth, and the labels they get.

planted   single kernels, each with its right label          families/  classes of mistakes, several variants each
measure   proves them all, over many seeds
"""
