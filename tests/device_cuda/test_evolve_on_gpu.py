"""A search that takes its times from a GPU (a stand-in's, here): what it finds, what it asks for, how it goes on."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.codegen.toolchain import Gpu
from kernelwright.device.real_gpu import availability
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run import settings as run_settings
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.timing.gpu_timer import GpuTimer
from kernelwright.evaluate.timing.measurement_record import Effort
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.evolution import evolution_page
from kernelwright.stories.evolve import evolve, resume
from kernelwright.stories.explain import explain
from tests import kw_process
from tests.warm_cache import WarmCache

from .conftest import Fake

ADDING = Path(__file__).with_name("adding.py")
SEARCH: dict[str, Any] = {"evaluations": 30, "seed": 1, "jobs": 2}
STAND_IN = Gpu("Stand-in 0", "sm_90", 1 << 33)


@pytest.fixture
def gpu(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A GPU on which machine code takes the longer the more there is of it."""
    fake.set("FAKE_CUDA_BY_SIZE", "1")
    monkeypatch.setattr(run_settings, "require_gpu", lambda ordinal: STAND_IN)
    return fake


@pytest.fixture(scope="module")
def whole(library: Path, tmp_path_factory: pytest.TempPathFactory, warm_cache: WarmCache) -> EvolveRun:
    """A run from its beginning to its end. Not to be changed."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patched, warm_cache.at(folder / "cache") as cache:
        patched.setenv("LD_LIBRARY_PATH", str(library))
        patched.setenv("KERNELWRIGHT_CACHE", str(cache))
        patched.setenv("FAKE_CUDA_BY_SIZE", "1")
        patched.setattr(run_settings, "require_gpu", lambda ordinal: STAND_IN)
        return evolve(ADDING, device="cuda:0", folder=folder / "run", **SEARCH)


def measured(run: EvolveRun) -> list[dict[str, Any]]:
    """All that was measured, in the order in which the journal has it."""
    found = [each for row in run.rows() for each in row.facts.get("measured", ())]
    return found + [
        each for kind in ("reference", "measured") for e in run.journal.events(kind) for each in e.data["measured"]
    ]


def named(each: dict[str, Any]) -> tuple[Any, ...]:
    return each["case"], tuple(sorted(each["keys"].items())), each["effort"]


def results(run: EvolveRun) -> list[Any]:
    """What a run has found, without what hangs on the order in which equals were recorded."""
    return [run.best and (run.best.candidate, run.best.outcome), *(found.outcome.objectives() for found in run.front)]


def launched(fake: Fake) -> list[str]:
    return [name for line in fake.named("launch") if (name := line.split()[1]) != "kw_wait"]


def test_found_measured_told(whole: EvolveRun) -> None:
    run = whole
    best, original = run.best, run.original
    assert best is not None and original is not None and best.interval is not None
    assert (run.settings.device, run.settings.gpu, run.settings.virtual) == ("cuda:0", "Stand-in 0", "h200")
    # Times are the GPU's: sums over the two cases of what its code takes; the model's is beside it.
    assert original.time_us > 5 and original.metrics["model_us"] < 1
    assert best.speedup > 1.05 and best.interval[0] <= best.speedup <= best.interval[1]
    assert run.original_us == original.time_us
    assert run.ended is not None and run.ended["best"] == best.name
    # Accepted candidates alone were measured, a program once for each effort, and the best with all patience.
    assert {named(each)[2] for each in measured(run)} == {"SEARCH", "FINAL"}
    assert len(set(map(named, measured(run)))) == len(measured(run))
    rows = list(run.rows())
    assert not any(
        "measured" in row.facts or "trained" in row.facts for row in rows if isinstance(row.outcome, Rejected)
    )
    assert all(row.outcome.metrics["model_us"] for row in rows if isinstance(row.outcome, Ok))
    assert best.key in run.measured_again
    # Told as measured, everywhere.
    page = evolution_page(run)
    assert "measured on Stand-in 0" in page and "estimated" not in page and "between " in page


@pytest.mark.parametrize(
    "stop", [10, pytest.param(20, marks=pytest.mark.slow), pytest.param("measured", marks=pytest.mark.slow)]
)
def test_killed_and_resumed_it_finds_the_same_and_measures_nothing_twice(
    whole: EvolveRun, gpu: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int | str
) -> None:
    record, note = Journal.record, Journal.note
    left = iter(range(stop if isinstance(stop, int) else 1000))

    def recorded(self: Journal, *given: Any, **named: Any) -> int:
        if next(left, None) is None:
            raise ToolError("the power fails")
        return record(self, *given, **named)

    def noted(self: Journal, kind: str, data: Any) -> int:
        if kind == stop:
            raise ToolError("the power fails")
        return note(self, kind, data)

    folder = tmp_path / "run"
    with monkeypatch.context() as patched, pytest.raises(ToolError, match="power"):
        patched.setattr(Journal, "record", recorded)
        patched.setattr(Journal, "note", noted)
        evolve(ADDING, device="cuda:0", folder=folder, **SEARCH)
    with EvolveRun.open(folder, GENOMES) as broken:
        before, rows = {named(each) for each in measured(broken)}, len(broken.journal)
    assert rows >= 10
    run = resume(folder, jobs=2)
    assert results(run) == results(whole)
    assert run.best is not None and whole.best is not None and run.best.candidate == whole.best.candidate
    assert len(set(map(named, measured(run)))) == len(measured(run)) and before <= set(map(named, measured(run)))


def test_what_is_asked_after_the_end_is_measured_and_what_is_known_is_not(
    whole: EvolveRun, gpu: Fake, tmp_path: Path
) -> None:
    """Resuming and explaining a finished run take the original's outputs, to compare with, and no time."""
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    again = resume(folder, jobs=1)
    assert (len(again.journal), results(again)) == (len(whole.journal), results(whole))
    assert len(again.journal.events()) == len(whole.journal.events())
    best, original = again.best, again.original
    assert best is not None and original is not None
    with EvolveRun.open(folder, GENOMES, write=True) as run:
        told = explain(run, best.name, jobs=1)
    assert told.edits[0].alone is not None and told.counters["time_us"] == (original.time_us, best.outcome.time_us)
    assert len(launched(gpu)) < 20


