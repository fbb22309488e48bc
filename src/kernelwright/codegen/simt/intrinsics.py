"""Math."""
from __future__ import annotations
MATH: tuple[str, ...] = ("udiv32","sdiv32","urem32","srem32","udiv64","sdiv64","urem64","srem64","permute32")
def known(name): return False
def scalar_name(name): return name
def returns_several(name): return False
def takes_pairs(name): return False
def reduce(*a): raise NotImplementedError
def call(e, op): raise NotImplementedError
