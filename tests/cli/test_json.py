"""docs/json.md: the keys that commands print are those of its tables, and none of the tables is missing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.breeding.run import PROGRAMS, BreedRun, facts_of, settings_for
from kernelwright.breeding.worker_judge import worth_of
from kernelwright.cli.support.evolve_result import result_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.grammar import load_problem
from tests import kw_process

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "json.md").read_text()


def documented(section: str, prefix: str = "") -> set[str]:
    """The keys in a section's table; of the rows that begin with ``prefix``."""
    part = PAGE[PAGE.index(f"## {section}\n") :]
    rows = re.findall(r"^\| (.*?) \|", part[: part.find("\n## ", 3)] if "\n## " in part[3:] else part, re.M)
    rows = [row.removeprefix(prefix) for row in rows if row.startswith(prefix)]
    return {key for row in rows for key in re.findall(r"`([^`]+)`", row)}


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Of every leaf: ``sets[].speedup``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    else:
        yield at


def is_described(path: str, keys: set[str]) -> bool:
    """By its own name, or by one with a star for it and what is inside of it."""
    plain = {key for key in keys if "*" not in key}
    starred = [key.removesuffix("*") for key in keys if key.endswith("*")]
    roots = {key.split(".")[0].removesuffix("[]") for key in keys}
    return (
        path in plain
        or any(path.startswith(prefix) for prefix in starred if prefix)
        or any(path.startswith((f"{key}[", f"{key}.")) for key in plain)
        or path in {key.removesuffix(".*") for key in keys}  # null in the place of an object
        or (path in roots)  # null, or empty, in the place of what it may hold
    )


def check(found: Any, keys: set[str]) -> None:
    """Whatever is printed is described, and what is described without a star is printed, unless what it stands in is empty."""
    there = set(paths(found))
    assert there and not [path for path in there if not is_described(path, keys)]
    for key in keys:
        if "*" in key:
            continue
        holder = re.split(r"\[\]\.|\.|\[\]", key)[0] if re.search(r"[.\[]", key) else ""
        holds = found if not holder or not isinstance(found, dict) else found.get(holder, "absent")
        assert holds != "absent", key
        if holder and not holds:
            continue
        assert any(path == key or path.startswith((f"{key}[", f"{key}.")) for path in there) or _empty(found, key), key


def _empty(found: Any, key: str) -> bool:
    """Whether it is there, as an empty list or object."""
    for part in re.split(r"(\[\])|\.", key):
        if not part:
            continue
        if part == "[]":
            if not found:
                return True
            found = found[0]
        elif isinstance(found, dict) and part in found:
            found = found[part]
        else:
            return False
    return found in ([], {})


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("json")
    shutil.copytree(finished_run, made / "kw-runs" / "again-1")
    median = made / "kw-runs" / "median-1"
    median.mkdir()
    problem = EXAMPLES / "median.py"
    facts = facts_of(problem, settings_for(load_problem(problem), backend="interpreted"))
    with BreedRun.create(median, PROGRAMS, facts) as run:
        run.journal.record("max(a, b)", worth_of(3.0))
    return made


PRINTED = [
    (("runs",), "`kw runs`", ""),
    (("show", "again-1"), "`kw show` of a run of `kw evolve`", ""),
    (("show", "median-1"), "`kw breed`, and `kw show` of its run", ""),
    (("compare", "again-1", "again-1:v1"), "`kw compare`", ""),
    (("explain", "again-1"), "`kw explain`", ""),
    (("prove", "again-1"), "`kw prove`", ""),
    (("doctor",), "The machine and the tool", "`kw doctor`: "),
    (("cache",), "The machine and the tool", "`kw cache`: "),
    (("suite", "list"), "The machine and the tool", "`kw suite list`: "),
    (("passes",), "The machine and the tool", "`kw passes`: "),
    (("farm",), "The machine and the tool", "`kw farm`: "),
    (("minimize", "again-1"), "`kw minimize`", ""),
    (("patch", "again-1"), "`kw patch`", ""),
    (("export", "again-1", "-o", "taken"), "`kw export` and `kw report`", "`export`: "),
    (("report", "again-1"), "`kw export` and `kw report`", "`report`: "),
    (("run", str(EXAMPLES / "hello.cu")), "`kw run`", ""),
    (("capture", str(EXAMPLES / "hello.cu")), "`kw capture`", ""),
    (("space", "size", "axpy", "256", "--walks", "50", "--repetitions", "2"), "`kw space`", "`size`: "),
]


