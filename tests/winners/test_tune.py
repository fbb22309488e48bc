"""``kw tune --with``: winners as versions of a program, each behind a threshold, and what takes the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import Misuse
from kernelwright.guards import BlockIs, LaunchFacts
from kernelwright.kernel_version import Version, version_from_json
from kernelwright.launch import Launch
from kernelwright.launch_relations import Quantity
from kernelwright.versions.program import INFINITE, Compared, Ran, Thresholds
from kernelwright.versions.thresholds import tune
from kernelwright.versions.tuned_winners import guarded, guarded_by, threshold_name, told, tuned

from .conftest import PROGRAM, Kw
from .test_compile import start
from .test_run import EXPECTED, counted

VERSION = Version(
    "_Z5againPKfPfii", "again-1:v7", "clean", "0" * 64, (), "; ir", (BlockIs((64, 1, 1)),), ("block == 64 x 1 x 1",)
)


def facts(blocks: int, threads: int) -> LaunchFacts:
    return LaunchFacts(Launch("_Z5againPKfPfii", (blocks, 1, 1), (threads, 1, 1), 0, b""), ())


ARGUMENTS = {
    "in": Quantity("bytes", 0), "out": Quantity("bytes", 1), "n": Quantity("argument", 2), "passes": Quantity("argument", 3),
}  # fmt: skip


def with_numbers(n: int, passes: int, blocks: int = 4) -> LaunchFacts:
    """A launch of ``again`` on 1000 bytes of ``in``, of which 100 lie before the pointer."""
    arguments = tuple(v.to_bytes(w, "little", signed=True) for v, w in ((1100, 8), (4096, 8), (n, 4), (passes, 4)))
    launch = Launch("_Z5againPKfPfii", (blocks, 1, 1), (64, 1, 1), 0, b"")
    return LaunchFacts(launch, arguments, (range(1000, 2000), None, None, None))


def test_a_threshold_is_a_check_that_can_be_stored_and_exported() -> None:
    (version,) = tuned(guarded([VERSION], {}), {threshold_name(VERSION): 256})
    assert threshold_name(VERSION) == "again-1:v7/again"
    assert [all(guard.holds(facts(n, 64)) for guard in version.guards) for n in (3, 4, 5)] == [False, True, True]
    assert not all(guard.holds(facts(8, 32)) for guard in version.guards)
    assert version_from_json(json.loads(json.dumps(version.as_json()))) == version
    assert "grid" in version.guards[-1].as_c() and "grid" in version.guards[-1].as_python()


@pytest.mark.parametrize("thresholds", [{}, {"again-1:v7/again": INFINITE}])
def test_a_winner_that_is_never_to_be_taken_is_left_out(thresholds: dict[str, int]) -> None:
    assert tuned(guarded([VERSION], {}), thresholds) == []


@pytest.mark.parametrize(
    ("text", "value", "name", "words"),
    [
        ("threads", 256, "", "threads of the launch >= 7"),
        ("n * passes", 1500, "(n*passes)", "n * passes >= 7"),
        ("n*(passes + grid.x) - 2 >=", 2698, "(n*(passes+grid.x)-2)", "n * (passes + grid.x) - 2 >= 7"),
        ("n <=", -300, "(-n)", "n <= -7"),
        ("-(n * passes)", -1500, "(-(n*passes))", "n * passes <= -7"),
        ("bytes(in)", 900, "(bytes(in))", "bytes(in) >= 7"),
        ("blockDim.x", 64, "(blockDim.x)", "blockDim.x >= 7"),
    ],
)  # fmt: skip
def test_what_a_threshold_compares(text: str, value: int, name: str, words: str) -> None:
    """A number of the launch, which the threshold file names; the check asks for the same."""
    (version,) = guarded([VERSION], {VERSION.kernel: ARGUMENTS}, [text])
    ((called, number),) = version.names()
    assert (called, number.of(with_numbers(300, 5)), number.words(7)) == (f"again-1:v7/again{name}", value, words)
    for threshold, holds in ((value, True), (value + 1, False)):
        (made,) = tuned([version], {called: threshold})
        assert made.guards[-1].holds(with_numbers(300, 5)) == holds and made.words[-1] == number.words(threshold)
        assert version_from_json(json.loads(json.dumps(made.as_json()))) == made
    assert guarded_by([VERSION], {VERSION.kernel: ARGUMENTS}, {called: 1}) == [version]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("rows", "rows is no whole number of a launch; the kernel's whole-number arguments are n, passes"),
        ("in", "in is no whole number"),
        ("bytes(n)", "the kernel's pointers are in, out"),
        ("n // 2", "more than sums and products"),
        ("n ** 2", "more than sums and products"),
        ("n +", "is no number of a launch"),
        ("4", "the same number for every launch"),
        ("n - n", "the same number for every launch"),
        (f"n * {INFINITE + 1}", f"{INFINITE + 1} is no number of 64 bits"),
        ("other-1=n", "no winner here: there is again-1:v7/again"),
    ],
)
def test_what_no_launch_has_is_refused(by: str, said: str) -> None:
    with pytest.raises(Misuse, match=re.escape(said)):
        guarded([VERSION], {VERSION.kernel: ARGUMENTS}, [by])


def test_of_several_kernels_the_one_without_that_number_is_named() -> None:
    other = replace(VERSION, kernel="_Z5otherPfi")
    arguments = {VERSION.kernel: ARGUMENTS, other.kernel: {"m": Quantity("argument", 1)}}
    with pytest.raises(Misuse, match=r"again-1:v7/other: 'n': n is no whole number") as caught:
        guarded([VERSION, other], arguments, ["n"])
    assert '--by "RUN/KERNEL=n"' in caught.value.hint
    one, two = guarded([VERSION, other], arguments, ["again-1/again=n"])
    assert [v.text for v in (*one.values, *two.values)] == ["n", "threads"]


def test_threads_are_those_of_the_launch_whatever_an_argument_is_called() -> None:
    arguments = {VERSION.kernel: {"threads": Quantity("argument", 2)}}
    (version,) = guarded([VERSION], arguments)
    assert version.values[0].of(with_numbers(7, 5)) == 4 * 64


def test_each_winner_compares_what_is_said_of_it() -> None:
    other = replace(VERSION, name="more-2:v3")
    by = ["n", "again-1=passes >=", "more-2:v3/again=n<=", "more-2 = n >="]
    one, two = guarded([VERSION, other], {VERSION.kernel: ARGUMENTS}, by)
    assert [v.text for v in one.values] == ["passes"] and [v.text for v in two.values] == ["-n", "n"]


def test_a_range_is_two_thresholds_that_both_hold() -> None:
    (version,) = guarded([VERSION], {VERSION.kernel: ARGUMENTS}, ["n >=", "n <="])
    low, high = "again-1:v7/again(n)", "again-1:v7/again(-n)"
    (made,) = tuned([version], {low: 100, high: -300})
    assert [all(g.holds(with_numbers(n, 5)) for g in made.guards) for n in (99, 100, 300, 301)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert made.words[-2:] == ("n >= 100", "n <= 300")
    assert tuned([version], {low: 100, high: INFINITE}) == [] and tuned([version], {low: 100}) == []
    heard: list[Compared] = []
    (check,) = told([version], {low: 100, high: -300}, heard)[0].guards
    assert [check.holds(with_numbers(n, 5)) for n in (99, 200, 301)] == [False, True, False]
    assert heard == [
        Compared(low, 99, False), Compared(low, 200, True), Compared(high, -200, True), Compared(low, 301, True),
        Compared(high, -301, False),
    ]  # fmt: skip
    heard.clear()
    assert not check.holds(facts(4, 64)) and not heard, "a launch without that number compares nothing"


class RangedProgram:
    """A winner that is the faster one from 100 to 300 alone, and its range, as launches say what they compare."""

    deterministic = True

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        heard: list[Compared] = []
        (version,) = told(guarded([FREE], {FREE.kernel: ARGUMENTS}, ["n >=", "n <="]), thresholds, heard)
        total = 0.0
        for n in map(int, dataset.split()):
            won = version.guards[0].holds(with_numbers(n, 5))
            total += n * ((1 if 100 <= n <= 300 else 3) if won else 2)
        return Ran(tuple(heard), total)


FREE = replace(VERSION, guards=(), words=())


@pytest.mark.parametrize("datasets", [["50", "100", "200", "300", "900"], ["20 50 200", "250 400 800"]])
def test_the_tuner_finds_a_range(datasets: list[str]) -> None:
    tuning = tune(RangedProgram(), datasets)
    assert not tuning.conflicts and all(d.served for d in tuning.datasets)
    (made,) = tuned(guarded([FREE], {FREE.kernel: ARGUMENTS}, ["n >=", "n <="]), tuning.thresholds)
    for n in (int(n) for dataset in datasets for n in dataset.split()):
        assert all(guard.holds(with_numbers(n, 5)) for guard in made.guards) == (100 <= n <= 300), n


def test_what_is_compared_is_heard_and_a_failed_check_is_no_threshold() -> None:
    heard: list[Compared] = []
    (version,) = told(guarded([VERSION], {}), {"again-1:v7/again": 1}, heard)
    assert [version.guards[0].holds(facts(2, 64)), version.guards[0].holds(facts(4, 32))] == [True, False]
    assert heard == [Compared("again-1:v7/again", 128, True), Compared("again-1:v7/again", 128, False, legal=False)]
    (untuned,) = told(guarded([VERSION], {}), {}, heard)
    assert not untuned.guards[0].holds(facts(2, 64))


@pytest.fixture(scope="module")
def tuning(kw: Kw, runs: Path) -> tuple[Path, dict[str, Any]]:
    """The winner's check asks for 5 passes."""
    path = runs / "again.tuning"
    done = kw("tune", PROGRAM, "--with", "again-1", "--data", "5", "--data", "4", "-o", path, "--json")
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def test_a_winner_gets_a_threshold(tuning: tuple[Path, dict[str, Any]]) -> None:
    path, found = tuning
    name = next(iter(found["thresholds"]))
    assert re.fullmatch(r"again-1:v\d+/again", name)
    by_name = {d["name"]: d for d in found["datasets"]}
    assert by_name["5"]["decisions"][0]["verdict"] == "taken" and by_name["4"]["decisions"][0]["verdict"] == "refused"
    assert by_name["5"]["decisions"][0]["values"] == [256] and found["thresholds"][name] <= 256
    assert by_name["5"]["tuned_us"] < by_name["5"]["untuned_us"] and by_name["4"]["configurations"] == 1
    assert f"-- thresholds of {PROGRAM} --with again-1" in path.read_text()


