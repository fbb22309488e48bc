"""Programs that take too long, want data, fail or hang: how each is tried again, and what its row says."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kernelwright.bench.programs import measure, steps
from kernelwright.bench.programs.measure import Manner, measure_folders
from kernelwright.bench.programs.projects import Project
from kernelwright.bench.programs.shrinking import DEGREES, reduced, repetitions_of, settings_of, shrink_sources
from kernelwright.bench.programs.steps import Step, Steps, Stopped, in_folder
from kernelwright.bench.programs.tries import Way, missing_file, run_to_end, ways_to_run
from tests.cli.conftest import Kw, kw  # noqa: F401

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")

Make = Callable[..., Path]
SLEEPS = """#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#define SIZE (1 << 20)
__global__ void k(int *p) { p[threadIdx.x] = 1; }
int main(int argc, char **argv) {
  const int repeat = 500;
  int *p;
  cudaMalloc(&p, 128);
  k<<<1, 32>>>(p);
  if (WHEN) sleep(1000);
  printf("PASS\\n");
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
MAKEFILE = "main: main.cu\n\tnvcc main.cu -o main\nrun: main\n\t./main ARGUMENTS\n"


@pytest.fixture
def project(tmp_path: Path) -> Make:
    def make(name: str, when: str, arguments: str = "", text: str = SLEEPS) -> Path:
        folder = tmp_path / "suite" / name
        folder.mkdir(parents=True)
        (folder / "main.cu").write_text(text.replace("WHEN", when))
        (folder / "Makefile").write_text(MAKEFILE.replace("ARGUMENTS", arguments))
        return folder

    return make


def quiet(line: str) -> None:
    pass


def test_numbers_are_reduced() -> None:
    """Small ones are modes and shapes; a name with digits is none."""
    given = ["./app64", "100", "-n", "7", "0", "x9", "1.5", "16", "17"]
    assert reduced(given, 8) == ["./app64", "12", "-n", "7", "0", "x9", "1.5", "16", "2"]
    assert reduced(["./a", "100"], 512) == ["./a", "1"]
    assert reduced(["./a", "15", "7", "100"], 512) == ["./a", "8", "7", "1"]
    assert reduced(["./a", "--n=6400", "-i=8", "a=x64"], 64) == ["./a", "--n=100", "-i=8", "a=x64"]


def test_a_command_in_a_folder_is_made_smaller_there(tmp_path: Path) -> None:
    command = in_folder("data", ["../a64", "6400", "in.config", "90"])
    assert reduced(command, 64, {3}) == ["env", "-C", "data", "../a64", "100", "in.config", "1"]
    assert missing_file([command], tmp_path, "") == "in.config"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in.config").write_text("rows 4096\n")
    assert missing_file([command], tmp_path, "") == ""
    assert settings_of([command], tmp_path) == [tmp_path / "data" / "in.config"]
    steps = Steps(tmp_path, "h200", 1)
    assert steps.take(in_folder("data", ["cat", "in.config"]), tmp_path, 9.0).said == "rows 4096\n"


def test_arguments_that_are_repetitions_become_one(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(
        "int n = atoi(argv[1]); const int repeat = std::stoi (argv[ 3 ]); iterations=atol(argv[4]); int mode = atoi(argv[2]);"
    )
    (tmp_path / "notes.txt").write_text("repeat = atoi(argv[1])")
    repetitions = repetitions_of(tmp_path)
    assert repetitions == {3, 4}
    given = ["./main", "8192", "2", "10", "all"]
    assert reduced(given, 8, repetitions) == ["./main", "1024", "2", "1", "all"]
    assert reduced(given, 1, repetitions) == given
    assert [way.commands for way in ways_to_run([["./a", "5", "2", "10"]], 64, repetitions)] == [
        [["./a", "5", "2", "1"]], [["./a", "5", "2", "10"]],
    ]  # fmt: skip


def test_constants_are_made_smaller_where_they_are_sizes_or_repetitions(tmp_path: Path) -> None:
    text = """#define N (1 << 20)  // elements
#define BLOCK 256
#define MASK 0xffff
#define SEED 123457
#define NAME "64000"
#define ITERATIONS 40
const size_t bytes = 64 * 1024 * 1024, more = 1;
int repeat = 100;
unsigned long long big = 100000ULL;
float x = 100000;
int y = N * 100000;
#define BLOCK_SIZE 1024
  int it_max = 1e6, n;
int width = 2048;
#define DATAXSIZE 400
#define LIMIT 400
  for (unsigned int n = 64; n <= 8192; n *= 2) for (size = 4096; size < 1<<27; size *= 2) for (int i = 0; i < 100; i++)
"""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "main.cu").write_text(text)
    (tmp_path / "notes.txt").write_text("int repeat = 100;\n")
    first, second = DEGREES
    would = shrink_sources(tmp_path, first, writes=False)
    assert (tmp_path / "below" / "main.cu").read_text() == text
    changes = shrink_sources(tmp_path, first)
    assert changes == [
        "N 1048576 -> 16384", "ITERATIONS 40 -> 1", "DATAXSIZE 400 -> 64", "bytes 67108864 -> 1048576", "repeat 100 -> 1", "big 100000 -> 1562",
        "it_max 1000000 -> 1", "width 2048 -> 64", "n 8192 -> 128", "size 134217728 -> 2097152",
    ]  # fmt: skip
    assert sorted(would) == sorted(changes)
    changed = (tmp_path / "below" / "main.cu").read_text()
    assert "#define N 16384  // elements\n#define BLOCK 256\n" in changed and "int repeat = 1;" in changed
    assert "int y = N * 100000;" in changed and "float x = 100000;" in changed
    assert (tmp_path / "notes.txt").read_text() == "int repeat = 100;\n"
    assert shrink_sources(tmp_path, second) == [
        "N 16384 -> 2048", "DATAXSIZE 64 -> 16", "LIMIT 400 -> 50", "bytes 1048576 -> 131072", "big 1562 -> 195", "width 64 -> 16", "n 128 -> 64", "size 2097152 -> 262144",
    ]  # fmt: skip


def test_defaults_become_smaller_where_their_names_say_what_they_are(tmp_path: Path) -> None:
    text = """struct Params { int n_reps, n_threads, width, best;
  Params() {
    n_reps    = 1000;
    n_threads = 1024;
    width = 4096; best = 4096;
    p->warmup = 5;
    best = 65536;
    width == 8192;
    for (iters = 2000; iters; --iters) ;
  }
};
"""
    (tmp_path / "main.cu").write_text(text)
    assert shrink_sources(tmp_path, DEGREES[0]) == ["n_reps 1000 -> 1", "width 4096 -> 64", "warmup 5 -> 1"]
    changed = (tmp_path / "main.cu").read_text()
    assert "    n_reps    = 1;\n    n_threads = 1024;\n    width = 64; best = 4096;\n    p->warmup = 1;\n" in changed
    assert "iters = 2000;" in changed and "best = 65536;" in changed


def test_loops_over_sizes_end_earlier_but_not_before_they_begin(tmp_path: Path) -> None:
    loops = """for (int size = 1024*1024; size <= 1000 * 1024 * 1024; size = size * 10) f(size);
for (long n = (1 << 20); n < 1 << 24; n *= 2) f(n);
for (int at = 0xff; at < 65536; at++) f(at);
"""
    (tmp_path / "main.cu").write_text(loops)
    assert shrink_sources(tmp_path, DEGREES[0]) == [
        "size 1048576000 -> 16384000",
        "n 16777216 -> 1048576",
        "at 65536 -> 1024",
    ]
    assert "size = 1024*1024; size <= 16384000;" in (tmp_path / "main.cu").read_text()


def test_distances_become_longer_so_that_there_are_fewer_points(tmp_path: Path) -> None:
    text = """const double interval = 1e-7, y = 1e-7;
float spacing=0.5, tolerance = 1e-6;
double const step_size = 0.00025f;
double epsilon = 1e-9;
"""
    (tmp_path / "main.cu").write_text(text)
    assert shrink_sources(tmp_path, DEGREES[0]) == ["interval 1e-07 -> 6.4e-06", "step_size 0.00025 -> 0.016"]
    changed = text.replace("interval = 1e-7", "interval = 6.4e-06").replace("0.00025f", "0.016f")
    assert (tmp_path / "main.cu").read_text() == changed


def test_a_file_of_settings_is_made_smaller(tmp_path: Path) -> None:
    (tmp_path / "at").mkdir()
    text = "ceilingVal 10000000\nnumRepeats 100\nprecisions 1 2 3000\nmode=2\nrows = 4096\n"
    for name in ("at/given.config", "outside.config", "at/other.config"):
        (tmp_path / name).write_text(text)
    (tmp_path / "at" / "picture.raw").write_bytes(b"\0\n" * 9)
    (tmp_path / "at" / "large.txt").write_text(text * 2000)
    command = ["./main", "--file=given.config", "../outside.config", "picture.raw", "large.txt", "nowhere"]
    settings = settings_of([command, ["./main", "given.config"]], tmp_path / "at")
    assert settings == [tmp_path / "at" / "given.config"]
    assert shrink_sources(tmp_path / "at", DEGREES[0], settings) == [
        "ceilingVal 10000000 -> 156250", "numRepeats 100 -> 1", "rows 4096 -> 128",
    ]  # fmt: skip
    smaller = text.replace("10000000", "156250").replace("Repeats 100", "Repeats 1").replace("4096", "128")
    assert (tmp_path / "at" / "given.config").read_text() == smaller
    assert (tmp_path / "outside.config").read_text() == (tmp_path / "at" / "other.config").read_text() == text


class Answers(Steps):
    """Steps whose answer is a function of the command."""

    def __init__(self, answer: Callable[[Sequence[str]], Step]) -> None:
        self.asked: list[tuple[list[str], float]] = []
        self._answer = answer

    def take(self, command: Sequence[str], at: Path, limit_s: float, *, on_device: bool = False) -> Step:
        self.asked.append((list(command), limit_s))
        return self._answer(command)


def late(seconds: float) -> Step:
    return Step("not at its end in time", "", seconds, is_late=True)


def test_each_try_divides_the_arguments_as_they_were_given(tmp_path: Path) -> None:
    """What the row says is what was divided by, not its product with what was tried before."""
    steps = Answers(lambda c: Step("", "PASS", 3.0) if c[1] == "1000" else late(10.0))
    ran = run_to_end([["./main", "64000"]], tmp_path, steps, 40.0)
    assert [command for command, _ in steps.asked] == [["./main", "64000"], ["./main", "8000"], ["./main", "1000"]]
    assert ran.step.ended_well and ran.size == "arguments / 64" and ran.seconds == 3.0


def test_what_fails_only_when_it_is_smaller_is_tried_smaller_still(tmp_path: Path) -> None:
    """And if nothing helps the row says what the program did as it was given."""
    steps = Answers(lambda c: late(10.0) if c[1] == "64000" else Step("exit code 1", "", 0.1))
    ran = run_to_end([["./main", "64000"]], tmp_path, steps, 40.0)
    assert len(steps.asked) == 4 and ran.step.is_late and ran.size == ""
    assert ran.step.cause == "not at its end in time; when made smaller: exit code 1"
    assert steps.asked[-1][1] == pytest.approx(29.8)  # the last may take what is left


def test_who_begins_smaller_comes_to_the_arguments_as_they_are_last(tmp_path: Path) -> None:
    assert [way.size for way in ways_to_run([["./a", "100000", "8"]], 64)] == [
        "arguments / 64", "arguments / 512", "arguments / 8", "",
    ]  # fmt: skip
    assert [way.size for way in ways_to_run([["./a", "100000"]], 20)][3:] == ["arguments / 2", ""]
    assert ways_to_run([["./a", "8"]], 64) == [Way(64, "", [["./a", "8"]])]
    steps = Answers(lambda c: Step("exit code 1", "", 0.1) if c[1] != "64000" else Step("", "PASS", 1.0))
    ran = run_to_end([["./main", "64000"]], tmp_path, steps, 40.0, first_divisor=64)
    assert len(steps.asked) == 4 and ran.step.ended_well and ran.size == ""


def test_what_is_late_is_not_tried_larger_and_leaves_time_for_its_source(tmp_path: Path) -> None:
    asked: list[str] = []
    steps = Answers(lambda c: late(10.0) if not asked else Step("", "PASS", 2.0))
    ran = run_to_end([["./main", "64000"]], tmp_path, steps, 40.0, [lambda: asked.append("") or "N 9 -> 1"], 64)  # type: ignore[func-returns-value]
    assert [command[1] for command, _ in steps.asked] == ["1000", "125", "125"]
    assert ran.size == "arguments / 512, N 9 -> 1" and steps.asked[-1][1] == pytest.approx(20.0)


def test_the_source_is_made_smaller_by_degrees(tmp_path: Path) -> None:
    """The row says both; the second has the time that the first leaves, and what stopped it there is what is said."""
    made: list[str] = []

    def degree(said: str) -> Callable[[], str]:
        return lambda: made.append(said) or said  # type: ignore[func-returns-value]

    degrees = [degree("N 9000 -> 140"), degree("N 140 -> 32")]
    steps = Answers(lambda c: Step("", "PASS", 2.0) if len(made) == 2 else late(10.0))
    ran = run_to_end([["./main"]], tmp_path, steps, 40.0, degrees)
    assert ran.step.ended_well and ran.size == "N 9000 -> 140, N 140 -> 32"
    assert [limit for _, limit in steps.asked] == [pytest.approx(10.0), pytest.approx(15.0), pytest.approx(20.0)]
    steps = Answers(lambda c: late(10.0) if len(steps.asked) < 3 else Step("exit code 1", "", 0.1))
    ran = run_to_end([["./main"]], tmp_path, steps, 40.0, degrees)
    assert ran.step.cause == "not at its end in time; when made smaller: exit code 1" and ran.size == ""


def test_a_failure_as_given_is_one_unless_memory_was_short(tmp_path: Path) -> None:
    steps = Answers(lambda c: Step("exit code 1", "no", 0.1))
    assert run_to_end([["./main", "64000"]], tmp_path, steps, 40.0).step.cause == "exit code 1"
    assert len(steps.asked) == 1
    steps = Answers(lambda c: Step("exit code 1", "out of memory", 0.1) if c[1] == "64000" else Step("", "", 0.1))
    assert run_to_end([["./main", "64000"]], tmp_path, steps, 40.0).size == "arguments / 8"


def test_files_that_are_missed(tmp_path: Path) -> None:
    (tmp_path / "there.txt").write_text("")
    for words, said, missing in (
        (["./main", "../data/graph.mtx"], "", "../data/graph.mtx"),
        (["./main", "--in=a/b"], "", "a/b"),
        (["./main", "there.txt", "1.5", "8", "out.txt", "-v"], "", ""),
        (["./main"], "Error: cannot open input file x\n", "Error: cannot open input file"),
        (["./main"], "could not open 'lena.pgm'", "could not open 'lena.pgm'"),
        (["./main"], "fopen: No such file or directory", "No such file"),
        (["./main"], "wrong result", ""),
    ):
        assert missing_file([words], tmp_path, said) == missing, (words, said)


def test_rows_of_programs_that_end_fail_hang_shrink_and_want_data(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "_checked", lambda *_: {"checked": "clean"})
    monkeypatch.setattr(steps, "IDLE_S", 5.0)
    project("ends", "0")
    project("fails", "0", text=SLEEPS.replace("return cuda", "return 3; return cuda"))
    project("hangs", "1")
    project("smaller", "atoi(argv[1]) > 100", "6400")
    project("source", "repeat > 100 || SIZE > 20000")
    project("wants", "0", "../data/graph.mtx", SLEEPS.replace("return cuda", "return 1; return cuda"))
    said: list[str] = []
    place = project("broken", "nonsense").parent
    result = measure_folders([place], said.append, Manner(limit_s=20.0, jobs=2, shrinks=True))
    rows = {row["program"]: row for row in result.rows}
    assert {name: row["ran"] for name, row in rows.items()} == {
        "broken": "", "ends": "yes", "fails": "no", "hangs": "no", "smaller": "yes, arguments / 64",
        "source": "yes, SIZE 1048576 -> 16384, repeat 500 -> 1", "wants": "needs data",
    }  # fmt: skip
    assert rows["broken"]["built"] == "no" and rows["broken"]["stopped at"] == "build"
    assert rows["fails"]["cause"] == "exit code 3: PASS" and rows["hangs"]["cause"] == "waits for what does not come"
    assert rows["wants"]["cause"] == "../data/graph.mtx" and rows["ends"]["says"] == "PASS"
    assert "6 of 7 build (86 %)" in result.notes
    assert (
        "3 of 5 run to their end within 20 s of processor time (60 %), 2 of them made smaller; 1 more need data that is not there"
        in (result.notes)
    )
    assert said[-1].startswith("7 of 7: ")
    assert not list(place.glob("*/main"))


def test_an_interrupted_run_goes_on_where_it_was(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rows there are; without a file named, they lie in the cache until all is done."""
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    place = project("a", "0").parent
    project("b", "0")
    asked: list[str] = []

    def row(project: Project, *_: object) -> dict[str, object]:
        asked.append(project.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return {
            "program": project.name,
            "built": "yes",
            "ran": "yes",
            "checked": "",
            "says": "",
            "stopped at": "",
            "cause": "",
        }

    monkeypatch.setattr(measure, "_row", row)
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        measure_folders([place], said.append)
    (kept,) = (tmp_path / "cache").rglob("programs-*.jsonl")
    assert "goes on from" in said[-1] and json.loads(kept.read_text())["program"] == asked[0]
    kept.write_text(kept.read_text() + '{"program": "b", "bu')  # killed while it wrote
    result = measure_folders([place], said.append)
    assert asked == ["a", "b", "b"] and [r["program"] for r in result.rows] == ["a", "b"]
    assert not kept.exists()


def test_named_rows_are_kept_and_say_of_which_state_they_are(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = project("a", "0").parent
    kept = tmp_path / "rows" / "all.jsonl"
    manner = Manner(is_quick=True, rows=kept)
    assert measure_folders([place], quiet, manner).rows[0]["built"] == "yes"
    monkeypatch.setattr(measure, "_row", lambda *_: pytest.fail("measured again"))
    assert measure_folders([place], quiet, manner).notes == ["1 of 1 build (100 %)"]
    kept.write_text(kept.read_text().replace('"state": "', '"state": "older'))
    assert measure_folders([place], quiet, manner).notes[-1] == "1 of the rows are of another state of Kernelwright"


def test_steps_end_what_they_started_when_they_are_stopped(tmp_path: Path) -> None:
    steps = Steps(tmp_path, "h200", 1)
    threading.Timer(0.3, steps.stop).start()
    begun = time.monotonic()
    with pytest.raises(Stopped):
        steps.take(["sleep", "60"], tmp_path, 50.0)
    assert time.monotonic() - begun < 20
    with pytest.raises(Stopped):
        steps.take(["true"], tmp_path, 50.0)


def test_a_late_step_ends_with_its_children(tmp_path: Path) -> None:
    loop = "while :; do :; done"
    begun = time.monotonic()
    step = Steps(tmp_path, "h200", 1).take(["sh", "-c", f"(sleep 5; touch after) & {loop}"], tmp_path, 0.3)
    assert step.is_late and 0.3 <= step.seconds < 2 and time.monotonic() - begun < 4
    time.sleep(5.5)
    assert not (tmp_path / "after").exists()


def test_what_a_killed_step_leaves_lies_with_the_tools(tmp_path: Path) -> None:
    steps, writes = (
        Steps(tmp_path / "tools", "h200", 1),
        "import tempfile; tempfile.mkdtemp(); print(tempfile.gettempdir())",
    )
    assert steps.take([sys.executable, "-c", f"{writes}\nwhile 1: pass"], tmp_path, 0.3).is_late
    (kept,) = (tmp_path / "tools").iterdir()
    assert (
        steps.take([sys.executable, "-c", writes], tmp_path, 9.0).said == f"{kept}\n" and len(list(kept.iterdir())) == 2
    )


def test_time_is_that_of_the_processor_and_waiting_for_nothing_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(tmp_path, "h200", 1)
    assert steps.take(["sleep", "1"], tmp_path, 0.5).ended_well
    spends = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while 1: pass'])"
    assert steps.take([sys.executable, "-c", spends], tmp_path, 0.5).cause == "not at its end in time"
    monkeypatch.setattr("kernelwright.bench.programs.steps.IDLE_S", 0.5)
    assert steps.take(["sleep", "60"], tmp_path, 50.0).cause == "waits for what does not come"


def test_what_gets_no_processor_does_not_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It uses none, and would: on a busy machine whole builds were taken for programs that hang."""
    monkeypatch.setattr("kernelwright.bench.programs.steps.IDLE_S", 0.5)
    monkeypatch.setattr("kernelwright.bench.programs.steps.IDLE_CPU_S", 1e6)
    spinning = Steps(tmp_path, "h200", 1)
    assert spinning.take(["sh", "-c", "while :; do :; done"], tmp_path, 1.5).cause == "not at its end in time"
    assert spinning.take(["sleep", "60"], tmp_path, 50.0).cause == "waits for what does not come"


def test_the_command_refuses_what_makes_no_sense(kw: Kw, project: Make) -> None:  # noqa: F811
    for words, said in (
        (["ir", "--sample", "3"], "--sample is for programs of a folder"),
        (["programs", "--jobs", "2"], "--jobs is for programs of a folder"),
        (["programs", "x.cu", "--headers", "theirs"], "--headers theirs"),
        (["programs", "x.cu", "--sample", "0"], "--sample"),
        (["programs", str(project("a", "0")), "--rows", "/dev/null/rows"], "/dev/null/rows cannot be used"),
    ):
        done = kw("bench", *words)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
