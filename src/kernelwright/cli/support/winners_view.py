"""``--with`` of the commands that take a program, and what they print of the versions that ran."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kernelwright.cli.support.plain_flags import Flag

if TYPE_CHECKING:
    from kernelwright.versions import Version

WITH = Flag(
    "winners", ("--with",), "texts", "RUN[:VARIANT][,RUN...]: with these winners inside, checked at each launch."
)


def given_versions(texts: Sequence[str]) -> list[Version]:
    """What ``--with`` names; says which variants they are. Raises ``Misuse``, ``ToolError``."""
    from kernelwright.errors import Misuse
    from kernelwright.stories.winners import winners

    names = [name for text in texts for name in text.split(",")]
    if not all(names):
        raise Misuse("--with names no run", hint="--with RUN, or --with RUN:VARIANT; kw runs lists the runs there are")
    found = winners(names)
    for sentence in (*found.said, *found.warned):
        print(f"kw: {sentence}", file=sys.stderr)
    return found.versions


def merged(results: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of several workers as one per kernel: a program may be several processes."""
    rows: dict[str, dict[str, Any]] = {}
    for row in (row for result in results for row in result):
        kept = rows.get(row["kernel"])
        if kept is None:
            rows[row["kernel"]] = row
            continue
        for name in ("launches", "time_us"):
            kept["original"][name] += row["original"][name]
        for one, more in zip(kept["versions"], row["versions"], strict=True):
            known = None not in (one["original_us"], more["original_us"])
            one["original_us"] = one["original_us"] + more["original_us"] if known else None
            for name in ("launches", "time_us"):
                one[name] += more[name]
            one["failed"] = dict(Counter(one["failed"]) + Counter(more["failed"]))
    return list(rows.values())


def version_lines(rows: Sequence[dict[str, Any]], gpu: str, measured: bool) -> list[str]:
    """The table: a line for each kernel and version, the checks that failed below."""
    if not rows:
        return ["no kernel with a winner was launched"]
    what = "measured" if measured else "estimated"
    lines = [f"launches   us {what} on {gpu}   the original for the same   kernel"]
    for row in rows:
        for each in row["versions"]:
            lines.append(_line(each, f"{row['kernel']}: {each['name']} ({each['label']})"))
            lines += [f"{count:8}   times its check failed: {check}" for check, count in sorted(each["failed"].items())]
        lines.append(_line(row["original"] | {"original_us": None}, f"{row['kernel']}: the original"))
    return [*lines, *_total(rows, what, gpu)]


def _line(figures: dict[str, Any], name: str) -> str:
    time, original = figures["time_us"], figures["original_us"]
    shown = f"{time:.1f}" if time else "-"
    beside = f"{original:.1f} ({original / time:.3f}x)" if original and time else "-"
    return f"{figures['launches']:8}   {shown:>27}   {beside:>25}   {name}"


def _total(rows: Sequence[dict[str, Any]], what: str, gpu: str) -> list[str]:
    used = [each for row in rows for each in row["versions"] if each["launches"]]
    if not used or any(each["original_us"] is None or not each["time_us"] for each in used):
        return []
    same = sum(row["original"]["time_us"] for row in rows)
    after = same + sum(each["time_us"] for each in used)
    before = same + sum(each["original_us"] for each in used)
    return [
        f"these kernels, {what} for {gpu}: {before:.1f} us without the winners, {after:.1f} us with them, {before / after:.3f}x"
    ]
