"""Object files: what is read of them, and those whose device code is linked later."""
