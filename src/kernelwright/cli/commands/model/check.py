"""``kw model check``: the timing model's estimates beside the times that a tuner measured on a real GPU."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernelwright.cache import write_atomically
from kernelwright.cli.commands.model.sampled_sets import MeasuredSet, SampledSet, sampled
from kernelwright.cli.support.tables import print_rows
from kernelwright.device.model_check.agreement import FAVOURITES, Agreement, agreement
from kernelwright.device.model_check.check_variants import PREDICTORS, variants_of
from kernelwright.device.model_check.idle_parameters import idle_parameters
from kernelwright.device.timing_model.fit import spearman
from kernelwright.errors import ToolError
from kernelwright.report.model_check import model_check_page
from kernelwright.target import Gpu

WORST = 5
"""Misjudged variants that are shown."""
SHOWN = 3
"""Terms of each."""


def check(one: MeasuredSet, on: Gpu, variants: int, seed: int, html: Path | None, *, as_json: bool) -> None:
    """Prints how well estimates for ``on`` agree with the set's times. Raises ``Misuse`` where hardly a variant can be estimated."""
    found = _result(sampled(one, on, variants, seed), on, seed)
    if html is not None:
        try:
            write_atomically(html, model_check_page(found, f"kw {shlex.join(sys.argv[1:])}").encode())
        except OSError as error:
            raise ToolError(f"{html} cannot be written: {error.strerror}", hint="give --html another place") from None
        print(f"kw: {html}", file=sys.stderr)
    print(json.dumps(found)) if as_json else _show(found)


def _result(these: SampledSet, on: Gpu, seed: int) -> dict[str, Any]:
    cache, checked = these.cache, these.checked
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
            "bound by": ", ".join(f"{t.name} {100 * t.share:.0f} %" for t in e.terms[:SHOWN]),
            "term": e.bound_by,
        }
        for c, e in pairs
    ]
    return {
        "cache": str(cache.path),
        "device": cache.device,
        "kernel": these.description.kernel,
        "gpu": on.called,
        "calibration": str(on.calibration),
        "seed": seed,
        "variants": these.variants,
        "sampled": len(checked),
        "estimated": len(pairs),
        "failed": [{"variant": c.measured.name, "why": c.trouble} for c in checked if c.estimate is None],
        "agreement": asdict(fit),
        "idle": [asdict(each) for each in idle_parameters(variants_of(these.description, cache))],
        "predictors": {name: spearman(measured, [of(e) for _, e in pairs]) for name, of in PREDICTORS.items()},
        "rows": rows,
    }


def _show(found: dict[str, Any]) -> None:
    fit = Agreement(**found["agreement"])
    print(
        f"{found['estimated']} of {found['variants']} variants on {found['gpu']}, {found['calibration']}, seed {found['seed']}"
    )
    for failed in found["failed"]:
        print(f"  not estimated: {failed['variant']}: {failed['why']}")
    print(f"rank correlation      {_number(fit.rank)}   of the fastest half {_number(fit.fastest_half)}")
    print(f"error                 {100 * fit.error:.0f} % after one scale of {fit.scale:.2f}")
    print(
        f"regret of the favourite {100 * fit.regret:.0f} %, of the best of {FAVOURITES} favourites {100 * fit.regret_of_ten:.0f} %"
    )
    ranks = ", ".join(f"{name} {_number(rank)}" for name, rank in found["predictors"].items())
    print(f"simple predictors     {ranks}")
    for idle in found["idle"]:
        print(
            f"changes no time       {idle['name']}: {100 * idle['equal']:.0f} % of {idle['pairs']:,} pairs take the same; "
            "was it in the code that was measured?"
        )
    print("\nfarthest off, after the scale:")
    worst = sorted(found["rows"], key=lambda row: -max(row["off by"], 1 / max(row["off by"], 1e-9)))[:WORST]
    print_rows([{name: value for name, value in row.items() if name != "term"} for row in worst])


def _number(rank: float | None) -> str:
    return "none" if rank is None else f"{rank:.3f}"
