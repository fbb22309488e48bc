"""``kw evolve``, ``kw runs`` and ``kw show`` as a person uses them."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cli.commands.evolve import _explored
from kernelwright.cli.support.evolve_result import lines_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.subject import PythonFile
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from tests import kw_process

STORIES = Path(__file__).parents[1] / "stories"

APP = """
#include <cstdio>
#include <cstdlib>
#include "again.cu"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n <= 0)
        return 7;
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n; i++)
        in[i] = i;
    again<<<(n + 63) / 64, 64>>>(in, out, n, 5);
    cudaDeviceSynchronize();
    printf("last %g\\n", out[n - 1]);
    return 0;
}
"""


def kw(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return kw_process.kw(*arguments, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("app")
    (made / "app.cu").write_text(APP)
    launch = "again<<<(n + 63) / 64, 64>>>(in, out, n, 5)"
    (made / "beyond.cu").write_text(APP.replace(launch, launch.replace("in, out", "in, out + (1 << 20)")))
    adds = (
        "__global__ void sum(const float *in, float *out) { atomicAdd(out, in[blockIdx.x * 64 + threadIdx.x] * 0.1f); }"
    )
    (made / "sum.cu").write_text(
        APP.replace(launch, "sum<<<n / 64, 64>>>(in, out)").replace('#include "again.cu"', adds)
    )
    (made / "oracle.py").write_text(
        "from dataclasses import replace\nfrom again import workload\n\n\ndef oracle(case):\n    raise ValueError('no idea')\n\n\n"
        "workload = replace(workload, oracle=oracle)\n"
    )
    (made / "again.py").write_text((STORIES / "again.py").read_text())
    (made / "again.cu").write_text((STORIES / "again.cu").read_text())
    return made


@pytest.fixture(scope="module")
def evolved(folder: Path) -> dict[str, Any]:
    done = kw(folder, "evolve", "app.cu", "--evaluations", "16", "--seed", "1", "--case", "200", "--json", "--", "1000")
    assert done.returncode == 0, done.stderr
    assert "recording app 1000" in done.stderr and "recording app 200" in done.stderr
    assert "last 2998" in done.stderr  # what the program prints does not mix with the result
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_program_is_recorded_searched_and_proven(evolved: dict[str, Any]) -> None:
    assert evolved["run"] == "kw-runs/app-1"
    assert evolved["speedup"] > 1.2 and evolved["speedup_any"] >= evolved["speedup"]
    assert evolved["label"] in ("proven", "clean") and evolved["error"] == 0
    assert evolved["proven"]["training"] == "passed"
    assert evolved["flags"]["tried"] >= 1 and evolved["flags"]["speedup"] >= 1
    both = evolved["speedup"] * evolved["flags"]["speedup"]
    assert evolved["speedup_with_flags"] == pytest.approx(both, rel=1e-3)
    assert evolved["edits"] and evolved["best"].startswith("v") and evolved["evaluations"] >= 16


def test_data_sets_of_other_sizes_are_made_from_the_arguments(folder: Path) -> None:
    flags = ("--evaluations", "8", "--accept", "any", "--keep-flags", "--no-report", "--general", "--json")
    done = kw(folder, "evolve", "app.cu", "--name", "sizes", *flags, "--", "1000")
    assert "from the arguments: 500" in done.stderr and "for the proof alone: 2000" in done.stderr
    result = json.loads(done.stdout)
    assert result["flags"] is None and not any(edit["edit"].startswith("fix-") for edit in result["edits"])
    sets = {each["arguments"]: each["held_out"] for each in result["sets"]}
    assert sets == {"1000": False, "500": False, "751": False, "2000": True}
    searched = [each["speedup"] for each in result["sets"] if not each["held_out"]]
    assert math.prod(searched) ** (1 / 3) == pytest.approx(result["speedup"], rel=1e-3)
    text = kw(folder, "evolve", "--resume", result["run"], "--no-report").stdout
    assert "  data set 2 (500): " in text and "  held-out data set 4 (2000): " in text


def test_a_run_that_added_its_data_sets_up_is_read_and_not_continued(folder: Path, evolved: dict[str, Any]) -> None:
    old = folder / "kw-runs" / "old-1"
    shutil.copytree(folder / evolved["run"], old)
    with sqlite3.connect(old / "journal.db") as database:
        for number, text in database.execute("select id, facts from sessions").fetchall():
            facts = {name: fact for name, fact in json.loads(text).items() if name != "score"}
            database.execute("update sessions set facts = ? where id = ?", (json.dumps(facts), number))
    done = kw(folder, "evolve", "--resume", "old-1")
    assert done.returncode == 2 and "added up the times of its data sets" in done.stderr and "kw show" in done.stderr
    assert kw(folder, "show", "old-1").returncode == 0


def test_at_its_end_it_is_explained_exported_and_written_down(folder: Path, evolved: dict[str, Any]) -> None:
    assert evolved["report"] == "kw-runs/app-1/report.html"
    assert evolved["export"] == f"kw-runs/app-1/export-{evolved['best']}"
    page = (folder / evolved["report"]).read_text()
    assert "Why it is faster" in page and f"{evolved['evaluations']} candidates, " in page
    evidence = json.loads((folder / evolved["export"] / "evidence.json").read_text())
    assert evidence["variant"] == evolved["best"] and evidence["explained"] is not None
    began = "kw evolve app.cu --evaluations 16 --seed 1 --case 200 --json -- 1000"
    assert evidence["command"] == began and f"<code>{began}</code>" in page
    assert f"`{began}`" in (folder / evolved["export"] / "README.md").read_text()
    text = kw(folder, "evolve", "--resume", evolved["run"]).stdout.splitlines()
    assert text[-3].startswith(f"{evolved['report']}: ") and text[-2].startswith(f"{evolved['export']}: ")
    assert text[-1] == evolved["valid_for"] and text[-1].startswith(f"{evolved['best']} is ")


@pytest.fixture(scope="module")
def whole(folder: Path) -> dict[str, Any]:
    """A run that was not interrupted, without a report."""
    done = kw(folder, "evolve", "again.py", "--evaluations", "20", "--name", "whole", "--no-report", "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_without_a_report_there_is_none(folder: Path, whole: dict[str, Any]) -> None:
    assert whole["best"] and whole["report"] is None and whole["export"] is None
    assert {path.name for path in (folder / "kw-runs" / "whole").iterdir()} <= {"journal.db", "journal.db.lock"}


def test_runs_are_listed_and_shown(folder: Path, evolved: dict[str, Any]) -> None:
    (row,) = [row for row in json.loads(kw(folder, "runs", "--json").stdout) if row["run"] == evolved["run"]]
    assert row["state"] == "finished" and row["best"] == evolved["best"]
    shown = json.loads(kw(folder, "show", "app-1", "--json").stdout)
    assert shown["best"] == evolved["best"] and shown["edits"] == evolved["edits"] and shown["finished"]
    assert shown["front"][0]["speedup"] >= 1
    same = ("speedup", "label", "error", "fallen")
    assert [shown[name] for name in same] == [evolved[name] for name in same]
    text = kw(folder, "show", evolved["run"])
    assert text.returncode == 0 and evolved["best"] in text.stdout
    assert any(line.split()[:1] == [evolved["best"]] for line in text.stdout.splitlines())  # a row of the table


def test_a_variant_is_no_run_and_a_file_no_folder(folder: Path, evolved: dict[str, Any]) -> None:
    for command in ("show", "report"):
        done = kw(folder, command, f"app-1:{evolved['best']}")
        assert done.returncode == 2 and "is a variant, and a run is wanted" in done.stderr
    done = kw(folder, "export", "app-1", "-o", "app.cu")
    assert done.returncode == 2 and "app.cu is a file, and a folder is wanted" in done.stderr


def test_output_that_cannot_be_written_is_named(folder: Path, evolved: dict[str, Any]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kernelwright", "show", "app-1"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 3 and "standard output goes to /dev/full" in done.stderr


def test_a_tolerance_that_is_given_is_not_the_files_own(folder: Path) -> None:
    (folder / "loose.py").write_text(
        "from dataclasses import replace\nfrom again import workload\nfrom kernelwright.evaluate.workload.rule_text import parse_rules\n\n"
        "workload = replace(workload, tolerance=parse_rules('relative 1e-2'))\n"
    )
    for number, (given, wanted) in enumerate([((), ""), (("--tolerance", "exact"), "exact")], start=1):
        kw(folder, "evolve", "loose.py", "--evaluations", "1", "--no-report", *given)
        with EvolveRun.open(folder / "kw-runs" / f"loose-{number}", GENOMES) as run:
            assert isinstance(run.subject, PythonFile) and run.subject.tolerance == wanted  # "": the file's own


def test_resuming_what_is_finished_says_the_same(folder: Path, evolved: dict[str, Any]) -> None:
    again = json.loads(kw(folder, "evolve", "--resume", evolved["run"], "--json").stdout)
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in evolved.items() if k != "seconds"}


def test_a_run_can_be_moved(folder: Path, evolved: dict[str, Any], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder / evolved["run"], tmp_path / "elsewhere")
    again = json.loads(kw(tmp_path, "evolve", "--resume", "elsewhere", "--json").stdout)
    assert again["best"] == evolved["best"]


def test_ctrl_c_leaves_a_run_that_can_be_resumed(folder: Path, whole: dict[str, Any]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelwright", "evolve", "again.py", "--evaluations", "20", "--name", "broken", "--no-report"],
        cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        journal = folder / "kw-runs" / "broken" / "journal.db"
        deadline = time.monotonic() + 120
        while not (journal.exists() and rows(journal) > 3):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        assert state_of("broken", folder) == "running"
        assert f"process {process.pid}" in kw(folder, "show", "broken").stdout
        refused = kw(folder, "runs", "--delete", "broken")
        assert refused.returncode == 2 and f"written by process {process.pid}" in refused.stderr and journal.exists()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "kw evolve --resume kw-runs/broken" in said
    assert state_of("broken", folder) == "resumable"
    resumed = kw(folder, "evolve", "--resume", "broken", "--no-report", "--json")
    assert resumed.returncode == 0, resumed.stderr
    same = ("speedup", "label", "edits", "error")
    assert [json.loads(resumed.stdout)[k] for k in same] == [whole[k] for k in same]


def state_of(name: str, folder: Path) -> str:
    (row,) = [row for row in json.loads(kw(folder, "runs", "--json").stdout) if row["run"] == f"kw-runs/{name}"]
    return str(row["state"])


def rows(journal: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_nothing_faster_is_exit_code_1(folder: Path) -> None:
    done = kw(folder, "evolve", "again.py", "--evaluations", "1")
    assert done.returncode == 1 and "nothing faster whose proof holds" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "nothing to evolve"),
        (("missing.cu",), "missing.cu"),
        (("missing.py",), "does not exist"),
        (("suite:hotspott",), "hotspot"),
        (("suite:hotspot", "--", "1"), "brings its own data"),
        (("again.py", "--", "1"), "takes no arguments"),
        (("again.py", "--kernel", "other"), "there are again"),
        (("again.py", "--tolerance", "much"), "no rule"),
        (("again.py", "--objectives", "error"), "first objective is time"),
        (("again.py", "--accept", "some"), "clean, safe, benign"),
        (("again.py", "--preset", "best"), "none of default, gevo, random"),
        (("again.py", "--evaluations", "-3"), "--evaluations -3"),
        (("again.py", "--time", "soon"), "--time soon"),
        (("again.py", "--seed", "x"), "--seed x"),
        (("again.py", "--jobs", "0"), "--jobs 0"),
        (("again.py", "--device", "gtx"), "gtx"),
        (("--resume", "nothing"), "there is no run"),
        (("--resume", "app.cu"), "a run is a folder"),
        (("again.py", "--resume", "app-1"), "knows what it evolves"),
        (("--resume", "app-1", "--seed", "4"), "--seed was settled when the run began"),
        (("--resume", "app-1", "--case", "4"), "--case was settled when the run began"),
        (("--resume", "app-1", "--seed", "0"), "--seed was settled when the run began"),
        (("--resume", "app-1", "-O0"), "-O was settled when the run began"),
        (("--resume", "app-1", "--name", "foo"), "--name was settled when the run began"),
        (("--resume", "app-1", "--", "3"), "knows what it evolves"),
        (("again.py", "--resume", ""), "knows what it evolves"),
        (("again.py", "--population", "1000000000000", "--evaluations", "3"), "never gets anywhere"),
        (("again.py", "--evaluations", "9" * 5000), "--evaluations 999999999999999... is no number"),
        (("app.cu", "--case", "'unbalanced", "--", "9"), "--case 'unbalanced is no command line: no closing"),
        (("app.cu", "--held-out", "'unbalanced", "--", "9"), "--held-out 'unbalanced is no command line: no closing"),
        (("again.py", "--objectives", "time,foo"), "there is no objective 'foo'"),
        (("app.cu",), "exit code 7"),
        (("app.cu", "--", "0"), "exit code 7"),
        (("beyond.cu", "--", "100"), "the original itself fails: "),
        (("oracle.py",), "the oracle fails: ValueError: no idea"),
        (("sum.cu", "--", "4096"), "depends on the order of its threads (atomic sums of floats do)"),
    ],
)
def test_misuse_is_told_in_a_sentence(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    before = list(folder.glob("kw-runs/*"))
    done = kw(folder, "evolve", *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and "Traceback" not in done.stderr and "next: " in done.stderr
    assert list(folder.glob("kw-runs/*")) == before  # what is refused leaves nothing behind


def test_a_best_that_fell_is_told_with_the_way_out() -> None:
    fallen = {"variant": "v27", "speedup": 2.089, "label": "benign"}
    result = {
        "best": None,
        "evaluations": 31,
        "seconds": 8.8,
        "fallen": fallen,
        "flags": None,
        "run": "r",
        "report": None,
        "export": None,
    }
    assert lines_of(result) == (
        "nothing faster whose proof holds among 31 candidates in 8.8 s: v27 is 2.089x, but benign, "
        "which --accept benign takes; run r"
    )
    fallen["label"] = "wrong"
    assert "but wrong; run r" in lines_of(result)
    fallen["label"] = None
    assert "but not proven; run r" in lines_of(result)
    result["flags"] = {"add": "--threshold unroll=2000", "speedup": 1.543, "tried": 9}
    assert lines_of(result).splitlines()[1] == "besides, compile flags alone: 1.543x (--threshold unroll=2000)"


def test_a_run_that_is_none_is_listed_as_such(folder: Path) -> None:
    foreign = folder / "kw-runs" / "foreign"
    foreign.mkdir(parents=True, exist_ok=True)
    (foreign / "journal.db").write_bytes(b"not a journal at all, but long enough to be looked at")
    states = {row["run"]: row["state"] for row in json.loads(kw(folder, "runs", "--json").stdout)}
    assert states["kw-runs/foreign"] not in ("finished", "resumable")
    done = kw(folder, "evolve", "--resume", "foreign")
    assert done.returncode in (2, 3) and "Traceback" not in done.stderr and "next: " in done.stderr


FULL = """
import os
import sys
from kernelwright.cli import main
from kernelwright.evaluate.capture import file_format

