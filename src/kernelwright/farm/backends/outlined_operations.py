"""Operations that a GPU has no instruction for, as calls: the assembler expands them once, not wherever they stand.

before   ``rem.s32 %v3, %v1, %v2;``
after    ``call (%v3), kw_rem_s32, (%v1, %v2);``

A remainder that is an index, and what is read there, become one call.

A call costs the kernel some time, so this is for individuals that run once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

EXPANDED: Mapping[str, tuple[str, int, int]] = {
    "rem.s32": ("b32", 2, 4),
    "div.s32": ("b32", 2, 3),
    "rem.u32": ("b32", 2, 10),
    "div.u32": ("b32", 2, 10),
    "div.rn.f64": ("f64", 2, 5),
    "sqrt.rn.f64": ("f64", 1, 5),
    "rcp.rn.f64": ("f64", 1, 5),
    "div.rn.f32": ("f32", 2, 18),
    "sqrt.rn.f32": ("f32", 1, 8),
    "rcp.rn.f32": ("f32", 1, 6),
}
"""Its operands' type, how many there are, and how many uses pay for the function. Measured with the assembler of CUDA 12.9:
a use takes 0.2 to 0.8 ms expanded and 0.05 ms called, the function 1.3 to 4.4 ms."""

_USE = re.compile(
    rf"\b({'|'.join(re.escape(each) for each in EXPANDED)})\s+(%[\w.]+)\s*,\s*([^;,]+(?:,[^;,]+)?)\s*;"
)  # fmt: skip


_FETCH = re.compile(
    r"rem\.s32 (?P<q>%\w+), (?P<x>[^;,]+), (?P<y>[^;,]+);\n"
    r"mad\.wide\.s32 (?P<a>%\w+), (?P=q), (?P<size>\d+), (?P<row>%\w+);\n"
    r"ld\.global\.b32 (?P<r>%\w+), \[(?P=a)(?:\+(?P<ahead>\d+))?\];"
)
"""A number of a row, at a remainder."""


def with_calls(population: Sequence[str]) -> tuple[Sequence[str], str]:
    """The individuals with calls instead of what is used often, line by line as before, and the functions they call."""
    population, fetches = _with_fetches(population)
    uses = Counter(found[0] for each in population for found in _USE.findall(each))
    often = {each for each, count in uses.items() if count > EXPANDED[each][2]}
    if not often:
        return population, fetches
    return [_USE.sub(lambda found: _call(found, often), each) for each in population], fetches + "".join(
        map(_function, sorted(often))
    )


def _call(found: re.Match[str], often: set[str]) -> str:
    operation, result, operands = found.groups()
    # Not call.uni: lanes may have parted on the way here.
    return f"call ({result}), {_name(operation)}, ({operands});" if operation in often else found[0]


def _function(operation: str) -> str:
    kind, count, _ = EXPANDED[operation]
    names = ["%x", "%y"][:count]
    parameters = ", ".join(f".reg .{kind} {each}" for each in names)
    return (
        f".func (.reg .{kind} %r) {_name(operation)}({parameters})\n"
        f"{{\n{operation} %r, {', '.join(names)};\nret;\n}}\n"
    )  # fmt: skip


def _name(operation: str) -> str:
    return "kw_" + operation.replace(".", "_")


def _with_fetches(population: Sequence[str]) -> tuple[Sequence[str], str]:
    needed: set[tuple[str, str]] = set()

    def fetched(found: re.Match[str]) -> str:
        each = found.string
        if any(len(re.findall(rf"{found[name]}\b", each)) != 2 for name in ("q", "a")):
            return found[0]  # another operation wants the remainder
        kind = found["size"], found["ahead"] or "0"
        needed.add(kind)
        return f"call ({found['r']}), kw_fetch_{'_'.join(kind)}, ({found['x']}, {found['y']}, {found['row']});\n\n"

    if sum(each.count("mad.wide.s32") for each in population) <= EXPANDED["rem.s32"][2]:
        return population, ""
    changed = [_FETCH.sub(fetched, each) for each in population]
    return changed, "".join(
        f".func (.reg .b32 %r) kw_fetch_{size}_{ahead}(.reg .b32 %x, .reg .b32 %y, .reg .b64 %row)\n"
        "{\n.reg .b32 %q;\n.reg .b64 %a;\nrem.s32 %q, %x, %y;\n"
        f"mad.wide.s32 %a, %q, {size}, %row;\nld.global.b32 %r, [%a+{ahead}];\nret;\n}}\n"
        for size, ahead in sorted(needed)
    )
