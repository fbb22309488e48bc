"""Classes whose methods are written late behave as the standard library's, which are the oracle here."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import sys
import threading
from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

import kernelwright
from kernelwright import lazy_dataclasses

T = TypeVar("T")
BOTH = pytest.mark.parametrize(
    "dataclass", [dataclasses.dataclass, lazy_dataclasses.dataclass], ids=["library", "lazy"]
)


def classes(dataclass: Any) -> SimpleNamespace:
    """New ones, of which nothing was used yet."""

    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        names: tuple[str, ...] = ()
        count: ClassVar[int] = 7

    @dataclass(frozen=True)
    class Named(Point):
        name: str = "here"
        x: int = 1
        y: int  # the base's default counts

    @dataclass
    class Open:
        items: list[int] = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        late: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            self.late = len(self.items)

    @dataclass(frozen=True, eq=False)
    class Itself:
        x: int

    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True)
    class Hashed:
        x: int

        def __hash__(self) -> int:
            return 5

    @dataclass(frozen=True)
    class Box(Generic[T]):
        inside: T

    class Plain(Point):
        def extra(self) -> int:
            self.more = self.x + 1  # a subclass that is no dataclass may
            return self.more

    @dataclass(order=True)
    class Ordered:
        x: int

    return SimpleNamespace(**{name: made for name, made in locals().items() if isinstance(made, type)})


def said(question: Callable[[SimpleNamespace], object], of: SimpleNamespace) -> object:
    """What is answered, or raised. Of the place where a class stands only the name is told."""
    try:
        return str(question(of)).replace("classes.<locals>.", "")
    except Exception as error:
        return type(error).__name__


def matched(of: SimpleNamespace, point: object) -> object:
    match point:
        case of.Named(x, y):
            return "named", x, y
        case of.Point(x, y, names):
            return x, y, names
    return None


QUESTIONS: dict[str, Callable[[SimpleNamespace], object]] = {
    "made": lambda of: (
        of.Point(1),
        of.Point(1, 3, ("a",)),
        of.Named(),
        of.Named(5, name="z"),
        of.Open([1]),
        of.Box[int](1),
    ),
    "too few": lambda of: of.Point(),
    "too many": lambda of: of.Point(1, 2, (), 4),
    "unknown": lambda of: of.Point(1, z=2),
    "equal": lambda of: (
        of.Point(1) == of.Point(1),
        of.Point(1) == of.Point(2),
        of.Point(1) == of.Named(1),
        of.Own(1) == 5,
    ),
    "equal later": lambda of: (
        of.Itself(1) == of.Itself(1),
        of.Open([1], 4) == of.Open([1], 5),
        of.Open() == of.Open([2]),
    ),
    "hash": lambda of: (hash(of.Point(1)) == hash(of.Point(1)), hash(of.Hashed(1)), len({of.Named(), of.Named()})),
    "no hash": lambda of: hash(of.Open()),
    "own equality": lambda of: hash(of.Own(1)) == hash(of.Own(1)),
    "no hash, by class": lambda of: of.Open.__hash__,
    "own text": lambda of: (of.Own(1), of.Itself(2)),
    "assigned": lambda of: setattr(of.Point(1), "x", 2),
    "added": lambda of: setattr(of.Point(1), "other", 2),
    "deleted": lambda of: delattr(of.Point(1), "x"),
    "open assigned": lambda of: setattr(of.Open(), "hidden", 2),
    "plain": lambda of: (of.Plain(1).extra(), of.Plain(1) == of.Plain(1), of.Plain(1) == of.Point(1), of.Plain(3)),
    "plain assigned": lambda of: setattr(of.Plain(1), "x", 2),
    "fields": lambda of: [(f.name, f.type, f.default) for f in dataclasses.fields(of.Named)],
    "fields of a subclass": lambda of: [f.name for f in dataclasses.fields(of.Plain)],
    "is one": lambda of: (
        dataclasses.is_dataclass(of.Open),
        dataclasses.is_dataclass(of.Plain),
        of.Point.__dataclass_params__,
    ),
    "replaced": lambda of: dataclasses.replace(of.Named(), y=9),
    "as a dict": lambda of: dataclasses.asdict(of.Open([1])),
    "matched": lambda of: (matched(of, of.Point(1)), matched(of, of.Named()), matched(of, 3), of.Named.__match_args__),
    "attributes": lambda of: (
        of.Point.y,
        of.Open.hidden,
        hasattr(of.Open, "items"),
        hasattr(of.Point, "x"),
        of.Point.count,
    ),
    "copied": lambda of: (copy.copy(of.Named(4)), copy.deepcopy(of.Open([1])) == of.Open([1])),
    "without its start": lambda of: [bare(of.Point) == bare(of.Point), bare(of.Point), len({bare(of.Point)})],
    "ordered": lambda of: of.Ordered(1) < of.Ordered(2),
    "names": lambda of: (of.Point.__init__.__qualname__, of.Point.__eq__.__name__, of.Point(1).__init__.__name__),
    "called again": lambda of: of.Open.__init__(opened := of.Open([1]), [2, 3]) or opened,
    "mutable default": lambda of: of.dataclass(type("Bad", (), {"__annotations__": {"x": list}, "x": []}))(),
    "out of order": lambda of: of.dataclass(type("Bad", (), {"__annotations__": {"x": int, "y": int}, "x": 1}))(),
}


def bare(cls: type) -> Any:
    """As it comes out of a pickle: never initialised."""
    made = object.__new__(cls)
    made.__dict__.update(x=1, y=2, names=())
    return made


@pytest.mark.parametrize("question", QUESTIONS)
def test_as_the_standard_library(question: str) -> None:
    lazy, library = classes(lazy_dataclasses.dataclass), classes(dataclasses.dataclass)
    lazy.dataclass, library.dataclass = lazy_dataclasses.dataclass, dataclasses.dataclass
    first = said(QUESTIONS[question], lazy)
    if question != "names":  # of the first method that is looked at, before it is called
        assert first == said(QUESTIONS[question], library)
    assert said(QUESTIONS[question], lazy) == said(QUESTIONS[question], library), "the second time"


@lazy_dataclasses.dataclass(frozen=True)
class Sent:
    x: int
    y: float = 0.5


def test_a_value_that_comes_out_of_a_pickle_is_equal_to_one_made_here() -> None:
    assert pickle.loads(pickle.dumps(Sent(3))) == Sent(3) and hash(pickle.loads(pickle.dumps(Sent(3)))) == hash(Sent(3))


def test_a_frozen_class_sets_its_attributes_one_way() -> None:
    with pytest.raises(TypeError):

        @lazy_dataclasses.dataclass(frozen=True)
        class Both:
            def __setattr__(self, name: str, value: object) -> None: ...


def made_together(cls: Any) -> list[tuple[object, int]]:
    """What four threads get that begin at once."""
    begin, made = threading.Barrier(4), []

    def make() -> None:
        begin.wait()
        made.append((cls(3), hash(cls(3))))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


def test_threads_that_make_the_first_instance_together() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            made = made_together(classes(lazy_dataclasses.dataclass).Named)
            assert len(made) == 4 and len(set(made)) == 1
    finally:
        sys.setswitchinterval(before)


def test_every_class_of_the_package_can_be_written() -> None:
    """What the standard library would say when a module is imported."""
    seen = 0
    for module in pkgutil.walk_packages(kernelwright.__path__, "kernelwright."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and value.__module__ == module.name and dataclasses.is_dataclass(value):
                seen += bool(dataclasses.fields(value)) or 1
    assert seen > 400
