"""Programs mean the same whichever way they are run: interpreted, as host code, as CUDA C on a virtual GPU."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from kernelwright.breeding.back_end_table import BACKENDS, back_end
from kernelwright.breeding.choice import sample, weigh
from kernelwright.breeding.program_results import Answers, answers_to
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.problems import NAMES, path_of
from tests.breeding.programs import programs
from tests.grammar.everything import problem as everything


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """As in the workers: programs are read by recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def run(backend: str, problem: Problem, texts: list[str]) -> list[Answers]:
    with closing(back_end(backend).runner(problem)) as runner:
        return answers_to(runner, texts)


def small(**given: object) -> Problem:
    settings: dict[str, object] = {
        "grammar": "<e> ::= x | n",
        "cases": {"x": np.arange(4, dtype=np.float32), "n": np.array([0, 1, -2, 3], np.int32)},
        "answer": "int y",
        "individual": "{}",
        "fitness": lambda y: float(y.sum()),
    }
    return Problem(**{**settings, **given})  # type: ignore[arg-type]


COMPILED = ("host", "optimised", "virtual", "llvm")
"""Back ends whose code runs without a GPU."""


@pytest.mark.parametrize("name", NAMES)
def test_problems_have_equal_fitness_on_every_back_end(name: str) -> None:
    problem = load_problem(path_of(name))
    texts = sample(problem, 24, seed=1)
    worths = {}
    for backend in ("interpreted", *COMPILED):
        answers = run(backend, problem, texts)
        assert not any(isinstance(each, Rejected) for each in answers)
        worths[backend] = [problem.worth(each) for each in answers]  # type: ignore[arg-type]
    # The error of a math function is a few units in the last place of single precision.
    loose = {"rel": 1e-5} if name == "keijzer6" else {"rel": 0}
    for backend in COMPILED:
        for mine, other in zip(worths["interpreted"], worths[backend], strict=True):
            assert (mine is None and other is None) or mine == pytest.approx(other, abs=0, **loose)
    assert len({np.asarray(each).tobytes() for each in answers}) > 3


def same(one: object, other: object) -> bool:
    if isinstance(one, Rejected) or isinstance(other, Rejected):
        return isinstance(one, Rejected) and isinstance(other, Rejected) and one.stage == other.stage
    return np.array_equal(one, other, equal_nan=True)  # type: ignore[arg-type]


def test_host_code_does_what_the_interpreter_does_faults_included() -> None:
    problem = everything()
    texts = programs(problem, 120, seed=3, longest=200)
    mine, other = run("interpreted", problem, texts), run("host", problem, texts)
    wrong = [text for text, a, b in zip(texts, mine, other, strict=True) if not same(a, b)]
    assert not wrong, wrong[:3]
    assert sum(isinstance(each, Rejected) for each in mine) > 10
    assert sum(not isinstance(each, Rejected) for each in mine) > 40


@pytest.mark.parametrize("backend", ["llvm", "optimised"])
def test_gpu_ir_and_optimised_code_do_what_the_interpreter_does_faults_included(backend: str) -> None:
    problem = everything()
    texts = programs(problem, 60, seed=5, longest=200)
    mine, other = run("interpreted", problem, texts), run(backend, problem, texts)
    wrong = [text for text, a, b in zip(texts, mine, other, strict=True) if not same(a, b)]
    assert not wrong, wrong[:3]
    assert sum(isinstance(each, Rejected) for each in mine) > 4
    assert sum(not isinstance(each, Rejected) for each in mine) > 20


@pytest.mark.slow
def test_cuda_c_means_what_the_interpreter_says() -> None:
    problem = everything()
    texts = programs(problem, 120, seed=4, longest=200)
    mine, other = run("interpreted", problem, texts), run("virtual", problem, texts)
    wrong = [t for t, a, b in zip(texts, mine, other, strict=True) if not isinstance(a, Rejected) and not same(a, b)]
    assert not wrong, wrong[:3]


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("y = -7 / 2; y = y * 10 + -7 % 3;", [-31] * 4),
        ("y = 2147483647 + 1;", [-2147483648] * 4),
        ("y = 1u - 2 > 0;", [1] * 4),
        ("y = -1 < 1u;", [0] * 4),
        ("y = 1 << 33;", [2] * 4),
        ("y = -8 >> 1;", [-4] * 4),
        ("y = 0.1f + 0.2 > 0.3;", [1] * 4),
        ("y = (int)(x / 0.0f);", [0, 2147483647, 2147483647, 2147483647]),
        ("y = 7; if (n > 0) y = n; else if (n < 0) y = -1;", [7, 1, -1, 3]),
        ("for (int i = 0; i < n; i++) y += i + 1;", [0, 1, 0, 6]),
        ("y = n > 0 && 6 / n > 2;", [0, 1, 0, 0]),
        ("y = n == 0 ? 9 : 6 / n;", [9, 6, -3, 2]),
        ("y = (-2147483647 - 1) / -1;", [-2147483648] * 4),
        ("y = 3 - 2 - 1 + 2 * 3 | 8;", [14] * 4),
        ("y = min(n, 2) * 10 + max(-n, abs(n));", [0, 11, -18, 23]),
        ("y = sqrtf(x) == 1.0f || floor(x / 2) == 1.0;", [0, 1, 1, 1]),
    ],
)
def test_c_by_hand(text: str, answers: list[int]) -> None:
    problem = small()
    for backend in ("interpreted", "host", "llvm"):
        (found,) = run(backend, problem, [text])
        assert not isinstance(found, Rejected), found
        assert found.tolist() == answers, backend


