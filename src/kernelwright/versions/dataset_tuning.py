"""The thresholds of one dataset: the algorithm of paper 003, Figures 3, 4 and 8, for forests as programs have them.

    begin with no guard taken
    as long as a guard has values of which nothing is known, the lowest such guard:
        its candidates are these values, and one above them all
        of one value: run with it taken, and compare
        of m values: binary search for the one change of sign that the monotonic assumption allows, section 3.5
        guards and values that a candidate brings to light are settled under it before it is compared

What is known of a guard is the interval (largest value at which it lost, smallest at which it won]. Values that change with
what was chosen above come up as unknown ones, and are settled then. A version that fails has infinite time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.box import FREE, Box, Interval, merged
from kernelwright.versions.configurations import Configuration, Configurations
from kernelwright.versions.forest import Forest, Groups, Observed
from kernelwright.versions.program import INFINITE
from kernelwright.versions.resolution import Verdict
from kernelwright.versions.unimodal import Search, nonmonotone

NOTHING_TAKEN: dict[str, int] = {}
EVERYTHING = -INFINITE
"""A threshold below every value."""


MOST_PASSES = 8
"""As often guards are decided again whose values depend on what they take themselves: each time as far as one more value."""


@dataclass(frozen=True)
class Candidate:
    """A threshold that was tried, and what it came to."""

    threshold: int
    time_us: float | None
    """None when it failed."""
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        """A row of ``tried``; the time in microseconds, null where it failed."""
        return {"threshold": self.threshold, "time_us": self.time_us, "failure": self.failure}


@dataclass(frozen=True)
class Decision:
    """How one guard was decided on one dataset."""

    guard: str
    values: tuple[int, ...]
    tried: tuple[Candidate, ...]
    interval: Interval
    """All thresholds that are as good as the best."""
    verdict: str
    """``taken``, ``not taken``, ``split`` between its values, ``indifferent``, or ``refused`` where reaching the threshold
    changed nothing, or the program said that it would not: the version is not legal there."""
    pieces: tuple[int, ...] | None = None
    """Where the monotonic assumption does not hold: the values at which the version is the faster one."""
    again: bool = False
    """Whether values were collected again, because a choice above changed them."""

    def as_json(self) -> dict[str, Any]:
        """A row of a dataset's decisions in ``kw tune --json``."""
        return {
            "guard": self.guard,
            "values": list(self.values),
            "tried": [c.as_json() for c in self.tried],
            "interval": self.interval.as_json(),
            "verdict": self.verdict,
            "pieces": None if self.pieces is None else list(self.pieces),
            "again": self.again,
        }


Alternative = tuple[frozenset[str], Box]
"""Guards that have to do with each other, and intervals of theirs that are as good as those of the best. It says nothing of others."""
MOST_BOXES = 64
"""Of boxes that are as good, combined from alternatives in several trees, as many are kept."""


@dataclass
class _Branch:
    """A candidate with everything below it settled."""

    thresholds: dict[str, int]
    configuration: Configuration
    alternatives: list[Alternative] = field(default_factory=list)


@dataclass(frozen=True)
class TunedDataset:
    """The best configuration of a dataset, and what else is as good."""

    thresholds: dict[str, int]
    configuration: Configuration
    alternatives: tuple[Alternative, ...]
    decisions: tuple[Decision, ...]

    def boxes(self) -> list[Box]:
        """All thresholds that are known to be best: those of the best configuration, with alternatives in place of what they are for."""
        found = self.configuration.boxes
        for parts in _exclusive(self.alternatives):
            if len(found) > MOST_BOXES:
                break
            others = [
                {**{n: interval for n, interval in box.items() if n not in names}, **part}
                for box in found
                for names, part in parts
            ]
            found = merged([*found, *others])
        return found


