"""A declared space and given objects become variables and tables.

Each rule is run once on symbols; its truth table over its choices becomes a relation, for all tuples of objects at once. Facts about the
objects split the tuples; each part has its own table. Rules about more than three choices become clauses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.space.engine.constraints import MOST_GROUPS, MOST_VALUES, Constraints
from kernelwright.space.lang.choices import Atom, Choice, Fact, FactOf, atoms_of, facts_of
from kernelwright.space.lang.conditions import Condition, ObjectSet, Setting, Value, disjuncts
from kernelwright.space.lang.counting import ground_counter
from kernelwright.space.lang.declaration import Rule, Space
from kernelwright.space.lang.ground_space import GroundChoice, GroundSpace
from kernelwright.space.lang.scopes import Relations, Rows, Scopes, by_scope, rearranged

Members = Mapping[type[ObjectSet], Sequence[object]]
Table = npt.NDArray[np.bool_]

MOST_AXES = 3
"""Rules about more choices than this become clauses."""


def ground(
    space: Space,
    members: Members,
    limits: Mapping[str, float] | None = None,
    given: Mapping[str, Iterable[tuple[object, ...]]] | None = None,
    name: str = "",
) -> GroundSpace:
    """Variables and tables of a space for these objects of its sets; ``given``: the tuples for which a given fact is true.

    Raises ``Misuse`` for a declaration that cannot be.
    """
    return _Grounding(space, members, dict(limits or {}), {n: list(t) for n, t in (given or {}).items()}, name).made()


def ground_again(known: GroundSpace, space: Space) -> GroundSpace:
    """Another space, as one without some rules, for the objects of a ground one. With the same choices variables have the same numbers."""
    return ground(space, known.members, known.limits, known.given, known.name)


class _Grounding:
    def __init__(
        self,
        space: Space,
        members: Members,
        limits: dict[str, float],
        given: Mapping[str, Sequence[tuple[object, ...]]],
        name: str,
    ) -> None:
        self.space, self.members, self.limits, self.name = space, members, limits, name
        self.given = given
        missing = sorted(set(space.limits) - set(limits))
        if missing:
            raise Misuse(f"{space.name} wants the limits {', '.join(missing)}")
        _check_subsets(members)
        self.objects = list(dict.fromkeys(itertools.chain.from_iterable(members.values())))
        self.ids = {thing: i for i, thing in enumerate(self.objects)}
        self.named = {str(thing): thing for thing in self.objects}
        self.sets = {each: np.array([self.ids[o] for o in things], np.int64) for each, things in members.items()}
        self.rules = list(space.rules.values())
        self.initial: list[int] = []
        self.unary: list[tuple[int, int, int]] = []
        self.variables: list[tuple[str, tuple[object, ...]]] = []
        self.presence: list[int] = []
        self.choices: dict[str, GroundChoice] = {}
        self.groups = self._groups()
        for choice in space.choices.values():
            self.choices[choice.name] = self._variables_of(choice)
        self.values = {n: c.values for n, c in self.choices.items()}
        self.relations = Relations()
        self.scopes = {n: Scopes(n, self.relations) for n in (2, 3)}
        self.clauses: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]] = []
        self.followed: dict[str, Rows] = {}
        self.fact_tables: dict[str, Table] = {}
        self.asked = np.zeros(len(self.rules), np.int64)
        """Per rule, of how many tuples of objects it says anything."""

    def made(self) -> GroundSpace:
        for number, rule in enumerate(self.rules):
            if rule.kind == "rule":
                self._rule(number, rule)
            elif rule.kind == "clause":
                self._clause(number, rule)
        pairs, triples = self.scopes[2].merged(), self.scopes[3].merged()
        counters, counter_rules = [], []
        for number, rule in enumerate(self.rules):
            if rule.kind == "counter":
                for objects in self._tuples_of_objects(rule):
                    counters.append(ground_counter(rule.function(*objects), self.choices, self.members, self.limits))
                    counter_rules.append(number)
                    self.asked[number] += 1
        first, literals, clause_rules = self._merged_clauses()
        rows = [[float(v) if isinstance(v, int) else 0.0 for v in c.values] for c in self.choices.values()]
        row_of = {n: i for i, n in enumerate(self.choices)}
        constraints = Constraints(
            sizes=np.array([len(self.values[n]) for n, _ in self.variables], np.int32),
            initial=np.array(self.initial, np.uint16),
            presence=np.array(self.presence, np.uint32),
            exists=self._exists(),
            values=np.array([r + [0.0] * (MOST_VALUES - len(r)) for r in rows], np.float64),
            value_row=np.array([row_of[n] for n, _ in self.variables], np.int32),
            relations=tuple(self.relations.all),
            binary=np.concatenate([pairs.scopes, pairs.relation[:, None]], axis=1),
            ternary=np.concatenate([triples.scopes, triples.relation[:, None]], axis=1),
            clause_first=first,
            literals=literals,
            counters=tuple(counters),
        )
        return GroundSpace(
            self.space, self.name or self.space.name, constraints, self.variables, self.choices, self.rules,
            (pairs, triples), clause_rules, counter_rules, self.unary, self.asked, self.limits, self.members,
            {thing: bits for thing in self.objects if (bits := self._presence_of(thing))}, self.given,
        )  # fmt: skip

    # -- variables

    def _groups(self) -> dict[object, int]:
        """Optional objects, and the bit of each."""
        exists = self.space.exists
        things = self.members.get(exists.sets[0], ()) if exists else ()
        if len(things) > MOST_GROUPS:
            raise Misuse(f"{len(things)} optional objects; a space has at most {MOST_GROUPS}")
        return {thing: bit for bit, thing in enumerate(things)}

    def _presence_of(self, thing: object) -> int:
        if thing in self.groups:
            return 1 << self.groups[thing]
        owner = self._attribute(thing, self.space.exists_with) if self.space.exists_with else None
        return 0 if owner is None else 1 << self.groups[owner]

    def _attribute(self, thing: object, name: str) -> object | None:
        """The object that an attribute is, or is the name of; None for anything else."""
        found = getattr(thing, name, None)
        if isinstance(found, str):
            found = self.named.get(found)
        return found if type(found).__hash__ is not None and found in self.ids else None

    def _exists(self) -> tuple[tuple[int, int], ...]:
        if self.space.exists is None:
            return ()
        ground_choice = self.choices[self.space.exists.name]
        return tuple((int(ground_choice.variables[self.ids[thing]]), 2) for thing in self.groups)

    def _variables_of(self, choice: Choice) -> GroundChoice:
        things = [self.members.get(each, ()) for each in choice.sets]
        universes: dict[object, set[int]] = {}
        values: tuple[Value, ...] = choice.values
        if choice.universe is not None:
            universes = {thing: set(choice.universe(thing)) for thing in things[0]}
            values = tuple(sorted(set().union(*universes.values())))
            if len(values) > MOST_VALUES:
                raise Misuse(
                    f"{choice.name} would have {len(values)} values: {', '.join(map(str, values))}",
                    hint=f"a choice has at most {MOST_VALUES}; offer fewer sizes",
                )
        found = GroundChoice(choice, values, len(self.objects), self.ids)
        for objects in itertools.product(*things):
            if len(set(objects)) < len(objects) or (choice.where is not None and not choice.where(*objects)):
                continue
            if found.number(objects) >= 0:
                continue  # the opposite of one there is
            found.add(objects, len(self.variables))
            self.variables.append((choice.name, objects))
            allowed = universes.get(objects[0])
            self.initial.append(sum(1 << i for i, v in enumerate(values) if allowed is None or v in allowed))
            is_existence = choice is self.space.exists
            self.presence.append(0 if is_existence else self._presence_of_all(objects))
        return found

    def _presence_of_all(self, objects: Iterable[object]) -> int:
        found = 0
        for thing in objects:
            found |= self._presence_of(thing)
        return found

    # -- rules on symbols

    def _rule(self, number: int, rule: Rule) -> None:
        symbols = [each(i) for i, each in enumerate(rule.sets)]
        for condition in _conditions_of(rule, symbols):
            self._one_rule(number, rule, condition)

    def _one_rule(self, number: int, rule: Rule, condition: Condition) -> None:
        tuples = self._tuples(rule)
        facts = {f.key: f for f in facts_of(condition)}
        known = np.zeros(len(tuples), np.int64)
        for bit, fact in enumerate(facts.values()):
            known |= self._fact(fact, tuples).astype(np.int64) << bit
        atoms = atoms_of(condition)
        columns = [self._variables_at(atom, tuples) for atom in atoms]
        exist = np.ones(len(tuples), bool)
        for variables, _ in columns:
            exist &= variables >= 0
        for combination in np.unique(known[exist]).tolist():
            holds = {key: bool(combination >> bit & 1) for bit, key in enumerate(facts)}
            if len(atoms) > MOST_AXES:
                rows = np.nonzero(exist & (known == combination))[0]
                self.asked[number] += len(rows)
                self._add_clauses(
                    number,
                    self._literals(rule, condition, atoms, holds),
                    [atom.choice.name for atom in atoms],
                    np.stack([variables[rows] for variables, _ in columns], axis=1),
                    np.stack([flipped[rows] for _, flipped in columns], axis=1),
                )
                continue
            table = self._table(condition, atoms, holds)
            if table.all():
                continue
            rows = np.nonzero(exist & (known == combination))[0]
            self.asked[number] += len(rows)
            if not atoms:
                things = ", ".join(str(self.objects[i]) for i in tuples[rows[0]])
                raise Misuse(f"rule {rule.name} does not hold for {things}, whatever is decided", hint=rule.reason)
            self._add(
                number,
                [atom.choice.name for atom in atoms],
                np.stack([variables[rows] for variables, _ in columns], axis=1),
                np.stack([flipped[rows] for _, flipped in columns], axis=1),
                table,
            )

    def _tuples(self, rule: Rule) -> Rows:
        """All tuples of different objects, as their numbers."""
        own = [self.sets.get(each, np.zeros(0, np.int64)) for each in rule.sets]
        grid = np.meshgrid(*own, indexing="ij") if own else []
        tuples = np.stack([g.ravel() for g in grid], axis=1) if own else np.zeros((1, 0), np.int64)
        different = np.ones(len(tuples), bool)
        for i, j in itertools.combinations(range(len(own)), 2):
            different &= tuples[:, i] != tuples[:, j]
        return tuples[different]

    def _numbers(self, symbol: ObjectSet, tuples: Rows) -> Rows:
        """The objects that a symbol stands for, -1 where there is none."""
        parameter, path = symbol._symbol
        numbers: Rows = tuples[:, parameter]
        for length in range(1, len(path) + 1):
            follow = self._followed(path[length - 1])
            numbers = np.where(numbers >= 0, follow[numbers], -1)
        return numbers

    def _followed(self, attribute: str) -> Rows:
        if attribute not in self.followed:
            found = [self._attribute(thing, attribute) for thing in self.objects]
            self.followed[attribute] = np.array([-1 if f is None else self.ids[f] for f in found], np.int64)
        return self.followed[attribute]

    def _fact(self, fact: FactOf, tuples: Rows) -> npt.NDArray[np.bool_]:
        table = self._fact_table(fact.fact)
        numbers = [self._numbers(a, tuples) for a in fact.arguments if isinstance(a, ObjectSet)]
        if len(numbers) < len(fact.arguments):
            raise Misuse(f"{fact.fact.name} is asked about objects and about what stands for objects at once")
        known = table[tuple(numbers)]
        for each in numbers:
            known = known & (each >= 0)
        return known

    def _fact_table(self, fact: Fact) -> Table:
        if fact.name not in self.fact_tables:
            table = np.zeros([len(self.objects)] * len(fact.sets), bool)
            if fact.function is None:
                for things in self.given.get(fact.name, ()):
                    table[tuple(self.ids[t] for t in things)] = True
            else:
                for things in itertools.product(*(self.members.get(each, ()) for each in fact.sets)):
                    table[tuple(self.ids[t] for t in things)] = bool(fact.function(*things))
            self.fact_tables[fact.name] = table
        return self.fact_tables[fact.name]

    def _variables_at(self, atom: Atom, tuples: Rows) -> tuple[Rows, npt.NDArray[np.bool_]]:
        choice = self.choices[atom.choice.name]
        numbers = []
        for argument in atom.arguments:
            if not isinstance(argument, ObjectSet):
                raise Misuse(f"a rule names the object {argument}", hint="a clause may: it is called for each object")
            numbers.append(self._numbers(argument, tuples))
        index = tuple(numbers)
        missing = np.logical_or.reduce([each < 0 for each in numbers])
        return np.where(missing, -1, choice.variables[index]), choice.flipped[index]

    def _table(self, condition: Condition, atoms: Sequence[Atom], facts: Mapping[object, bool]) -> Table:
        """Which combinations of values of the atoms are allowed."""
        sizes = [len(self.values[a.choice.name]) for a in atoms]
        axes = {a.key: i for i, a in enumerate(atoms)}
        found = condition.truth(Setting(axes, sizes, facts, self.values, self.limits))
        return np.broadcast_to(found, sizes).copy() if sizes else np.asarray(found).reshape(())

    # -- clauses on objects

    def _tuples_of_objects(self, rule: Rule) -> Iterable[tuple[object, ...]]:
        for objects in itertools.product(*(self.members.get(each, ()) for each in rule.sets)):
            if len(set(objects)) == len(objects):
                yield objects

    def _clause(self, number: int, rule: Rule) -> None:
        for objects in self._tuples_of_objects(rule):
            for condition in _conditions_of(rule, objects):
                self._one_clause(number, rule, objects, condition)

    def _one_clause(self, number: int, rule: Rule, objects: Sequence[object], condition: Condition) -> None:
        atoms = atoms_of(condition)
        found = [self.choices[a.choice.name].find(a.arguments) for a in atoms]
        if atoms and all(v < 0 for v, _ in found):
            return
        things = ", ".join(map(str, objects))
        for atom, (variable, _) in zip(atoms, found, strict=True):
            if variable < 0:
                asked = f"{atom.choice.name}({', '.join(map(str, atom.arguments))})"
                raise Misuse(f"clause {rule.name} asks {things} for {asked}, which is no choice")
        facts = {
            f.key: bool(self._fact_table(f.fact)[tuple(self.ids[a] for a in f.arguments)]) for f in facts_of(condition)
        }
        names = [a.choice.name for a in atoms]
        rows, flips = np.array([[v for v, _ in found]], np.int64), np.array([[f for _, f in found]], bool)
        if len(atoms) > MOST_AXES:
            self.asked[number] += 1
            self._add_clauses(number, self._literals(rule, condition, atoms, facts), names, rows, flips)
            return
        table = self._table(condition, atoms, facts)
        if table.all():
            return
        self.asked[number] += 1
        if not atoms:
            raise Misuse(f"clause {rule.name} does not hold for {things}, whatever is decided", hint=rule.reason)
        self._add(number, names, rows, flips, table)

    def _literals(
        self, rule: Rule, condition: Condition, atoms: Sequence[Atom], facts: Mapping[object, bool]
    ) -> list[Table] | None:
        """Per atom the values with which a disjunction holds; None when its facts make it true."""
        found = {atom.key: np.zeros(len(self.values[atom.choice.name]), bool) for atom in atoms}
        for part in disjuncts(condition):
            own = atoms_of(part)
            if len(own) > 1:
                raise Misuse(
                    f"rule {rule.name} is about {len(atoms)} choices and is no disjunction of conditions on one each",
                    hint="split it into rules that are one disjunction each, or are about three choices",
                )
            table = self._table(part, own, facts)
            if not own and table:
                return None
            if own:
                found[own[0].key] |= table
        return list(found.values())

    # -- tables to constraints

    def _add(self, rule: int, choices: Sequence[str], rows: Rows, flips: npt.NDArray[np.bool_], table: Table) -> None:
        for scopes, _, flipped, column_of in by_scope(rows, flips):
            renumbered = [
                self.choices[c].opposite_numbers if f else None for c, f in zip(choices, flipped, strict=True)
            ]
            relation = rearranged(table, renumbered, column_of)
            if relation.all():
                continue
            if relation.ndim == 1:
                mask = _mask(relation)
                for variable in np.unique(scopes[:, 0]).tolist():
                    self.unary.append((variable, self.initial[variable] & ~mask, rule))
                    self.initial[variable] &= mask
            else:
                self.scopes[relation.ndim].add(scopes, relation, rule)

    def _add_clauses(
        self,
        rule: int,
        accepted: list[Table] | None,
        choices: Sequence[str],
        rows: Rows,
        flips: npt.NDArray[np.bool_],
    ) -> None:
        if accepted is None or any(a.all() for a in accepted):
            return
        masks = np.zeros(rows.shape, np.int64)
        for axis, allowed in enumerate(accepted):
            opposite = np.array(self.choices[choices[axis]].opposite_numbers)
            masks[:, axis] = np.where(flips[:, axis], _mask(allowed[opposite]), _mask(allowed))
        self.clauses.append((rows, masks, rule))

    def _merged_clauses(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Clauses without repetition: where each begins, the literals (variable, mask), and the rule of each."""
        literals, lengths, rules = [], [], []
        for rows, masks, rule in self.clauses:
            order = np.argsort(rows, axis=1, kind="stable")
            both = np.stack([np.take_along_axis(rows, order, 1), np.take_along_axis(masks, order, 1)], axis=2)
            flat = both.reshape(len(both), -1)
            flat = flat[np.lexsort(flat.T)]
            different = np.ones(len(flat), bool)
            different[1:] = (flat[1:] != flat[:-1]).any(axis=1)
            unique = flat[different].reshape(-1, *both.shape[1:])
            literals.append(unique.reshape(-1, 2))
            lengths.append(np.full(len(unique), unique.shape[1]))
            rules.append(np.full(len(unique), rule))
        first = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, []]))])
        return (
            first.astype(np.int32),
            np.concatenate([*literals, np.zeros((0, 2))]).astype(np.int32),
            np.concatenate([*rules, []]).astype(np.int32),
        )


def _check_subsets(members: Members) -> None:
    for each, things in members.items():
        if each.superset is not None:
            outside = [t for t in things if t not in set(members.get(each.superset, ()))]
            if outside:
                raise Misuse(f"{outside[0]} is in {each.__name__} but not in {each.superset.__name__}")


def _conditions_of(rule: Rule, arguments: Sequence[object]) -> list[Condition]:
    found = rule.function(*arguments)
    conditions = [found] if isinstance(found, Condition) else list(found) if isinstance(found, Iterable) else [found]
    for each in conditions:
        if not isinstance(each, Condition):
            raise Misuse(
                f"{rule.kind} {rule.name} returns {type(each).__name__}, not a condition",
                hint="it returns what has to hold, built from choices and facts with & | ~ >>",
            )
    return conditions


def _mask(allowed: Any) -> int:
    return sum(1 << i for i, a in enumerate(allowed) if a)
