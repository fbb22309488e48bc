"""The sets and choices of the GPU's space (paper 004, sections 4.1 to 4.5).

The objects are those of ``space/computation``; what the values of each choice mean to generated code is in ``computation/objects.py``.
"""

from kernelwright.space.lang.conditions import ObjectSet
from kernelwright.space.lang.declaration import Space


class Statement(ObjectSet):
    """Everything that can be ordered."""


class Instruction(ObjectSet, subset_of=Statement): ...


class Dim(ObjectSet, subset_of=Statement): ...


class StaticDim(ObjectSet, subset_of=Dim):
    """Tiles: dims whose size is decided."""


class Cut(ObjectSet):
    """A loop as it is cut around an instruction: the tiles, outermost first, and the rest that they leave."""


class Reduction(ObjectSet): ...


class Pair(ObjectSet):
    """Two dims of the producer and the consumer of a value, whose iterations correspond."""


class Access(ObjectSet, subset_of=Instruction):
    """Loads and stores of the kernel's arguments."""


class Temporary(ObjectSet):
    """Arrays that may pass a value through memory."""


class Staging(ObjectSet):
    """A temporary, and the pairs of dims that may have use for it."""


class PutDim(ObjectSet, subset_of=StaticDim):
    """Dims of the instructions that write temporaries: the axes of the arrays."""


GPU = Space("gpu")

THREADS = GPU.limit("threads", "threads of a block")
THREAD_DIMS = GPU.limit("thread_dims", "axes of threads")
BLOCK_DIMS = GPU.limit("block_dims", "axes of blocks")
OUTER_THREADS = GPU.limit("outer_threads", "threads along an axis other than the innermost")
UNROLL = GPU.limit("unroll", "copies of an instruction that unrolling makes")
SHARED_BYTES = GPU.limit("shared_bytes", "bytes of shared memory of a block")

order = GPU.enum(
    "order",
    "BEFORE AFTER INNER OUTER MERGED",
    Statement,
    Statement,
    opposite={"BEFORE": "AFTER", "INNER": "OUTER"},
    reason="sequence, nesting and fusion of two statements",
)
dim_kind = GPU.enum("dim_kind", "LOOP UNROLL VECTOR BLOCK THREAD", Dim, reason="how a dim is implemented")
size = GPU.integer("size", StaticDim, lambda dim: dim.universe, reason="the size of a tile")
thread_mapping = GPU.enum(
    "thread_mapping",
    "NOT MAPPED OUT IN",
    StaticDim,
    StaticDim,
    opposite={"OUT": "IN"},
    reason="whether two thread dims are the same axis of threads, and which axis is the outer one",
)
dim_mapping = GPU.enum(
    "dim_mapping",
    "NONE REGISTER THREAD",
    Pair,
    reason="how a value passes from one dim to the other: in registers, within a thread, or not at all",
)
exists = GPU.optional("exists", Temporary, "temporary")
mem_space = GPU.enum("mem_space", "SHARED GLOBAL", Temporary, reason="where a temporary lies")
layout = GPU.enum(
    "layout",
    "OUT IN",
    PutDim,
    PutDim,
    opposite={"OUT": "IN"},
    where=lambda a, b: a.instruction == b.instruction,
    reason="the order of the axes of a temporary",
)
cache = GPU.enum("cache", "L1 L2 READ_ONLY NONE", Access, reason="the caches of a load or store")

DECISION_ORDER = (
    "layout",
    "size",
    "dim_kind",
    "thread_mapping",
    "dim_mapping",
    "mem_space",
    "order",
    "exists",
    "cache",
)
"""The paper's order (section 5.5): what tells most about the time comes first. ``exists`` follows from ``dim_mapping``."""
