"""What a run of exploring has tried, as a tree of its first decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Row


def tree_of(rows: Sequence[Row], depth: int) -> dict[str, Any]:
    """JSON: of each node ``decision``, ``tried``, ``rejected``, ``best_us`` and ``children``, the best first, ``depth`` decisions deep."""
    return _node("", rows, 0, depth)


def _node(decision: str, rows: Sequence[Row], level: int, depth: int) -> dict[str, Any]:
    times = [row.outcome.time_us for row in rows if isinstance(row.outcome, Ok)]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if level < min(depth, len(row.candidate)):
            groups.setdefault(row.candidate[level], []).append(row)
    children = [_node(name, some, level + 1, depth) for name, some in groups.items()]
    return {
        "decision": decision,
        "tried": len(rows),
        "rejected": len(rows) - len(times),
        "best_us": min(times, default=None),
        "children": sorted(children, key=lambda each: (each["best_us"] is None, each["best_us"])),
    }


def tree_lines(node: dict[str, Any], level: int = 0) -> list[str]:
    """The same for a person. What has one child is one line with it."""
    names = [node["decision"]]
    while len(node["children"]) == 1:
        (node,) = node["children"]
        names.append(node["decision"])
    best = f"best {node['best_us']:.2f} us" if node["best_us"] is not None else "none right"
    said = ", ".join(filter(None, names)) or "all"
    count = f"{node['tried']} tried" + (f", {node['rejected']} rejected" if node["rejected"] else "")
    lines = [f"{'    ' * level}{said}: {count}, {best}"]
    for each in node["children"]:
        lines += tree_lines(each, level + 1)
    return lines
