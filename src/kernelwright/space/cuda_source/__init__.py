"""Decisions to readable CUDA C: the loop tree, registers, shared arrays, barriers, and the text."""

from kernelwright.space.cuda_source.generated import GeneratedKernel
from kernelwright.space.cuda_source.write_kernel import generate

__all__ = ["GeneratedKernel", "generate"]
