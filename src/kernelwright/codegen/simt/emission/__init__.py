"""The third stage: a ``Program`` as the text of one host function in LLVM's language that runs a warp."""
