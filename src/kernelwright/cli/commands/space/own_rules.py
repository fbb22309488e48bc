"""``kw space check``: what is wrong with a declared space, as JSON and for a person."""

from __future__ import annotations

import sys
import time
from typing import Any

from kernelwright.cli.support.live_view import view_on
from kernelwright.exploration.own_space import OwnSpace
from kernelwright.space.review import reviewed

QUIET_S = 2.0
"""Before anything is said of how far it is."""


def review_of(own: OwnSpace) -> dict[str, Any]:
    """``findings``: of each ``kind``, ``name`` and ``why``."""
    space, begin, seen = own.ground, time.monotonic(), 0
    with view_on(sys.stderr) as view:

        def watch(rule: str) -> None:
            nonlocal seen
            seen += 1
            if time.monotonic() - begin > QUIET_S:
                view.show("rules", [("rule", f"{seen} of {len(space.rules)}, {rule}")])

        findings = reviewed(space, own.schedules, watch)
    return {
        "space": own.name,
        "rules": len(space.rules),
        "choices": len(space.variables),
        "schedules": len(own.schedules),
        "findings": [{"kind": each.kind, "name": each.name, "why": each.why} for each in findings],
    }


def review_lines(found: dict[str, Any]) -> str:
    """The same for a person."""
    lines = [f"{found['space']}: {found['rules']} rules, {found['choices']} choices, {found['schedules']} schedules"]
    for each in found["findings"]:
        lines.append(f"{each['kind']} {each['name']}")
        lines += [f"    {line}" for line in each["why"].splitlines()]
    if not found["findings"]:
        lines.append(
            "nothing found: every rule may remove something, every object may exist, every schedule is accepted"
        )
    return "\n".join(lines)
