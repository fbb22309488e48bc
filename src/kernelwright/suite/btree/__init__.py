"""B+tree queries."""
