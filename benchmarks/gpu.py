"""Everything that needs an NVIDIA GPU, in one go; ``make gpu`` runs it. Where there is none it says so and exits 0.

    python benchmarks/gpu.py                       tests, calibration, suite on both devices and under
                                                   compute-sanitizer, what searches and explorations found, tuned
                                                   programs, compile benchmark
    python benchmarks/gpu.py --prepare FOLDER      where there is a compiler, for a GPU machine that has none
    python benchmarks/gpu.py --prepared FOLDER     on that machine: needs Python, NumPy and this repository; build/gpu is
                                                   used without being named where there is no compiler
    python benchmarks/gpu.py --fit RESULT FOLDER   fits the timing model to a result, where FOLDER was prepared
    python benchmarks/gpu.py --again RESULT FOLDER the result with the estimates of FOLDER, which this version has prepared

The result goes to benchmarks/results/<date>-<gpu>.json, and to a .md beside it. Exit code 1 when a promise does not hold.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from kernelwright.bench.gpu.deadline import Deadline  # noqa: E402
from kernelwright.bench.result import Measured  # noqa: E402
from kernelwright.errors import KernelwrightError  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
PREPARED = ROOT / "build" / "gpu"
TESTS_TIMEOUT_S = 1200.0
PARTS = (
    "rates",
    "calibration",
    "winners",
    "explored",
    "programs",
    "searches",
    "suite",
    "tests",
    "tune",
    "sanitizer",
    "compile",
)
"""What is worth most comes first: a machine may be taken away."""
PREPARED_PARTS = {"rates", "calibration", "suite", "sanitizer", "winners", "explored", "programs", "searches"}
RUNS = ROOT / "build" / "bench-evolve"
"""Where ``kw bench evolve`` leaves its runs."""
EXPLORED = ROOT / "build" / "bench-space"
"""Where runs of ``kw explore`` are looked for."""


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0 done (or no GPU), 1 a promise does not hold, 2 misuse, 3 the tool or machine failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", type=Path, metavar="FOLDER", help="write what --prepared takes")
    parser.add_argument("--prepared", type=Path, metavar="FOLDER", help="use what --prepare wrote")
    parser.add_argument("--fit", nargs=2, type=Path, metavar=("RESULT", "FOLDER"), help="fit the model to a result")
    parser.add_argument("--again", nargs=2, type=Path, metavar=("RESULT", "FOLDER"), help="estimates of this version")
    parser.add_argument("--small", action="store_true", help="small inputs and few variants, for a first look")
    parser.add_argument("--python", default="3.12", help="of the other machine, for --prepare (3.12)")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU (0)")
    parser.add_argument("--within", type=float, metavar="SECONDS", help="begin nothing after so long")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given several times")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the result goes")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.prepare is not None:
            return _prepare(chosen)
        if chosen.fit is not None:
            return _fit(*chosen.fit)
        if chosen.again is not None:
            return _again(*chosen.again)
        missing = no_gpu(chosen.device)
        if missing:
            print(f"{missing}; nothing was run")
            return 0
        if chosen.prepared is None:
            chosen.prepared = _what_there_is()
        if chosen.prepared is not None:
            _use_site(chosen.prepared / "site")
        return _run(chosen)
    except KernelwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def _what_there_is() -> Path | None:
    """None where this Python has a compiler; else the folder that another machine has prepared. Raises ``Misuse``."""
    from kernelwright.errors import Misuse

    needed = ("llvmlite", "ziglang", "cuda.bindings")
    missing = [name for name in needed if not _is_installed(name)]
    if not missing:
        return None
    if (PREPARED / "manifest.json").is_file():
        say(f"{', '.join(missing)} missing here: using what was prepared in {PREPARED}")
        return PREPARED
    raise Misuse(
        f"there is a GPU, but this Python lacks {', '.join(missing)}",
        hint=f"make setup; or, without a network, python benchmarks/gpu.py --prepare {PREPARED} elsewhere, and copy the folder",
    )


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def no_gpu(ordinal: int) -> str:
    """Why nothing can be run here; empty where there is a GPU. Asked in a process of its own."""
    code = (
        "import sys, ctypes as c\n"
        "try: cuda = c.CDLL('libcuda.so.1')\n"
        "except OSError: sys.exit('there is no NVIDIA driver on this machine')\n"
        "n = c.c_int()\n"
        "if cuda.cuInit(0) or cuda.cuDeviceGetCount(c.byref(n)) or not n.value: sys.exit('the driver reports no NVIDIA GPU')\n"
        f"if n.value <= {ordinal}: sys.exit(f'there is no GPU number {ordinal}, the driver reports {{n.value}}')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return (
        (done.stderr.strip().splitlines() or [f"the driver ended with {done.returncode}"])[-1]
        if done.returncode
        else ""
    )


def _run(chosen: argparse.Namespace) -> int:
    from kernelwright.bench.gpu.calibrate import calibrate, fit_rows, gpu_like
    from kernelwright.bench.gpu.explored import run_explored
    from kernelwright.bench.gpu.measured_rates import run_rates
    from kernelwright.bench.gpu.measured_search import run_searches
    from kernelwright.bench.gpu.programs import run_programs
    from kernelwright.bench.gpu.result import write_result
    from kernelwright.bench.gpu.sanitizer import run_sanitizer
    from kernelwright.bench.gpu.suite import run_suite
    from kernelwright.bench.gpu.winners import run_winners
    from kernelwright.device.real_gpu.worker import CudaWorker

    only = chosen.only or PARTS
    until, device = Deadline.within(chosen.within), f"cuda:{chosen.device}"
    more: dict[str, Any] = {}
    parts: list[Measured] = []
    with CudaWorker(chosen.device) as worker:
        info = worker.info()
        say(f"{info.name}, {info.arch}, CUDA {info.driver_version // 1000}.{info.driver_version % 1000 // 10}")

        def add(name: str, measure: Callable[[], Measured]) -> None:
            """What is measured is written down at once: whatever comes after may not get to its end."""
            parts.append(_attempt(name, measure))
            write_result(chosen.results, info, parts, more)

        def add_by_pieces(name: str, measure: Callable[[Callable[[Measured], None]], Measured]) -> None:
            """As ``add``, for a part that tells what it has so far."""
            known: list[Measured] = []

            def keep(part: Measured) -> None:
                known[:] = [part]
                write_result(chosen.results, info, [*parts, part], more)

            parts.append(_attempt(name, partial(measure, keep), known))
            write_result(chosen.results, info, parts, more)

        def add_others() -> None:
            if "tests" in only:
                worker.close()  # they take the GPU themselves
                add("tests", _tests)
            if "tune" in only:
                add_by_pieces("tune", partial(_tune, chosen.device, until))

        with ExitStack() as kept:
            ready: list[tuple[Path, dict[str, Any]]] = []

            def get_ready() -> Measured:
                ready.append(kept.enter_context(_prepared(chosen, only)))
                return Measured("preparation", notes=list(ready[0][1]["notes"]))

            if PREPARED_PARTS & set(only):
                add("preparation", get_ready)
            for folder, manifest in ready:
                if "rates" in only:
                    rates = folder / "rates"  # none in folders that were prepared before there were any
                    add("rates", partial(run_rates, rates, chosen.device, gpu_like(info), say))
                if "calibration" in only:
                    add("calibration", partial(calibrate, folder, manifest, worker, say, until))
                    fit = partial(fit_rows, folder, parts[-1].rows, gpu_like(info) or "", info.name)
                    more["fit"] = _fitted(fit)
                if "winners" in only:
                    winners = manifest.get("winners", [])
                    add("winners", partial(run_winners, folder / "winners", winners, worker, say, until))
                if "explored" in only and (folder / "explored").is_dir():
                    add(
                        "explored",
                        partial(run_explored, folder / "explored", chosen.device, gpu_like(info), say, until),
                    )
                if "programs" in only and (folder / "programs").is_dir():
                    add("programs", partial(run_programs, folder / "programs", folder / "runtime", device, say, until))
                if "searches" in only and (folder / "searches").is_dir():
                    worker.close()  # they take the GPU themselves
                    add("searches", partial(run_searches, folder / "searches", chosen.device, say, until))
                if "suite" in only:
                    add("suite", partial(run_suite, folder, manifest, device, say, until))
                add_others()
                if "sanitizer" in only:
                    add("sanitizer", partial(run_sanitizer, folder, manifest["suite"], device, say, until))
            if not ready:  # Nothing was prepared, or it could not be: what does not need it is measured all the same.
                add_others()
        if "compile" in only:
            add("compile", _compile)
    path = write_result(chosen.results, info, parts, more)
    for part in parts:
        for promise in part.promises:
            verdict = {True: "holds", False: "DOES NOT HOLD", None: "not measured here"}[promise.holds]
            print(f"{part.name}: {promise.name}: {promise.value} ({promise.bound}): {verdict}")
        for note in part.notes:
            print(f"{part.name}: note: {note}")
    print(f"written to {path}")
    return int(any(p.holds is False for part in parts for p in part.promises))


def _attempt(name: str, measure: Callable[[], Measured], known: Sequence[Measured] = ()) -> Measured:
    """A part that fails is a part with a note, and does not keep the others from being measured. ``known``: what it has told of before."""
    try:
        return measure()
    except Exception as error:
        result = known[-1] if known else Measured(name)
        result.notes.append(f"it ended with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        result.at_most("parts that fail", 1, 0)
        return result


def _tests() -> Measured:
    result = Measured("tests")
    say("tests")
    # Only the files with such tests: others may import what this machine lacks.
    files = sorted(str(f) for f in (ROOT / "tests").rglob("test_*.py") if "mark.gpu" in f.read_text())
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-m", "gpu", "-rs", "-p", "no:cacheprovider", *files]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=TESTS_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as late:
        result.rows = [{"line": line} for line in str(late.stdout or b"", "utf-8", "replace").splitlines()[-40:]]
        result.notes.append(f"the tests were still running after {TESTS_TIMEOUT_S:g} s and were stopped")
        result.at_most("tests that fail", 1, 0)
        return result
    lines = (done.stdout + done.stderr).replace(str(ROOT), ".").strip().splitlines() or ["pytest said nothing"]
    if "No module named pytest" in lines[-1]:
        result.notes.append("pytest is not installed here: the tests were not run (pip install pytest)")
        result.at_most("tests that fail", None, 0)
        return result
    result.rows = [{"line": line} for line in lines[-40:]]
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|error|skipped)", lines[-1])}
    result.at_most("tests that fail", counts.get("failed", 0) + counts.get("error", 0) + (done.returncode > 1), 0)
    result.at_least("tests that pass", counts.get("passed", 0), 1)
    return result


def _tune(ordinal: int, until: Deadline, keep: Callable[[Measured], None]) -> Measured:
    from kernelwright.bench.gpu.tune import run_tune

    return run_tune(ordinal, say, until=until, keep=keep)


def _compile() -> Measured:
    from kernelwright.bench.compile import measure
    from kernelwright.cuda.clang import find_clang

    try:
        find_clang()
        return measure(False, say)
    except (KernelwrightError, RuntimeError, OSError) as error:
        result = Measured("compile")
        result.notes.append(f"not measured: {str(error).splitlines()[0]}")
        return result


@contextmanager
def _prepared(chosen: argparse.Namespace, only: tuple[str, ...] | list[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder and its manifest: the one given, or one made now."""
    if chosen.prepared is not None:
        yield chosen.prepared, _manifest(chosen.prepared)
        return
    from kernelwright.bench.gpu.preparing.everything import prepare
    from kernelwright.suite import NAMES

    with tempfile.TemporaryDirectory() as scratch:
        suite = NAMES if {"suite", "sanitizer"} & set(only) else ()
        kernels = () if "calibration" in only else ("saxpy",)
        runs = RUNS if {"winners", "programs", "searches"} & set(only) else None
        yield (
            Path(scratch),
            prepare(
                Path(scratch),
                say,
                small=chosen.small,
                rates="rates" in only,
                kernels=kernels,
                suite=suite,
                python=None,
                runs=runs,
                explored=EXPLORED if "explored" in only else None,
            ),
        )


