"""``kw passes``: the optimisation pipeline, step by step."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from kernelwright.passes.pipeline import STEPS, Step, step


def command(
    name: Annotated[str | None, typer.Argument(help="One step, by any of its names; all when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """The optimisation pipeline as it runs, with an example of what each step does and how to switch it off."""
    chosen = STEPS if name is None else (step(name),)
    if as_json:
        print(json.dumps([asdict(s) | {"optional": s.optional} for s in chosen], indent=1))
        return
    where = ""
    for number, one in enumerate(STEPS, start=1):
        if one not in chosen:
            continue
        if one.where != where:
            where = one.where
            print(f"── {where} " + "─" * (70 - len(where)) + "\n")
        print(_shown(number, one))


def _shown(number: int, one: Step) -> str:
    paper = f" (gpucc, section {one.paper})" if one.paper else ""
    lines = [
        f"{number:2}. {one.short}: {one.name}{paper}",
        f"    {one.effect}",
        f"    LLVM      {', '.join(one.llvm)}",
        *_indented("before", one.before),
        *_indented("after", one.after),
        f"    off       {_off(one)}",
    ]
    lines += [f"    threshold --threshold {t.name}=N: {t.meaning}; usual: {t.usual}" for t in one.thresholds]
    return "\n".join(lines) + "\n"


def _off(one: Step) -> str:
    if not one.optional:
        return one.off
    return f"kw compile --without {one.short}" + (f" ({one.off})" if one.off else "")


def _indented(label: str, text: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [f"    {label:9} {first}", *(f"              {line}" for line in rest)]