def test_by_hand_on_the_virtual_gpu_too() -> None:
    problem = small()
    texts = ["y = -7 / 2; y = y * 10 + -7 % 3;", "for (int i = 0; i < n; i++) y += i + 1;", "y = n == 0 ? 9 : 6 / n;"]
    found = run("virtual", problem, texts)
    assert [each.tolist() for each in found if not isinstance(each, Rejected)] == [
        [-31] * 4,
        [0, 1, 0, 6],
        [9, 6, -3, 2],
    ]


@pytest.mark.parametrize("backend", ["interpreted", "host", "llvm"])
def test_one_bad_program_harms_no_other(backend: str) -> None:
    texts = ["y = 1;", "y = 6 / n;", "y = ;", "while (1) y++;", "y = 2;"]
    found = run(backend, small(), texts)
    stages = [each.stage if isinstance(each, Rejected) else each.tolist() for each in found]
    assert stages == [[1] * 4, "fault", "compile", "fault", [2] * 4]
    assert isinstance(found[2], Rejected) and "expected a value" in found[2].reason and "column 5" in found[2].where
    assert isinstance(found[3], Rejected) and "100000 times" in found[3].reason


def test_one_bad_program_harms_no_other_on_the_virtual_gpu() -> None:
    problem = small(cases={"n": np.array([0, 1], np.int32), "row": np.zeros((2, 3), np.int32)})
    found = run("virtual", problem, ["y = 1;", "y = row[n - 4000];", "y = what;", "y = 2;", "y = }{;"])
    stages = [each.stage if isinstance(each, Rejected) else each.tolist() for each in found]
    assert stages == [[1, 1], "fault", "compile", [2, 2], "compile"]
    assert isinstance(found[2], Rejected) and "what" in found[2].reason


@pytest.mark.parametrize("name", [*NAMES, "everything"])
@pytest.mark.parametrize("backend", [row.name for row in BACKENDS.values() if row.needs_gpu])
def test_programs_assemble_for_a_gpu(name: str, backend: str) -> None:
    row = back_end(backend)
    if missing := row.compiler().missing():
        pytest.skip(missing)
    problem = everything() if name == "everything" else load_problem(path_of(name))
    texts = programs(problem, 10, longest=200)
    texts = [
        t
        for t, a in zip(texts, run("interpreted", problem, texts), strict=True)
        if not isinstance(a, Rejected) or a.stage != "compile"
    ]
    bodies = [row.language.translate(problem, text) for text in texts]
    image = row.compiler().compile(bodies, row.language.frame(problem), "quick")
    assert image.format == "cubin" and image.data[:4] == b"\x7fELF" and len(image.places) == len(texts) > 3


def test_the_quickest_is_chosen_and_others_told_why() -> None:
    found = weigh(load_problem(path_of("keijzer6")), 300, 1)
    assert [each.name for each in found] == ["interpreted", "host"]
    assert all(each.cost and each.predicted_s for each in found)


def test_optimising_is_weighed_where_programs_run_long() -> None:
    few = small(fitness=lambda y: 0.0, grammar="<e> ::= for (int i = 0; i < 1000; i++) y = y * 3 + i; | y = n;")
    assert "optimised" not in [each.name for each in weigh(few, 100, 1)]
    n = np.arange(8_000, dtype=np.int32)
    many = small(cases={"n": n}, grammar="<e> ::= for (int i = 0; i < 1000; i++) y = y * 3 + i;")
    found = weigh(many, 100, 1)
    assert found[0].name == "optimised" and {each.name for each in found} == {"interpreted", "host", "optimised"}


def test_what_is_beyond_our_part_of_c_goes_to_the_virtual_gpu() -> None:
    problem = small(grammar="<e> ::= y = __popc(n); | y = 2 * __popc(n);")
    found = weigh(problem, 10, 1)
    assert found[0].name == "virtual" and "__popc" in found[1].note
    (answers,) = run("virtual", problem, ["y = __popc(n);"])
    assert not isinstance(answers, Rejected) and answers.tolist() == [0, 1, 31, 2]
    with pytest.raises(Misuse, match="more than can be interpreted"):
        back_end("interpreted").runner(small(before="int *p = 0;"))


def test_a_language_that_is_partly_beyond_ours_goes_there_too() -> None:
    """Others would breed in the rest of it; what is no CUDA C either is no reason."""
    found = weigh(small(grammar="<e> ::= y = n; | y = n + n; | y = __popc(n); | y = -n; | y = n +;"), 10, 1)
    assert found[0].name == "virtual" and "__popc(n)" in found[0].note
    found = weigh(small(grammar="<e> ::= y = n; | y = n + n; | y = what(n); | y = -n; | y = n +;"), 10, 1)
    assert "virtual" not in [each.name for each in found]


def test_unknown_and_missing_back_ends() -> None:
    with pytest.raises(Misuse, match="no back end 'fast'"):
        back_end("fast")
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        with pytest.raises(ToolError):
            back_end("cuda").runner(small())
        assert "no NVIDIA driver" in back_end("cuda").missing()
