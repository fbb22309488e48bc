"""What is left once moves and what holds by construction are settled: other operands, copies, what is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import field, replace

from kernelwright.edits.instruction_words import describe_instruction, describe_operand
from kernelwright.edits.kinds.require_launch import guard_json
from kernelwright.edits.original import Id, Use
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.ir import DataLayout, Instruction
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.barriers import is_narrowed, may_cross, separates_nothing
from kernelwright.prove.obligations.bounds import in_bounds, memory_in_words, place_of
from kernelwright.prove.obligations.by_construction.masked_loads import masked_loads
from kernelwright.prove.obligations.crossings import never_meet
from kernelwright.prove.obligations.effects import Effect, effect_of
from kernelwright.prove.obligations.guard_search import Atom, atoms, weakest
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.obligations.order import Crossing, Moves, Speculated, divides_safely
from kernelwright.prove.obligations.solver import REFUTED, UNITS_PER_S, Budget, Found, nearest
from kernelwright.prove.obligations.stores import nobody_sees
from kernelwright.prove.obligations.values import METHOD, Values
from kernelwright.prove.obligations.variant_pair import VariantPair
from kernelwright.prove.obligations.world import inputs_of, is_met_by

COUNTEREXAMPLE_UNITS = 5 * UNITS_PER_S
"""Of the solver's work, for all counterexamples of a variant."""


@dataclass(frozen=True, eq=False)
class Question:
    """What the solver is asked; ``open`` says what is owed as long as it does not answer."""

    open: Obligation
    ask: Callable[[Values], Found]
    sizes: tuple[int, ...] = ()
    """Of the elements whose addresses it is about, in bytes."""
    refuted: str = REFUTED
    """Why it does not hold, beside the values that show it."""


def differences(
    pair: VariantPair,
    moves: Moves,
    guarding: Sequence[LaunchFacts],
    launches: Sequence[LaunchFacts],
    budget: Budget,
) -> Iterator[Obligation]:
    """``guarding``: the launches that a guard which is searched must admit, none for no search; ``launches``: those that a counterexample
    should be near to."""
    settled = [one for id in pair.deleted for one in _gone(pair, id)]
    barriers = list(_barriers(pair))
    settled += [one for id in pair.copies for one in _copied(pair, id)]
    yield from settled
    masked = {each.id for each in masked_loads(pair)}
    questions = [
        *_crossings(pair, moves),
        *_speculated(pair, moves, masked),
        *_copied_loads(pair),
        *_operands(pair, {(id, 0) for id in masked}),
    ]
    yield from _settled(pair, [*questions, *barriers, *_stores(pair)], () if settled else guarding, launches, budget)


def _crossings(pair: VariantPair, moves: Moves) -> Iterator[Question]:
    found = list(moves.crossings())
    past_barriers = [
        each for each in found if effect_of(pair.original.nodes[each.crossed].instruction) is Effect.BARRIER
    ]
    barriers_of = Counter(each.moved for each in past_barriers)
    for each in found:
        is_past_barrier = each in past_barriers

        def ask(values: Values, each: Crossing = each, is_past_barrier: bool = is_past_barrier) -> Found:
            if not is_past_barrier:
                return never_meet(values, each)
            if barriers_of[each.moved] > 1:
                return Found("unknown", 0.0, why="it crosses several barriers")
            return may_cross(values, each.moved, each.crossed)

        yield Question(each.open, ask)


def _speculated(pair: VariantPair, moves: Moves, masked: Set[Id]) -> Iterator[Question]:
    for each in (each for each in moves.speculated if each.id not in masked):
        what, _ = describe_instruction(pair.original, each.id)
        load = pair.varied[each.id]
        if load.opcode != "load":
            load = pair.original.nodes[each.id].instruction

        def ask(values: Values, each: Speculated = each, load: Instruction = load) -> Found:
            return in_bounds(values, load, *place_of(values, each.id, each.block))

        yield _of_bounds(pair, each.id, what, load, ask)


def _barriers(pair: VariantPair) -> Iterator[Question]:
    for id in pair.deleted:
        if effect_of(pair.original.nodes[id].instruction) is Effect.BARRIER:
            what, _ = describe_instruction(pair.original, id)

            def ask(values: Values, id: Id = id) -> Found:
                return separates_nothing(values, id)

            claim = f"{what} separates no accesses of two threads to the same memory"
            yield Question(_tested(pair, id, claim, "it may"), ask)
    for id in (id for id in pair.original.nodes if id not in pair.applied.draft.dead and is_narrowed(pair, id)):
        what, _ = describe_instruction(pair.original, id)

        def ask_of_warps(values: Values, id: Id = id) -> Found:
            return separates_nothing(values, id)

        claim = f"{what} separates no accesses of threads of different warps to the same memory"
        yield Question(_tested(pair, id, claim, "it may"), ask_of_warps)


