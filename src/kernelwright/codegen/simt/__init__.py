"""The virtual GPU's code generator: a kernel's IR → host code that runs 32 lanes at a time, checked and counted.

``lower.lower`` writes the host IR, ``host.compile_host`` makes it a function in this process, ``CompiledKernel.launch``
runs it. The runtime in ``runtime/`` is C: the order of blocks and warps, memory, atomics, checks.
"""
