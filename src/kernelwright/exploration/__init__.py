"""Exploration: decision vectors as candidates, from the space of a computation to kernels that are built, judged and timed.

subject      what is explored: a computation, its sizes, the GPU     decisions   candidates as text, and in the journal
kernel_space its space as a tree, with bounds                        naive       the kernel that gains are counted from
trial        kernels built, run and timed                            judge       the same in a pool of workers
own_file     computations in a person's file                         oracle      what a person says is right, checked
own_space    a declared space in a person's file                     python_file such files, run for what they define
host_program a kernel with a host program around it                  dispatched_program  the best of all sizes in one
run          runs of exploration                                     standing    where one stands
"""
