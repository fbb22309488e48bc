"""Kinds of edits about shared arrays as a whole."""
