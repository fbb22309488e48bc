"""IR to IR: the pipeline of paper 002 (gpucc), section 3, as LLVM runs it today. ``pipeline.py`` is the page to read."""
