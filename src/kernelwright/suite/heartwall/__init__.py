"""Heart-wall tracking."""