@pytest.mark.parametrize(("words", "section", "prefix"), PRINTED, ids=lambda given: " ".join(given))
def test_what_is_printed_is_described(folder: Path, words: tuple[str, ...], section: str, prefix: str) -> None:
    done = kw_process.kw(*words, "--json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    check(json.loads(done.stdout), documented(section, prefix))


def test_what_evolve_prints(folder: Path) -> None:
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        found = json.loads(json.dumps(result_of(run, 1.0, None)))
    check(found, documented("`kw evolve`"))


def test_what_profile_and_check_print(folder: Path) -> None:
    hello = str(EXAMPLES / "hello.cu")
    check(json.loads(kw_process.kw("profile", hello, "--json", cwd=folder).stdout), documented("`kw profile`"))
    source = folder / "beyond.cu"
    source.write_text(
        "__global__ void f(int *a) { a[threadIdx.x] = 1; }\nint main() { int *a; cudaMalloc(&a, 40); f<<<1, 64>>>(a); }\n"
    )
    done = kw_process.kw("check", str(source), "--json", cwd=folder)
    assert done.returncode == 1
    check(json.loads(done.stdout), documented("`kw check`"))


TUNED = """
#include <cstdio>
#include <cstdlib>
#include <kernelwright_threshold.h>
__global__ void twice(float *a, int n, int each)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int k = first; k < first + each && k < n; k++) a[k] *= 2;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    float *a;
    cudaMalloc(&a, n * sizeof *a);
    cudaMemset(a, 0, n * sizeof *a);
    if (KW_THRESHOLD("many", n)) twice<<<(n + 255) / 256, 256>>>(a, n, 1);
    else twice<<<1, 32>>>(a, n, (n + 31) / 32);
    cudaDeviceSynchronize();
    printf("%d\\n", n);
}
"""


def test_what_tune_prints(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(TUNED)
    tuned = kw_process.kw("tune", "app.cu", "--data", "64", "--data", "4096", "--json", cwd=tmp_path)
    keys = documented("`kw tune`")
    check(json.loads(tuned.stdout), keys - {"lines[]"})
    explained = kw_process.kw("tune", "app.cu", "--explain", "--json", cwd=tmp_path)
    check(json.loads(explained.stdout), keys - {"run", "dispatch_us.*"})


def test_what_explore_and_its_tree_print(tmp_path: Path) -> None:
    explored = kw_process.kw("explore", "axpy", "256", "--evaluations", "2", "--json", cwd=tmp_path)
    check(json.loads(explored.stdout), documented("`kw explore`"))
    tree = kw_process.kw("space", "tree", "axpy-1", "--json", cwd=tmp_path)
    check(json.loads(tree.stdout), documented("`kw space`", "`tree`: "))


def test_what_replay_prints(tmp_path: Path) -> None:
    assert kw_process.kw("capture", str(EXAMPLES / "hello.cu"), "-o", "hello.capture", cwd=tmp_path).returncode == 0
    replayed = kw_process.kw("replay", "hello.capture", "--json", cwd=tmp_path)
    check(json.loads(replayed.stdout), documented("`kw replay`"))


def test_a_key_that_is_not_described_and_one_that_is_not_printed_are_found() -> None:
    keys = {"run", "sets[].a", "rejected.*", "edits[].kind"}
    check({"run": "x", "sets": [], "rejected": {"fault": 3}, "edits": [{"kind": "k"}]}, keys)
    for wrong in (
        {"run": "x", "sets": [], "rejected": {}, "edits": [{"kind": "k"}], "more": 1},
        {"sets": [], "rejected": {}, "edits": [{"kind": "k"}]},
        {"run": "x", "sets": [{"b": 1}], "rejected": {}, "edits": [{"kind": "k"}]},
        {"run": "x", "sets": [], "rejected": {}, "edits": [{"kind": "k", "size": 2}]},
        {"run": "x", "sets": [], "rejected": {}},
    ):
        with pytest.raises(AssertionError):
            check(wrong, keys)