def _manifest(folder: Path) -> dict[str, Any]:
    from kernelwright.errors import Misuse

    try:
        found = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise Misuse(
            f"{folder} was not prepared: {error}", hint=f"python benchmarks/gpu.py --prepare {folder}"
        ) from None
    if not isinstance(found, dict) or found.get("format") != 1:
        raise Misuse(f"{folder} was prepared by another version", hint=f"python benchmarks/gpu.py --prepare {folder}")
    return found


def _prepare(chosen: argparse.Namespace) -> int:
    from kernelwright.bench.gpu.preparing.everything import prepare

    manifest = prepare(chosen.prepare, say, small=chosen.small, python=chosen.python, runs=RUNS, explored=EXPLORED)
    for note in manifest["notes"]:
        print(f"note: {note}")
    print(
        f"{len(manifest['variants'])} variants, {len(manifest['suite'])} programs, winners of {len(manifest['winners'])}: "
        "python benchmarks/gpu.py --prepared FOLDER"
    )
    return 0


def _fit(result: Path, folder: Path) -> int:
    from kernelwright.bench.gpu.calibrate import fit_rows
    from kernelwright.errors import Misuse
    from kernelwright.target import GPUS

    try:
        content = json.loads(result.read_text())
        rows = next(p["rows"] for p in content["parts"] if p["name"] == "calibration")
        name, arch = content["gpu"]["name"], content["gpu"]["arch"]
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise Misuse(f"{result} holds no calibration: {error!r}", hint="give a file of benchmarks/results") from None
    fitting = [g.name for g in GPUS.values() if g.name.upper() in name.upper()]
    fitting += [g.name for g in GPUS.values() if g.arch == arch]
    print(json.dumps(fit_rows(folder, rows, fitting[0], name), indent=1))
    return 0


def _again(result: Path, folder: Path) -> int:
    from kernelwright.bench.gpu.again import again
    from kernelwright.bench.gpu.result import rewrite
    from kernelwright.errors import Misuse
    from kernelwright.target import DEFAULT_GPU, gpu_called

    try:
        content = json.loads(result.read_text())
        known = gpu_called(content["gpu"]["name"])
        made = again(content, folder, known.name if known else DEFAULT_GPU)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Misuse(
            f"{result} or {folder} is not what it should be: {error!r}",
            hint="give a file of benchmarks/results, and a folder of --prepare",
        ) from None
    rewrite(result, made)
    print(f"written to {result}")
    return 0


def _fitted(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The fit is an extra: what keeps it from being made here is written down, and it can be made elsewhere."""
    try:
        return make()
    except Exception as error:
        return {
            "not fitted": f"{type(error).__name__}: {error}",
            "next": "python benchmarks/gpu.py --fit RESULT FOLDER",
        }


def _use_site(folder: Path) -> None:
    """Packages that were carried along, for this process and those it starts."""
    if folder.is_dir():
        sys.path.append(str(folder))
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (before, str(ROOT / "src"), str(folder)) if p)


def say(line: str) -> None:
    """Progress, apart from the result."""
    print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