class Full:
    def __getattr__(self, name):
        return getattr(os, name)

    def write(self, file, data):
        if os.lseek(file, 0, os.SEEK_CUR) + len(data) > limit:
            raise OSError(28, "No space left on device")
        return os.write(file, data)

limit = int(sys.argv[1])
file_format.os = Full()
sys.argv[:2] = ["kw"]
sys.exit(main())
"""


def test_a_disk_that_is_full_while_recording(folder: Path) -> None:
    command = [
        sys.executable,
        "-c",
        FULL,
        "3000",
        "evolve",
        "app.cu",
        "--name",
        "room",
        "--evaluations",
        "5",
        "--",
        "1000",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 3, done.stderr
    assert "there is no room for the recording of app 1000" in done.stderr and "next: free space" in done.stderr
    assert "Traceback" not in done.stderr and "defect" not in done.stderr
    assert not list(folder.glob("kw-runs/room*"))


def test_a_run_of_explore_is_named_by_its_folder_or_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "kw-runs" / "matmul-1"
    folder.mkdir(parents=True)
    assert _explored("matmul-1") == "matmul-1" and _explored(str(folder)) == str(
        folder
    )  # no run, as is said of it elsewhere
    (folder / "journal.db").touch()
    with pytest.raises(Misuse, match=r"is a run, and has no program\.cu") as refused:
        _explored("matmul-1")
    assert refused.value.hint is not None and "--resume matmul-1" in refused.value.hint
    (folder / "program.cu").touch()
    assert _explored("matmul-1") == str(Path("kw-runs/matmul-1/program.cu"))
    assert _explored(str(folder)) == str(folder / "program.cu")
    (tmp_path / "matmul-1").touch()
    assert _explored("matmul-1") == "matmul-1"  # a program of that name lies here
