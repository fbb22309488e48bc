"""CUDA to PTX and machine code, beside nvcc: how long it takes, what it comes to, and what each optimisation of the paper is worth."""
