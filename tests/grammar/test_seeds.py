"""What a seed breeds is fixed: genotypes, derivations and texts of whole generations, as digests from before any of it was made faster."""

from __future__ import annotations

import hashlib

import pytest

from kernelwright.grammar import Grammar, load_problem
from kernelwright.grammar.breeding import Breeding, Dials, Initial, breeding_of
from kernelwright.grammar.problems import path_of
from kernelwright.search import Budget, Result
from kernelwright.search.generations import Generations

TAILS = Grammar.parse("<e> ::= <e> + <e> | <v> | (<e>)\n<v> ::= x | y<one> | <none>z\n<one> ::= 1\n<none> ::= #empty#")


def digest_of(operators: Breeding, dials: Dials, seed: int, generations: int) -> str:
    """Of all that is asked, with a fitness that only depends on texts; a seventh of the programs has none."""
    search = Generations(operators, seed=seed, budget=Budget(generations=generations), rates=dials)
    found = hashlib.sha256()
    while batch := search.ask():
        results = []
        for each in batch:
            said = each.derivation
            found.update(repr((each.genotype, each.text, said.choices, said.codons)).encode())
            worth = int(hashlib.sha256(each.text.encode()).hexdigest()[:4], 16)
            results.append(Result(each, (float(worth % 50),) if worth % 7 else None))
        search.tell(results)
    return found.hexdigest()[:16]


@pytest.mark.parametrize(
    ("name", "initial", "digest"),
    [
        ("keijzer6", "ramped", "6e28d846ec0bb899"),
        ("keijzer6", "random", "d5f6c260c3bd2725"),
        ("search", "ramped", "96380b08ce511490"),
        ("search", "random", "3e8e2e59318aa958"),
        ("multiplier5", "random", "1d2e51a8850310af"),
        ("pagie1", "ramped", "cd21204cd789f464"),
        ("vladislavleva4", "ramped", "9ae8dabec9f088f5"),
        ("multiplexer6", "random", "e3d2a1161cb5b261"),
        ("string_match", "ramped", "41a09de500eeb5b5"),
    ],
)
def test_a_seed_breeds_what_it_has_always_bred(name: str, initial: Initial, digest: str) -> None:
    dials = Dials(population=60, initial=initial)
    assert digest_of(breeding_of(load_problem(path_of(name)), dials), dials, 1, 8) == digest


@pytest.mark.parametrize(("initial", "digest"), [("ramped", "0ba62e404b39a337"), ("random", "7cc7ae3cd1e2861b")])
def test_so_do_genotypes_that_are_read_several_times(initial: Initial, digest: str) -> None:
    """Six integers for up to thirty choices, and texts behind the last symbol."""
    dials = Dials(population=15, longest=30, codons=6, initial=initial)
    assert digest_of(Breeding(TAILS, 6, 30, initial), dials, 3, 20) == digest
