"""What a machine with a GPU and without a compiler is given: made here, measured there."""
