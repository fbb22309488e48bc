"""Launches of a program recorded to a file, selected, replayed and used as cases."""
