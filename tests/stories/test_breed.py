"""Runs of breeding: what they find, that they can be repeated and resumed, and what becomes of problems that misbehave."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.breeding.run import PROGRAMS, BreedRun, Settings
from kernelwright.breeding.speed import speed_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.journal import Journal
from kernelwright.grammar import Grammar
from kernelwright.grammar.breeding import Breeding, Dials
from kernelwright.search import Budget, Result
from kernelwright.search.generations import Generations
from kernelwright.search.strategies import PRESETS, STRATEGIES, TREE_SEARCHES
from kernelwright.stories.breed import Standing, breed, resume

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"

FILE = """
import time
import numpy as np
from kernelwright.grammar import Problem

x = np.arange(8, dtype=np.float32)

def fitness(y):
    {fitness}

problem = Problem(
    grammar={grammar!r}, cases={{"x": x}}, answer="float y", individual={individual!r}, fitness=fitness, perfect=0.0
)
"""
STUBBORN = """
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass"""
GRAMMAR = "<e> ::= (<e> + <e>) | (<e> * <e>) | x | x | 1.0f | 2.0f"


def problem_file(
    folder: Path,
    fitness: str = "return float(np.abs(y - (x * x + 1)).sum())",
    grammar: str = GRAMMAR,
    individual: str = "y = {};",
) -> Path:
    path = folder / "my_problem.py"
    path.write_text(FILE.format(fitness=fitness, grammar=grammar, individual=individual))
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fitness that another run has found would hide what is tested here."""
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rows(run: BreedRun) -> list[Any]:
    return [(r.id, r.candidate, r.key, r.outcome) for r in run.journal.rows()]


def test_a_program_is_found(tmp_path: Path) -> None:
    seen: list[int] = []

    def watch(standing: Standing) -> None:
        seen.append(standing.evaluations)

    with breed(problem_file(tmp_path), folder=tmp_path / "run", seed=1, population=60, jobs=1, watch=watch) as run:
        best = run.best
        assert best is not None and best.fitness == 0 and run.ended is not None and run.reaches(best.fitness)
        assert run.ended["fitness"] == 0 and run.generations[-1]["best"]["fitness"] == 0
        assert run.readable(best) == f"y = {best.text};"
        assert len({row.candidate for row in run.journal.rows()}) == len(run.journal) == run.ended["evaluations"]
        assert seen == sorted(seen) and seen[-1] == run.ended["evaluations"]


def test_equal_seeds_have_equal_journals_whatever_the_workers_and_interruptions(tmp_path: Path) -> None:
    path = problem_file(tmp_path)
    settings: dict[str, Any] = {"seed": 3, "population": 40, "generations": 5, "target": -1.0, "backend": "interpreted"}
    settings["cache"] = False
    with breed(path, folder=tmp_path / "one", jobs=1, **settings) as run:
        whole, generations, ended = rows(run), run.generations, run.ended
    with breed(path, folder=tmp_path / "two", jobs=2, **settings) as run:
        assert rows(run) == whole and run.generations == generations and run.ended == ended

    class Stop(Exception):
        pass

    def stop(standing: Standing) -> None:
        if standing.generation == 3:
            raise Stop

    with pytest.raises(Stop):
        breed(path, folder=tmp_path / "three", jobs=1, watch=stop, **settings)
    with BreedRun.open(tmp_path / "three", PROGRAMS) as run:
        assert run.ended is None and 0 < len(run.journal) < len(whole)
    with resume(tmp_path / "three", jobs=1, cache=False) as run:
        assert rows(run) == whole and run.generations == generations and run.ended == ended
    with breed(path, folder=tmp_path / "other", jobs=1, **{**settings, "seed": 4}) as run:
        assert rows(run) != whole


def test_a_run_knows_how_fast_it_was(tmp_path: Path) -> None:
    path = problem_file(tmp_path)
    given: dict[str, Any] = {"population": 40, "generations": 4, "target": -1.0, "backend": "host", "jobs": 1}

    class Stop(Exception):
        pass

    def stop(standing: Standing) -> None:
        if standing.generation == 2:
            raise Stop

    with pytest.raises(Stop):
        breed(path, folder=tmp_path / "run", seed=3, watch=stop, **given)
    with BreedRun.open(tmp_path / "run") as run:
        before = speed_of(run.journal)
        assert before is not None and before.individuals in (40, 80)
    with resume(tmp_path / "run", jobs=1) as run:
        found = speed_of(run.journal)
        assert found is not None and found.individuals == 160 and found.per_s == found.individuals / found.seconds
        assert (
            0 < found.search_s < found.seconds and found.compile_s > before.compile_s > 0 and found.run_s > before.run_s
        )
        rows = list(run.journal.rows())
        assert found.run_s == pytest.approx(sum(row.timings["run"] for row in rows))
        assert found.compile_s == pytest.approx(sum(row.timings["compile"] for row in rows))
        assert [event.data["n"] for event in run.journal.events("speed")] == [1, 2, 3, 4]
    with Journal.open(tmp_path / "old.db", create=True) as journal:
        assert speed_of(journal) is None  # as in runs of older versions