def test_guards_of_the_program_read_the_file_that_with_names(
    tuning: tuple[Path, dict[str, Any]], kw: Kw, runs: Path, tmp_path: Path
) -> None:
    """A program with winners and guards of its own has one file for both."""
    guard = 'printf("own %d\\n", KW_THRESHOLD("own", 7));'
    text = PROGRAM.read_text().replace("../stories", str(PROGRAM.parents[1] / "stories"))
    source, path = tmp_path / "own.cu", tmp_path / "named.tuning"
    source.write_text(
        "#include <kernelwright_threshold.h>\n" + text.replace("launch(NULL);\n", f"launch(NULL); {guard}\n", 1)
    )
    path.write_text(tuning[0].read_text() + "own=7\n")
    done = kw("run", source, "--with", path, "--", 5)
    assert done.stdout.startswith("own 1\n") and counted(done.stderr)["winner"] == 1, done.stderr
    assert kw("run", source, "--", 5).stdout.startswith("own 0\n")
    done = kw("compile", source, "--with", path, "-o", tmp_path / "made")
    assert f"its guards read {tmp_path / 'made'}.tuning, which is not there: copy {path} to it" in done.stderr
    (tmp_path / "made.tuning").write_text(path.read_text())
    done = kw("compile", source, "--with", path, "-o", tmp_path / "made")
    assert done.returncode == 0 and "its guards read" not in done.stderr
    assert start(tmp_path / "made", 5).stdout.startswith("own 1\n")
    done = kw("compile", PROGRAM, "--with", tuning[0], "-o", tmp_path / "plain")
    assert "its guards read" not in done.stderr, "there are thresholds of winners alone"


