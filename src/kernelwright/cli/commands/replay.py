"""``kw replay``: run the launches of a recording again, in process, and compare what comes out."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.cuda.names import readable
from kernelwright.device.settings import BUDGET
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.device.virtual_gpu.launch_cores import launch_cores
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.replay import ReplayedLaunch, replay
from kernelwright.evaluate.workload.rule_text import parse_rules


def command(
    capture: Annotated[Path, typer.Argument(help="A file that kw capture made.")],
    kernel: Annotated[str, typer.Option("--kernel", help="Only launches of this kernel.")] = "",
    compare: Annotated[
        str, typer.Option("--compare", help="How buffers are compared, as 'relative 1e-5'; default every byte.")
    ] = "",
    partial: Annotated[bool, typer.Option("--partial", help="Take a recording that was cut short.")] = False,
    budget: Annotated[
        int, typer.Option("--budget", help="Loop iterations of one launch before it counts as endless.")
    ] = BUDGET,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> int:
    """Run a recording again on the virtual GPU and compare. Exit code 1 when a launch comes out otherwise."""
    if budget <= 0:
        raise Misuse(f"--budget {budget} allows no iteration at all", hint=f"as --budget {BUDGET}")
    rules = parse_rules(compare) if compare else None
    rows: list[dict[str, Any]] = []
    with Capture.read(capture, partial=partial) as opened:
        for one in replay(
            opened, VirtualGpu(cores=launch_cores()).run, kernel=_called(opened, kernel), rules=rules, budget=budget
        ):
            rows.append(_row(one))
            if not as_json and not one.as_recorded:
                print(one)
    different = sum(not row["as_recorded"] for row in rows)
    if as_json:
        print(json.dumps({"capture": str(capture), "launches": rows}, indent=1))
    else:
        _summarise(rows)
    return 1 if different else 0


def _called(capture: Capture, name: str) -> str:
    """The mangled name of the kernel that a person calls ``name``; names that fit none are left for ``replay`` to refuse."""
    fitting = [k for k in capture.kernels if name and name in (readable(k), readable(k).split("<")[0])]
    if len(fitting) > 1:
        raise Misuse(
            f"several kernels are called {name!r}", hint=f"name one: {', '.join(readable(k) for k in fitting)}"
        )
    return fitting[0] if fitting else name


def _row(one: ReplayedLaunch) -> dict[str, Any]:
    launch = one.launch
    return {
        "number": launch.number,
        "kernel": readable(launch.kernel),
        "grid": launch.launch.grid,
        "block": launch.launch.block,
        "as_recorded": one.as_recorded,
        "error": one.error if math.isfinite(one.error) else None,
        "buffers": {name: verdict.accepted for name, verdict in one.verdicts.items()},
        "seconds": one.seconds,
        "message": str(one),
    }


def _summarise(rows: list[dict[str, Any]]) -> None:
    launches = Counter(row["kernel"] for row in rows)
    good = Counter(row["kernel"] for row in rows if row["as_recorded"])
    for kernel, count in launches.items():
        seconds = sum(row["seconds"] for row in rows if row["kernel"] == kernel)
        print(f"{kernel}: {good[kernel]} of {count} launches as recorded, {seconds:.3f} s")
    if not rows:
        print("the recording holds no launch", file=sys.stderr)
