"""From decisions to loops: dims that are merged are one loop, with one kind, one size and one variable."""

from __future__ import annotations

from collections import Counter
from functools import cmp_to_key
from math import prod

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.objects import Backbone, Dim, Instruction, Leaf
from kernelwright.space.computation.sizes import is_dynamic, shown
from kernelwright.space.computation.strip_mining import can_cut, divides, rest_of
from kernelwright.space.cuda_source.generated import Iterations

AXES = ("x", "y", "z")
IN_REGISTERS = ("UNROLL", "VECTOR")
"""Kinds whose iterations are known when compiled: a value along such a dim is an array of registers."""


@dataclass(frozen=True, eq=False)
class FusedLoop:
    """Merged dims. ``axis``: of a THREAD loop, 0 for ``threadIdx.x``. ``variable`` is 0 where there is one iteration."""

    dims: tuple[Dim, ...]
    kind: str
    iterations: Iterations
    variable: str
    axis: int | None = None

    @property
    def size(self) -> int:
        """Iterations; of a loop whose extent is given at launch, those at the sizes that are tuned on."""
        return self.iterations.tuned

    @property
    def varies(self) -> bool:
        """Whether there may be more than one iteration."""
        return self.size > 1 or self.iterations.is_dynamic

    @property
    def title(self) -> str:
        """For comments in the source: ``m1 n1``, loop and level of each merged dim, each once."""
        return " ".join(dict.fromkeys(f"{d.loop}{d.level}" for d in self.dims))


class FusedLoops:
    """All loops of a leaf, and the instructions that exist in it."""

    def __init__(self, backbone: Backbone, leaf: Leaf) -> None:
        self.backbone, self.leaf = backbone, leaf
        self.instructions = [i for i in backbone.instructions if leaf.exists(i)]
        self.of: dict[Dim, FusedLoop] = {}
        groups = self._groups([d for i in self.instructions for d in i.dims])
        kinds = [self._kind(group) for group in groups]
        self.axes = self._thread_axes([g for g, kind in zip(groups, kinds, strict=True) if kind == "THREAD"])
        axis_of = {dim: number for number, dims in enumerate(self.axes) for dim in dims}
        names = Counter(f"{group[0].loop}{group[0].level}" for group in groups)
        for group, kind in zip(groups, kinds, strict=True):
            first, axis = group[0], axis_of.get(group[0])
            short = f"{first.loop}{first.level}"
            variable = short if names[short] == 1 else first.name.replace(".", "_")
            iterations = self._iterations(group)
            if axis is not None:
                variable = f"thread_{AXES[axis]}"
            varies = iterations.tuned > 1 or iterations.is_dynamic
            fused = FusedLoop(tuple(group), kind, iterations, variable if varies else "0", axis)
            self.of.update(dict.fromkeys(group, fused))
        self.all = list(dict.fromkeys(self.of.values()))

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads along x, y and z; 1 on axes without a loop."""
        sizes = [self.of[dims[0]].size for dims in self.axes]
        x, y, z = (*sizes, 1, 1, 1)[:3]
        return x, y, z

    def around(self, instruction: Instruction) -> list[FusedLoop]:
        """The loops that an instruction is in, its own and others'."""
        return [f for f in self.all if self.leaf.value("order", instruction, f.dims[0]) == "INNER"]

    def is_inside(self, inner: FusedLoop, outer: FusedLoop) -> bool:
        """Whether ``inner`` runs within each iteration of ``outer``; a loop is not inside itself."""
        return inner is not outer and self.leaf.value("order", inner.dims[0], outer.dims[0]) == "INNER"

    def _groups(self, dims: list[Dim]) -> list[list[Dim]]:
        groups: list[list[Dim]] = []
        for dim in dims:
            group = next((g for g in groups if self.leaf.value("order", g[0], dim) == "MERGED"), None)
            if group is None:
                groups.append([dim])
            else:
                group.append(dim)
        return groups

    def _kind(self, group: list[Dim]) -> str:
        kinds = {str(self.leaf.value("dim_kind", d)) for d in group}
        if len(kinds) != 1:
            raise Misuse(f"{group[0]} and {group[-1]} are one loop of several kinds: {', '.join(sorted(kinds))}")
        return kinds.pop()

    def _iterations(self, group: list[Dim]) -> Iterations:
        found = {self._dim_iterations(d) for d in group}
        if len(found) != 1:
            sizes = sorted(each.text() for each in found)
            raise Misuse(f"{group[0]} and {group[-1]} are one loop of several sizes: {', '.join(sizes)}")
        return found.pop()

    def _dim_iterations(self, dim: Dim) -> Iterations:
        if dim.is_static:
            return Iterations(int(self.leaf.value("size", dim)))
        tiles, extent = self._tiles(self.backbone.instruction(dim.instruction), dim.loop), dim.loop.extent
        if not can_cut(extent, tiles):
            raise Misuse(
                f"the tiles of {dim.loop} around {dim.instruction} do not divide {shown(extent)},"
                " and are no powers of two within it"
            )
        return Iterations(extent, prod(tiles)) if is_dynamic(extent) else Iterations(rest_of(extent, tiles))

    def _tiles(self, instruction: Instruction, loop: Loop) -> list[int]:
        return [int(self.leaf.value("size", d)) for d in instruction.dims if d.loop == loop and d.is_static]

    def has_partial_iteration(self, instruction: Instruction, loop: Loop) -> bool:
        """Whether the last iteration of what the tiles of a loop leave is only partly there."""
        return not divides(loop.extent, self._tiles(instruction, loop))

    def rest(self, instruction: Instruction, loop: Loop) -> FusedLoop:
        """What the tiles of a loop leave."""
        return next(self.of[d] for d in instruction.dims if d.loop == loop and d.level == 0)

    def _thread_axes(self, groups: list[list[Dim]]) -> list[list[Dim]]:
        """The dims of each axis of the block, ``threadIdx.x`` first: the innermost in ``thread_mapping``."""
        axes: list[list[Dim]] = []
        for group in groups:
            axis = next((a for a in axes if self._axis(a[0], group[0]) == "MAPPED"), None)
            if axis is None:
                axes.append(list(group))
            else:
                axis.extend(group)
        for axis in axes:
            first, *others = axis
            wrong = next((d for d in others if self._dim_iterations(d) != self._dim_iterations(first)), None)
            if wrong is not None:
                raise Misuse(f"{first} and {wrong} are one axis of threads of several sizes")
        if len(axes) > len(AXES):
            raise Misuse(f"threads along {len(axes)} axes: a block has {len(AXES)}")

        def compare(a: list[Dim], b: list[Dim]) -> int:
            return -1 if self._axis(a[0], b[0]) == "IN" else 1

        return sorted(axes, key=cmp_to_key(compare))

    def _axis(self, a: Dim, b: Dim) -> str | int:
        return self.leaf.value("thread_mapping", a, b)
