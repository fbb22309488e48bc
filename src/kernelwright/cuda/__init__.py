"""CUDA source to LLVM-IR (device side) and to an executable (host side)."""
