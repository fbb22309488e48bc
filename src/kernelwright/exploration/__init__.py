"""Exploration: decision vectors as candidates, from the space of a computation to kernels that are built, judged and timed.

subject      what is explored: a computation, its sizes, the GPU     decisions   candidates as text, and in the journal
kernel_space its space as a tree, with bounds                        naive       the kernel that gains are counted from
trial        kernels built, run and timed                            judge       the same in a pool of workers
run          runs of exploration                                     standing    where one stands
"""
