"""NVRTC: programs that compile kernels while they run, with our compiler, in their device worker."""
