"""Every planted defect is found, where it is. The first line of each program says what, comments in it say where.

``finds: KIND at MARK`` in the first line: a finding of that kind on a line with that mark (without ``at``: no line is
known, because the defect lies in host code); ``with OTHER``: its other end on a line with that mark; ``with --schedules``:
found only by trying other orders.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from tests.check.conftest import HERE, Checked, check

PROGRAMS = sorted((HERE / "planted").glob("*.cu"))
KINDS = {
    "out-of-bounds", "misaligned", "use-after-free", "uninitialised", "race", "barrier", "order-dependent", "launch", "async"
}  # fmt: skip
KEYS = ["kind", "kernel", "file", "line", "also", "thread", "block", "address", "buffer", "message"]
_HEAD = re.compile(r"// finds: ([a-z-]+)(?: at ([A-Z]+))?(?:, with ([A-Z]+|--schedules))?: .+")


class Planted:
    """What a program's comments say."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text().splitlines()
        head = _HEAD.fullmatch(self.lines[0])
        assert head, f"{path.name} does not say what is planted in it"
        self.kind, self.mark, self.extra = head.groups()

    def marked(self, mark: str) -> set[int]:
        found = {n for n, line in enumerate(self.lines, 1) if n > 1 and mark in line.partition("// ")[2].split()}
        assert found, f"no line is marked {mark}"
        return found


@cache
def results() -> dict[Path, Checked]:
    """All programs, two at a time: most of the time goes into compiling them."""

    def run(path: Path) -> Checked:
        return check(path, *(("--schedules", "6") if Planted(path).extra == "--schedules" else ()))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(PROGRAMS, pool.map(run, PROGRAMS), strict=True))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_is_found_where_it_is(path: Path) -> None:
    planted, done = Planted(path), results()[path]
    assert done.exit_code == 1, done.stderr
    right = [f for f in done.findings if f["kind"] == planted.kind]
    if planted.mark:
        right = [f for f in right if f["line"] in planted.marked(planted.mark)]
    if planted.extra == "OTHER":
        right = [f for f in right if f["also"]["line"] in planted.marked("OTHER")]
    assert right, done.findings
    for finding in done.findings:
        assert list(finding) == KEYS
        assert not finding["line"] or finding["file"] == str(path)
    if planted.kind not in ("launch", "async", "order-dependent"):
        (first, *_) = right
        assert first["kernel"] and len(first["thread"]) == len(first["block"]) == 3
        assert planted.kind == "barrier" or "null" in first["message"] or (first["address"] and first["buffer"])


def test_what_helps_is_what_the_widest_launch_needs() -> None:
    """The first launch has one warp, whose lanes alone could meet."""
    (found,) = results()[HERE / "planted" / "race_next_reduction.cu"].findings
    assert "different warps of a block" in found["message"] and "__syncthreads()" in found["message"]
    assert found["kind"] == "race" and "__syncwarp" not in found["message"]


def test_every_kind_is_planted() -> None:
    assert {Planted(path).kind for path in PROGRAMS} == KINDS
    assert len(PROGRAMS) >= 20


def test_findings_of_other_kinds_follow_from_the_planted_one() -> None:
    """A missing barrier also shows as memory that is not written yet; nothing else may come along."""
    follows = {"race": {"uninitialised"}, "launch": set()}
    for path, done in results().items():
        kind = Planted(path).kind
        assert {f["kind"] for f in done.findings} <= {kind} | follows.get(kind, set()), path.name