def test_run_and_compile_take_the_result(tuning: tuple[Path, dict[str, Any]], kw: Kw, tmp_path: Path) -> None:
    path, _ = tuning
    done = kw("run", PROGRAM, "--with", path, "--", 5)
    assert (done.returncode, done.stdout) == (0, EXPECTED) and counted(done.stderr)["winner"] == 1, done.stderr
    high = tmp_path / "high.tuning"
    high.write_text(re.sub(r"=\d+", "=257", path.read_text()))
    done = kw("run", PROGRAM, "--with", high, "--", 5)
    assert counted(done.stderr)["winner"] == 0 and "threads of the launch >= 257" in done.stderr
    done = kw("compile", PROGRAM, "--with", path, "-o", tmp_path / "app")
    done = start(tmp_path / "app", 5, KERNELWRIGHT_WINNERS="count")
    assert done.stdout == EXPECTED and counted(done.stderr)["winner"] == 1


def test_export_takes_the_result(tuning: tuple[Path, dict[str, Any]], kw: Kw, tmp_path: Path) -> None:
    path, found = tuning
    ((name, threshold),) = found["thresholds"].items()
    winner = name.partition("/")[0]
    done = kw("export", path, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    single = out / winner.replace(":", "-")
    assert (
        f"| again | {winner} | threads of the launch >= {threshold} | passes == 5;" in (out / "README.md").read_text()
    )
    assert (out / path.name).read_text() == path.read_text() and (out / f"{path.name}.json").is_file()
    assert f'"threads of the launch >= {threshold}"' in (out / "again.h").read_text()
    assert "grid.x" in (single / "README.md").read_text(), "its threshold is one of its checks"
    # CuPy's chain, on a stand-in whose kernels write down their files.
    script = tmp_path / "use.py"
    script.write_text(USE_CUPY.replace("OUT", str(out)).replace("BLOCKS", str(-(-threshold // 64))))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["kernel", "kernel.original", "kernel.original", "1", "2"]
    done = kw("export", path, "-o", out)
    assert done.returncode == 2 and "is not empty" in done.stderr
    strange = tmp_path / "strange.tuning"
    strange.write_text(path.read_text() + "again-1:v0/again=4\nagain-1:v0/again(n)=4\nown=9\n")
    done = kw("run", PROGRAM, "--with", strange, "--", 5)
    assert done.returncode == 0, done.stderr
    assert "has thresholds of no winner here, which are ignored: again-1:v0/again, again-1:v0/again(n)\n" in done.stderr
    never = tmp_path / "never.tuning"
    never.write_text(re.sub(r"(?m)^(again-1.*)=.*", rf"\1={INFINITE}", path.read_text()))
    done = kw("export", never, "-o", tmp_path / "none")
    assert done.returncode == 2 and "nothing to export" in done.stderr and not (tmp_path / "none").exists()


def test_what_is_compared_may_be_a_product_and_a_range(kw: Kw, runs: Path, tmp_path: Path) -> None:
    path = runs / "ranged.tuning"
    by = ("--by", "n * passes", "--by", "again-1/again = block.x <=", "--by", "again-1=n*passes >=")
    done = kw("tune", PROGRAM, "--with", "again-1", *by, "--data", "5", "--data", "4", "-o", path, "--json")
    assert done.returncode == 0, done.stderr
    thresholds = json.loads(done.stdout)["thresholds"]
    upper, lower = sorted(thresholds, key=lambda name: "passes" in name)
    assert re.fullmatch(r"again-1:v\d+/again\(n\*passes\)", lower) and upper == lower.replace("n*passes", "-block.x")
    assert thresholds[lower] <= 5 * 256 and thresholds[upper] == -128, "twice what it won at"
    done = kw("run", PROGRAM, "--with", path, "--", 5)
    assert (done.returncode, done.stdout) == (0, EXPECTED) and counted(done.stderr)["winner"] == 1, done.stderr
    done = kw("run", PROGRAM, "--with", path, "--", 5, 256)
    assert counted(done.stderr)["winner"] == 0 and "block.x <= 128" in done.stderr
    assert kw("export", path, "-o", tmp_path / "out").returncode == 0
    said = f"block.x <= 128 and n * passes >= {thresholds[lower]} |"
    assert said in (tmp_path / "out" / "README.md").read_text()
    assert all(f'"{check}"' in (tmp_path / "out" / "again.h").read_text() for check in said[:-2].split(" and "))
    done = kw("tune", PROGRAM, "--with", "again-1", "--data", "5", "-o", path)
    assert done.returncode == 2 and "holds thresholds of another program" in done.stderr


USE_CUPY = """
import sys, types, pathlib, numpy as np
cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(Device=lambda: types.SimpleNamespace(compute_capability="90"))
def module(path):
    stem = pathlib.Path(path).name
    return types.SimpleNamespace(get_function=lambda name: lambda *_, **more: print(stem.split(".sm_")[0].removesuffix(".ptx")))
cupy.RawModule = module
sys.modules["cupy"] = cupy
sys.path.insert(0, "OUT")
import winner_cupy
winner = winner_cupy.Winner()
values, out = np.ones(999, np.float32), np.zeros(999, np.float32)
for blocks, passes in ((BLOCKS, 5), (BLOCKS, 4), (1, 5)):
    winner((blocks,), (64,), (values, out, np.int32(200), np.int32(passes)))
print(*winner.launches.values())
"""


def test_files_without_winners_and_other_programs_are_refused(kw: Kw, tmp_path: Path) -> None:
    plain = tmp_path / "plain.tuning"
    plain.write_text("-- thresholds of app.cu\n-- on h200\nrows=4\n")
    done = kw("run", PROGRAM, "--with", plain, "--", 5)
    assert done.returncode == 2 and "holds no thresholds of winners" in done.stderr
    done = kw("tune", "--exec", "./app {data}", "--with", "again-1", "--data", "5")
    assert done.returncode == 2 and "--with is for CUDA programs" in done.stderr
    done = kw("tune", PROGRAM, "--by", "n", "--data", "5")
    assert done.returncode == 2 and "--by says what thresholds of winners compare" in done.stderr
    done = kw("tune", "app.py", "--with", "again-1", "--data", "5")
    assert done.returncode == 2 and "--with is for CUDA programs" in done.stderr
