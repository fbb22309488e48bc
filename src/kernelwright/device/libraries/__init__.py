"""Libraries that programs link, on the virtual GPU: what a routine does to device memory, computed with NumPy."""
