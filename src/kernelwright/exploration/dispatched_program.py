"""One program of the best kernels of a computation: its arguments are the sizes, and say which kernel runs.

    kw explore --bundle matmul                  kw-runs/matmul.cu, of all that kw-runs/explored.json knows
    kw run kw-runs/matmul.cu --device h200 -- 512 512 64
    kw tune kw-runs/matmul.cu --data "512 512 64"

A kernel that is given sizes at launch takes those that no other kernel is for. Sizes that were explored for several GPUs have several
kernels behind a guard of ``kernelwright_threshold.h``: tuning takes the faster one, before that the last one runs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from pathlib import Path

from kernelwright.errors import Misuse
from kernelwright.exploration.files import RECORD, best_known, read_decisions
from kernelwright.exploration.host_program import HELPERS, host_lines, launch_line, run_function
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.subject import Subject
from kernelwright.space.computation.sizes import LaunchSize
from kernelwright.space.cuda_source import GeneratedKernel

Sizes = tuple[tuple[str, int], ...]
Launched = tuple[LaunchSize, ...]
Cases = dict[tuple[Sizes, Launched], list[tuple[Subject, GeneratedKernel]]]


def write_dispatched_program(folder: Path, computation: str) -> Path:
    """``folder``: of the record and the runs that it names. Raises ``Misuse`` when there is nothing of this computation."""
    cases = _best_kernels(folder, computation)
    path = folder / f"{computation}.cu"
    path.write_text(dispatched_program(computation, cases), encoding="utf-8")
    return path


def dispatched_program(computation: str, cases: Cases) -> str:
    """``cases``: by sizes and those of them that are given at launch, which are tried last."""
    names = " ".join(name.upper() for name, _ in next(iter(cases))[0])
    known = [_shown(sizes, dynamic) for sizes, dynamic in cases]
    lines = [
        f"// {computation}, the best kernels of kw explore; arguments: {names}",
        "#include <kernelwright_threshold.h>",
    ]
    lines += [HELPERS]
    lines += [kernel.source for versions in cases.values() for _, kernel in versions]
    for number, versions in enumerate(cases.values()):
        subject, kernel = versions[0]
        body = host_lines(subject, [each for _, each in versions], _launches(subject, versions))
        lines.append(run_function(f"run_{number}", subject, kernel, body))
    lines.append("int main(int count, char **given) {")
    for number, (sizes, dynamic) in enumerate(cases):
        places = {
            name: f"ato{'i' if name in _names(dynamic) else 'l'}(given[{n}])" for n, (name, _) in enumerate(sizes, 1)
        }
        asked = [f"count == {len(sizes) + 1}"]
        asked += [f"{places[name]} == {size}" for name, size in sizes if name not in _names(dynamic)]
        asked += [f"{places[size.name]} % {size.multiple} == 0" for size in dynamic if size.multiple > 1]
        arguments = ", ".join(places[size.name] for size in cases[sizes, dynamic][0][1].sizes)
        lines.append(f"    if ({' && '.join(asked)}) return run_{number}({arguments});")
    lines += [
        f'    fprintf(stderr, "no kernel for these sizes; usage: %s {names}, of which there are: {", ".join(known)}\\n", given[0]);',
        "    return 2;",
        "}",
        "",
    ]
    return "\n".join(lines)


def _launches(subject: Subject, versions: list[tuple[Subject, GeneratedKernel]]) -> list[str]:
    """Of several versions, those before the last behind guards."""
    work, lines = prod(size for _, size in subject.sizes), []
    for number, (each, kernel) in enumerate(versions):
        last = number == len(versions) - 1
        guard = "" if last else f'if (KW_THRESHOLD("{kernel.name}", {work}LL)) '
        lines.append(f"{'else ' if number else ''}{guard}{launch_line(each, kernel)}")
    return lines


def _best_kernels(folder: Path, computation: str) -> Cases:
    found: Cases = {}
    known = best_known(folder / RECORD)
    for name, about in sorted(known.items()):
        if name.split()[0] != computation:
            continue
        path = folder / str(about.get("run")) / "decisions.json"
        if not path.is_file():
            raise Misuse(
                f"{folder / RECORD} names {name}, and its run is gone: {path}",
                hint="explore it again, or delete its line there",
            )
        subject, decisions = read_decisions(path)
        kernel = KernelSpace(subject).kernel(decisions)
        found.setdefault((subject.sizes, subject.dynamic), []).append((subject, _renamed(subject, kernel)))
    if not found:
        others = ", ".join(sorted({name.split()[0] for name in known}))
        raise Misuse(
            f"nothing of {computation} is on record in {folder / RECORD}",
            hint=f"there is {others}" if others else f"kw explore {computation}",
        )
    return dict(sorted(found.items(), key=_generality))


def _generality(case: tuple[tuple[Sizes, Launched], object]) -> tuple[int, int]:
    """Kernels of fixed sizes are asked first, then those with few sizes at launch, those of large multiples before others."""
    (_, dynamic), _ = case
    return len(dynamic), -prod(size.multiple for size in dynamic)


def _names(dynamic: Launched) -> set[str]:
    return {size.name for size in dynamic}


def _shown(sizes: Sizes, dynamic: Launched) -> str:
    """``512 512 64``, ``m n:4 64`` with two of them at launch."""
    launched = {size.name: str(size) for size in dynamic}
    return " ".join(launched.get(name, str(size)) for name, size in sizes)


def _renamed(subject: Subject, kernel: GeneratedKernel) -> GeneratedKernel:
    """By its sizes and its GPU."""
    parts = [subject.computation, *_shown(subject.sizes, subject.dynamic).split(), subject.device]
    name = re.sub(r"\W", "_", "_".join(parts))
    return replace(kernel, name=name, source=kernel.source.replace(f"\n{kernel.name}(", f"\n{name}(", 1))
