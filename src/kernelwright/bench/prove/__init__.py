"""``kw bench prove``: variants with a known truth, and the labels they get.

planted   single kernels, each with its right label          families/  classes of mistakes, several variants each
labelling proves them, a few seeds at a time, on all cores    measure   all of them over many seeds, and what is promised
"""
