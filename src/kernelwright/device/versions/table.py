"""Which version of each kernel ran, as a table for people: what ``kw run --with`` prints at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kernelwright.device.settings import Settings


def merged(results: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of several workers as one per kernel: a program may be several processes."""
    rows: dict[str, dict[str, Any]] = {}
    for row in (row for result in results for row in result):
        kept = rows.setdefault(row["mangled"], row)
        if kept is row:
            continue
        kept["launch_us"] += row["launch_us"]
        for name in ("launches", "time_us"):
            kept["original"][name] += row["original"][name]
        by_name = {each["name"]: each for each in kept["versions"]}
        for more in row["versions"]:
            if more["name"] in by_name:
                _add(by_name[more["name"]], more)
            else:
                kept["versions"].append(more)
    return list(rows.values())


def _add(one: dict[str, Any], more: dict[str, Any]) -> None:
    known = None not in (one["original_us"], more["original_us"])
    one["original_us"] = one["original_us"] + more["original_us"] if known else None
    for name in ("launches", "time_us"):
        one[name] += more[name]
    one["failed"] = dict(Counter(one["failed"]) + Counter(more["failed"]))


def version_lines(rows: Sequence[dict[str, Any]], settings: Settings) -> list[str]:
    """A line for each kernel and version, the checks that failed below it."""
    if not rows:
        return ["no kernel with a winner was launched"]
    used = [each for row in rows for each in (*row["versions"], row["original"])]
    is_timed = any(each["time_us"] for each in used)
    lines = ["launches" + (f"{'estimated us':>15}{'of the original':>26}" if is_timed else "") + "   kernel"]
    for row in rows:
        for each in row["versions"]:
            lines.append(_line(each, f"{row['kernel']}: {each['name']} ({each['label']})", is_timed))
            lines += [f"{count:8} times its check failed: {check}" for check, count in sorted(each["failed"].items())]
        lines.append(_line(row["original"], f"{row['kernel']}: the original", is_timed))
    return [*lines, *_total(rows, settings.gpu.label)]


def _line(figures: dict[str, Any], name: str, is_timed: bool) -> str:
    time, original = figures["time_us"], figures.get("original_us")
    shown = f"{time:.4g}" if time else "-"
    beside = f"{original:.4g} ({original / time:.3f}x)" if original and time else "-"
    times = f"{shown:>15}{beside:>26}" if is_timed else ""
    return f"{figures['launches']:8}{times}   {name}"


def _total(rows: Sequence[dict[str, Any]], gpu: str) -> list[str]:
    used = [each for row in rows for each in row["versions"] if each["launches"]]
    if not used or any(each["original_us"] is None or not each["time_us"] for each in used):
        return []
    same = sum(row["original"]["time_us"] for row in rows)
    after = same + sum(each["time_us"] for each in used)
    before = same + sum(each["original_us"] for each in used)
    launching = sum(row["launch_us"] for row in rows)
    sentence = f"these kernels together, estimated for the {gpu}: {_compared(before, after)}"
    if launching:
        sentence += f"; with what launching them costs, {_compared(before + launching, after + launching)}"
    return [sentence]


def _compared(before: float, after: float) -> str:
    return f"{before:.4g} us without winners, {after:.4g} us with them, {before / after:.3f}x"
