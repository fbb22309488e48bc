"""``kw space``: how large the space of a computation is, what a run has explored of it, and what is wrong with one's own.

kw space size matmul 1024 1024 1024 --walks 10000     Knuth and Chen, with confidence intervals, and the share of dead ends
kw space tree kw-runs/matmul-1                        the decisions that were tried, each with its best time
kw space check my_rules.py                            dead rules, impossible objects, schedules that are rejected
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kernelwright.cli.commands.space.own_rules import review_lines, review_of
from kernelwright.cli.commands.space.tried_tree import tree_lines, tree_of
from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.own_space import read_space
from kernelwright.exploration.run import ExploreRun
from kernelwright.exploration.subject import Subject
from kernelwright.space.estimate import Estimate, chen, knuth

ACTIONS = ("size", "tree", "check")
EVERY_S = 2.0


def command(
    action: Annotated[str, typer.Argument(help=f"{', '.join(ACTIONS)}.")],
    subject: Annotated[
        str,
        typer.Argument(help="A computation as for kw explore; for tree a run of it, for check a file with a space."),
    ],
    sizes: Annotated[list[int] | None, typer.Argument(help="Its sizes, in order.")] = None,
    device: Annotated[str, typer.Option(help="The GPU whose limits hold.")] = "auto",
    walks: Annotated[int, typer.Option(help="Random walks, for Knuth's estimate.")] = 10_000,
    repetitions: Annotated[int, typer.Option(help="Of Chen's estimate.")] = 10,
    depth: Annotated[int, typer.Option(help="Of the tree: decisions that are shown.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of all that is random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The size of a space, what a run has explored of it, or what is wrong with one's own. Exit code 1 when check finds something."""
    if action not in ACTIONS:
        raise Misuse(f"kw space has no {action!r}", hint=f"it has {', '.join(ACTIONS)}")
    for option, number, least in (("walks", walks, 2), ("repetitions", repetitions, 2), ("depth", depth, 1)):
        if number < least:
            raise Misuse(f"--{option} {number} is too few", hint=f"--{option} {least} at least")
    if action == "tree":
        with ExploreRun.open(subject, DECISIONS) as run:
            tree = tree_of(list(run.rows()), depth)
            print(json.dumps(tree) if as_json else "\n".join([f"{run.subject}, {run.name}", *tree_lines(tree)]))
        return
    if action == "check":
        review = review_of(read_space(subject))
        print(json.dumps(review) if as_json else review_lines(review))
        if review["findings"]:
            raise typer.Exit(1)
        return
    found = size_of(KernelSpace(Subject.of(subject, sizes or (), device)), walks, repetitions, seed)
    print(json.dumps(found) if as_json else size_lines(found))


def size_of(space: KernelSpace, walks: int, repetitions: int, seed: int) -> dict[str, Any]:
    """As JSON. Raises ``Misuse`` for a space without any implementation."""
    start = space.solver.root()
    if start is None:
        raise Misuse(f"the space of {space.subject} is empty: its rules exclude every implementation")
    begin = time.perf_counter()
    space.solver.seed(seed)
    by_knuth = knuth(space.solver, start, space.order, walks, _told("random walks", walks))
    between = time.perf_counter()
    by_chen = chen(space.solver, start, space.order, repetitions, seed, _told("repetitions of Chen's", repetitions))
    return {
        **space.subject.as_json(),
        "seed": seed,
        "knuth": _estimate(by_knuth.leaves, between - begin),
        "chen": _estimate(by_chen, time.perf_counter() - between),
        "dead_ends": _estimate(by_knuth.dead_ends, between - begin),
        "median_depth": by_knuth.median_depth,
    }


def _told(what: str, total: int) -> Callable[[int], None]:
    """Says on standard error how far it is, every two seconds."""
    begin = said = time.perf_counter()

    def watch(done: int) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said >= EVERY_S and done < total:
            left = (now - begin) / done * (total - done)
            print(f"kw: {done} of {total} {what}, {left:.0f} s left", file=sys.stderr)
            said = now

    return watch


def _estimate(found: Estimate, seconds: float) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "half_width_95": found.half_width,
        "samples": found.samples,
        "seconds": round(seconds, 3),
    }


def size_lines(found: dict[str, Any]) -> str:
    """The same for a person."""
    name = f"{found['computation']} {' '.join(str(size) for size in found['sizes'].values())}"
    lines = [f"{name} on {found['device']}: implementations, with the half width of a 95 % confidence interval"]
    for title, key, unit in (("Knuth", "knuth", "walks"), ("Chen", "chen", "repetitions")):
        each = found[key]
        took = f"{each['samples']} {unit}, {each['seconds']:.2f} s"
        lines.append(f"    {title:6} {each['mean']:.2g} +- {each['half_width_95']:.1g}  ({took})")
    dead = found["dead_ends"]
    lines.append(f"    dead ends {100 * dead['mean']:.2f} % +- {100 * dead['half_width_95']:.2f} of all walks")
    lines.append(f"    {found['median_depth']} decisions deep, the median; seed {found['seed']}")
    return "\n".join(lines)
