"""Several versions of a kernel in one program: which of them a launch runs, and what came of it."""
