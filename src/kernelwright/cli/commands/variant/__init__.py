"""Commands that take a variant out of its run."""
