"""Problems from the literature: their cases and what programs are worth, against Python that goes through them one by one."""

from __future__ import annotations

import itertools
import math
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import answers_to
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.problems import NAMES, path_of

PAGIE, BALL, MULTIPLEXER, STRING = (load_problem(path_of(name)) for name in NAMES[3:])


def worth(problem: Problem, text: str) -> float:
    with closing(back_end("interpreted").runner(problem)) as runner:
        (answers,) = answers_to(runner, [text])
    assert not isinstance(answers, Rejected), answers
    found = problem.worth(answers)
    assert found is not None
    return found


def root_mean_square(errors: list[float]) -> float:
    return math.sqrt(math.fsum(each * each for each in errors) / len(errors))


def test_pagie() -> None:
    points = [(-5 + 0.4 * i, -5 + 0.4 * j) for j in range(26) for i in range(26)]
    wanted = [x**4 / (x**4 + 1) + y**4 / (y**4 + 1) for x, y in points]
    assert PAGIE.count == len(points) == 676
    for name, column in zip("xy", zip(*points, strict=True), strict=True):
        assert PAGIE.cases[name].tolist() == [float(np.float32(each)) for each in column]
    assert worth(PAGIE, "1.0f") == pytest.approx(root_mean_square([1 - each for each in wanted]), rel=1e-12)
    errors = [x - each for (x, _), each in zip(points, wanted, strict=True)]
    assert worth(PAGIE, "x") == pytest.approx(root_mean_square(errors), rel=1e-6)
    part = "pdiv(1.0f, (1.0f + pdiv(1.0f, (({0} * {0}) * ({0} * {0})))))"
    assert worth(PAGIE, f"({part.format('x')} + {part.format('y')})") < 1e-6


def ball(point: tuple[float, ...]) -> float:
    return 10 / (5 + sum((each - 3) ** 2 for each in point))


FORMULA = "pdiv(10.00f, ((((((5.00f + {}) + {}) + {}) + {}) + {})))".format(
    *(f"((x{n} - 3.00f) * (x{n} - 3.00f))" for n in range(1, 6))
)


def test_ball_and_what_it_is_worth_on_points_held_out() -> None:
    further = BALL.on_held_out
    assert further is not None and further.on_held_out is None
    for problem, count, least, most in ((BALL, 1024, 0.05, 6.05), (further, 5000, -0.25, 6.35)):
        points = list(zip(*(problem.cases[f"x{n}"].tolist() for n in range(1, 6)), strict=True))
        assert len(set(points)) == count
        flat = list(itertools.chain(*points))
        assert least <= min(flat) < least + 0.05 and most - 0.05 < max(flat) <= most
        assert abs(sum(flat) / len(flat) - (least + most) / 2) < 0.1
        errors = [2 - ball(each) for each in points]
        assert worth(problem, "2.00f") == pytest.approx(root_mean_square(errors), rel=1e-12)
        assert worth(problem, FORMULA) < 1e-6
    assert any(each < 0.05 or each > 6.05 for each in further.cases["x1"])
    again = load_problem(path_of("vladislavleva4"))
    assert all((again.cases[name] == row).all() for name, row in BALL.cases.items())


def multiplexed(setting: int) -> int:
    a0, a1, *data = (setting >> n & 1 for n in range(6))
    return data[a0 + 2 * a1]


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        ("d0", lambda a0, a1, d0, d1, d2, d3: d0),
        ("(a0 | (~ d3))", lambda a0, a1, d0, d1, d2, d3: a0 | (1 - d3)),
        ("((~ a1) & (d0 & d2))", lambda a0, a1, d0, d1, d2, d3: (1 - a1) & d0 & d2),
        (
            "((((~ a1) & ((~ a0) & d0)) | ((~ a1) & (a0 & d1))) | ((a1 & ((~ a0) & d2)) | (a1 & (a0 & d3))))",
            lambda a0, a1, d0, d1, d2, d3: (d0, d1, d2, d3)[a0 + 2 * a1],
        ),
    ],
)
def test_multiplexer_over_all_64_settings(text: str, computes: object) -> None:
    wrong = sum(computes(*(setting >> n & 1 for n in range(6))) != multiplexed(setting) for setting in range(64))  # type: ignore[operator]
    assert worth(MULTIPLEXER, text) == wrong
    assert (wrong == 0) == ("d1" in text)


def appended(string: str) -> str:
    """The program for a string."""
    return "\n".join(f"if (length == at) letter = {each}; length += 1;" for each in string)


@given(st.text("helowrd_abz", min_size=1, max_size=25) | st.integers(1, 11).map(lambda n: "hello_world"[:n]))
def test_string_match_counts_wrong_characters(string: str) -> None:
    wrong = sum(one != other for one, other in itertools.zip_longest(string, "hello_world"))
    assert worth(STRING, appended(string)) == wrong


def test_string_match_is_solved_by_the_string_alone() -> None:
    assert worth(STRING, appended("hello_world")) == 0
    assert [worth(STRING, appended(each)) for each in ("hello_worl", "hello_worldz", "hellp_world", "h")] == [
        1,
        1,
        1,
        10,
    ]
    assert STRING.language.rules.keys() == {"string", "append", "c"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"held_out": {"x": np.ones(3, np.float32)}}, "go together"),
        ({"held_out_fitness": lambda y: 0.0}, "go together"),
        ({"held_out": {"y": np.ones(3, np.float32)}, "held_out_fitness": len}, "not those of the cases"),
        ({"held_out": {"x": np.ones(3)}, "held_out_fitness": len}, "not those of the cases"),
        ({"held_out": {"x": np.ones((3, 2), np.float32)}, "held_out_fitness": len}, "not those of the cases"),
        ({"held_out": {"x": np.ones(0, np.float32)}, "held_out_fitness": len}, "0 cases"),
    ],
)
def test_inputs_held_out_are_those_of_the_cases(changes: dict[str, object], says: str) -> None:
    plain = Problem(
        grammar="<e> ::= x", cases={"x": np.ones(2, np.float32)}, answer="float y", individual="y = {};", fitness=len
    )
    with pytest.raises(Misuse, match=says):
        replace(plain, **changes)  # type: ignore[arg-type]
