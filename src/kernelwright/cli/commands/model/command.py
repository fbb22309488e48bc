"""``kw model``: the timing model against times that a tuner measured on a real GPU.

kw model check CACHE --kernel K.toml                       ranks, errors, what the favourites would have cost
kw model fit CACHE... --kernel K.toml ... -o mine.json     a calibration of what the times identify
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.calibration import load
from kernelwright.cli.commands.model.check import check
from kernelwright.cli.commands.model.fit import fit
from kernelwright.cli.commands.model.sampled_sets import LEAST, gpu_of, read_sets
from kernelwright.device.settings import calibrated
from kernelwright.errors import Misuse
from kernelwright.target import gpu

CHECK, FIT = "kw model check CACHE --kernel FILE.toml", "kw model fit CACHE... --kernel FILE.toml... -o mine.json"


def command(
    action: Annotated[str, typer.Argument(help="check, or fit.")],
    caches: Annotated[list[Path], typer.Argument(help="Tuners' cache files: Kernel Tuner's or T4, gzipped or not; check takes one.")],
    kernels: Annotated[list[Path], typer.Option("--kernel", help="The kernel a file belongs to: a TOML file with source, kernel, grid, "
                                                "block, where, arguments (docs/timing-model.md has one); once, or once for each.")],
    device: Annotated[str, typer.Option(help="The virtual GPU, by name or as a TOML file; else the one that the files name.")] = "",
    calibration: Annotated[str, typer.Option(help="check: estimate with these constants, a file of kw model fit.")] = "",
    variants: Annotated[int, typer.Option(help="How many variants of each file to run.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 1,
    html: Annotated[Path | None, typer.Option(help="check: write a page with every variant in a plot.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="fit: the file that the calibration goes to.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:  # fmt: skip
    """Hold estimates against measured times, or fit the model's constants to them."""
    if action not in ("check", "fit"):
        raise Misuse(f"kw model has no {action!r}", hint=f"{CHECK}, or {FIT}")
    if variants < LEAST or seed < 0:
        raise Misuse(f"--variants {variants} --seed {seed}", hint=f"at least {LEAST} variants, seeds from 0 up")
    if action == "check" and (len(caches) > 1 or output):
        raise Misuse("kw model check takes one cache file, and writes no calibration", hint=f"{CHECK}, or {FIT}")
    if action == "fit" and (output is None or html or calibration):
        raise Misuse("kw model fit writes a calibration to -o FILE; --html and --calibration are for check", hint=FIT)
    sets = read_sets(caches, kernels)
    on = gpu_of(sets, device)
    if output is not None:
        fit(sets, on, output, variants, seed, as_json=as_json)
    else:
        if calibration and (name := sets[0].cache.path.name) in load(Path(calibration)).source:
            print(f"kw: {calibration} was fitted on variants of {name}: this is no test of it", file=sys.stderr)
        check(sets[0], gpu(calibrated(on.name, calibration)), variants, seed, html, as_json=as_json)
