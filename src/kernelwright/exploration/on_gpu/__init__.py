"""Explored kernels on a real GPU: the fastest by their estimates, run there as a whole, compared, and timed in turns with the naive
kernel and with cuBLAS.

which       the GPU that a device names, and the one of the table whose model leads the search
measure     of a run: what is measured, in a process of its own     process   that process
computation one computation in a GPU's memory                       cublas    NVIDIA's library, where there is one
"""