def _operands(pair: VariantPair, settled: Set[Use]) -> Iterator[Question]:
    standing = {id: block for block, ids in enumerate(pair.order_after) for id in ids}
    for id, index in (use for use in pair.changed_uses if use not in settled):
        block = standing[id]
        what, _ = describe_instruction(pair.original, id)
        old = describe_operand(pair.original, id, index)
        new = pair.operands_after(id)[index]

        def ask(values: Values, id: Id = id, index: int = index, block: int = block) -> Found:
            moved = pair.original.nodes[id].block != block
            return values.same_operand(id, index, place_of(values, id, block) if moved else None)

        claim = f"operand {index} of {what}, {old}, is {new} whenever it is reached"
        yield Question(_tested(pair, id, claim, "it is unknown whether it is"), ask)


def _settled(
    pair: VariantPair,
    questions: list[Question],
    guarding: Sequence[LaunchFacts],
    launches: Sequence[LaunchFacts],
    budget: Budget,
) -> Iterator[Obligation]:
    """The answers: under the variant's own guards, and what more guards would make of those that are open."""
    values = Values(pair, budget)
    open_ones: list[tuple[Question, Found]] = []
    for question in questions:
        found = _timed(question, values)
        if found.answer == "proven":
            yield replace(question.open, method="solver", reason="for all that the guards admit", seconds=found.seconds)
        elif not budget.units:  # nothing more will be found out: at once, for those who ask no further
            yield replace(question.open, method=METHOD[found.answer], reason=found.why)
        else:
            open_ones.append((question, found))
    before = budget.seconds
    guards = (
        _searched(pair, [question for question, _ in open_ones], guarding, budget) if open_ones and guarding else None
    )
    share = (budget.seconds - before) / max(len(open_ones), 1)
    counterexamples = Budget(COUNTEREXAMPLE_UNITS)
    for question, found in open_ones:
        reason = (
            found.why if guards is None else f"with a check at each launch it does: {' and '.join(map(str, guards))}"
        )
        before = counterexamples.seconds
        counterexample = _counterexample(found, launches, counterexamples)
        yield replace(
            question.open,
            method="refuted" if counterexample else METHOD[found.answer],
            reason=reason if guards or not counterexample else question.refuted,
            seconds=found.seconds + share + counterexamples.seconds - before,
            counterexample=counterexample,
            guards=tuple(map(guard_json, guards or ())),
        )


def _counterexample(found: Found, launches: Sequence[LaunchFacts], budget: Budget) -> tuple[tuple[str, int], ...]:
    """What refutes an answer, as near as can be to the first launch in training, so that it can be tried. ``budget`` is its own: what is
    proven does not depend on it."""
    if found.open is None or not launches:
        return found.model
    return nearest(found.open, inputs_of(launches[0]), budget) or found.model


def _timed(question: Question, values: Values) -> Found:
    """The answer, with all the time that the solver took for it, invariants included."""
    before = values.budget.seconds
    found = question.ask(values)
    return replace(found, seconds=values.budget.seconds - before)


def _searched(
    pair: VariantPair, questions: list[Question], launches: Sequence[LaunchFacts], budget: Budget
) -> list[Atom] | None:
    """Guards under which all the questions are answered; None where there are none. They are searched for one question after another,
    for what one needs mostly is what the others need. All of them together are asked about once more when the variant has them."""
    sizes = tuple(dict.fromkeys(size for question in questions for size in question.sizes)) or (4,)
    candidates = atoms(pair.before, launches, sizes)
    search = _Search(pair, budget)
    # One that all of them are not enough for is soon found, and ends the search before any are dropped for another.
    if len(questions) > 1 and any(
        not any(search.proves(question, candidates, own) for own in (False, True)) for question in questions
    ):
        return None
    kept: list[Atom] = []
    for question in questions:
        found = search.weakest_for(question, kept, [each for each in candidates if each not in kept])
        if found is None:
            return None
        kept += found
    return kept or None


