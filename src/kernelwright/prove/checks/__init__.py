"""The checks of a proof, each a row beside the function that makes it; ``table.py`` has a line for each."""
