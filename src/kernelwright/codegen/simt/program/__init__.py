"""The first stage: a kernel's IR as a ``Program`` of scalar operations per lane, in which warps stop only between blocks."""
