"""Tests of what variants owe."""