def _exclusive(alternatives: Sequence[Alternative]) -> list[list[Alternative]]:
    """Alternatives in groups: one of each may be chosen, whatever is of the others."""
    groups = Groups()
    for names, _ in alternatives:
        for name in names:
            groups.join(min(names), name)
    found: dict[str, list[Alternative]] = {}
    for names, part in alternatives:
        found.setdefault(groups.leader(min(names)), []).append((names, part))
    return list(found.values())


class DatasetTuner:
    """Tunes the thresholds of one dataset. ``observed`` and ``groups`` collect what is seen of the forest."""

    def __init__(
        self, runs: Configurations, observed: Observed, groups: Groups, declared: Forest | None = None
    ) -> None:
        self._runs = runs
        self._observed = observed
        self._groups = groups
        self._declared = declared
        self._known: dict[str, Interval] = {}
        self._settled: set[tuple[str, int]] = set()
        self._deciding: dict[str, frozenset[int]] = {}
        self._early: set[str] = set()
        self._decisions: list[Decision] = []

    def tune(self) -> TunedDataset:
        """The best that is found. Its time is infinite when every version that was tried failed."""
        first = self._runs.at(NOTHING_TAKEN)
        best = self._from(dict(first.thresholds))
        if best.configuration.times.failed:
            # Every way to run the baseline failed: another feasible start may be anywhere.
            for start in self._other_starts():
                self._known, self._settled, self._early, self._decisions = {}, set(), set(), []
                best = self._from(start)
                if not best.configuration.times.failed:
                    break
        best = self._with_own_values(best)
        decisions = (*self._decisions, *self._refused())
        return TunedDataset(best.thresholds, best.configuration, tuple(best.alternatives), decisions)

    def _with_own_values(self, best: _Branch) -> _Branch:
        """The best, or a better one. A guard may meet values that depend on what it takes itself, as that of a loop which ends the earlier;
        then guards above it were decided at these values before it was. They are decided again, as long as such values come up."""
        passes = 0
        while self._early and passes < MOST_PASSES and not best.configuration.times.failed:
            passes += 1
            for name in self._early:
                self._known.pop(name, None)
            self._settled = {(name, value) for name, value in self._settled if name not in self._early}
            thresholds = {**best.thresholds, **dict.fromkeys(sorted(self._early), INFINITE)}
            self._early = set()
            other = self._from(thresholds)
            if self._runs.verdict(other.configuration, best.configuration) is Verdict.FASTER:
                best = other
        return best

    def _refused(self) -> list[Decision]:
        """Guards that are met, and of which the program says each time that no threshold lets their versions run: nothing is tried."""
        met: dict[str, set[int]] = {}
        for each in (c for known in self._runs.all for c in known.compared):
            met.setdefault(each.name, set()).update([] if each.legal else [each.value])
        legal = {c.name for known in self._runs.all for c in known.compared if c.legal}
        return [
            Decision(name, tuple(sorted(values)), (), FREE, "refused")
            for name, values in met.items()
            if name not in legal
        ]

    def _from(self, start: dict[str, int]) -> _Branch:
        here = self._runs.at(start)
        self._observed.see(here.compared)
        return self._settle(_Branch(start, here), frozenset())

    def _other_starts(self) -> list[dict[str, int]]:
        """Everything taken; and each guard alone not taken."""
        names = list(self._observed.order)
        everything = dict.fromkeys(names, EVERYTHING)
        return [everything, *({**everything, name: INFINITE} for name in names)]

    # -- one guard after the other

    def _settle(self, branch: _Branch, ignored: frozenset[tuple[str, int]]) -> _Branch:
        """Decides guards from below, until nothing is unknown but what is ``ignored``: it is decided further up."""
        branch = self._decide_all(branch, ignored)
        if branch.configuration.times.failed and self._reopen(branch.configuration, ignored):
            branch = self._decide_all(branch, ignored)
        return branch

    def _decide_all(self, branch: _Branch, ignored: frozenset[tuple[str, int]]) -> _Branch:
        branch = self._up_to_date(branch)
        while (guard := self._lowest_unknown(branch.configuration, ignored)) is not None:
            branch = self._up_to_date(self._decide(guard, branch, ignored))
        return branch

    def _reopen(self, configuration: Configuration, ignored: frozenset[tuple[str, int]]) -> bool:
        """Forgets what was concluded from other values, where it led to a failure; says whether there was anything.

        A version that wins at a value wins at all larger ones, but for those at which it does not run at all.
        """
        met = {(c.name, c.value) for c in configuration.compared if c.legal and c.name not in self._deciding} - ignored
        concluded = {(name, value) for name, value in met - self._settled if self._known.get(name, FREE) != FREE}
        for name, _ in concluded:
            self._known[name] = FREE
        return bool(concluded)

    def _up_to_date(self, branch: _Branch) -> _Branch:
        """``branch`` with thresholds inside what has become known of them elsewhere."""
        thresholds = dict(branch.thresholds)
        for name, known in self._known.items():
            if thresholds.get(name, INFINITE) not in known:
                thresholds[name] = INFINITE if known.upto is None else known.upto
        if thresholds == branch.thresholds:
            return branch
        return _Branch(thresholds, self._runs.at(thresholds), branch.alternatives)

    def _unknown(self, configuration: Configuration) -> frozenset[tuple[str, int]]:
        """Guards and values of which nothing is known."""
        pairs = {(c.name, c.value) for c in configuration.compared if c.legal} - self._settled
        return frozenset((name, value) for name, value in pairs if self._is_open(name, value))

    def _is_open(self, name: str, value: int) -> bool:
        known = self._known.get(name, FREE)
        return (known.above is None or value > known.above) and (known.upto is None or value < known.upto)

    def _lowest_unknown(self, configuration: Configuration, ignored: frozenset[tuple[str, int]]) -> str | None:
        unknown = {n for n, v in self._unknown(configuration) - ignored if n not in self._deciding}
        if not unknown:
            return None
        if self._declared is not None and unknown <= set(self._declared.guards):
            return max(unknown, key=self._declared.guards.index)
        # What depends on a guard is compared after it, and mostly also the last time.
        last = {c.name: number for number, c in enumerate(configuration.compared)}
        free = [name for name in unknown if not self._observed.reach(name) & unknown]
        return max(free or unknown, key=lambda name: last[name])

    def _decide(self, guard: str, branch: _Branch, ignored: frozenset[tuple[str, int]]) -> _Branch:
        """The best thresholds of ``guard`` for the values it meets, everything above as it is in ``branch``.

        Leaves it undecided where its first candidate shows that something unknown depends on it: that has to come first.
        """
        known = self._known.get(guard, FREE)
        unknown = self._unknown(branch.configuration)
        values = sorted(v for n, v in unknown - ignored if n == guard)
        end = INFINITE if known.upto is None else known.upto
        candidates = [*values, end]
        now = branch.thresholds.get(guard, INFINITE)
        here = next(i for i, c in enumerate(candidates) if c >= min(now, end))
        branches = {here: branch}

        def settled(index: int) -> _Branch:
            if index not in branches:
                thresholds = {**branch.thresholds, guard: candidates[index]}
                found = self._runs.at(thresholds)
                self._see(guard, branch.configuration, found, takes_more=index < here)
                made = _Branch({**dict.fromkeys((c.name for c in found.compared), INFINITE), **thresholds}, found)
                branches[index] = self._settle(made, ignored | unknown)
                if found.times.failed:
                    self._see(guard, branch.configuration, branches[index].configuration, takes_more=index < here)
            return branches[index]

        self._observe_first(guard, branch, candidates, here)
        if self._lowest_unknown(branch.configuration, ignored) != guard:
            return branch
        if any(name in self._deciding and value not in self._deciding[name] for name, value in unknown):
            self._early.add(guard)
        self._deciding[guard] = frozenset(values)
        search = Search(
            len(candidates),
            here,
            fails=lambda i: settled(i).configuration.times.failed,
            compare=lambda i, j: self._runs.verdict(settled(i).configuration, settled(j).configuration),
            seen=lambda: sorted(branches),
        )
        found = search.minimum()
        del self._deciding[guard]

        def failed(index: int) -> bool:
            return index not in branches or branches[index].configuration.times.failed

        above = candidates[found.first - 1] if found.first > 0 else known.above
        upto = candidates[found.last] if found.last < len(values) else known.upto
        again = any(decision.guard == guard for decision in self._decisions)
        best = Interval(above, upto)
        # A failure says nothing of other values: memory runs out at large ones, and is enough at small ones.
        lost, won = not failed(found.first - 1), not failed(found.last + 1)
        self._known[guard] = Interval(above if lost else known.above, upto if won else known.upto)
        self._settled |= {(guard, value) for value in values}
        tried = {i: branches[i].configuration for i in sorted(branches)}
        pieces = tuple(nonmonotone(values, [tried[i].time_us for i in tried])) if found.contradiction else None
        self._decisions.append(
            Decision(
                guard,
                tuple(values),
                tuple(_candidate(candidates[i], c) for i, c in tried.items()),
                best,
                _verdict(found.first, found.last, len(values), tried),
                pieces,
                again,
            )
        )
        return self._chosen(guard, branches, here, range(found.first, found.last + 1), found.best)

    def _chosen(self, guard: str, branches: dict[int, _Branch], here: int, equal: Sequence[int], best: int) -> _Branch:
        """The branch to go on with, and what is as good."""
        chosen, before = branches[best], branches[here]
        mine = self._groups.leader(guard)
        tree = frozenset({guard, *(name for name in self._observed.order if self._groups.leader(name) == mine)})
        ties = [
            (tree, {name: interval for name, interval in box.items() if name in tree})
            for i in equal
            if i in branches
            for box in branches[i].configuration.boxes
        ]
        ties = ties if sum(i in branches for i in equal) > 1 else []
        if here in equal:
            # Nothing became faster: what was as good before still is.
            return _Branch(chosen.thresholds, chosen.configuration, before.alternatives + ties)
        kept = [(names, part) for names, part in before.alternatives if not names & tree]
        return _Branch(chosen.thresholds, chosen.configuration, kept + chosen.alternatives + ties)

    def _observe_first(self, guard: str, branch: _Branch, candidates: Sequence[int], here: int) -> None:
        """Runs the end of the row, where ``guard`` decides otherwise at all values, to see what depends on it."""
        index = 0 if here > 0 else len(candidates) - 1
        if self._declared is None:
            found = self._runs.at({**branch.thresholds, guard: candidates[index]})
            self._see(guard, branch.configuration, found, takes_more=index < here)

    def _see(self, guard: str, one: Configuration, other: Configuration, takes_more: bool) -> None:
        if one.times.failed or other.times.failed:
            # A run that ended early says nothing of what comes later: it may depend on the guard, or not.
            self._observed.see(one.compared)
            self._observed.see(other.compared)
            for name, _ in {(c.name, c.value) for c in one.compared} ^ {(c.name, c.value) for c in other.compared}:
                self._groups.join(guard, name)
            return
        less, more = (one, other) if takes_more else (other, one)
        for name in self._observed.compare(guard, less.compared, more.compared):
            self._groups.join(guard, name)


def _candidate(threshold: int, configuration: Configuration) -> Candidate:
    if configuration.failure is not None:
        return Candidate(threshold, None, str(configuration.failure))
    return Candidate(threshold, configuration.time_us)


def _verdict(first: int, last: int, m: int, tried: dict[int, Configuration]) -> str:
    """In words, how the candidates from ``first`` to ``last`` of 0 to ``m`` are the best."""
    if first == 0 and last == m:
        return "refused" if len(tried) > 1 and len({id(c) for c in tried.values()}) == 1 else "indifferent"
    if first == 0:
        return "taken"
    return "not taken" if last == m else "split"
