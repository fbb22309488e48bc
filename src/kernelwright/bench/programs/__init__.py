"""``kw bench programs FOLDER``: how many CUDA programs of a folder build, run and check clean, and why the others do not."""
