"""``kw tune`` on bad input: what cannot be told apart, what is called the same, whose file is whose, and what is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import kernelwright
from kernelwright.cli.commands.tune.command import command
from kernelwright.cli.commands.tune.subjects import same_names, threshold_path
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.journal_file import WriterLock
from kernelwright.versions.guard_names import guards_of_command, guards_of_listing, guards_of_source, source_guards
from kernelwright.versions.running.python_runner import run
from kernelwright.versions.running.runner_commands import python_guards

PROGRAM = """
import os, random, sys, time
given = dict(line.split("=") for line in open(os.environ["KW_THRESHOLDS"]).read().split())
rows, _, how = sys.argv[1].partition("-")
def guard(name, value):
    taken = value >= int(given.get(name, 2**63 - 1))
    print(f"Compared {name} <= {value}: {str(taken).lower()}.", file=sys.stderr)
    return taken
took = 100 if guard("rows", int(rows)) else 150 if guard("elements", int(rows) * 10) else 120
if took == 100 and how == "fails":
    os.abort()
if took == 120 and how == "only":
    os.abort()
if took == 150 and how == "hangs" and not os.path.exists("hangs"):
    open("hangs", "w").close()
    time.sleep(60)
print("result", rows)
print(f"Took {took * random.Random(os.getpid()).choice((1, 20)) if how == 'noise' else took} us.", file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go to ``kw-runs`` there."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)


EXECUTE = f"{sys.executable} program.py {{data}}"


@pytest.mark.parametrize(
    ("execute", "file"),
    [
        ("./app {data}", "app.tuning"),
        ("app {data}", "app.tuning"),
        ("LEVEL=3 bin/app.v2 {data}", "bin/app.v2.tuning"),
        (EXECUTE, "program.tuning"),
        ("/usr/bin/env python3.11 -u program.py {data}", "program.tuning"),
        ("nice -n 5 python3 ./program.py {data}", "program.tuning"),
    ],
)
def test_thresholds_go_beside_the_program(execute: str, file: str) -> None:
    assert threshold_path(execute, None, None) == Path(file)


@pytest.mark.parametrize("execute", ["bash -c 'app {data}'", "python3 -m app {data}", "cd there && ./app {data}"])
def test_a_command_whose_program_nobody_can_tell_needs_a_file(execute: str) -> None:
    with pytest.raises(Misuse, match=r"which program .* cannot be told") as caught:
        threshold_path(execute, None, None)
    assert "-o app.tuning" in caught.value.hint
    assert threshold_path(execute, None, Path("x.tuning")) == Path("x.tuning")


def test_times_that_are_noise_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    command(None, EXECUTE, ["4-noise"], runs=4)
    printed = capsys.readouterr().out
    assert "times are noise: differences of up to" in printed and "kw tune --runs" in printed
    command(None, EXECUTE, ["4-noise"], fresh=True, runs=4, as_json_=True)
    assert json.loads(capsys.readouterr().out)["datasets"][0]["unresolved"] > 0.02
    command(None, EXECUTE, ["4"], Path("other"), runs=4)
    assert "noise" not in capsys.readouterr().out


def test_a_program_that_compares_nothing_may_compare_something_later(capsys: pytest.CaptureFixture[str]) -> None:
    """What it did not say is not taken over: a flag of its own, or a variable, may have it say so the next time."""
    asks = PROGRAM.replace('    print(f"Compared', "    if os.path.exists('tell'): print(f\"Compared")
    assert asks != PROGRAM
    Path("quiet.py").write_text(asks)
    quiet = f"{sys.executable} quiet.py {{data}}"
    with pytest.raises(Misuse, match="the program compares nothing"):
        command(None, quiet, ["4"], runs=1)
    Path("tell").touch()
    command(None, quiet, ["4"], runs=1)
    assert "4: 100 us tuned" in capsys.readouterr().out


def test_programs_are_asked_to_say_what_they_compare(capsys: pytest.CaptureFixture[str]) -> None:
    """As those with ``kernelwright_threshold.h`` are, by a variable."""
    Path("asked.py").write_text(
        PROGRAM.replace('    print(f"Compared', "    if 'KW_TUNING' in os.environ: print(f\"Compared")
    )
    command(None, f"{sys.executable} asked.py {{data}}", ["4"], runs=1)
    assert "4: 100 us tuned" in capsys.readouterr().out


def test_names_with_blanks_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The program seems to compare nothing, and it is said which line was not read."""
    Path("blank.py").write_text(PROGRAM.replace("Compared {name}", "Compared my {name}"))
    with pytest.raises(Misuse, match="the program compares nothing"):
        command(None, f"{sys.executable} blank.py {{data}}", ["4"], runs=1)
    said = capsys.readouterr().err
    assert said.count("cannot be read") == 1 and "4: it printed 'Compared my rows <= 4: false.', which cannot" in said


CLOCK = f"{sys.executable} clock.py {{data}} {{times}}"


@pytest.mark.parametrize(("untuned", "tuned", "share"), [("0", "0", "1"), ("0.001", "0", "inf")])
def test_a_time_of_zero_is_one(untuned: str, tuned: str, share: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As a clock of whole microseconds shows it: for all versions, or for the best of them."""
    took = f'print(f"Took {{{tuned} if took == 100 else {untuned}}} us.", file=sys.stderr)\n'
    Path("clock.py").write_text(PROGRAM.rpartition("print(f")[0] + took)
    command(None, CLOCK, ["4", "5", "6"], runs=1)
    assert f"4: {tuned} us tuned, {share} times as fast as untuned" in capsys.readouterr().out
    command(None, CLOCK, ["4"], runs=1, as_json_=True)
    dataset = json.loads(capsys.readouterr().out)["datasets"][0]
    assert (dataset["untuned_us"], dataset["tuned_us"]) == (float(untuned), 0)
    command(explain=True, output=Path("clock.tuning"), plot=Path("left.svg"))
    assert Path("left.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("time", ["nan", "-3", "12us", "inf"])
def test_what_is_no_time_counts_as_a_failure(time: str, capsys: pytest.CaptureFixture[str]) -> None:
    times = f"if took == 100: open(sys.argv[2], 'w').write('5 {time}')\n"
    Path("clock.py").write_text(PROGRAM + times)
    command(None, CLOCK, ["4"], runs=1)
    printed = capsys.readouterr().out
    assert f"among its times stands {time!r}, which is no number of microseconds" in printed
    assert "4: 120 us tuned" in printed


def test_a_dataset_that_always_fails_is_told_with_what_leaves_it_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.py").write_text(PROGRAM.replace("took == 100 and how", "how"))
    command(None, f"{sys.executable} other.py {{data}}", ["4", "4-fails"], runs=1)
    assert "4-fails: fails in every version; leave it out with --forget 4-fails" in capsys.readouterr().out
    command(None, f"{sys.executable} other.py {{data}}", ["4"], runs=1, forget=["4-fails"])
    assert "4-fails" not in capsys.readouterr().out


def test_a_threshold_file_that_cannot_be_read_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("program.tuning").write_text("rows=99999999999999999999\n")
    for fresh in (False, True):
        with pytest.raises(Misuse, match="is no number of 64 bits"):
            command(None, EXECUTE, ["4"], fresh=fresh)
    assert "run first" not in capsys.readouterr().err
    assert Path("program.tuning").read_text() == "rows=99999999999999999999\n"


def test_a_folder_that_is_not_there_is_refused_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Misuse, match=r"there is no folder nowhere for app\.tuning"):
        command(None, EXECUTE, ["4"], Path("nowhere/app.tuning"))
    Path("program.tuning").write_text("-- thresholds of another\n-- on here\nrows=4\n")
    with pytest.raises(Misuse, match="holds thresholds of another program: another"):
        command(None, EXECUTE, ["4"])
    assert "run first" not in capsys.readouterr().err and not Path("kw-runs").exists()


def test_a_mistyped_command_leaves_nothing_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Misuse, match="no dataset runs in any version"):
        command(None, EXECUTE.replace("program", "programm"), ["4"], Path("app.tuning"), runs=1)
    for fresh in (False, True):
        command(None, EXECUTE, ["4"], Path("app.tuning"), runs=1, fresh=fresh)
    with pytest.raises(Misuse, match="holds thresholds of another program"):
        command(None, EXECUTE.replace("program", "programm"), ["4"], Path("app.tuning"), runs=1)


