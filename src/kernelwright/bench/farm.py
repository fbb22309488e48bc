"""Compiling populations: tables 1 to 3 of paper 001, and figures 2 to 6 and 9 to 14, on this machine.

A population is 20 to 300 programs, by 20, of one of the paper's problems, in generations 1, 4, 7 and 10 of a search
(``farm_populations.py``); its distinct programs are compiled to a cubin that loads:

nvcc               one process for the population, a kernel for each program, as the paper's listings have it
nvcc, bundled      the same, with as many programs in a kernel as our bundles have
NVRTC              the same kernels in this process
NVRTC, n threads   the same shared among threads of this process
NVRTC, n workers   the same shared among resident workers: the paper's daemons
ours, n workers    the farm: programs to PTX to machine code, all in the workers

Every figure is a ratio to nvcc in the same round, by wall time and by processor time. On a busy machine, which is seen by its
load before, and by nvcc's wall time being far beyond its processor time, ratios of wall times say nothing, and what depends on
them is not judged. Much of what is gained on small programs is the bundling, which nvcc can have too: its second row shows how
much.

Interrupted, it prints what was measured until then, of populations and routes that had at least one whole round.

Promises, for 300 programs: 18 times nvcc on all cores, by wall time; 10 times on one core, by processor time; what the farm does
besides compiling takes less than a tenth.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from kernelwright.bench.farm_populations import generations_of
from kernelwright.bench.result import Measured, Say
from kernelwright.breeding.choice import sample
from kernelwright.breeding.surrounding_code import cuda, cuda_frame, ptx, ptx_frame
from kernelwright.farm import Built, Farm, Pool, available_cores
from kernelwright.farm.backends.bundle import Frame, bundle
from kernelwright.farm.backends.nvrtc import Nvrtc, compiled, find_nvrtc
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.bundle_runner import BundleRunner
from kernelwright.farm.lost_items import Raised
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.problems import PAPER, path_of
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.report.figures import curves

POPULATIONS = tuple(range(20, 301, 20))
LARGEST = 300
GENERATIONS = (1, 4, 7, 10)
"""Of each population; a figure of it is their median."""
ROUNDS = 3
"""Of what the farm takes besides."""
ARCH = "sm_90"
DEEP = 20_000
BUSY = 1.5
"""nvcc's wall time over its processor time; alone on a core it is hardly more than 1."""
LOADED = 0.6
"""Of the cores: what ran here in the minute before, from which on the machine is not quiet. nvcc, on one core, would not tell."""
FIGURES = Path("kw-bench", "farm")
TITLES = {"search": "Search", "keijzer6": "Keijzer-6", "multiplier5": "5-bit multiplier"}
NVCC, BUNDLED, IN_PROCESS = "nvcc", "nvcc, bundled", "NVRTC"

Seconds = tuple[float, float]
"""Wall time, and processor time of all processes that took part."""
Route = Callable[[Sequence[str]], None]


Programs = dict[tuple[str, int], list[int]]
"""By problem and population: how many distinct programs each generation has."""


@dataclass(frozen=True)
class Key:
    problem: str
    population: int
    route: str


def measure(quick: bool, say: Say) -> Measured:
    """Rows: problem, population, route; milliseconds for each program, and the ratios to nvcc."""
    sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))
    result = Measured("farm")
    taken: dict[Key, list[Seconds]] = {}
    programs: Programs = {}
    overheads: dict[str, float] = {}
    loaded = os.getloadavg()[0] > LOADED * available_cores()
    try:
        for name in PAPER:
            _measure(name, quick, say, taken, programs)
            overheads[name] = _overhead(name, load_problem(path_of(name)))
    except KeyboardInterrupt:
        result.notes.append("interrupted: what was not measured by then is missing")
    for key, spent in taken.items():
        base, counts = taken.get(Key(key.problem, key.population, NVCC)), programs[key.problem, key.population]
        result.rows.append(
            {
                "problem": key.problem,
                "population": key.population,
                "route": key.route,
                "ms each": _each_ms(spent, counts, 0),
                "cpu ms each": _each_ms(spent, counts, 1),
                "times nvcc": _ratio(base, spent, 0),
                "times nvcc, cpu": _ratio(base, spent, 1),
            }
        )
    result.rows += _by_generation(taken, programs)
    _promise(result, taken, overheads, loaded)
    if not quick and taken:
        _draw(taken, programs)
        result.notes.append(f"figures 2 to 6 and 9 to 14 of the paper are in {FIGURES}")
    if shutil.which("nvcc") is None:
        result.notes.append("nvcc is not installed, so there is nothing to compare with")
    return result


def _measure(name: str, quick: bool, say: Say, taken: dict[Key, list[Seconds]], programs: Programs) -> None:
    """All generations of one problem's populations, each noted when all routes have compiled it."""
    problem = load_problem(path_of(name))
    with _routes(name, problem, say) as routes:
        for population in (LARGEST,) if quick else POPULATIONS:
            say(f"{name}: populations of {population}")
            wanted = GENERATIONS[:1] if quick else GENERATIONS
            for texts in generations_of(problem, population, wanted, population).values():
                spent = {route: _seconds(run, pids, texts) for route, (run, pids) in routes.items()}
                programs.setdefault((name, population), []).append(len(texts))
                for route, each in spent.items():
                    taken.setdefault(Key(name, population, route), []).append(each)


