"""A computation → all its programs: declared spaces of implementations (paper 004)."""
