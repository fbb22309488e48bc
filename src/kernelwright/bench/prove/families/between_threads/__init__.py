"""Families of mistakes about what threads do together: fences, races of equal values, shared work, warps."""