def _by_generation(taken: dict[Key, list[Seconds]], programs: Programs) -> list[dict[str, Any]]:
    """The largest populations once more, generation by generation."""
    rows = []
    for key, spent in taken.items():
        if key.population != LARGEST or len(spent) == 1:
            continue
        counts, base = programs[key.problem, LARGEST], taken.get(Key(key.problem, LARGEST, NVCC))
        for at, (generation, count) in enumerate(zip(GENERATIONS, counts, strict=False)):
            rows.append(
                {
                    "generations of": key.problem,
                    "generation": generation,
                    "distinct programs": count,
                    "route": key.route,
                    "ms each": _each_ms(spent[at : at + 1], [count], 0),
                    "times nvcc": _ratio(base[at : at + 1] if base else None, spent[at : at + 1], 0),
                }
            )
    return rows


# -- the routes ----------------------------------------------------------------------------------------------------


@contextmanager
def _routes(name: str, problem: Problem, say: Say) -> Iterator[dict[str, tuple[Route, Callable[[], list[int]]]]]:
    """Each with the processes that work for it, all of them warm."""
    frame = cuda_frame(problem)
    found: dict[str, tuple[Route, Callable[[], list[int]]]] = {}
    opened: list[Pool | Farm] = []
    without: Callable[[], list[int]] = list
    if nvcc := shutil.which("nvcc"):
        found[NVCC] = (lambda texts: _nvcc(nvcc, separate(frame, problem, texts)), without)
        found[BUNDLED] = (lambda texts: _nvcc(nvcc, bundle(frame, [cuda(problem, t) for t in texts]).text), without)
    cores = available_cores()
    if not Nvrtc().missing():
        found[IN_PROCESS] = (lambda texts: _in_process(separate(frame, problem, texts)), without)
        for workers in (n for n in (2, 4, 8) if n <= max(2, cores)):
            found[f"{IN_PROCESS}, {workers} threads"] = (_threaded(workers, frame, problem), without)
            pool = Pool(daemon, workers=workers)
            opened.append(pool)
            found[f"{IN_PROCESS}, {workers} workers"] = (_shared(pool, frame, problem), pool.pids)
    else:
        say("NVRTC is not installed")
    for workers in dict.fromkeys((1, cores)):
        farm = Farm(compiling, (str(path_of(name)), ARCH), batch=Ptx().batch, jobs=workers)
        opened.append(farm)
        found[f"ours, {workers} workers"] = (_farmed(farm), farm.pids)
    try:
        for run, _ in found.values():
            run(sample(problem, 2 * cores, 7))
        yield found
    finally:
        for each in opened:
            each.close()


def separate(frame: Frame, problem: Problem, texts: Sequence[str]) -> str:
    """CUDA C with a kernel for each program."""
    kernels = [
        f'extern "C" __global__ void createdFunc{n}({frame.parameters})\n{{\n{frame.before}\n{cuda(problem, text)}\n'
        f"{frame.after}\n}}\n"
        for n, text in enumerate(texts)
    ]
    return "\n".join([frame.head, *kernels])


def _nvcc(nvcc: str, text: str) -> None:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        source = Path(folder, "population.cu")
        source.write_text(text)
        subprocess.run(
            [nvcc, f"-arch={ARCH}", "-cubin", source, "-o", Path(folder, "population.cubin")],
            check=True,
            capture_output=True,
        )


def _in_process(text: str) -> None:
    path = find_nvrtc()
    assert path is not None
    compiled(path, text, [f"--gpu-architecture={ARCH}"])


def daemon() -> Callable[[str], None]:
    """A set-up: compiles what it is sent with NVRTC, as one of the paper's resident processes."""
    return _in_process


def _threaded(count: int, frame: Frame, problem: Problem) -> Route:
    def run(texts: Sequence[str]) -> None:
        shares = [texts[n::count] for n in range(count)]
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(_in_process, [separate(frame, problem, share) for share in shares if share]))

    return run


def _shared(pool: Pool, frame: Frame, problem: Problem) -> Route:
    def run(texts: Sequence[str]) -> None:
        shares = [texts[n :: pool.workers] for n in range(pool.workers)]
        for _, found in pool.map([separate(frame, problem, share) for share in shares if share]):
            if found is not None:
                raise RuntimeError(f"NVRTC fails: {found}")

    return run


def compiling(path: str, arch: str) -> Callable[[Sequence[str]], list[Built | Raised]]:
    """A set-up: the farm's workers compile what they get, and run none of it."""
    sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))
    problem = load_problem(Path(path))
    return BundleRunner[Any](Ptx(arch), ptx_frame(problem), partial(ptx, problem)).compile


def _farmed(farm: Farm) -> Route:
    def run(texts: Sequence[str]) -> None:
        bad = [each for _, each in farm.map(texts) if not isinstance(each, Built)]
        if bad:
            raise RuntimeError(f"{len(bad)} programs do not compile: {bad[0]}")

    return run


