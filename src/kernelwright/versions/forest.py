"""The tuning forest: which guards are reached only when which others were, or were not, taken.

    rows ─ taken ──► V1
      └─ not taken ─► elements ─ taken ──► V2
                        └─ not taken ─► V3

A program may have several trees (kernels one after the other), and a guard several parents. The forest is declared, or found
out from the comparisons that runs print: two runs that differ in what was decided at one guard differ in the guards below it.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import Compared


@dataclass(frozen=True, order=True)
class Edge:
    """``child`` is reached when ``parent`` was taken (or was not)."""

    parent: str
    child: str
    when_taken: bool = False

    def as_json(self) -> list[Any]:
        """``[parent, child, when_taken]``"""
        return [self.parent, self.child, self.when_taken]


@dataclass(frozen=True)
class Forest:
    """Guards in an order in which parents precede their children, and the edges between them."""

    guards: tuple[str, ...] = ()
    edges: frozenset[Edge] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.guards).items() if count > 1]
        if twice:
            raise Misuse(f"two guards are called {twice[0]!r}", hint="a threshold belongs to one guard: rename one")
        place = {name: number for number, name in enumerate(self.guards)}
        for edge in sorted(self.edges):
            for name in (edge.parent, edge.child):
                if name not in place:
                    raise Misuse(f"the forest has an edge to {name!r}, which is no guard of it", hint="declare it")
            if place[edge.parent] >= place[edge.child]:
                raise Misuse(
                    f"guard {edge.child!r} stands before {edge.parent!r}, on which it depends",
                    hint="parents come first, and no guard is below itself",
                )

    @staticmethod
    def chain(guards: Sequence[str]) -> Forest:
        """Each guard is reached when the one before it was not taken, as in Figure 1 of the paper."""
        pairs = itertools.pairwise(guards)
        return Forest(tuple(guards), frozenset(Edge(parent, child) for parent, child in pairs))

    @property
    def roots(self) -> tuple[str, ...]:
        """Guards without a parent, in order: whether one is reached depends on no other."""
        below = {edge.child for edge in self.edges}
        return tuple(name for name in self.guards if name not in below)

    def parents(self, guard: str) -> tuple[Edge, ...]:
        """The edges that lead to a guard, sorted; empty for a root."""
        return tuple(sorted(edge for edge in self.edges if edge.child == guard))

    def children(self, guard: str, when_taken: bool) -> tuple[str, ...]:
        """Guards that are reached next where ``guard`` is taken, or is not, in order."""
        below = {e.child for e in self.edges if e.parent == guard and e.when_taken == when_taken}
        return tuple(name for name in self.guards if name in below)

    def trees(self) -> tuple[tuple[str, ...], ...]:
        """Groups of guards that have to do with each other; each group is tuned by itself."""
        groups = Groups()
        for name in self.guards:
            groups.add(name)
        for edge in self.edges:
            groups.join(edge.parent, edge.child)
        return groups.of(self.guards)

    def lines(self) -> list[str]:
        """The forest as text, one line per place where a guard stands; what stands below a guard is indented."""
        found: list[str] = []

        def walk(name: str, depth: int, how: str) -> None:
            found.append(f"{'    ' * depth}{how}{name}")
            for when_taken, words in ((True, "taken: "), (False, "not taken: ")):
                for child in self.children(name, when_taken):
                    walk(child, depth + 1, words)

        for root in self.roots:
            walk(root, 0, "")
        return found

    def as_json(self) -> dict[str, Any]:
        """Guards in order and sorted edges."""
        return {"guards": list(self.guards), "edges": [edge.as_json() for edge in sorted(self.edges)]}


class Groups:
    """Names in groups that only grow together."""

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}

    def add(self, name: str) -> None:
        """A new name is a group of its own; a known one stays where it is."""
        self._leader.setdefault(name, name)

    def leader(self, name: str) -> str:
        """The name that stands for a name's group; a new name is added."""
        self.add(name)
        while self._leader[name] != name:
            name = self._leader[name]
        return name

    def join(self, one: str, other: str) -> None:
        """Makes one group of those of both names."""
        self._leader[self.leader(other)] = self.leader(one)

    def of(self, names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """These names by group, in the order in which they come."""
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(self.leader(name), []).append(name)
        return tuple(tuple(group) for group in found.values())


@dataclass
class Observed:
    """What pairs of runs have shown: per guard those that vanish or appear when it is taken."""

    order: list[str] = field(default_factory=list)
    below: dict[tuple[str, bool], set[str]] = field(default_factory=dict)

    def see(self, run: Iterable[Compared]) -> None:
        """Adds the guards that a run met to ``order``, new ones at the end."""
        for each in run:
            if each.name not in self.order:
                self.order.append(each.name)

    def compare(self, guard: str, less: Sequence[Compared], more: Sequence[Compared]) -> set[str]:
        """Notes what depends on ``guard``, which ``more`` took at more values than ``less``. Returns all that it affects."""
        self.see(less)
        self.see(more)
        met = [Counter((c.name, c.value) for c in run) for run in (less, more)]
        found: set[str] = set()
        for when_taken, gone in ((False, met[0] - met[1]), (True, met[1] - met[0])):
            names = {name for name, _ in gone} - {guard}
            self.below.setdefault((guard, when_taken), set()).update(names)
            found |= names
        return found

    def forest(self) -> Forest:
        """The forest with the fewest edges that explains what was seen: what a guard reaches through another is left out."""
        reach = {name: self.reach(name) for name in self.order}
        order = sorted(self.order, key=lambda name: (-len(reach[name]), self.order.index(name)))
        place = {name: number for number, name in enumerate(order)}
        edges = set()
        for (parent, when_taken), below in self.below.items():
            for child in below:
                between = below - {child}
                if place[child] > place[parent] and not any(child in reach[b] for b in between if child != b):
                    edges.add(Edge(parent, child, when_taken))
        return Forest(tuple(order), frozenset(edges))

    def reach(self, name: str) -> set[str]:
        """All guards that were seen to depend on ``name``, directly or not."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            here = waiting.pop()
            new = (self.below.get((here, True), set()) | self.below.get((here, False), set())) - found - {name}
            found |= new
            waiting += sorted(new)
        return found


AS_IN = '{"guards": ["rows", "elements"], "edges": [["rows", "elements", false]]}'


def read_forest(path: Path) -> Forest:
    """A forest declared in a file, as JSON: the names of the guards, parents first, and edges [parent, child, whether the child is
    reached when the parent was taken]. Raises ``Misuse``, with what is wrong, for a file that holds none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Misuse(f"the forest {path} cannot be read: {error.strerror}", hint=f"as in {AS_IN}") from None
    except UnicodeDecodeError:
        raise Misuse(f"{path} is no text", hint=f"as in {AS_IN}") from None
    except (ValueError, RecursionError) as error:
        raise Misuse(f"{path} is no JSON: {error}", hint=f"as in {AS_IN}") from None
    if wrong := _what_is_wrong(value):
        raise Misuse(f"{path} holds no forest: {wrong}", hint=f"as in {AS_IN}")
    return Forest(tuple(value["guards"]), frozenset(Edge(*edge) for edge in value["edges"]))


def _what_is_wrong(value: Any) -> str:
    """Why a value is not what ``Forest.as_json`` writes; empty where it is."""
    if not isinstance(value, dict):
        return f"it is {_short(value)}"
    for part in (*_PARTS, *value):
        if part not in value:
            return f'it has no "{part}"'
        if part not in _PARTS:
            return f"{_short(part)} is no part of one"
        if not isinstance(value[part], list):
            return f'"{part}" is no list, but {_short(value[part])}'
    for name in value["guards"]:
        if not isinstance(name, str) or not name or "=" in name or any(map(str.isspace, name)):
            return f"{_short(name)} is no name of a guard, which is a word without blanks and '='"
    for edge in value["edges"]:
        if not isinstance(edge, list) or [type(part) for part in edge] != [str, str, bool]:
            return f"the edge {_short(edge)} is not [parent, child, true or false]"
    return ""


_PARTS = ("guards", "edges")


def _short(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