COUNTED = """with open({log!r}, "a") as log: log.write("x")
    return float(np.abs(y - (x * x + {constant})).sum())"""


@pytest.mark.slow
def test_no_program_is_judged_twice_in_runs_of_the_same_problem(tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = problem_file(tmp_path, COUNTED.format(log=str(log), constant=1))
    settings: dict[str, Any] = {"population": 40, "generations": 4, "target": -1.0, "backend": "interpreted", "jobs": 1}
    with breed(path, folder=tmp_path / "one", seed=3, **settings) as run:
        whole, notes = rows(run), (run.generations, run.ended)
    judged = log.stat().st_size
    assert judged == len(whole)
    with breed(path, folder=tmp_path / "two", seed=3, **settings) as run:
        assert rows(run) == whole and (run.generations, run.ended) == notes
    assert log.stat().st_size == judged
    with breed(path, folder=tmp_path / "three", seed=4, **settings) as run:
        new = {row.candidate for row in run.journal.rows()} - {row[1] for row in whole}
    assert log.stat().st_size == judged + len(new) and len(new) < len(whole)

    judged = log.stat().st_size
    with breed(path, folder=tmp_path / "four", seed=3, cache=False, **settings) as run:
        assert rows(run) == whole
    assert log.stat().st_size == judged + len(whole)
    with breed(path, folder=tmp_path / "host", seed=3, **settings | {"backend": "host"}) as run:
        assert rows(run) == whole  # whole numbers, and yet another back end is asked itself
    assert log.stat().st_size == judged + 2 * len(whole)


def test_another_fitness_or_test_set_is_another_cache(tmp_path: Path) -> None:
    """The file of the problem may be the same: what its fitness function sees counts."""
    data = tmp_path / "wanted.npy"
    fitness = "return float(np.abs(y - wanted).sum())"
    path = problem_file(tmp_path, fitness)
    path.write_text(path.read_text().replace("def fitness", f"wanted = np.load({str(data)!r})\n\ndef fitness"))
    settings: dict[str, Any] = {"seed": 3, "population": 20, "generations": 2, "backend": "interpreted", "jobs": 1}
    settings["initial"] = "random"  # x alone is among them
    found = []
    for name, constant in (("one", 1.0), ("two", 2.0)):
        np.save(data, np.arange(8, dtype=np.float32) * constant)
        with breed(path, folder=tmp_path / name, target=-1.0, **settings) as run:
            found.append(
                {
                    row.candidate: row.outcome.metrics["fitness"]
                    for row in run.journal.rows()
                    if isinstance(row.outcome, Ok)
                }
            )
    assert found[0]["x"] == 0 and found[1]["x"] == 28


def test_a_cache_that_cannot_be_written_is_told_and_harms_nothing(tmp_path: Path, own_cache: Path) -> None:
    own_cache.write_text("no folder")
    standing: list[Standing] = []
    with breed(
        problem_file(tmp_path), folder=tmp_path / "run", seed=1, population=30, jobs=1, watch=standing.append
    ) as run:
        assert run.best is not None and run.ended is not None
    assert "Not a directory" in standing[-1].trouble or "exists" in standing[-1].trouble


def test_host_code_finds_the_same(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"seed": 1, "population": 30, "generations": 3, "jobs": 1}
    with breed(MEDIAN, folder=tmp_path / "one", backend="interpreted", **settings) as run:
        whole = rows(run)
    with breed(MEDIAN, folder=tmp_path / "two", backend="host", **settings) as run:
        assert rows(run) == whole


def test_a_fitness_that_fails_for_some_is_their_end_alone(tmp_path: Path) -> None:
    fitness = "\n    ".join(
        [
            "if y[1] == 4: raise KeyError('four')",
            "if y[1] == 3: return float('nan')",
            "if y[1] == 9: time.sleep(60)",
            "if y[1] == 5: return 'five'",
            "return float(np.abs(y - (x * x + 1)).sum())",
        ]
    )
    path = problem_file(
        tmp_path,
        fitness,
        grammar="<e> ::= <d> | (<d> + <d>) | (x * <d>)\n<d> ::= 1.0f | 2.0f | 3.0f | 4.0f | 5.0f | 9.0f",
    )
    with breed(path, folder=tmp_path / "run", population=30, generations=3, jobs=1, timeout_s=0.2) as run:
        outcomes = {row.candidate: row.outcome for row in run.journal.rows()}
        assert run.ended is not None and run.best is not None
    causes = {str(each) for each in outcomes.values() if isinstance(each, Rejected)}
    assert any("raised KeyError: 'four'" in each and "my_problem.py:9" in each for each in causes)
    assert any("compare: its fitness is no finite number" in each for each in causes)
    assert any("timeout: the fitness function did not end within 0.2 s" in each for each in causes)
    assert any("returned str 'five', which is no number" in each for each in causes)
    assert sum(isinstance(each, Ok) for each in outcomes.values()) > 10


@pytest.mark.parametrize(
    ("fitness", "says"),
    [
        ("return float(np.abs(y - missing).sum())", "NameError: name 'missing'"),
        ("time.sleep(60)", "did not end within 0.2 s"),
        ("return None", "returned NoneType None"),
        ("raise SystemExit(3)", "raised SystemExit: 3"),
        (STUBBORN, "goes on when its time is up"),
    ],
)
def test_a_fitness_that_fails_for_all_is_told_at_once(tmp_path: Path, fitness: str, says: str) -> None:
    with pytest.raises(Misuse, match="none of") as raised:
        breed(problem_file(tmp_path, fitness), folder=tmp_path / "run", jobs=1, timeout_s=0.2, population=20)
    assert says in str(raised.value)


def test_a_fitness_that_ends_its_process_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"none of .* crash"):
        breed(problem_file(tmp_path, "import os; os._exit(3)"), folder=tmp_path / "run", jobs=1, population=20)