@pytest.mark.parametrize(
    ("given", "execute", "oracle", "said"),
    [
        (["there.py"], "", "", r"there\.py does not exist"),
        (["folder.py"], "", "", r"folder\.py is a folder"),
        (None, EXECUTE, "{data}.right", r"there is no oracle 4\.right for dataset 4"),
    ],
)
def test_what_is_not_there_is_told_before_anything_runs(
    given: list[str] | None, execute: str, oracle: str, said: str
) -> None:
    Path("folder.py").mkdir()
    with pytest.raises(Misuse, match=said):
        command(given, execute, ["4"], Path("app.tuning"), oracle=oracle)
    assert not Path("kw-runs").exists() and not list(Path().glob("app.tuning*"))


GUARDED = 'int main(int c, char **v) { return KW_THRESHOLD("rows", c) ? 0 : KW_THRESHOLD_IF( "elements", c, 1); }'
PYTHON = "import kernelwright as kw\nf = kw.versions('f', [len, sum], by=[('len(x)', '>=')], sizes=len)\n"


@pytest.mark.parametrize(
    ("given", "execute", "file", "text"),
    [
        (None, EXECUTE, "program.tuning", ""),
        (["app.cu"], "", "app.tuning", f'#include <kernelwright_threshold.h>\n#include "more.h"\n{GUARDED}'),
        (["f.py"], "", "f.tuning", PYTHON),
    ],
)
@pytest.mark.parametrize("line", ["rowz=3", "row=4"])
def test_thresholds_of_no_guard_are_refused_before_anything_runs(
    given: list[str] | None, execute: str, file: str, text: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more.h").touch()
    if given:
        Path(given[0]).write_text(text)
    Path(file).write_text(line)
    with pytest.raises(Misuse, match=rf"{file} has a threshold '{line[:-2]}', and the program has no such guard"):
        command(given, execute, ["4"], device="a100" if file == "app.tuning" else "")
    assert "run first" not in capsys.readouterr().err and Path(file).read_text() == line


def test_a_declared_guard_that_the_program_does_not_name_gets_no_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    """It would be refused in the next tuning, as a threshold of no guard."""
    Path("forest.json").write_text('{"guards": ["rows", "rowz", "elements"], "edges": [["rows", "elements", false]]}')
    command(None, EXECUTE, ["4"], runs=1, forest=Path("forest.json"))
    printed = capsys.readouterr()
    assert (
        "guard rowz was never reached" in printed.out and "names no guard 'rowz': it gets no threshold" in printed.err
    )
    assert "rowz" not in Path("program.tuning").read_text() and "elements" in Path("program.tuning").read_text()
    command(None, EXECUTE, ["5"], runs=1)


def test_which_guards_a_program_has_is_told_without_running_it() -> None:
    Path("app.cu").write_text(GUARDED + '\n#include "more.h"')
    Path("more.h").write_text('#include "app.cu"\nstatic int n() { return KW_THRESHOLD("more", 4); }')
    has = guards_of_source(Path("app.cu"), ["app-1:v2/smooth"])
    assert [has(name) for name in ("rows", "elements", "more", "app-1:v2/smooth", "else")] == [True] * 4 + [False]
    Path("more.h").write_text('/* KW_THRESHOLD("not", 1) */ static int n() { return KW_THRESHOLD("more", 4); }')
    assert source_guards(Path("app.cu")) == ("more", "rows", "elements")
    Path("more.h").write_text("#define GUARD(n, v) KW_THRESHOLD(#n, v)\n")
    assert [guards_of_source(Path("app.cu"))(name) for name in ("rows", "else")] == [True, None]
    Path("f.py").write_text(PYTHON)
    listed = guards_of_listing(python_guards(Path("f.py")))
    assert [listed(name) for name in ("f.len(x)", "f.len(y)")] == [True, False]
    Path("f.py").write_text("raise SystemExit(3)")
    assert guards_of_listing(python_guards(Path("f.py")))("f.len(x)") is None
    said = guards_of_command(EXECUTE.split())
    assert [said(name) for name in ("rows", "element", "elements")] == [True, False, True]
    assert guards_of_command(["sh", "-c", "python3 program.py {data}"])("rows") is None


@pytest.mark.parametrize(
    ("datasets", "more", "said"),
    [
        (["4", "4"], {}, "dataset 4 is given twice"),
        ([], {}, "there is no dataset to tune for"),
        (["4"], {"forget": ["5"]}, "has no dataset 5"),
        (["4"], {"execute": "'program.py {data}"}, "is no shell command: No closing quotation"),
    ],
)
def test_what_is_asked_for_is_refused_before_a_run_is_begun(
    datasets: list[str], more: dict[str, object], said: str
) -> None:
    with pytest.raises(Misuse, match=said):
        command(None, **{"execute": EXECUTE, "data": datasets, "runs": 1, **more})  # type: ignore[arg-type]
    assert not Path("kw-runs").exists()


def test_two_at_once_lose_nothing_of_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The second one is refused, and says who writes; the file has all datasets of the first."""
    command(None, EXECUTE, ["4", "8"], runs=1)
    lock = WriterLock(Path("program.tuning.json"))
    with pytest.raises(Misuse, match=r"program\.tuning\.json is being written by this process"):
        command(None, EXECUTE, ["16"], runs=1)
    lock.release()
    command(None, EXECUTE, ["16"], runs=1, as_json_=True)
    assert [d["name"] for d in json.loads(capsys.readouterr().out.splitlines()[-1])["datasets"]] == ["4", "8", "16"]
    assert not list(Path().glob("*.lock"))


@pytest.mark.parametrize(
    ("crash", "datasets", "says"),
    [
        # Of two datasets the one is best with the version with which the other fails; both run with another.
        (
            ("took == 100 and", "took != 150 and"),
            ["8", "9-fails"],
            ("8: 150 us tuned", "9-fails: 150 us tuned; untuned it fails", "thresholds cost 8 50.0 % of its best time"),
        ),
        # The one needs the version with which the other fails, and no threshold tells them apart.
        (
            ("took == 120 and", "took != 100 and"),
            ["8-only", "9-fails"],
            (
                "9-fails: fails with these thresholds",
                "the thresholds let 9-fails fail",
                "whatever the thresholds, a dataset fails: with these 9-fails",
            ),
        ),
    ],
)
def test_no_dataset_is_let_fail_that_need_not(
    crash: tuple[str, str], datasets: list[str], says: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.py").write_text(PROGRAM.replace(*crash))
    with pytest.raises(typer.Exit) as ended:
        command(None, f"{sys.executable} other.py {{data}}", datasets, runs=1)
    printed = capsys.readouterr().out
    assert ended.value.exit_code == 1 and all(each in printed for each in says)


def test_a_guard_that_no_dataset_meets_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    forest = Path("forest.json")
    forest.write_text(json.dumps({"guards": ["rows", "elements", "unmet"], "edges": [["rows", "elements", False]]}))
    command(None, EXECUTE, ["4"], forest=forest, runs=1)
    assert "guard unmet was never reached" in capsys.readouterr().out


@pytest.mark.slow
def test_a_guard_in_the_source_that_no_dataset_meets_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to declare it."""
    Path("app.cu").write_text(
        PROCESSES.replace("    while (wait", '    if (n < 0 && KW_THRESHOLD("unmet", n)) return 3;\n    while (wait')
    )
    command(["app.cu"], data=["1000 1"], device="a100")
    printed = capsys.readouterr().out
    assert "guard unmet was never reached" in printed and printed.count("never reached") == 1
    assert "unmet" not in Path("app.tuning").read_text()


def test_guards_of_one_name_are_told(tmp_path: Path) -> None:
    source = Path("app.cu")
    source.write_text(
        'if (KW_THRESHOLD("a", n)) f();\n// KW_THRESHOLD("b", n)\nKW_THRESHOLD_IF( "a", m, 1);\nKW_THRESHOLD("b", 1)'
    )
    (said,) = same_names(source)
    assert "app.cu has 2 guards called 'a', in lines 1, 3: they share one threshold" in said
    two = "import kernelwright as kw\nf = kw.versions('f', [len, sum], by=[('x', '>=')], sizes=len)\n"
    Path("two.py").write_text(f"{two}g = {two.splitlines()[1][4:]}\nsame = g\ndef program(x): return f(x)\n")
    with pytest.raises(Misuse, match=r"two kw\.versions called 'f'"):
        run(Path("two.py"), "1", tmp_path / "outputs.npz")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_says_how_to_go_on(how: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    """While a version hangs."""
    words = ["tune", "--exec", f"exec {EXECUTE}", "--data", "4-hangs", "--runs", "1", "-o", "program.tuning"]
    environment = {**os.environ, "PYTHONPATH": str(Path(kernelwright.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "kernelwright", *words], env=environment, text=True, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "no guard taken" in line)
        while not Path("hangs").exists():
            pass
        process.send_signal(how)
        said = process.stderr.read()
    assert process.returncode == 128 + how and "go on with: kw tune --resume kw-runs/program-1" in said
    assert not Path("program.tuning").exists() and "Traceback" not in said
    command(resume="program-1", as_json_=True)
    (dataset,) = json.loads(capsys.readouterr().out)["datasets"]
    assert dataset["tuned_us"] == 100 and not dataset["failures"]


PROCESSES = """
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <sys/wait.h>
#include <kernelwright_threshold.h>
__global__ void wide(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += i; }
__global__ void narrow(float *a, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] += i; }
int main(int argc, char **argv) {
    int n = atoi(argv[1]), processes = atoi(argv[2]), status = 0, failed = 0;
    for (int p = 0; p < processes; p++)
        if (fork() == 0) {
            float *a, last;
            cudaMalloc(&a, sizeof(float) * n);
            cudaMemset(a, 0, sizeof(float) * n);
            if (KW_THRESHOLD("elements", n)) wide<<<(n + 127) / 128, 128>>>(a, n);
            else narrow<<<1, 128>>>(a, n);
            cudaMemcpy(&last, a + n - 1, sizeof last, cudaMemcpyDeviceToHost);
            _exit(last != n - 1);
        }
    while (wait(&status) > 0) failed |= status;
    printf("%d\\n", failed);
    return failed != 0;
}
"""


@pytest.mark.slow
def test_several_cuda_processes_of_one_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Side by side; their times add up."""
    Path("app.cu").write_text(PROCESSES)
    command([str(Path("app.cu"))], data=["100000 1", "100000 3"], as_json_=True, device="a100")
    one, three = json.loads(capsys.readouterr().out)["datasets"]
    assert three["tuned_us"] == pytest.approx(3 * one["tuned_us"]) and not three["failures"]
    assert three["tuned_us"] < three["untuned_us"] and three["configurations"] == 2


def test_a_value_of_more_than_64_bits_is_told_and_no_threshold_comes_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with such a threshold could not be read again."""
    with pytest.raises(Misuse, match="the program compares nothing"):
        command(None, EXECUTE, [str(2**63)], runs=1)
    assert f"it printed 'Compared rows <= {2**63}: true.', which cannot be read" in capsys.readouterr().err
    command(None, EXECUTE, [str(2**63 - 1)], runs=1, fresh=True)
    assert "rows=" in (tmp_path / "program.tuning").read_text()


def test_where_only_datasets_that_fail_meet_guards_nothing_is_tuned(tmp_path: Path) -> None:
    Path("program.py").write_text(
        'import sys, os\nprint("Compared rows <= 4: false.", file=sys.stderr) if sys.argv[1] == "fails" else None\n'
        'os.abort() if sys.argv[1] == "fails" else print(1)\n'
    )
    with pytest.raises(Misuse, match="no dataset that runs meets a guard"):
        command(None, EXECUTE, ["fails", "silent"], runs=1)
    assert not (tmp_path / "program.tuning").exists()


def test_datasets_that_are_none_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="a dataset has no name"):
        command(None, EXECUTE, ["4", " "], runs=1)
    with pytest.raises(Misuse, match=r"dataset .*open.* is no list of arguments: No closing quotation"):
        command([str(tmp_path / "none.cu")], data=["4 'open"])
    assert not (tmp_path / "kw-runs").exists()
