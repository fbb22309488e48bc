"""Kinds of edits about loads from memory: where they stand, and how they go through the caches."""