def test_programs_that_do_not_compile_are_counted_or_told(tmp_path: Path) -> None:
    mixed = problem_file(tmp_path, grammar="<e> ::= x | x + 1.0f | (x * 2.0f | y[3] | what | (<e> - <e>)")
    given: dict[str, Any] = {"jobs": 1, "backend": "interpreted", "initial": "random"}
    with breed(mixed, folder=tmp_path / "run", population=12, generations=2, **given) as run:
        assert run.best is not None and run.journal.rejected()["compile"] >= 2
    hopeless = problem_file(tmp_path, individual="z = {};")
    with pytest.raises(Misuse, match="z is not declared") as raised:
        breed(hopeless, folder=tmp_path / "none", population=12, jobs=1, backend="interpreted")
    assert "--explain" in str(raised.value)


def test_a_grammar_whose_derivations_hardly_end_is_refused(tmp_path: Path) -> None:
    path = problem_file(tmp_path, grammar="<s> ::= <e> + <e> + <e> + <e> + <e>\n<e> ::= " + "<e> + <e> | " * 9 + "x")
    path.write_text(path.read_text().replace("perfect=0.0", "perfect=0.0, settings={'initial': 'random'}"))
    with pytest.raises(Misuse, match="random genotypes") as raised:
        breed(path, folder=tmp_path / "run", jobs=1)
    assert "initial='ramped'" in str(raised.value)


def test_the_same_grammar_is_bred_when_programs_are_grown(tmp_path: Path) -> None:
    path = problem_file(tmp_path, grammar="<s> ::= <e> + <e>\n<e> ::= " + "<e> + <e> | (<e> * <e>) | " * 5 + "x | 1.0f")
    with breed(path, folder=tmp_path / "run", jobs=1, population=40, generations=3, seed=1, target=-1.0) as run:
        assert run.generations[0]["new"] == 40 and len(run.journal) > 60


def test_settings_of_older_runs_draw_as_those_did() -> None:
    settings = Settings()
    old = settings.as_json()
    del old["dials"]["initial"]
    assert Settings.from_json(old).dials.initial == "random" and settings.dials.initial == "ramped"


