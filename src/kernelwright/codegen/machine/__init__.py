"""Machine code: PTX assembled to a cubin, and what can be read out of one: instructions, source lines, resources."""