def test_luck_does_not_last(gpu: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the search took for the fastest is measured again, and what is best then is the result."""
    timed = GpuTimer.timed
    lucky: list[str] = []

    def once(self: GpuTimer, evaluated: Evaluated, effort: Effort) -> Evaluated:
        found = timed(self, evaluated, effort)
        if isinstance(found.outcome, Ok) and evaluated.code and effort is Effort.SEARCH:
            lucky.append(found.key)
            if found.key == lucky[0]:
                return replace(found, outcome=replace(found.outcome, time_us=found.outcome.time_us / 4))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(GpuTimer, "timed", once)
        run = evolve(ADDING, device="cuda:0", folder=tmp_path / "run", **SEARCH)
    original, best = run.original_us, run.best
    assert original is not None
    (row,) = [r for r in run.rows() if r.key == lucky[0] and r.facts.get("measured")]
    assert isinstance(row.outcome, Ok) and best is not None
    took, takes = row.outcome.time_us, run.variant(f"v{row.id}").outcome.time_us
    assert original / took > 3.9 > 1.1 * best.speedup and takes == pytest.approx(4 * took)
    assert max(found.speedup for found in run.accepted) == best.speedup == run.fastest_trained[1]
    assert best.key != lucky[0] and best.outcome.time_us < takes
    (settled,) = run.journal.events("settled")
    assert run.variant(settled.data["variant"]).speedup == best.speedup


def test_what_turns_out_wrong_when_it_is_measured_again_is_rejected(whole: EvolveRun, tmp_path: Path) -> None:
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    assert whole.best is not None
    rejected = Rejected("compare", "on cuda:0, it is wrong now")
    with Journal.open(folder / "journal.db", write=True) as journal:
        journal.note("measured", {"key": whole.best.key, "measured": [], "outcome": rejected.as_json()})
    with EvolveRun.open(folder, GENOMES) as run:
        assert whole.best.key not in {found.key for found in run.accepted}
        assert run.rejected["compare"] > whole.rejected["compare"]
        with pytest.raises(Misuse, match="wrong now"):
            run.variant(whole.best.name)


def test_the_gpu_s_process_dies_in_mid_run(
    whole: EvolveRun, gpu: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "die"
    gpu.set("FAKE_CUDA_DIE", str(mark))
    record = Journal.record
    died: list[int] = []

    def recorded(self: Journal, *given: Any, **named: Any) -> int:
        row = record(self, *given, **named)
        if row in (3, 16):
            mark.touch()
            died.append(row)
        return row

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "record", recorded)
        run = evolve(ADDING, device="cuda:0", folder=tmp_path / "run", **SEARCH)
    assert died == [3, 16] and not mark.exists()
    assert results(run) == results(whole)


def test_a_run_goes_on_where_its_gpu_is(gpu: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_settings, "require_gpu", lambda ordinal: Gpu("NVIDIA Other", "sm_80", 1 << 33))
    with pytest.raises(Misuse, match="this run was measured on NVIDIA Other; cuda:0 is Stand-in 0"):
        evolve(ADDING, device="cuda:0", folder=tmp_path / "run", **SEARCH)


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arch", "virtual"),
    [
        ("NVIDIA H200", "sm_90", "h200"),
        ("NVIDIA H100 80GB HBM3", "sm_90", "h100"),
        ("NVIDIA A100-SXM4-40GB", "sm_80", "a100"),
        ("NVIDIA GeForce RTX 2080 Ti", "sm_75", "rtx2080ti"),
        ("NVIDIA TITAN RTX", "sm_75", "titan-rtx"),
        ("NVIDIA A10", "sm_86", "a10"),
        ("NVIDIA GeForce RTX 3060", "sm_86", "a6000"),
        ("Tesla T4", "sm_75", "t4"),
        ("NVIDIA B200", "sm_100", "h200"),
    ],
)
def test_candidates_are_judged_on_the_virtual_gpu_most_like_it(
    monkeypatch: pytest.MonkeyPatch, name: str, arch: str, virtual: str
) -> None:
    monkeypatch.setattr(run_settings, "require_gpu", lambda ordinal: Gpu(name, arch, 1 << 33))
    settings = RunSettings.on("cuda", seed=3)
    assert (settings.device, settings.gpu, settings.arch, settings.virtual) == ("cuda:0", name, arch, virtual)
    assert RunSettings.from_json(settings.as_json()) == settings


def test_settings_of_a_virtual_gpu_say_nothing_of_a_real_one() -> None:
    settings = RunSettings.on("a100")
    assert settings == RunSettings(device="a100") and settings.virtual == "a100"
    assert not {"gpu", "arch"} & settings.as_json().keys()
    assert RunSettings.on("auto").gpu == "", "auto searches on the virtual GPU, which gives the same every time"


def test_a_gpu_nobody_can_compile_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_settings, "require_gpu", lambda ordinal: Gpu("GeForce 8800", "sm_10", 1 << 28))
    with pytest.raises(Misuse, match="sm_10"):
        RunSettings.on("cuda:0")
    with pytest.raises(Misuse, match="cuda:x"):
        RunSettings.on("cuda:x")


# -- the command -------------------------------------------------------------------------------------------------------

Kw = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def kw(fake: Fake, tmp_path: Path) -> Kw:
    fake.set("FAKE_CUDA_BY_SIZE", "1")

    def go(*words: str) -> subprocess.CompletedProcess[str]:
        return kw_process.kw(*words, cwd=tmp_path, timeout=120)

    return go


def test_the_command(kw: Kw) -> None:
    """On an unmodified program: recorded on the virtual GPU, timed on the other."""
    words = ("--device", "cuda:0", "--evaluations", "30", "--seed", "1", "--jobs", "2", "--json", "--no-report")
    done = kw("evolve", *words, str(ADDING.with_suffix(".cu")))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["measured_on"] == "Stand-in 0" and found["speedup"] > 1.05
    low, high = found["interval"]
    assert low <= found["speedup"] <= high
    shown = kw("show", found["run"])
    assert "us in its kernels, measured on Stand-in 0" in shown.stdout and "interval" in shown.stdout
    told = json.loads(kw("show", found["run"], "--json").stdout)
    assert told["measured_on"] == "Stand-in 0" and " to " in told["front"][0]["interval"]
    assert told["settings"]["gpu"] == "Stand-in 0"


@pytest.mark.parametrize(("gpus", "device"), [("1", "cuda:7"), ("0", "cuda:0")])
def test_a_gpu_that_is_not_there(kw: Kw, fake: Fake, gpus: str, device: str) -> None:
    fake.set("FAKE_CUDA_GPUS", gpus)
    done = kw("evolve", str(ADDING), "--device", device)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kw: there is no {device}: ") and "kw doctor lists" in done.stderr
    assert not (Path(fake.log).parent / "kw-runs").exists()


def test_no_driver(kw: Kw, fake: Fake) -> None:
    if availability.has_device_file():
        pytest.skip("there is a GPU here")
    fake.set("LD_LIBRARY_PATH", "/nowhere")
    done = kw("evolve", str(ADDING), "--device", "cuda:0")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("kw: there is no cuda:0: this machine has no NVIDIA driver")