def test_a_problem_that_changed_is_not_resumed(tmp_path: Path) -> None:
    path = problem_file(tmp_path)
    breed(path, folder=tmp_path / "run", population=10, generations=1, jobs=1).close()
    path.write_text(path.read_text() + "\n# another\n")
    with pytest.raises(Misuse, match="has changed since this run began"):
        resume(tmp_path / "run")
    with BreedRun.open(tmp_path / "run", PROGRAMS) as run:
        assert run.best is not None  # what it found can still be read
    shutil.rmtree(tmp_path / "run")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"population": 1}, "too small"),
        ({"elite": 300}, "leaves no place"),
        ({"crossover": 1.5}, "shares"),
        ({"tournament": 0}, "at least one"),
        ({"initial": "half"}, "neither ramped nor random"),
        ({"generations": 0}, "0 generations"),
        ({"timeout_s": 0.0}, "without time"),
        ({"colour": 1}, "no setting 'colour'"),
        ({"population": 2.5}, "population=2.5 is no whole number"),
        ({"generations": "3"}, "generations='3' is no whole number"),
        ({"seed": None}, "seed=None is no whole number"),
        ({"elite": True}, "elite=True is no whole number"),
        ({"mutation": "half"}, "mutation='half' is no number"),
        ({"backend": "gpu"}, "no back end 'gpu'"),
    ],
)
def test_settings_that_contradict_are_refused(tmp_path: Path, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        breed(problem_file(tmp_path), folder=tmp_path / "run", **settings)


# -- breeding alone ----------------------------------------------------------------------------------------------------

SUMS = Grammar.parse("<e> ::= <e> + <t> | <t>\n<t> ::= <d><d> | <d>\n<d> ::= 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9")


def results(generation: Sequence[Any], worths: Sequence[float | None]) -> list[Result[Any]]:
    return [Result(each, None if worth is None else (worth,)) for each, worth in zip(generation, worths, strict=True)]


def distance(text: str) -> float:
    return abs(sum(map(int, text.split("+"))) - 1234.0)


def test_breeding_gets_better_keeps_its_best_and_repeats_nothing() -> None:
    strategy = Generations(Breeding(SUMS), seed=5, rates=Dials(population=50))
    best = []
    for _ in range(25):
        generation = strategy.ask()
        assert strategy.ask() is generation and len(generation) == 50
        assert len({each.text for each in generation}) == 50
        assert all(len(each.derivation.choices) <= 221 for each in generation) or strategy.generation == 1
        worths = [distance(each.text) for each in generation]
        best.append(min(worths))
        strategy.tell(results(generation, worths))
        progress = strategy.progress
        assert progress.best is not None and progress.best.objectives == (best[-1],)
        assert progress.generation == len(best) and progress.accepted == 50 * len(best)
    assert best == sorted(best, reverse=True) and best[-1] <= 10 < best[0]


def test_what_is_worth_nothing_has_no_children_while_others_do() -> None:
    dials = Dials(population=20, tournament=8, crossover=0.0, elite=0)
    strategy = Generations(Breeding(SUMS), seed=5, rates=dials)
    first = strategy.ask()
    strategy.tell(results(first, [-1.0 if number == 3 else None for number in range(20)]))
    parent = first[3].text
    drawn = [strategy._parent().text for _ in range(200)]
    assert drawn.count(parent) == pytest.approx(200 * (1 - 0.95**8), abs=35)


def test_a_language_of_two_programs_can_be_bred() -> None:
    budget = Budget(generations=3)
    strategy = Generations(Breeding(Grammar.parse("<e> ::= x | y")), seed=1, budget=budget, rates=Dials(population=6))
    for _ in range(3):
        generation = strategy.ask()
        assert {each.text for each in generation} <= {"x", "y"} and len(generation) == 6
        with pytest.raises(ValueError, match="results that are not those"):
            strategy.tell([])
        strategy.tell(results(generation, [random.Random(1).random() for _ in generation]))
    assert strategy.ask() == []


def test_breeding_ends_where_it_is_told_to() -> None:
    strategy = STRATEGIES["generations"].make(Breeding(SUMS), seed=1, rates=Dials(population=4))
    strategy.tell(results(strategy.ask(), [None] * 4))
    assert strategy.progress.best is None and strategy.progress.front == ()
    assert strategy.ask()
    strategy.tell(results(strategy.ask(), [2.0, 1.0, None, 1.0]))
    strategy.conclude()
    assert strategy.ask() == [] and strategy.progress.best.objectives == (1.0,)
    assert not (set(STRATEGIES) - set(PRESETS) - set(TREE_SEARCHES)) - {"generations"}
