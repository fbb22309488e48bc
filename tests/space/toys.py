"""Small declared spaces: coloured graphs, threads of loops, optional objects. Small enough to look at every solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernelwright.space.lang.choices import related
from kernelwright.space.lang.conditions import Condition, ObjectSet
from kernelwright.space.lang.declaration import Amount, Count, Space, counted, number_of, product, total
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.lang.grounding import ground


@dataclass(frozen=True)
class Loop:
    name: str
    sizes: tuple[int, ...] = (2, 4, 8)
    extent: int = 16
    box: Box | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Box:
    """An optional object."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Link:
    name: str
    lhs: Loop
    rhs: Loop
    box: Box | None = None
    lowers_to: Box | None = None

    def __str__(self) -> str:
        return self.name


class LoopSet(ObjectSet): ...


class LinkSet(ObjectSet): ...


class BoxSet(ObjectSet): ...


class Lowered(ObjectSet, subset_of=LinkSet): ...


def loops_space() -> Space:
    """Nests of loops with kinds, sizes and axes: order, congruence, quotients, a product, a sum and optional loops."""
    space = Space("loops")
    threads = space.limit("threads", "threads of a block")
    shared = space.limit("shared", "elements of boxes")
    order = space.enum("order", "BEFORE AFTER SAME", LoopSet, LoopSet, opposite={"BEFORE": "AFTER"})
    kind = space.enum("kind", "SERIAL THREAD WIDE", LoopSet)
    size = space.integer("size", LoopSet, lambda loop: loop.sizes)
    link = space.enum("link", "REGISTER MEMORY", LinkSet)
    space.optional("exists", BoxSet, "box")
    place = space.enum("place", "NEAR FAR", BoxSet)

    @space.fact
    def is_tied(a: LoopSet, b: LoopSet) -> bool:
        return bool(a.name[0] == b.name[0])

    @space.rule
    def before_is_transitive(a: LoopSet, b: LoopSet, c: LoopSet) -> Condition:
        """What precedes the predecessor precedes."""
        return (order(a, b).BEFORE & order(b, c).BEFORE) >> order(a, c).BEFORE

    @space.rule
    def same_is_congruent(a: LoopSet, b: LoopSet, c: LoopSet) -> Condition:
        """Loops that are one have the same order to every third."""
        return order(a, b).SAME >> (order(a, c) == order(b, c))

    @space.rule
    def same_size(a: LoopSet, b: LoopSet) -> Condition:
        """Loops that are one have one size."""
        return order(a, b).SAME >> (size(a) == size(b))

    @space.rule
    def same_kind(a: LoopSet, b: LoopSet) -> Condition:
        """Loops that are one have one kind."""
        return order(a, b).SAME >> (kind(a) == kind(b))

    @space.rule
    def tied_follow(a: LoopSet, b: LoopSet) -> Condition:
        """Tied loops are not one, and a wide one is last."""
        return is_tied(a, b) >> (~order(a, b).SAME & (kind(a).WIDE >> order(a, b).AFTER))

    @space.rule
    def wide_is_small(d: LoopSet) -> Condition:
        """A wide loop has at most four iterations."""
        return kind(d).WIDE >> (size(d) <= 4)

    @space.rule
    def four_choices(a: LoopSet, b: LoopSet) -> Condition:
        """Two threads in a row are equally large."""
        return ~kind(a).THREAD | ~kind(b).THREAD | ~order(a, b).BEFORE | (size(a) == 8) | is_tied(a, b)

    @space.rule
    def linked_in_registers(p: LinkSet) -> Condition:
        """A link in registers joins loops that are one."""
        return link(p).REGISTER >> order(p.lhs, p.rhs).SAME

    @space.rule
    def linked_sizes(p: LinkSet) -> Condition:
        """Both ends of a link have one size."""
        return size(p.lhs) == size(p.rhs)

    exists = space.choices["exists"]

    @space.rule
    def lowering(p: LinkSet) -> Condition:
        """A link in memory has a box."""
        return link(p).MEMORY >> exists(p.lowers_to).YES

    @space.clause
    def sizes_divide(d: LoopSet) -> Condition:
        """The size divides the extent, less one half."""
        extent = d.extent
        return related(lambda s: extent % (2 * s) == 0, size(d))

    @space.counter
    def threads_of_a_block() -> Count:
        """A block has a limited number of threads."""
        return (
            product(LoopSet, lambda d: counted(size(d), kind(d).THREAD), same=lambda a, b: order(a, b).SAME) <= threads
        )

    @space.counter
    def wide_loops() -> Count:
        """Two wide loops at most."""
        return number_of(LoopSet, lambda d: kind(d).WIDE) <= 2

    @space.counter
    def near_boxes() -> Count:
        """Near boxes share a small memory."""

        def room(link_: LinkSet) -> Amount:
            box = link_.lowers_to
            return product(
                [link_.lhs, link_.rhs], lambda d: counted(size(d), kind(d).SERIAL), when=place(box).NEAR, times=2
            )

        return total(Lowered, room) <= shared

    return space


def loops(names: Sequence[str], boxes: int = 0, threads: int = 16, shared: int = 32) -> GroundSpace:
    """Loops by name, linked in a row; ``boxes`` links may be lowered, each with two more loops and their links."""
    plain = [Loop(n) for n in names]
    all_boxes = [Box(f"box{i}") for i in range(boxes)]
    links, more = [], []
    for i, (a, b) in enumerate(pairwise(plain)):
        box = all_boxes[i] if i < boxes else None
        links.append(Link(f"{a}~{b}", a, b, lowers_to=box))
        if box:
            put = Loop(f"{box}.put", box=box)
            more.append(put)
            links.append(Link(f"{a}~{put}", a, put, box=box))
    lowered = [each for each in links if each.lowers_to]
    members = {LoopSet: [*plain, *more], LinkSet: links, Lowered: lowered, BoxSet: all_boxes}
    return ground(loops_space(), members, {"threads": threads, "shared": shared})
