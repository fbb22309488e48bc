"""Where barriers are put, beside a simulation that looks for a write and a read of one round without a barrier between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.space.computation.objects import Instruction, Temporary
from kernelwright.space.cuda_source.barriers import place_barriers
from kernelwright.space.cuda_source.loop_tree import Barrier, Sequence


def temporary(number: int) -> Temporary:
    put, get = (Instruction(f"{kind}{number}", kind, ()) for kind in ("put", "get"))
    return Temporary(f"t{number}", put, get, put, get, ())


def loop(*body: Any) -> Sequence:
    return Sequence(cast(Any, SimpleNamespace(size=2)), list(body))


def executed(sequence: Sequence) -> list[str]:
    """What runs, each loop twice."""
    found: list[str] = []
    for _ in range(1 if sequence.loop is None else 2):
        for member in sequence.body:
            if isinstance(member, Sequence):
                found += executed(member)
            else:
                found.append("barrier" if isinstance(member, Barrier) else member.name)
    return found


def races(root: Sequence, count: int) -> bool:
    """Whether a put and a get of one temporary run without a barrier between them, in either order."""
    since: set[str] = set()
    for name in executed(root):
        if name == "barrier":
            since.clear()
            continue
        other = ("get" if name.startswith("put") else "put") + name[3:]
        if other in since:
            return True
        since.add(name)
    return False


def test_two_temporaries_in_a_loop_share_two_barriers() -> None:
    a, b = temporary(0), temporary(1)
    root = Sequence(None, [loop(a.put, b.put, a.get, b.get)])
    assert place_barriers(root, [a, b]) == 2 and not races(root, 2)


def test_one_barrier_is_enough_outside_loops() -> None:
    a = temporary(0)
    root = Sequence(None, [loop(a.put), loop(a.get)])
    assert place_barriers(root, [a]) == 1 and not races(root, 1)


@st.composite
def programs(draw: st.DrawFn) -> tuple[Sequence, list[Temporary]]:
    """Puts before their gets, cut into nested loops at random."""
    made = [temporary(n) for n in range(draw(st.integers(1, 3)))]
    names = draw(st.permutations([(t, kind) for t in made for kind in ("put", "get")]))
    seen: set[str] = set()
    order: list[Instruction] = []
    for t, _ in names:
        order.append(t.get if t.name in seen else t.put)
        seen.add(t.name)

    def nested(rest: list[Any], depth: int) -> list[Any]:
        body: list[Any] = []
        while rest:
            n = draw(st.integers(1, len(rest)))
            piece, rest = rest[:n], rest[n:]
            body += [loop(*nested(piece, depth - 1))] if depth and draw(st.booleans()) else piece
        return body

    return Sequence(None, nested(list(order), 3)), made


@given(programs())
def test_no_race_is_left(program: tuple[Sequence, list[Temporary]]) -> None:
    root, made = program
    assert races(root, len(made))
    place_barriers(root, made)
    assert not races(root, len(made))
