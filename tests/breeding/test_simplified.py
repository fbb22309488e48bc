"""Bred formulas simplified: what is read, what is refused, and that nothing wrong is shown, with SymPy and without."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.breeding import simplified as room
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.choice import sample
from kernelwright.breeding.program_results import answers_to
from kernelwright.breeding.simplified import Simplified, agrees, simplified
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.problems import path_of

has_sympy = importlib.util.find_spec("sympy") is not None
needs_sympy = pytest.mark.skipif(not has_sympy, reason="SymPy is not installed")

X = np.array([0.0, 0.5, -2.0, 3.0], np.float32)
Y = np.array([1.0, -1.5, 0.25, 4.0], np.float32)
N = np.array([0, 1, -2, 7], np.int32)


def problem(**changes: Any) -> Problem:
    given: dict[str, Any] = {
        "grammar": "<e> ::= x",
        "cases": {"x": X, "y": Y, "n": N, "row": np.ones((4, 2), np.float32)},
        "answer": "float z",
        "fitness": lambda z: float(z.sum()),
        "individual": "z = {};",
    }
    return Problem(**(given | changes))


def answers(of: Problem, text: str) -> np.ndarray[Any, Any]:
    (found,) = answers_to(back_end("interpreted").runner(of), [text])
    assert not isinstance(found, Rejected), found
    return found


@needs_sympy
@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("((x + x) - (x * 1.0f))", "x"),
        ("pdiv(x, x)", "1"),
        ("pdiv(y, (x - x))", "1"),
        ("pdiv(y, (1.0f + (x * x)))", "y/(x**2 + 1)"),
        ("pdiv(1.0f, x)", "pdiv(1, x)"),
        ("sqrtf(fabsf(x)) * 1.50f", "3*sqrt(Abs(x))/2"),
        ("plogf(x) + 0.123f", "log(Abs(x) + 1) + 0.123"),
        ("x * 3.53f", "3.53*x"),
        ("max(n, n) + 1", "n + 1"),
        ("-y - -y + n", "n"),
        ("sinf(x) * sinf(x) + cosf(x) * cosf(x)", "1"),
    ],
)
def test_formulas_are_simplified(text: str, formula: str) -> None:
    assert simplified(problem(), text) == Simplified(formula)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("n & 1", "no formula"),
        ("n / 2", "no formula"),
        ("x > 0 ? x : y", "no formula"),
        ("row[0]", "no formula"),
        ("(int)x", "cuts real numbers off"),
        ("x; z = z + 1", "more than one formula"),
        ("w", "more than our part of C"),
        ("z", "reads z, which is no input"),
    ],
)
def test_what_is_no_formula_is_refused(text: str, why: str) -> None:
    found = simplified(problem(), text)
    assert not found.formula and why in found.why


def test_without_sympy_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'kernelwright[breed]'" in simplified(problem(), "x + x").why


def test_a_formula_is_compared_on_all_cases() -> None:
    wanted = answers(problem(), "pdiv(y, x) + 1.0f")
    assert wanted.tolist() == [2, -2, 0.875, pytest.approx(7 / 3)]
    assert agrees(problem(), "pdiv(y, x) + 1", wanted) and not agrees(problem(), "y/x + 1", wanted)
    assert not agrees(problem(), "pdiv(y, x) + 1.001", wanted) and agrees(problem(), "pdiv(y, x) + 1.00001", wanted)
    for broken in ("zeta(x)", "x +", "__import__('os')", "(" * 300 + "x" + ")" * 300, "Heaviside"):
        assert not agrees(problem(), broken, wanted)
    nowhere = answers(problem(), "logf(x)")
    assert agrees(problem(), "log(x)", nowhere) and not agrees(problem(), "0*x", nowhere)


def test_what_differs_from_the_program_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    said = [(0, "y"), (3, "x + x + 0*y"), (1, "2*x")]
    monkeypatch.setattr(room, "_asked", lambda tree, limit_s: said)
    assert simplified(problem(), "x + x") == Simplified("2*x")
    said[2] = (1, "2.01*x")
    assert simplified(problem(), "x + x") == Simplified("x + x + 0*y")
    said[1] = (3, "3*x")
    assert "differs from the program" in simplified(problem(), "x + x").why


def test_a_process_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "endless.py"
    script.write_text("import time; print('1 2*x', flush=True); print('0 half', end='', flush=True); time.sleep(600)")
    monkeypatch.setattr(room, "SCRIPT", script)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(room.importlib.metadata, "version", lambda name: "1")
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    assert simplified(problem(), "x + x", limit_s=3.0) == Simplified("2*x")
    script.write_text("raise SystemExit(3)")
    assert "found nothing" in simplified(problem(), "x + x", limit_s=3.5).why


@needs_sympy
def test_random_programs_keep_their_answers_or_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    pagie = load_problem(path_of("pagie1"))
    shown = 0
    for text in sample(pagie, 6, seed=3):
        found = simplified(pagie, text)
        shown += bool(found.formula)
        if found.formula:
            values = eval(found.formula, dict(room.MEANINGS), {k: v.astype(float) for k, v in pagie.cases.items()})
            assert np.allclose(answers(pagie, text), values, rtol=1e-3, atol=1e-3)
    assert shown > 3


@needs_sympy
def test_the_process_prints_forms_of_an_expression() -> None:
    tree = ["+", ["*", "x", "2.5"], ["pdiv", "x", ["-", "y", "y"]]]
    done = subprocess.run(
        [sys.executable, str(room.SCRIPT)], input=json.dumps(tree), capture_output=True, text=True, timeout=120
    )
    assert "5*x/2 + 1\n" in done.stdout, done.stderr


def test_a_problem_beyond_our_part_of_c_is_told() -> None:
    beyond = problem(functions="__device__ int twice(int a) { return a + a; }")
    assert "code around it" in simplified(beyond, "x").why


def test_a_run_whose_problem_is_gone_says_so() -> None:
    class Gone:
        best = type("Best", (), {"text": "x"})

        @property
        def problem(self) -> Problem:
            raise Misuse("it is gone")

    assert room.simplified_best(Gone()) == Simplified(why="it is gone")  # type: ignore[arg-type]


@needs_sympy
def test_what_was_not_found_in_time_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [("", False), ("1 2*x\n", True)]
    monkeypatch.setattr(room, "_said", lambda asked, limit_s: said.pop(0))
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    assert "found nothing" in simplified(problem(), "x + x").why
    assert simplified(problem(), "x + x") == Simplified("2*x")
    assert simplified(problem(), "x + x") == Simplified("2*x") and not said  # from the cache
