"""Edits: values that turn a program into a nearby program."""

from kernelwright.edits.delete import Delete, deletions

__all__ = ["Delete", "deletions"]