@dataclass(eq=False)
class _Search:
    """What was asked already is not asked, nor paid, again."""

    pair: VariantPair
    budget: Budget
    known: dict[tuple[int, frozenset[Guard], bool], bool] = field(default_factory=dict)
    refuted: list[tuple[int, frozenset[Guard], dict[str, int]]] = field(default_factory=list)
    """Questions with guards under which they do not hold, and the values that show it; with the invariants that hold without guards."""

    def proves(
        self, question: Question, guards: Sequence[Guard], own_invariants: bool, is_reached: bool = False
    ) -> bool:
        asked = (id(question), frozenset(guards), own_invariants)
        if asked not in self.known:
            self.known[asked] = not self._is_refuted(*asked) and self._asked(
                question, guards, own_invariants, is_reached
            )
        return self.known[asked]

    def _asked(self, question: Question, guards: Sequence[Guard], own_invariants: bool, is_reached: bool) -> bool:
        if self.budget.spent:
            return False
        found = question.ask(Values(self.pair, self.budget, tuple(guards), own_invariants, is_reached))
        if found.answer == "refuted" and not own_invariants:
            self.refuted.append((id(question), frozenset(guards), dict(found.model)))
        return found.answer == "proven"

    def _is_refuted(self, question: int, guards: frozenset[Guard], own_invariants: bool) -> bool:
        """Whether values that refuted the question under other guards do so under these: they meet all that these have beside."""
        return not own_invariants and any(
            question == other and all(is_met_by(guard, model) for guard in guards - those)
            for other, those, model in self.refuted
        )

    def weakest_for(self, question: Question, kept: list[Atom], candidates: list[Atom]) -> list[Atom] | None:
        """Guards beyond those kept under which a question is answered: none at all, or the weakest; first with invariants of loops that
        hold without guards, which are known already."""
        for own_invariants in (False, True):
            if self.proves(question, kept, own_invariants):
                return []
            if not self.proves(question, (*kept, *candidates), own_invariants):
                continue

            # Under all candidates the place is reached, so it is under fewer and wider ones.
            def proves(guards: Sequence[Guard], own_invariants: bool = own_invariants) -> bool:
                return self.proves(question, (*kept, *guards), own_invariants, is_reached=True)

            return weakest(candidates, proves)
        return None


def _tested(pair: VariantPair, id: Id, claim: str, why: str) -> Obligation:
    return Obligation(claim, "tested", why, place=pair.place(id), subject=str(id))


def _gone(pair: VariantPair, id: Id) -> Iterator[Obligation]:
    effect = effect_of(pair.original.nodes[id].instruction)
    if effect in (Effect.PURE, Effect.DIVISION, Effect.LOAD, Effect.PIN):
        return
    what, _ = describe_instruction(pair.original, id)
    if effect not in (Effect.STORE, Effect.BARRIER):
        yield _tested(
            pair, id, f"{what} is not needed", f"a '{pair.original.nodes[id].instruction.opcode}' keeps its place"
        )


def _stores(pair: VariantPair) -> Iterator[Question]:
    for id in pair.deleted:
        if effect_of(pair.original.nodes[id].instruction) is Effect.STORE:
            what, _ = describe_instruction(pair.original, id)

            def ask(values: Values, id: Id = id) -> Found:
                return nobody_sees(values, id)

            yield Question(_tested(pair, id, f"nothing sees what {what} stores", "something may"), ask)


def _copied(pair: VariantPair, id: Id) -> Iterator[Obligation]:
    copy = pair.varied[id]
    effect = effect_of(copy)
    if effect in (Effect.PURE, Effect.PIN) or (effect is Effect.DIVISION and divides_safely(copy)):
        return
    if effect is not Effect.LOAD:  # a load changes nothing, and owes that its address is good (``_copied_loads``)
        yield _tested(pair, id, f"a copied '{copy.opcode}' changes nothing", "it may")


def _copied_loads(pair: VariantPair) -> Iterator[Question]:
    for block, ids in enumerate(pair.order_after):
        for id in ids:
            if isinstance(id, str) and effect_of(pair.varied[id]) is Effect.LOAD:
                load = pair.varied[id]

                def ask(values: Values, id: Id = id, load: Instruction = load, block: int = block) -> Found:
                    return in_bounds(values, load, *place_of(values, id, block))

                node = pair.applied.draft.known(id)
                what, _ = describe_instruction(pair.original, node.origin)
                yield _of_bounds(pair, id, f"a copy of {what}", load, ask)


OUTSIDE = "with these values it would read outside of that memory, between its elements, or at an address that nothing defines"


def _of_bounds(pair: VariantPair, id: Id, what: str, load: Instruction, ask: Callable[[Values], Found]) -> Question:
    """``what`` reads where the original may not come to read, for a thread whose address may be a bad one."""
    size = DataLayout(pair.original.module.data_layout).store_size(load.type)
    claim = (
        f"the {size} bytes that {what} reads lie in {memory_in_words(pair.original, load)} for every thread that comes to where it now "
        "stands, also where the original reads nothing"
    )
    why = "it is unknown where its address may lie there"
    return Question(_tested(pair, id, claim, why), ask, (size,), OUTSIDE)
