"""The part of CUDA C that bred programs are usually written in, read once and then interpreted or written as LLVM-IR or PTX.

Numbers and arrays of numbers, assignments, ``if``, ``for``, ``while``, operators and math functions, with C's conversions.
Whatever lies beyond is refused by name; such programs go through a CUDA compiler instead.
"""
