"""``kw bench simt``: the virtual GPU beside PoCL, on one core and on all.

cases     kernels with their inputs; their text is in kernels/       executors   the two that run them
cores     one launch on one core and on all                          measure     all of it, and what is promised
"""
