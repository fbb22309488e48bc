"""Public functions and methods say what they do, and which of our errors they raise; pages of the API and of JSON are made of that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "kernelwright"
OURS = {"Misuse", "ToolError", "CompileError", "IRError", "DeviceError", "Refused", "ValueError"}
HELP = "cli/commands/"
"""There a ``command``'s docstring is what ``--help`` prints."""

Classes = Mapping[str, list[ast.ClassDef]]
"""The classes of the package by name; of one name there may be several."""


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, ast.ClassDef | None]]:
    """Public ones with their names, and the class that each stands in."""

    def inside(
        node: ast.Module | ast.ClassDef, prefix: str
    ) -> Iterator[tuple[str, ast.FunctionDef, ast.ClassDef | None]]:
        for each in node.body:
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                yield from inside(each, f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and not is_overload(each):
                yield prefix + each.name, each, node if isinstance(node, ast.ClassDef) else None

    yield from inside(tree, "")


def is_overload(function: ast.FunctionDef) -> bool:
    return any("overload" in ast.dump(decorator) for decorator in function.decorator_list)


def is_setter(function: ast.FunctionDef) -> bool:
    """Whether the property's docstring stands at its getter."""
    return any(isinstance(each, ast.Attribute) and each.attr == "setter" for each in function.decorator_list)


def raised(function: ast.FunctionDef) -> set[str]:
    """Those of our errors that it raises itself."""
    calls = (each.exc for each in ast.walk(function) if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)} & OURS


def bases(one: ast.ClassDef) -> list[str]:
    """Their names, without modules and type arguments."""
    plain = [base.value if isinstance(base, ast.Subscript) else base for base in one.bases]
    return [
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in plain
        if isinstance(each, ast.Attribute | ast.Name)
    ]


def above(one: ast.ClassDef, known: Classes) -> Iterator[ast.ClassDef]:
    """The classes of the package that it is derived from."""
    for base in (each for name in bases(one) if name != one.name for each in known.get(name, ())):
        yield base
        yield from above(base, known)


@cache
def members(one: ast.ClassDef) -> frozenset[str]:
    """Methods, fields and attributes that it has of its own."""
    targets = [target for each in one.body if isinstance(each, ast.Assign) for target in each.targets]
    targets += [each.target for each in one.body if isinstance(each, ast.AnnAssign)]
    methods = {each.name for each in one.body if isinstance(each, ast.FunctionDef)}
    attributes = {
        each.attr
        for each in ast.walk(one)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"
    }
    return frozenset(methods | {each.id for each in targets if isinstance(each, ast.Name)} | attributes)


@cache
def documented(one: ast.ClassDef) -> frozenset[str]:
    return frozenset(each.name for each in one.body if isinstance(each, ast.FunctionDef) and ast.get_docstring(each))


def described_elsewhere(one: ast.ClassDef, known: Classes) -> set[str]:
    """Methods with a docstring in a base class, or in a protocol of whose members the class has all."""
    found = list(above(one, known))
    own = members(one).union(*map(members, found))
    protocols = (each for named in known.values() for each in named if {"Protocol", "ABC"} & set(bases(each)))
    found += (each for each in protocols if each is not one and members(each) <= own)
    return set().union(*map(documented, found))


def test_functions_and_methods_say_what_they_do_and_raise() -> None:
    trees = {
        path.relative_to(SRC).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in SRC.rglob("*.py")
    }
    known: dict[str, list[ast.ClassDef]] = {}
    for one in (each for tree in trees.values() for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
        known.setdefault(one.name, []).append(one)
    silent, unsaid, seen = [], [], 0
    for name, tree in trees.items():
        for title, function, owner in functions(tree):
            seen += 1
            text = ast.get_docstring(function) or ""
            exempt = owner is not None and is_setter(function)
            if not text and not exempt and (owner is None or function.name not in described_elsewhere(owner, known)):
                silent.append(f"{name}:{function.lineno} {title}")
            is_help = name.startswith(HELP) and title == "command"
            if raised(function) and not is_help and not any(word in text for word in ("aises", "refuse", "Error``")):
                unsaid.append(f"{name}:{function.lineno} {title}")
    assert seen > 3000 and not silent and not unsaid


def test_a_protocol_describes_only_what_implements_it() -> None:
    """A method is not exempt because some protocol has one of that name."""
    text = '''
class Shape(Protocol):
    def area(self) -> float:
        """In square metres."""
    @property
    def name(self) -> str: ...
class Square:
    name: str
    def area(self) -> float: ...
class Field:
    def area(self) -> float: ...
class Small(Square):
    def area(self) -> float: ...
'''
    known = {each.name: [each] for each in ast.parse(text).body if isinstance(each, ast.ClassDef)}
    exempt = {name: described_elsewhere(one, known) for name, (one,) in known.items()}
    assert exempt == {"Shape": set(), "Square": {"area"}, "Field": set(), "Small": {"area"}}
