"""Whether a variant rounds as its original does.

fused_sums    products that are rounded once, with their sum      loose_operations    what LLVM may compute in several ways
"""
