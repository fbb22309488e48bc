"""A real GPU, through NVIDIA's driver: the same methods as the virtual one, in a process of its own."""
