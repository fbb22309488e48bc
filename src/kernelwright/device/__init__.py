"""Devices: the virtual GPU in its fast and its defining form, the real one, and the memory they share with programs."""
