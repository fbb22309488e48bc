"""Host code from the text, and launches of it."""
