"""IR to PTX to machine code, and what can be read out of both: counts per block, resources, source lines."""
