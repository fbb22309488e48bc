"""What searches have found, made ready for a GPU: the best variants of finished runs of the suite, as ``carried.py`` has them.

The runs are those of ``kw bench evolve`` (arms ``found`` and ``clean``, seed 1), where it has left any. A few quick programs
are searched now, shortly, unless they are among them.

Of each run are carried: what the run stands for, the fastest that is right on the training cases if that is another one, and a
few that are slower, for the ranking. What the virtual GPU says of each launch is found out here, in the same run of it that
says which kernels are used: a guard that does not hold sends a launch to the original.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from kernelwright.bench.evolve import finished
from kernelwright.bench.gpu.carried import (
    IMAGES,
    REGULAR,
    CarriedBuffer,
    CarriedCase,
    CarriedRun,
    CarriedVariant,
    Contents,
)
from kernelwright.bench.gpu.images import ARCHES, write_image
from kernelwright.bench.gpu.nvcc import compile_kernels
from kernelwright.bench.result import Say, toolkit_versions
from kernelwright.cuda.names import base_name
from kernelwright.device.execution import FORWARD
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.judge import Judge
from kernelwright.evaluate.judging.variant import Built, Variant, as_compiled
from kernelwright.evaluate.judging.variant_launches import KEPT, Done, VariantExecutor
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.run.run import FOLDER
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.timing.estimated_clock import Clock
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.search.ties import TIE, is_gain
from kernelwright.suite import load
from kernelwright.target import GPUS

ARMS: Mapping[str, str] = {"found": "any", "clean": "clean"}
"""By arm of ``bench/evolve.py``, what was demanded of its variants."""
QUICK = ("hotspot", "nn", "gaussian", "srad", "pathfinder")
EVALUATIONS = 120
"""Of a search that is made now."""
SEED = 1
MOST_BYTES = 20 << 20
"""Of all programs together: what is carried has to fit into 64 MiB with the rest."""
RANKED = 6
"""Variants of a run whose ranking is looked at, the best among them."""
_NAME = re.compile(rf"(?P<program>.+)-(?P<arm>{'|'.join(ARMS)})-(?P<evaluations>\d+)-seed{SEED}-1")


def prepare_winners(
    folder: Path,
    kept: Path,
    say: Say,
    notes: list[str],
    *,
    quick: Sequence[str] = QUICK,
    evaluations: int = EVALUATIONS,
    most_bytes: int = MOST_BYTES,
) -> list[str]:
    """Writes a folder for each program that there are runs of, and returns their names.

    ``kept`` holds the folder ``kw-runs``; ``quick`` are searched there when no finished run of them is. What cannot be made
    is left out and said in ``notes``; so are the largest programs when all take more than ``most_bytes``.
    """
    for program in quick:
        for arm in ARMS:
            if (program, arm) not in finished_runs(kept):
                say(f"winners: searching {program}, {arm}")
                trouble = _search(program, arm, kept, evaluations)
                notes += [trouble] if trouble else []
    made: list[str] = []
    found = finished_runs(kept)
    nvcc = toolkit_versions().get("nvcc") if found else None
    if nvcc is not None:
        notes.append(f"winners: code by nvcc {nvcc}, for a machine that has none")
    for program in dict.fromkeys(program for program, _ in found):
        say(f"winners: {program}")
        place = folder / program
        shutil.rmtree(place, ignore_errors=True)
        if _prepare_program(place, program, {arm: path for (p, arm), path in found.items() if p == program}, notes):
            made.append(program)
        else:
            shutil.rmtree(place, ignore_errors=True)
    return _that_fit(folder, made, most_bytes, notes)


def finished_runs(kept: Path) -> dict[tuple[str, str], Path]:
    """By program and arm, the folder of the finished run that has tried most."""
    found: dict[tuple[str, str], tuple[int, Path]] = {}
    for path in sorted((kept / FOLDER).glob("*")):
        name = _NAME.fullmatch(path.name)
        if name is None:
            continue
        asked, tried = (name["program"], name["arm"]), int(name["evaluations"])
        if asked in found and found[asked][0] > tried:
            continue
        try:
            run = finished(path)
        except KernelwrightError:
            continue  # of another version, or damaged
        if run is not None:
            run.close()
            found[asked] = tried, path
    return {asked: path for asked, (_, path) in found.items()}


def _search(program: str, arm: str, kept: Path, evaluations: int) -> str:
    """Searches a program of the suite for a short while; why that failed, or nothing."""
    kept.mkdir(parents=True, exist_ok=True)
    name = f"{program}-{arm}-{evaluations}-seed{SEED}-1"
    shutil.rmtree(kept / FOLDER / name, ignore_errors=True)  # one that did not come to its end
    words = [f"suite:{program}", "--name", name, "--seed", str(SEED), "--evaluations", str(evaluations)]
    command = [sys.executable, "-m", "kernelwright", "evolve", *words, "--no-report", "--accept", ARMS[arm], "--json"]
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        command, cwd=kept, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, errors="replace"
    )
    if done.returncode <= 1:  # 1: nothing faster was found
        return ""
    return f"{program} was not searched: " + (done.stderr.strip().splitlines() or ["it said nothing"])[-1]


# -- one program ---------------------------------------------------------------------------------------------------------


def _prepare_program(place: Path, program: str, runs: Mapping[str, Path], notes: list[str]) -> bool:
    """Whether there is anything to measure."""
    place.mkdir(parents=True)
    contents = Contents()
    made = 0
    for arm, path in runs.items():
        try:
            with EvolveRun.open(path, GENOMES) as run:
                winners = _winners(run, arm)
                if not winners:
                    notes.append(f"{program}, {arm}: nothing faster was found")
                    continue
                _Carrying(run, place, contents, notes).carry(program, arm, winners).write(place)
                made += 1
        except (KernelwrightError, OSError) as error:
            notes.append(f"{program}, {arm}, is left out: {getattr(error, 'message', error)}")
    if made:
        contents.write(place)
        notes += _nvccs(place, program)
    return made > 0


def _nvccs(place: Path, program: str) -> Iterable[str]:
    try:
        source = load(program.removesuffix(REGULAR))
    except Misuse:
        return [f"{program} is no program of the suite: nvcc was not asked"]
    troubles = [compile_kernels(source, arch, place / IMAGES) for arch in ARCHES]
    return dict.fromkeys(f"{program}: {trouble}" for trouble in troubles if trouble)


def _winners(run: EvolveRun, arm: str) -> list[tuple[Found[Genes], str]]:
    """The variants to measure with their roles, the best first; none where nothing is faster than the original."""
    best = run.best
    name, speedup = run.fastest_trained
    found = [(best, "best")] if best is not None else []
    if arm == "found" and name and is_gain(best.speedup if best else 1.0, speedup):
        found.append((run.variant(name), "as GEVO would"))
    if not found:
        return []
    known = {each.key for each, _ in found}
    others: dict[str, Found[Genes]] = {}
    for each in sorted(run.accepted, key=lambda each: (each.outcome.time_us, len(each.candidate))):
        if each.candidate and each.key not in known:
            others.setdefault(each.key, each)
    return [*found, *((each, "other") for each in _spread(list(others.values()), RANKED - len(found)))]


def _spread(variants: list[Found[Genes]], many: int) -> list[Found[Genes]]:
    """Some of the variants, as far apart in their times as they come: a ranking of equals says nothing."""
    step = max(1.0, (len(variants) - 1) / max(many - 1, 1))
    return [variants[round(number * step)] for number in range(min(many, len(variants)))]


class _Carrying:
    """Runs the variants of one run on the virtual GPU, launch by launch, and writes down what a GPU needs."""

    def __init__(self, run: EvolveRun, place: Path, contents: Contents, notes: list[str]) -> None:
        """Raises ``Misuse`` for a run on anything but recordings."""
        self._run = run
        self._place = place
        self._contents = contents
        self._notes = notes
        self._workload = run.workload()
        self._builder = run.builder()
        self._cases = [case for case in self._workload.in_process if isinstance(case, RecordedCase)]
        if len(self._cases) < len(self._workload.cases):
            raise Misuse("its cases are not recorded launches", hint="only those are carried")
        self._weights = self._workload.weights or (1.0,) * len(self._cases)
        self._gpu = VirtualGpu(kept=KEPT)
        self._judge = Judge(self._workload)
        self._clocks = [Clock(gpu) for gpu in GPUS.values() if gpu.arch in ARCHES]
        self._baseline = self._builder.build(())

    def carry(self, program: str, arm: str, winners: Sequence[tuple[Found[Genes], str]]) -> CarriedRun:
        """Raises ``CompileError`` and ``ToolError`` when the original cannot be made, ``Misuse`` when nothing faster can."""
        original = self._original()
        cases = tuple(self._case(case, weight) for case, weight in zip(self._cases, self._weights, strict=True))
        variants = []
        for found, role in winners:
            try:
                label = (self._run.proof(found.name) or {}).get("label", "unproven")
                built = self._builder.build(found.candidate)
                variants.append(self._variant(built, found.name, role, label))
            except KernelwrightError as error:
                self._notes.append(f"{program}, {arm}, {found.name}: {error.message}")
        if not any(variant.role != "other" for variant in variants):
            raise Misuse("none of its winners can be made again", hint="search again with this version")
        tolerance = str(self._workload.rules)
        return CarriedRun(program, arm, self._run.name, tolerance, cases, original, tuple(variants))

    def _original(self) -> CarriedVariant:
        """With the post-passes that variants get, or without, whichever the model calls faster: as gains are counted."""
        given = as_compiled(self._workload.modules())
        both = ((self._baseline, "with the post-passes"), (given, "without post-passes"))
        after, before = (self._variant(each, name, "original", "") for each, name in both)
        own = self._run.settings.virtual
        times = [sum(map(float.__mul__, self._weights, each.estimates.get(own, (0.0,)))) for each in (after, before)]
        return before if times[1] < times[0] * (1 - TIE) else after

    def _variant(self, variant: Variant, name: str, role: str, label: str) -> CarriedVariant:
        """Raises ``ToolError`` when it fails on a case that it once was right on."""
        executor = VariantExecutor(self._gpu, variant.kernels, self._baseline.kernels, follow=True)
        images: list[str] = []
        estimates: dict[str, list[float]] = {}
        for case in self._cases:
            runner, output = self._judge.run(variant.modules, case, FORWARD, executor)
            if isinstance(output, Rejected):
                raise ToolError(f"{case.name} fails: {output}", hint="search again with this version")
            (done,) = cast(Sequence[Done], runner.results)
            images.append(self._image(done.built))
            for clock in self._clocks:
                _, estimate = clock.time(done, is_first=case.recorded.number == 0)
                # Without what launching costs, as the search counted it.
                estimates.setdefault(clock.gpu.name, []).append(estimate.kernel_us)
        return CarriedVariant(name, role, label, tuple(images), {gpu: tuple(us) for gpu, us in estimates.items()})

    def _image(self, built: Built) -> str:
        # Guards are asked here: what differs in them alone is the same code.
        key = f"{built.kernel[:40]}-{built.key[:16]}"
        write_image(self._place / IMAGES, key, built.text)
        return key

    def _case(self, case: RecordedCase, weight: float) -> CarriedCase:
        launch = case.launch
        after = case.expected()
        buffers = []
        for name, before in case.contents("before").items():
            buffers.append(
                CarriedBuffer(
                    name, case.names[name].address, before.dtype.str, self._contents.keep(before.tobytes()),
                    self._contents.keep(after[name].tobytes()) if name in after else "",
                )
            )  # fmt: skip
        placed = {buffer.address for buffer in buffers}
        variables = case.capture.modules[case.recorded.module].variables.items()
        return CarriedCase(
            name=case.name.replace(launch.kernel, base_name(launch.kernel)),
            kernel=launch.kernel,
            grid=launch.grid,
            block=launch.block,
            shared_bytes=launch.shared_bytes,
            arguments=launch.parameters.hex(),
            weight=weight,
            variables=tuple((name, address) for name, address in variables if address in placed),
            buffers=tuple(buffers),
            is_first=case.recorded.number == 0,
        )


# -- what fits -------------------------------------------------------------------------------------------------------------


def _that_fit(folder: Path, programs: list[str], most_bytes: int, notes: list[str]) -> list[str]:
    """The programs that together take no more than ``most_bytes``; the largest go first."""
    sizes = {name: sum(f.stat().st_size for f in (folder / name).rglob("*") if f.is_file()) for name in programs}
    kept = dict(sizes)
    while sum(kept.values()) > most_bytes:
        largest = max(kept, key=lambda name: kept[name])
        notes.append(
            f"{largest} is left out of the winners: it takes {sizes[largest] / 2**20:.1f} MiB, and all together "
            f"{sum(kept.values()) / 2**20:.1f}, more than {most_bytes / 2**20:.1f}"
        )
        shutil.rmtree(folder / largest)
        del kept[largest]
    return list(kept)
