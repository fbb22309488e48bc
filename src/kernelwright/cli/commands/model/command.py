"""``kw model check``: the timing model's estimates beside the times that a tuner measured on a real GPU."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.cli.support.streams import progress
from kernelwright.cli.support.tables import print_rows
from kernelwright.device.model_check.agreement import FAVOURITES, Agreement, agreement
from kernelwright.device.model_check.check_variants import (
    PREDICTORS,
    CheckedVariant,
    check_variants,
    sample,
    variants_of,
)
from kernelwright.device.model_check.kernel_description import read_description
from kernelwright.device.model_check.tuner_cache import TunerCache, read_tuner_cache
from kernelwright.device.timing_model.fit import spearman
from kernelwright.errors import Misuse
from kernelwright.target import GPUS, Gpu, gpu, gpu_called

WORST = 5
"""Misjudged variants that are shown."""
LEAST = 3
"""Variants without which ranks mean nothing."""
ACTIONS = ("check",)


def command(
    action: Annotated[str, typer.Argument(help="check.")],
    cache: Annotated[Path, typer.Argument(help="A tuner's cache file: Kernel Tuner's or T4, gzipped or not.")],
    kernel: Annotated[Path, typer.Option("--kernel", help="The kernel it belongs to: a TOML file with source, kernel, "
                                         "grid, block, where, arguments (docs/timing-model.md has one).")],
    device: Annotated[str, typer.Option(help="The virtual GPU; else the one that the file names.")] = "",
    variants: Annotated[int, typer.Option(help="How many variants to run.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:  # fmt: skip
    """Hold estimates against measured times: rank correlation, error after one scale, what the favourites would have cost."""
    if action not in ACTIONS:
        raise Misuse(f"kw model has no {action!r}", hint="kw model check CACHE --kernel FILE.toml")
    if variants < LEAST or seed < 0:
        raise Misuse(f"--variants {variants} --seed {seed}", hint=f"at least {LEAST} variants, seeds from 0 up")
    read = read_tuner_cache(cache)
    description = read_description(kernel)
    description.agrees_with(read)
    on = _gpu(device, read)
    there = variants_of(description, read)
    chosen = sample(there, variants, seed)
    checked = []
    begin = time.monotonic()
    for each in check_variants(description, chosen, on):
        checked.append(each)
        left = (time.monotonic() - begin) / len(checked) * (len(chosen) - len(checked))
        progress(f"{len(checked)} of {len(chosen)} variants, about {left:.0f} s left")
    good = [c for c in checked if c.estimate is not None]
    if len(good) < LEAST:
        why = next((c.trouble for c in checked if c.trouble), "")
        raise Misuse(f"only {len(good)} of {len(checked)} variants could be estimated: {why}", hint="see --kernel")
    found = _result(read, on, seed, len(there), checked)
    print(json.dumps(found)) if as_json else _show(found)


def _gpu(name: str, cache: TunerCache) -> Gpu:
    if name:
        return gpu(name)
    found = gpu_called(cache.device)
    if found is None:
        said = f"was measured on {cache.device!r}, which is not in the table" if cache.device else "names no device"
        raise Misuse(f"{cache.path} {said}", hint=f"choose with --device one of {', '.join(GPUS)}")
    return found


def _result(cache: TunerCache, on: Gpu, seed: int, there: int, checked: list[CheckedVariant]) -> dict[str, Any]:
    pairs = [(c, c.estimate) for c in checked if c.estimate is not None]
    measured = [c.measured.time_us for c, _ in pairs]
    fit = agreement(measured, [e.time_us for _, e in pairs])
    rows = [
        {
            "variant": c.measured.name,
            "measured us": round(c.measured.time_us, 1),
            "estimated us": round(e.time_us, 1),
            "off by": round(e.time_us * fit.scale / c.measured.time_us, 2),
            "registers": e.registers,
            "bound by": ", ".join(f"{t.name} {100 * t.share:.0f} %" for t in e.terms[:3]),
        }
        for c, e in pairs
    ]
    return {
        "cache": str(cache.path),
        "device": cache.device,
        "gpu": on.name,
        "seed": seed,
        "variants": there,
        "sampled": len(checked),
        "estimated": len(pairs),
        "failed": [{"variant": c.measured.name, "why": c.trouble} for c in checked if c.estimate is None],
        "agreement": asdict(fit),
        "predictors": {name: spearman(measured, [of(e) for _, e in pairs]) for name, of in PREDICTORS.items()},
        "rows": rows,
    }


def _show(found: dict[str, Any]) -> None:
    fit = Agreement(**found["agreement"])
    print(f"{found['estimated']} of {found['variants']} variants on {found['gpu']}, seed {found['seed']}")
    for failed in found["failed"]:
        print(f"  not estimated: {failed['variant']}: {failed['why']}")
    print(f"rank correlation      {_number(fit.rank)}   of the fastest half {_number(fit.fastest_half)}")
    print(f"error                 {100 * fit.error:.0f} % after one scale of {fit.scale:.2f}")
    print(
        f"regret of the favourite {100 * fit.regret:.0f} %, of the best of {FAVOURITES} favourites {100 * fit.regret_of_ten:.0f} %"
    )
    ranks = ", ".join(f"{name} {_number(rank)}" for name, rank in found["predictors"].items())
    print(f"simple predictors     {ranks}")
    print("\nfarthest off, after the scale:")
    print_rows(sorted(found["rows"], key=lambda row: -max(row["off by"], 1 / max(row["off by"], 1e-9)))[:WORST])


def _number(rank: float | None) -> str:
    return "none" if rank is None else f"{rank:.3f}"