# -- the clock -----------------------------------------------------------------------------------------------------


def _seconds(run: Route, pids: Callable[[], list[int]], texts: Sequence[str]) -> Seconds:
    workers = {pid: _spent(pid) for pid in pids()}
    own, children, begin = time.process_time(), _children(), time.perf_counter()
    run(texts)
    wall = time.perf_counter() - begin
    cpu = time.process_time() - own + _children() - children
    return wall, cpu + sum(_spent(pid) - workers.get(pid, 0.0) for pid in pids())


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _spent(pid: int) -> float:
    """Processor seconds of a process that lives."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _overhead(name: str, problem: Problem) -> float:
    """What a farm of one worker takes of processor time beyond the same work called in this process, as a share of that."""
    work, shares = compiling(str(path_of(name)), ARCH), []
    least, most = Ptx().batch
    with Farm(compiling, (str(path_of(name)), ARCH), batch=(least, most), jobs=1) as farm:
        run = _farmed(farm)
        run(sample(problem, 2, 7))
        for seed in range(ROUNDS):
            texts = sample(problem, LARGEST, seed)
            distinct = list(dict.fromkeys(texts))
            size = -(-len(distinct) // -(-len(distinct) // most)) if len(distinct) > least else len(distinct)
            own = time.process_time()
            for at in range(0, len(distinct), size):
                work(distinct[at : at + size])
            alone = time.process_time() - own
            shares.append(_seconds(run, farm.pids, texts)[1] / alone - 1)
    return statistics.median(shares)


# -- what it comes to ----------------------------------------------------------------------------------------------


def _each_ms(spent: Sequence[Seconds], counts: Sequence[int], which: int) -> float:
    return round(statistics.median(each[which] / count for each, count in zip(spent, counts, strict=True)) * 1e3, 3)


def _ratio(base: Sequence[Seconds] | None, spent: Sequence[Seconds] | None, which: int) -> float | None:
    """The median of the rounds' ratios; None where one of them was not measured."""
    if base is None or spent is None:
        return None
    return round(statistics.median(b[which] / s[which] for b, s in zip(base, spent, strict=True)), 2)


def _promise(
    result: Measured, taken: dict[Key, list[Seconds]], overheads: dict[str, float], loaded: bool = False
) -> None:
    cores = available_cores()
    for name in PAPER:
        base = taken.get(Key(name, LARGEST, NVCC))
        many, one = (taken.get(Key(name, LARGEST, f"ours, {workers} workers")) for workers in (cores, 1))
        busy = loaded or (base is not None and statistics.median(wall / cpu for wall, cpu in base) > BUSY)
        if busy:
            result.notes.append(
                f"{name}: other work held the cores, so wall times mean nothing here; run it again on a quiet machine"
            )
        by_wall = None if busy or cores == 1 else _ratio(base, many, 0)
        result.at_least(f"{name}: times nvcc on {cores} cores", by_wall, 18.0)
        result.at_least(f"{name}: times nvcc on one core", _ratio(base, one, 1), 10.0)
        result.at_most(f"{name}: the farm's share beside compiling", overheads.get(name), 0.10)


def _draw(taken: dict[Key, list[Seconds]], programs: Programs) -> None:
    """The paper's figures, by its numbers."""
    FIGURES.mkdir(parents=True, exist_ok=True)

    def each_ms(key: Key) -> float:
        return _each_ms(taken[key], programs[key.problem, key.population], 0)

    routes = list(dict.fromkeys(key.route for key in taken))
    speedups = {}
    for number, name in enumerate(("search", "keijzer6", "multiplier5")):
        sizes = [size for size in POPULATIONS if Key(name, size, routes[0]) in taken]
        if not sizes:
            continue  # interrupted before
        times = {route: [(float(n), each_ms(Key(name, n, route))) for n in sizes] for route in routes}
        plain = {route: times[route] for route in (NVCC, IN_PROCESS, "ours, 1 workers") if route in times}
        _write(f"figure-{2 + number}-{name}", curves(plain, "population", "ms for each program"))
        threads = {route: times[route] for route in routes if route.startswith(IN_PROCESS)}
        if number == 0 and threads:
            _write("figure-6", curves(threads, "population", "ms for each program, NVRTC in threads and processes"))
        parallel = {route: times[route] for route in routes if route not in (NVCC, BUNDLED)}
        _write(f"figure-{9 + 2 * number}-{name}", curves(parallel, "population", "ms for each program"))
        if NVCC in times:
            ratios = {
                route: [(n, base / own) for (n, own), (_, base) in zip(points, times[NVCC], strict=True)]
                for route, points in parallel.items()
            }
            _write(f"figure-{10 + 2 * number}-{name}", curves(ratios, "population", "times nvcc"))
            if IN_PROCESS in ratios:
                speedups[TITLES[name]] = ratios[IN_PROCESS]
    if speedups:
        _write("figure-5", curves(speedups, "population", "NVRTC in process, times nvcc"))


def _write(name: str, svg: str) -> None:
    (FIGURES / f"{name}.svg").write_text(svg)
