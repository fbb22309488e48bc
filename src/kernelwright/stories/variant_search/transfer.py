"""The best on a larger set of data that nothing has seen: the whole program there, as it is and with its winner inside.

Paper 000 (section 6.2.1) trains on 8,000,000 digits with what it evolved on 60,000, and says time and accuracy of both. So here: a suite
program that has a larger set (``suite.program.LargerData``) is run on it twice. Its error is its own: the share that it gets wrong.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.versions.table import merged
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.candidate import C
from kernelwright.evaluate.judging.program_folder import copied
from kernelwright.evaluate.judging.whole_program import Program, streams_in
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.workload.program_case import STDOUT
from kernelwright.evaluate.workload.subject import Larger, Recordings
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.kernel_version import Version
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.report.selected_variant import label_of
from kernelwright.stories.variant_search.search import Search
from kernelwright.stories.winners import SAFE, winners

TIMEOUT_S = 900.0


@dataclass(frozen=True)
class Ran:
    """A run of the program. ``time_us``: of its kernels, estimated; ``error``: its own; ``launches`` of kernels that have a version, and
    in how many a version ran."""

    time_us: float
    error: float
    launches: int = 0
    exchanged: int = 0


def transfer_best(search: Search[C], best: Found[C] | None) -> None:
    """Notes what comes of the best on the larger set, where there is one; once, however often the run is resumed."""
    subject, run = search.run.subject, search.run
    if best is None or not isinstance(subject, Recordings) or subject.larger is None or run.transfer(best.name):
        return
    larger = subject.larger
    search.say("transfer to larger data")
    # As kw run --with: with what is tried where the best does not fit, unless its label is one that has to be named.
    named = str(run.folder) if label_of(run, best.name) in SAFE else f"{run.folder}:{best.name}"
    asked = (larger, run.settings.virtual, named)
    with Pool(_setup, asked, workers=1, timeout_s=TIMEOUT_S) as pool:
        ((_, found),) = list(pool.map([None]))
    if isinstance(found, Raised):
        found = {"why": found.error.message if isinstance(found.error, KernelwrightError) else found.reason}
    elif isinstance(found, Lost):
        found = {"why": found.reason}
    found = {"variant": best.name, "data": larger.what, "flags": run.flags.spelled if run.flags else "", **found}
    search.note("transfer", {"name": best.name, **found})


def _setup(larger: Larger, device: str, named: str) -> Callable[[None], dict[str, Any]]:
    settings = Settings.for_device(device)

    def work(_: None) -> dict[str, Any]:
        if larger.program.trouble:
            raise Misuse(larger.program.trouble, hint="start a new run")
        before = whole_run(larger.program, settings, (), larger.error)
        after = whole_run(larger.program, settings, winners([named]).versions, larger.error)
        return {
            "time_us": [before.time_us, after.time_us], "error": [before.error, after.error],
            "launches": after.launches, "exchanged": after.exchanged,
        }  # fmt: skip

    return work


def whole_run(program: Program, settings: Settings, versions: Sequence[Version], error: str) -> Ran:
    """The program run once, in a copy of its folder, with its kernels timed by the timing model. Raises ``Misuse`` for one that does not
    end with exit code 0 or leaves no error in the file of that name. Standard streams are redirected meanwhile."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as temporary:
        said = Path(temporary) / STDOUT
        folder = copied(program.folder, program.arguments, Path(temporary) / "place")

        def serve_connection(connection: socket.socket) -> bytes:
            session = serve(connection, lambda: settings, finish=True, timed=True, versions=versions)
            told = {"kernels": session.report(), "versions": session.versions()} if session else {}
            return json.dumps(told).encode()

        with streams_in(said, folder):
            command = [str(Path(program.executable).absolute()), *program.arguments]
            ran = run_program(command, settings, serve_connection)
        if ran.exit_code:
            lines = said.read_bytes()[-2000:].decode(errors="replace").strip().splitlines()
            raise Misuse(
                f"the program ends with exit code {ran.exit_code} on larger data: {lines[-1] if lines else ''}", hint=""
            )
        try:
            (share,) = np.fromfile(folder / error, dtype=np.float64)
        except (OSError, ValueError) as reason:
            raise Misuse(f"the program leaves no error in {error} on larger data ({reason})", hint="") from reason
    results = [json.loads(result) for result in ran.results if result]
    time_us = sum(row["time_us"] for result in results for row in result.get("kernels", ()))
    rows = merged(result.get("versions", []) for result in results)
    exchanged = sum(each["launches"] for row in rows for each in row["versions"])
    return Ran(time_us, float(share), exchanged + sum(row["original"]["launches"] for row in rows), exchanged)
