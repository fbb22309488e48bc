"""Protected operators, and functions at file level: by hand, on every kind of back end, and wrong ones told before a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelwright.breeding.back_end_table import BACKENDS, back_end
from kernelwright.breeding.choice import chosen_backend, weigh
from kernelwright.breeding.program_results import answers_to
from kernelwright.breeding.tried_code import check_surrounding_code
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem

X = np.array([0.0, -0.0, 3.0, -4.0], np.float32)
N = np.array([0, 2, -3, 5], np.int32)
TWICE = "__device__ int twice(int a)\n{\n    return a + a;\n}\n"


def problem(**changes: Any) -> Problem:
    given: dict[str, Any] = {
        "grammar": "<e> ::= pdiv(x, 1) | plogf(x) | psqrt(n)",
        "cases": {"x": X, "n": N},
        "answer": "double y",
        "fitness": lambda y: float(y.sum()),
        "individual": "y = {};",
    }
    return Problem(**(given | changes))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pdiv(1.0f, x)", [1, 1, np.float32(1) / np.float32(3), -0.25]),
        ("pdiv(x, 0)", [1, 1, 1, 1]),
        ("pdiv(n, 2)", [0, 1, -1.5, 2.5]),
        ("pdiv(1, n)", [1, 0.5, -1 / 3, 0.2]),
        ("pdivf(1, n)", [1, 0.5, np.float32(-1 / 3), np.float32(0.2)]),
        ("pdiv(pdiv(x, x), pdiv(x, x) - 1)", [1, 1, 1, 1]),
        ("psqrt(x * 3.0f)", [0, 0, 3, np.sqrt(np.float32(12))]),
        ("psqrt(n)", np.sqrt(np.abs(N.astype(float))).tolist()),
        ("n == 0 ? plog(n) : 7", [0, 7, 7, 7]),
    ],
)
def test_protected_operators_by_hand(text: str, wanted: list[float]) -> None:
    for backend in ("interpreted", "host", "llvm", "virtual"):
        (found,) = answers_to(back_end(backend).runner(problem()), [text])
        assert not isinstance(found, Rejected), (backend, found)
        assert found.tolist() == wanted, backend


def test_a_protected_logarithm_is_that_of_one_more() -> None:
    for backend in ("interpreted", "host", "llvm", "virtual"):
        one, other = answers_to(back_end(backend).runner(problem()), ["plog(x)", "plogf(n)"])
        assert not isinstance(one, Rejected) and not isinstance(other, Rejected)
        assert one == pytest.approx(np.log1p(np.abs(X))) and other == pytest.approx(np.log1p(np.abs(N)), rel=1e-6)


def test_they_assemble() -> None:
    for name in ("cuda-llvm", "ptx", "cuda"):
        row = BACKENDS[name]
        if missing := row.compiler().missing():
            pytest.skip(missing)
        texts = ["pdiv(x, n)", "pdivf(n, x)", "plog(x)", "psqrtf(x)", "plog(n)"]
        bodies = [row.language.translate(problem(), text) for text in texts]
        assert row.compiler().compile(bodies, row.language.frame(problem()), "quick").data[:4] == b"\x7fELF"


def test_functions_at_file_level_are_called_by_programs() -> None:
    given = problem(functions=TWICE, grammar="<e> ::= twice(n) | n | pdiv(twice(n), 2)")
    assert given.head is None and given.fingerprint != problem(grammar=given.language).fingerprint
    assert weigh(given, 10, 1)[0].name == chosen_backend(given, "auto", 10, 1) == "virtual"
    one, other = answers_to(back_end("virtual").runner(given), ["twice(n)", "pdiv(twice(n), 2)"])
    assert not isinstance(one, Rejected) and one.tolist() == (2 * N).tolist()
    assert not isinstance(other, Rejected) and other.tolist() == N.tolist()
    with pytest.raises(Misuse, match="more than can be interpreted"):
        chosen_backend(given, "interpreted", 10, 1)


@pytest.mark.parametrize(
    ("changes", "place", "line"),
    [
        ({"functions": TWICE.replace("a + a", "a + b")}, "`functions` of the problem:3:16", "return a + b;"),
        ({"before": "int *p = 0;\nint q = r;"}, "`before` of the problem:2:9", "int q = r;"),
        ({"before": "int *p = 0;", "after": "y = z;"}, "`after` of the problem:1:5", "y = z;"),
    ],
)
def test_wrong_code_around_programs_is_told_before_the_run(changes: dict[str, str], place: str, line: str) -> None:
    with pytest.raises(Misuse) as raised:
        chosen_backend(problem(**changes), "auto", 10, 1)
    assert str(raised.value).startswith(f"{place}: use of undeclared identifier")
    assert line in str(raised.value) and "--explain" in str(raised.value)
    check_surrounding_code(problem())
