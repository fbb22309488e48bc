"""``kw model fit``: a calibration of what measured times identify."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.cache import write_atomically
from kernelwright.cli.commands.model.sampled_sets import MeasuredSet, sampled
from kernelwright.cli.support.streams import progress
from kernelwright.device.timing_model.fit import Measured
from kernelwright.device.timing_model.identify import IdentifiedFit, fit_identified
from kernelwright.errors import Misuse, ToolError
from kernelwright.target import Gpu


def fit(sets: Sequence[MeasuredSet], on: Gpu, output: Path, variants: int, seed: int, *, as_json: bool) -> None:
    """Writes the calibration, and prints what it is made of. Raises ``Misuse`` for sets that make none."""
    if not output.parent.is_dir():
        raise Misuse(f"there is no folder {output.parent}", hint="-o FILE")
    rows = []
    for one in sets:
        for each in sampled(one, on, variants, seed).checked:
            if each.seen is not None:
                rows.append(Measured(one.description.kernel, each.measured.name, *each.seen, on, each.measured.time_us))
    source = f"{', '.join(each.cache.path.name for each in sets)}; {variants} variants of each, seed {seed}"
    found = fit_identified(rows, output.stem, source, progress)
    made = found.fit.calibration
    try:
        write_atomically(output, (json.dumps(made.as_json(), indent=2) + "\n").encode())
    except OSError as error:
        raise ToolError(f"{output} cannot be written: {error.strerror}", hint="-o FILE") from None
    print(json.dumps(_result(found, output))) if as_json else _show(found, output)


def _result(found: IdentifiedFit, output: Path) -> dict[str, Any]:
    made = found.fit.calibration
    return {
        "file": str(output), "calibration": made.as_json(), "fitted": {name: getattr(made, name) for name in found.fitted},
        "left_alone": dict(found.left_alone), "error": {"before": found.fit.before, "after": found.fit.after},
        "held_out": {"rank": dict(found.held_out), "error": found.held_out_error, "error of the scale alone": found.scaled_error},
        "rank_without": dict(found.plain),
    }  # fmt: skip


def _show(found: IdentifiedFit, output: Path) -> None:
    made = found.fit.calibration
    print(f"{made.rows} variants on {made.gpu}, of {made.source}")
    for name in found.fitted:
        print(f"  {name:10} {getattr(made, name):.4g}")
    for name, why in found.left_alone.items():
        print(f"  {name:10} left alone: {why}")
    print(f"mean error     {100 * found.fit.before:.0f} % uncalibrated, {100 * found.fit.after:.0f} % fitted")
    print(f"on variants that it was not fitted on (root mean square of logarithms): {100 * found.held_out_error:.1f} %")
    for kernel, rank in found.held_out.items():
        print(f"rank held out  {rank:.3f} for {kernel}; uncalibrated {found.plain.get(kernel, float('nan')):.3f}")
    print(f"written to {output}; --calibration {output} uses it", file=sys.stderr)
