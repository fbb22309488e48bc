"""``kw space``, and what ``kw bench space`` holds explorations against."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import typer

from kernelwright.bench.space.hand_tiled import hand_tiled
from kernelwright.cli.commands.space.command import command, size_lines, size_of
from kernelwright.cli.commands.space.tried_tree import tree_lines, tree_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.journal import Row
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import Trials


def test_the_size_of_a_space_is_estimated_twice() -> None:
    space = KernelSpace(Subject.of("axpy", (64,), "h200"))
    found = size_of(space, 400, 4, seed=1)
    assert found == size_of(space, 400, 4, seed=1) | {key: found[key] for key in ("knuth", "chen", "dead_ends")}
    assert abs(math.log10(found["knuth"]["mean"]) - math.log10(found["chen"]["mean"])) < 2
    assert found["knuth"]["half_width_95"] > 0 and 0 <= found["dead_ends"]["mean"] < 0.05
    assert json.loads(json.dumps(found)) == found
    text = size_lines(found)
    assert text.startswith("axpy 64 on h200: ") and "400 walks" in text and "4 repetitions" in text


def row(candidate: list[str], outcome: Outcome) -> Row:
    return Row(1, 1, 0.0, candidate, "", "", "", outcome, {}, {})


def test_what_was_tried_is_a_tree() -> None:
    rows = [
        row(["a = 1", "b = 1", "c = 1"], Ok(4.0, 0.0)),
        row(["a = 1", "b = 2", "c = 1"], Rejected("fault", "it faulted")),
        row(["a = 2", "b = 1", "c = 1"], Ok(3.0, 0.0)),
        row(["a = 2", "b = 1", "c = 2"], Ok(5.0, 0.0)),
    ]
    tree = tree_of(rows, 2)
    assert (tree["tried"], tree["rejected"], tree["best_us"]) == (4, 1, 3.0)
    assert [each["decision"] for each in tree["children"]] == ["a = 2", "a = 1"]
    assert tree_lines(tree) == [
        "all: 4 tried, 1 rejected, best 3.00 us",
        "    a = 2, b = 1: 2 tried, best 3.00 us",
        "    a = 1: 2 tried, 1 rejected, best 4.00 us",
        "        b = 1: 1 tried, best 4.00 us",
        "        b = 2: 1 tried, 1 rejected, none right",
    ]
    assert tree_lines(tree_of([], 3)) == ["all: 0 tried, none right"]


def test_what_is_found_in_a_space_is_shown_and_is_a_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_rules.py"
    page = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text().split("```python")[1].split("```")[0]
    path.write_text(page)
    command(action="check", subject=str(path))
    assert "nothing found" in capsys.readouterr().out.splitlines()[-1]
    path.write_text(page + '\nschedules["huge"] = [kind("m").UNROLL, size("m") == 32]\n')
    with pytest.raises(typer.Exit) as ended:
        command(action="check", subject=str(path))
    assert ended.value.exit_code == 1
    told = capsys.readouterr().out
    assert "rejected schedule huge\n    decision 2: " in told and "unrolled_dims_are_small" in told
    with pytest.raises(typer.Exit):
        command(action="check", subject=str(path), as_json=True)
    (finding,) = json.loads(capsys.readouterr().out.splitlines()[-1])["findings"]
    assert (finding["kind"], finding["name"]) == ("rejected schedule", "huge")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "sizes", "subject": "axpy"}, "kw space has no 'sizes'"),
        ({"action": "check", "subject": "my_rules.py"}, "my_rules.py cannot be read"),
        ({"action": "size", "subject": "axpie"}, "no computation 'axpie'"),
        ({"action": "size", "subject": "axpy", "walks": 1}, "--walks 1"),
        ({"action": "tree", "subject": "nowhere-1"}, "there is no run"),
    ],
)
def test_misuse_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Misuse) as raised:
        command(**given)
    assert said in raised.value.message


def test_the_hand_tiled_kernel_is_right() -> None:
    trials = Trials(Subject.of("matmul", (128, 64, 32), "h200"))
    outcome = trials.whole(hand_tiled(128, 64, 32))
    trials.close()
    assert isinstance(outcome, Ok)
    with pytest.raises(Misuse, match="multiples of 64, 64 and 16"):
        hand_tiled(100, 64, 32)
