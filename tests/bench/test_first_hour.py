"""The first hour: which commands of README and docs are followed, what is seen of a command from the outside, and what is promised."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernelwright.bench.first_hour import measure as room
from kernelwright.bench.first_hour.measure import ROUNDS, Followed, measure
from kernelwright.bench.first_hour.shown_commands import BEGIN, README, TUTORIAL, Shown, followed, pages
from kernelwright.bench.first_hour.watched import Said, Watched, watched
from kernelwright.bench.result import Measured
from kernelwright.errors import Misuse

ROOT = Path(__file__).parents[2]


def test_the_tutorial_is_followed_from_its_first_command_on() -> None:
    found = followed(ROOT, BEGIN)
    assert {each.page for each in found} == {TUTORIAL}
    assert str(found[0]) == "kw run examples/smooth.cu -- 512 32"
    assert {each.words[0] for each in found} >= {"run", "check", "profile", "evolve", "explain"}
    assert str(found[-1]) == "kw run examples/smooth.cu --with smooth-1 -- 512 32"


def test_the_pages_are_those_that_readme_links_to() -> None:
    assert pages(ROOT)[:2] == [README, TUTORIAL] and {"docs/evolve.md", "docs/breed.md", "docs/gpu.md"} <= set(
        pages(ROOT)
    )
    every = followed(ROOT)
    assert len({each.words for each in every}) == len(every) > 20
    words = [each.words for each in every]
    assert ("show", "median-1") in words and ("doctor",) in words and ("breed", "--resume", "kw-runs/median-1") in words


def test_only_what_can_be_typed_as_it_stands_is_followed(tmp_path: Path) -> None:
    (tmp_path / "here.cu").touch()
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "[more](docs/more.md), [none](docs/none.md), [code](CONTRIBUTING.md)\n\n"
        "    kw evolve here.cu -- 5      # a remark\n"
        "    kw explain here-1\n"
        "    kw explain there-1\n"
        "    kw run there.cu\n"
        "    kw run here.cu -- ARGUMENTS\n"
        "    kw export RUN\n"
        "    kw bench pool\n"
        "    kw tune -o here.tuning\n"
    )
    (tmp_path / "docs" / "more.md").write_text(
        "    kw explain here-1           again\n"
        "    kw runs; kw show here-1     two of them\n"
        "    kw run 'here.cu\n"
        "text: kw doctor\n"
    )
    assert list(map(str, followed(tmp_path))) == [
        "kw evolve here.cu -- 5", "kw explain here-1", "kw runs", "kw show here-1"
    ]  # fmt: skip
    assert [each.page for each in followed(tmp_path)] == ["README.md"] * 2 + ["docs/more.md"] * 2


def test_without_a_checkout_there_is_nothing_to_follow(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"there is no README\.md") as caught:
        followed(tmp_path)
    assert "checkout" in str(caught.value.hint)


def run(script: str, tmp_path: Path, terminal: bool = False, limit_s: float = 60.0) -> Watched:
    return watched([sys.executable, "-c", script], tmp_path, {"PATH": ""}, terminal=terminal, limit_s=limit_s)


@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_command_says_and_when(tmp_path: Path, terminal: bool) -> None:
    script = (
        "import sys, time\nprint('begin', flush=True)\ntime.sleep(0.6)\n"
        "print('tty' if sys.stdout.isatty() else 'pipe', file=sys.stderr)\nraise SystemExit(4)"
    )
    found = run(script, tmp_path, terminal)
    assert found.text.split() == ["begin", "tty" if terminal else "pipe"]
    assert (found.exit_code, found.interrupted) == (4, False)
    end = found.until(b"pipe|tty")
    assert end is not None and found.until(b"nothing") is None
    assert end.at_s - found.first.at_s > 0.5 and found.silence.seconds > 0.5
    assert found.first.at_s <= end.at_s <= found.end.at_s and found.first.cpu_s <= end.cpu_s <= found.end.cpu_s


def test_a_silence_before_the_first_word_counts(tmp_path: Path) -> None:
    found = run("import time\ntime.sleep(0.7)\nprint('late')", tmp_path)
    assert found.silence.begin_s == 0 and found.silence.seconds == found.first.at_s > 0.6
    nothing = run("import time\ntime.sleep(0.3)", tmp_path)
    assert nothing.first == nothing.end and nothing.silence.seconds == nothing.end.at_s > 0.2


def test_processor_time_is_that_of_all_its_processes(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\n"
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])\n{busy}print('done', flush=True)\ninput()"
    found = run(script, tmp_path)
    assert found.first.cpu_s > 0.5 and found.end.cpu_s >= found.first.cpu_s


def test_a_command_that_goes_on_gets_a_ctrl_c(tmp_path: Path) -> None:
    script = "import time\nprint('begin', flush=True)\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    raise SystemExit(130)"
    found = run(script, tmp_path, limit_s=2.0)
    assert (found.exit_code, found.interrupted) == (130, True)


# -- promises ------------------------------------------------------------------------------------------------------------


def seen(
    words: str, *said: tuple[float, float, str], code: int = 0, others: float = 0.0, terminal: bool = True
) -> Followed:
    moments = tuple(Said(at, cpu, text.encode()) for at, cpu, text in said)
    end = Said(said[-1][0] + 0.1, said[-1][1], b"")
    shown = Shown(README, tuple(words.split()))
    return Followed(ROUNDS[0 if terminal else 2], shown, Watched(moments, end, code, False, others))


def promised(*rows: Followed) -> dict[str, bool | None]:
    result = Measured("first-hour")
    room._promised(result, rows)
    return {name.removeprefix("first-hour: "): holds for name, holds in promises(result) if room.PROCESSOR not in name}


def promises(result: Measured) -> list[tuple[str, bool | None]]:
    return [(each.name, each.holds) for each in result.promises]


FIRST = "seconds from the first kw run to its first output"
CANDIDATE = "seconds until kw evolve shows its first candidate"
SILENT = "seconds of the longest silence in a terminal"
PIPE = "seconds of the longest silence through a pipe"
GOOD = (
    seen("run a.cu", (1.0, 1.0, "x")),
    seen("evolve a.cu", (1.0, 1.0, "candidates 0"), (2.5, 2.0, "candidates 1 of 9")),
    seen("run a.cu", (1.5, 1.0, "x"), code=1, terminal=False),
)


def test_promises_that_hold() -> None:
    assert set(promised(*GOOD).values()) == {True}


def test_promises_that_do_not() -> None:
    late = seen("run a.cu", (5.5, 5.5, "x"))
    assert promised(late, *GOOD) == {**promised(*GOOD), FIRST: False, SILENT: False}
    slow = seen(
        "evolve a.cu", *((n * 1.0, n * 1.0, "candidates 0") for n in range(1, 12)), (11.5, 11.5, "candidates 1")
    )
    assert promised(*GOOD, slow) == {**promised(*GOOD), CANDIDATE: False}
    quiet = seen("run a.cu", (1.0, 1.0, "x"), (3.5, 3.5, "y"), terminal=False)
    assert promised(*GOOD, quiet) == {**promised(*GOOD), PIPE: False}
    failing = seen("doctor", (1.0, 1.0, "x"), code=2)
    assert promised(*GOOD, failing) == {**promised(*GOOD), "commands that fail": False}


def test_what_others_have_held_up_is_not_measured() -> None:
    held_up = seen("run a.cu", (1.0, 1.0, "x"), (4.0, 1.5, "y"), others=0.5)
    assert promised(*GOOD, held_up)[SILENT] is None
    alone = seen("run a.cu", (1.0, 1.0, "x"), (4.0, 1.5, "y"), others=0.1)
    assert promised(*GOOD, alone)[SILENT] is False
    own = seen("run a.cu", (1.0, 1.0, "x"), (4.0, 4.0, "y"), others=0.5)
    assert promised(*GOOD, held_up, own)[SILENT] is False


def test_processor_time_is_promised_apart_where_others_disturb() -> None:
    result = Measured("first-hour")
    room._promised(result, [*GOOD, seen("check a.cu", (1.0, 0.5, "x"), (9.0, 2.0, "y"), others=0.9)])
    found = {each.name: each.value for each in result.promises if room.PROCESSOR in each.name}
    assert list(found.values()) == [1.0, 2.0, 1.5] and all(
        holds for name, holds in promises(result) if room.PROCESSOR in name
    )
    assert [name for name, holds in promises(result) if holds is None] == [f"first-hour: {SILENT}"]
    result = Measured("first-hour")
    room._promised(result, GOOD)
    assert not any(room.PROCESSOR in each.name for each in result.promises)
    result = Measured("first-hour")
    room._promised(result, [*GOOD, seen("check a.cu", (1.0, 0.5, "x"), (9.0, 2.9, "y"), others=0.9)])
    assert [name for name, holds in promises(result) if holds is False] == [
        f"first-hour: {SILENT}", f"first-hour: {room.PROCESSOR} in the longest silence of a command"
    ]  # fmt: skip


def test_a_command_that_ends_as_it_is_interrupted_has_not_failed() -> None:
    one = seen("breed a.py", (1.0, 1.0, "x"), code=1)
    interrupted = Followed(one.round, one.shown, Watched(one.watched.said, one.watched.end, 1, True, 0.0))
    assert not one.fails and not interrupted.fails
    assert Followed(one.round, one.shown, Watched(one.watched.said, one.watched.end, 2, True, 0.0)).fails


@pytest.mark.slow
def test_readme_can_be_followed_by_somebody_new() -> None:
    found = measure(True, lambda line: None)
    commands = followed(ROOT, BEGIN)
    assert [row["command"] for row in found.rows] == [*map(str, commands)] * 2
    assert all(row["exit code"] in ("0", "1") for row in found.rows), found.notes
    assert all(each.holds for each in found.promises if "fail" in each.name)
