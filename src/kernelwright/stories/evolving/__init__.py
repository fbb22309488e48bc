"""Parts of the story of evolution."""
