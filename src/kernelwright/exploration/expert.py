"""Decisions that a person takes before a search: what remains is explored.

    plan = kw.expert("matmul", (1024, 1024, 1024), device="h200")
    plan.tile("m", 16, 4).tile("n", 16, 4).threads("m1", "n1").unrolled("m2", "n2").staged("a", "b")
    plan.left("dim_kind", "a.m1")              # values that are still possible
    print(plan.why("dim_kind(a.m1) = BLOCK"))  # which decisions and rules exclude a value
    print(plan.bound())                        # how fast it could still be, and what limits it
    kw.explore(plan, evaluations=200)          # the fastest kernel of those that keep to it

``m1`` is the first tile of loop ``m`` around every instruction, ``mad.m1`` that around one; ``m0`` is what the tiles leave. Each step is
checked when it is taken: a contradiction is told with the decisions and rules that clash, and the plan stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import Decisions, decision_text, parts_of
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.subject import Subject
from kernelwright.space.bound import Explanation
from kernelwright.space.computation import Dim
from kernelwright.space.computation.family import Family
from kernelwright.space.why import Reasons


class Expert:
    """Decisions on one subject; its methods add to them and give it back. ``decisions``: so far, as text."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.decisions: Decisions = ()
        self._space = KernelSpace(subject)
        self._state = self._space.decided(())
        self._dims = [
            d for i in subject.backbone.instructions if i.temporary is None and i.operation != "init" for d in i.dims
        ]

    def decide(self, *decisions: str) -> Expert:
        """``size(mad.m1) = 16``. Raises ``Misuse`` for one that there is not, or that contradicts those before it."""
        for each in decisions:
            choice, objects, value = parts_of(each)
            wanted = (*self.decisions, decision_text(choice, objects, value))
            self._state = self._space.decided(wanted)
            self.decisions = wanted
        return self

    def tile(self, loop: str, *sizes: int) -> Expert:
        """The sizes of the tiles of a loop, outermost first, around every instruction.
        Raises ``Misuse`` for another number of tiles than there are."""
        tiles = {d.level for d in self._dims if d.loop.name == loop and d.is_static}
        if not tiles or len(sizes) > len(tiles):
            known = ", ".join(dict.fromkeys(d.loop.name for d in self._dims))
            raise Misuse(
                f"{self.subject} has {len(tiles)} tiles of {loop}, and {len(sizes)} sizes are given",
                hint=f"its loops are {known}",
            )
        of = {level + 1: size for level, size in enumerate(sizes)}
        found = [d for d in self._dims if d.loop.name == loop and d.level in of]
        return self._checked([decision_text("size", (d,), of[d.level]) for d in found])

    def threads(self, *dims: str) -> Expert:
        """These dims run over the threads of a block. Raises ``Misuse`` for unknown dims, and where decisions or rules exclude it."""
        return self._kinds("THREAD", dims)

    def blocks(self, *dims: str) -> Expert:
        """These dims run over the blocks of the grid. Raises ``Misuse`` for unknown dims, and where decisions or rules exclude it."""
        return self._kinds("BLOCK", dims)

    def loops(self, *dims: str) -> Expert:
        """These dims are loops of each thread. Raises ``Misuse`` for unknown dims, and where decisions or rules exclude it."""
        return self._kinds("LOOP", dims)

    def unrolled(self, *dims: str) -> Expert:
        """These dims are written out as straight code. Raises ``Misuse`` for unknown dims, and where decisions or rules exclude it."""
        return self._kinds("UNROLL", dims)

    def vectors(self, *dims: str) -> Expert:
        """These dims are one vector access each. Raises ``Misuse`` for unknown dims, and where decisions or rules exclude it."""
        return self._kinds("VECTOR", dims)

    def staged(self, *operands: str) -> Expert:
        """What these instructions give passes through shared memory. Raises ``Misuse`` for values that cannot."""
        found = []
        for operand in operands:
            temporaries = [t for t in self.subject.backbone.temporaries if t.producer.name == operand]
            if not temporaries:
                known = ", ".join(dict.fromkeys(t.producer.name for t in self.subject.backbone.temporaries))
                raise Misuse(f"{operand} cannot be staged in {self.subject}", hint=f"these can: {known or 'none'}")
            found += [decision_text("exists", (t,), "YES") for t in temporaries]
            found += [decision_text("mem_space", (t,), "SHARED") for t in temporaries if t.may_be_global]
        return self._checked(found)

    def left(self, choice: str, *objects: str) -> list[str | int]:
        """The values of a choice that the decisions leave."""
        things = [self._space.named(choice, name, f"{choice}({', '.join(objects)})") for name in objects]
        return list(self._space.ground.values_for(self._state, choice, things))

    def why(self, decision: str) -> str:
        """Which of the plan's decisions, by which rules, exclude ``dim_kind(a.m1) = BLOCK``. Raises ``Misuse`` where it is possible."""
        masks = [self._space.mask_of(each) for each in self.decisions]
        reasons = Reasons(self._space.ground, self._space.solver)
        return str(reasons.why(masks, *self._space.mask_of(decision)))

    def bound(self) -> Explanation:
        """How fast the best kernel of what is left could be."""
        return self._space.bound.explain(self._state)

    def _kinds(self, kind: str, names: Sequence[str]) -> Expert:
        return self._checked([decision_text("dim_kind", (d,), kind) for name in names for d in self._named(name)])

    def _named(self, name: str) -> list[Dim]:
        found = [d for d in self._dims if name in (d.name, f"{d.loop.name}{d.level}")]
        if not found:
            known = ", ".join(dict.fromkeys(f"{d.loop.name}{d.level}" for d in self._dims))
            raise Misuse(f"{self.subject} has no {name}", hint=f"it has {known}; mad.m1 is that of one instruction")
        return found

    def _checked(self, decisions: Sequence[str]) -> Expert:
        """All of them or none."""
        before = self.decisions, self._state
        try:
            return self.decide(*decisions)
        except Misuse:
            self.decisions, self._state = before
            raise


def expert(
    computation: str | Path | Family,
    sizes: Sequence[int] | Mapping[str, int] = (),
    *,
    device: str = "auto",
    dynamic: Sequence[str] = (),
) -> Expert:
    """A plan for a computation of the library or of one's own, without any decision. ``dynamic``: names of sizes that the kernel is
    given at launch. Raises ``Misuse``."""
    return Expert(Subject.of(computation, sizes, device, dynamic))
