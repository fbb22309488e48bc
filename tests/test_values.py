"""Values behave as frozen dataclasses do, which are the oracle here."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from kernelwright.values import frozen, replaced


@frozen
class Point:
    x: int
    y: int = 2
    names: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        return self.x + self.y


@frozen
class Named(Point):
    name: str = "here"


@frozen
class Positive:
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@dataclasses.dataclass(frozen=True)
class Twin:
    x: int
    y: int = 2
    names: tuple[str, ...] = ()


def test_it_is_made_as_a_dataclass_is() -> None:
    for given, named in (((1,), {}), ((1, 3), {}), ((), {"x": 1, "names": ("a",)}), ((4,), {"y": 0})):
        assert repr(Point(*given, **named)).partition("(")[2] == repr(Twin(*given, **named)).partition("(")[2]
    assert Named(1, name="there") == Named(1, 2, (), "there")


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, (), 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})])
def test_wrong_fields_are_refused(given: tuple[int, ...], named: dict[str, int]) -> None:
    for kind in (Point, Twin):
        with pytest.raises(TypeError):
            kind(*given, **named)


def test_equality_is_meaning() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert Point(1) != (1, 2, ())
    assert Point(1) != Named(1)
    assert hash(Point(1)) == hash(Point(1))
    assert len({Point(1), Point(1), Point(2)}) == 2
    with pytest.raises(TypeError):
        hash(Point(1, names=[]))  # type: ignore[arg-type]


def test_it_is_frozen() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert point.x == 1 and point.sum == 3


def test_copies() -> None:
    assert replaced(Point(1), y=5) == Point(1, 5)
    assert pickle.loads(pickle.dumps(Named(1, name="there"))) == Named(1, name="there")
    with pytest.raises(TypeError):
        replaced(Point(1), z=5)


def test_post_init() -> None:
    with pytest.raises(ValueError, match="negative"):
        Positive(-1)
    with pytest.raises(ValueError, match="negative"):
        replaced(Positive(1), x=-1)
