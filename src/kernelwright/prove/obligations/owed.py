"""Everything that a variant owes, kernel by kernel.

owed(original, edits)                # [Obligation, ...]: proven when all of them hold
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import Applied, apply
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.loads.hoist_masked_loads import masked
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_of
from kernelwright.edits.original import Original
from kernelwright.guards import LaunchFacts
from kernelwright.prove.obligations.by_construction.edit_kinds import by_construction
from kernelwright.prove.obligations.differences import differences
from kernelwright.prove.obligations.obligation import Obligation, all_hold
from kernelwright.prove.obligations.order import Moves
from kernelwright.prove.obligations.solver import VARIANT_UNITS, Budget
from kernelwright.prove.obligations.variant_pair import Unprovable, VariantPair

Launches = Sequence[LaunchFacts]

PART_UNITS = 2 * VARIANT_UNITS
"""Of the solver's work, after which no further edit of a kernel is tried."""
ROUNDS = 4
"""How often guards are added to what owes something."""


def owed(
    original: Original,
    edits: Sequence[Edit],
    launches: Launches = (),
    budget: Budget | None = None,
    arch: str = DEFAULT_ARCHITECTURE,
    *,
    is_shown: bool = True,
) -> list[Obligation]:
    """What the edits of one kernel owe together, after repair. ``launches``: those that a guard that is searched must admit;
    ``budget``: what the solver may take; all that a variant may where none is given; ``arch``: what it is compiled for.
    ``is_shown``: whether what refutes an obligation is to be near to a launch, so that it can be tried; what holds does not
    depend on it."""
    budget = budget if budget is not None else Budget()
    applied, shown = apply(original, edits), launches if is_shown else ()
    found: list[Obligation] = []
    try:
        for pair in _pairs(original, applied, arch):
            pair.varied  # noqa: B018 - whether the two fit at all
            owes = _all(pair, launches, shown, budget)
            # An instruction of a later step is none of the original's.
            found += owes if pair.original is original else (replace(one, subject="") for one in owes)
    except Unprovable as error:
        found = [Obligation("the variant can be compared with its original", "tested", f"not provable: {error}")]
    return [replace(one, kernel=original.kernel) for one in found]


def _pairs(original: Original, applied: Applied, arch: str) -> Iterator[VariantPair]:
    """What is compared: the variant with its original; of one in steps, what each step makes of the one before. That the copies of turns
    with which the second begins are what the first has made is by construction (``ir/loop_copies.py``)."""
    if not applied.steps:
        yield VariantPair(original, applied, arch)
    for number, step in enumerate(applied.steps, 1):
        yield VariantPair(step.original, step.applied, arch, is_compiled=number == len(applied.steps))


def owed_by_program(
    originals: Mapping[str, Original],
    edits: Mapping[str, Sequence[Edit]],
    launches: Mapping[str, Launches],
    arch: str = DEFAULT_ARCHITECTURE,
) -> list[Obligation]:
    """The same of every kernel that is changed."""
    return [
        one
        for kernel, some in edits.items()
        for one in owed(originals[kernel], some, launches.get(kernel, ()), arch=arch)
    ]


def provable_part(
    original: Original,
    edits: Sequence[Edit],
    launches: Launches,
    units: int = PART_UNITS,
    arch: str = DEFAULT_ARCHITECTURE,
) -> list[Edit]:
    """Those of the edits that owe nothing open together, with the guards that this takes, which hold in all ``launches``."""
    spent = Budget(units)
    whole = _with_guards(original, list(edits), launches, spent, arch)
    if whole is not None:
        return whole
    # What holds by construction comes first: its guards are there for the rest.
    order = sorted(edits, key=lambda edit: not _holds_by_construction(original, edit, arch))

    def with_group(kept: list[Edit], group: list[Edit]) -> list[Edit]:
        """Kept, with those of a group that hold on top of it: all at once, or half by half, for most do."""
        if not group or spent.spent:
            return kept
        is_whole = {*kept, *group} == set(edits)  # that was asked first, and is not proven
        made = None if is_whole else _with_guards(original, [*kept, *group], launches, spent, arch)
        if made is not None or spent.spent:
            return made or kept
        if len(group) == 1:
            instead = _instead(original, group[0])
            return (_with_guards(original, [*kept, *instead], launches, spent, arch) if instead else None) or kept
        half = (len(group) + 1) // 2
        return with_group(with_group(kept, group[:half]), group[half:])

    return with_group([], order)


def _holds_by_construction(original: Original, edit: Edit, arch: str) -> bool:
    """Whether an edit holds alone without any work of the solver. Ends at the first obligation that does not: to say what all of them ask
    takes minutes in a kernel with long unrolled loops."""
    try:
        pairs = _pairs(original, apply(original, [edit]), arch)
        return all(all_hold(_all(pair, (), (), Budget(0))) for pair in pairs if pair.varied is not None)
    except Unprovable:
        return False


def _instead(original: Original, edit: Edit) -> list[Edit]:
    """What may give as much as an edit that cannot be proven: loads whose address is good only where they are needed are masked; that a
    pointer is written through by one thread alone no guard shows, but that those which are only read share no memory with it gives the
    compiler as much."""
    if isinstance(edit, HoistLoads):
        return [masked(edit)]
    if not isinstance(edit, NoAlias):
        return []
    others = [NoAlias(argument.index) for argument in original.function.arguments if argument.index != edit.index]
    return [other for other in others if all_hold(owed(original, [other])) and apply(original, [other]).guards]


def _with_guards(
    original: Original, edits: list[Edit], launches: Launches, spent: Budget, arch: str
) -> list[Edit] | None:
    """The edits, and guards under which all they owe holds; None where none are found. ``spent`` is charged."""
    for _ in range(ROUNDS):
        budget = Budget()
        open_ones = [one for one in owed(original, edits, launches, budget, arch, is_shown=False) if not one.holds]
        spent.charge(budget)
        if not open_ones:
            return edits
        wanted = dict.fromkeys(guard for one in open_ones for guard in one.guards)
        admits = all(guard_of(guard).holds(facts) for guard in wanted for facts in launches)
        if not all(one.guards for one in open_ones) or not admits or not launches:
            return None
        edits = [*edits, *map(RequireLaunch, wanted)]
    return None


def _all(pair: VariantPair, launches: Launches, shown: Launches, budget: Budget) -> Iterator[Obligation]:
    touched = {*pair.deleted, *pair.applied.draft.touched, *pair.applied.draft.extras}
    same = sum(id not in touched for ids in pair.order_before for id in ids)
    claim = f"{same} of {len(pair.original.nodes)} instructions are the original's, with its operands"
    yield Obligation(claim, "construction", "both have the same blocks and branches")
    moves = Moves(pair)
    settled = [*by_construction(pair), *moves.obligations()]
    yield from settled
    # Where something stays open whatever is checked at a launch, nothing is proven: no guard is worth a search for the rest.
    is_lost = any(not one.holds and not one.guards for one in settled)
    yield from differences(pair, moves, () if is_lost else launches, shown, budget)
