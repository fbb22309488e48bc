"""LLVM-IR text: read into objects and printed from them."""
