"""The space of a computation's implementations on a GPU."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.objects import Backbone, Dim, DimPair, Temporary
from kernelwright.space.gpu import communication, kinds, memory, reductions, sets, structure, threads  # noqa: F401  their rules
from kernelwright.space.lang.declaration import Space
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.lang.grounding import ground

LIMITS = {
    "threads": 1024,
    "thread_dims": 3,
    "block_dims": 3,
    "outer_threads": 64,
    "unroll": 512,
    "shared_bytes": 48 * 1024,
}
"""CUDA's limits for blocks (programming guide, compute capabilities); the paper's for unrolling."""


@dataclass(frozen=True)
class Cut:
    """A loop as it is cut around an instruction."""

    rest: Dim
    tiles: tuple[Dim, ...]

    @property
    def loop(self) -> Loop:
        """The loop that is cut."""
        return self.rest.loop

    def __str__(self) -> str:
        return f"{self.rest.instruction}.{self.loop}"


@dataclass(frozen=True)
class Staging:
    """A temporary, with the pairs of dims that may have use for it."""

    temporary: Temporary
    pairs: tuple[DimPair, ...]

    def __str__(self) -> str:
        return f"{self.temporary}, staged"


def gpu_space(backbone: Backbone, limits: Mapping[str, float] | None = None, space: Space = sets.GPU) -> GroundSpace:
    """All implementations of a computation; ``space`` may have more rules than the GPU's own. Raises ``Misuse`` when its limits or
    objects do not fit."""
    cuts = [
        Cut(i.dim(loop, 0), tuple(sorted((d for d in i.dims if d.loop == loop and d.is_static), key=lambda d: d.level)))
        for i in backbone.instructions
        for loop in dict.fromkeys(d.loop for d in i.dims)
        if i.temporary is None
    ]
    puts = [d for t in backbone.temporaries for d, _ in t.axes]
    members = {
        sets.Statement: backbone.statements,
        sets.Instruction: backbone.instructions,
        sets.Dim: backbone.dims,
        sets.StaticDim: backbone.static_dims,
        sets.Cut: cuts,
        sets.Reduction: backbone.reductions,
        sets.Pair: backbone.pairs,
        sets.Access: [i for i in backbone.instructions if i.is_global_access],
        sets.Temporary: backbone.temporaries,
        sets.Staging: [
            Staging(t, tuple(p for p in backbone.pairs if p.lowers_to == t.name)) for t in backbone.temporaries
        ],
        sets.PutDim: puts,
    }
    depends = [(d.before, d.after) for d in backbone.dependences]
    return ground(space, members, {**LIMITS, **(limits or {})}, {"depends": depends}, backbone.name)
