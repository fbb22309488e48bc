"""Making constant what every training launch had alike: an argument, the shape of blocks, the shape of the grid.

    before   %i = mul i32 %y, %n                                      after   %n = freeze i32 1024
             %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()                  %i = mul i32 %y, %n
                                                                              %w = freeze i32 16

The meaning stays as long as the guard holds (``argument 3 == i32 1024``, ``block == 16x16x1``); LLVM folds the rest. A
block's shape also goes to PTX as ``.reqntid``, and bounds what the thread numbers can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_argument, describe_value
from kernelwright.edits.json_fields import read_index, read_shape, read_value
from kernelwright.edits.original import Original
from kernelwright.edits.plain_constants import bits_of, text_of
from kernelwright.edits.setting import register_asked
from kernelwright.guards import ArgumentIs, BlockIs, GridIs, LaunchFacts
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

THREADS = 1024
"""The most that a block may have."""
EXTENTS = (2**31 - 1, 65535, 65535)
"""The largest grid."""


@dataclass(frozen=True)
class FixArgument:
    """Argument ``index`` is ``value``, written with its type (``i32 1024``)."""

    index: int
    value: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        arguments = draft.original.function.arguments
        if self.index >= len(arguments):
            return f"the kernel has no argument {self.index}"
        if any(index == self.index for index, _ in draft.setting.fixed):
            return f"argument {self.index} is fixed already"
        type = arguments[self.index].type
        text = self.value.removeprefix(f"{type.text} ")
        bits = bits_of(type, text)
        if text == self.value or bits is None:
            return f"{self.value} is no constant for argument {self.index}, a {type.text}"
        fixed = tuple(sorted([*draft.setting.fixed, (self.index, text)]))
        draft.setting = replace(draft.setting, fixed=fixed)
        draft.guards[ArgumentIs(self.index, self.value, bits)] = None
        return None


@dataclass(frozen=True)
class FixBlock:
    """Every block has this shape (x, y, z)."""

    shape: Triple

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        x, y, z = self.shape
        if min(self.shape) < 1 or x * y * z > THREADS or z > 64:
            return f"no block can be {x}x{y}x{z}"
        if draft.setting.block is not None:
            return "the block's shape is fixed already"
        draft.setting = replace(draft.setting, block=self.shape)
        draft.guards[BlockIs(self.shape)] = None
        return None


@dataclass(frozen=True)
class FixGrid:
    """Every grid has this shape (x, y, z)."""

    shape: Triple

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        x, y, z = self.shape
        if min(self.shape) < 1 or any(n > most for n, most in zip(self.shape, EXTENTS, strict=True)):
            return f"no grid can be {x}x{y}x{z}"
        if draft.setting.grid is not None:
            return "the grid's shape is fixed already"
        draft.setting = replace(draft.setting, grid=self.shape)
        draft.guards[GridIs(self.shape)] = None
        return None


def fixed_arguments(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[FixArgument]:
    """The arguments that the kernel uses and that all these launches had alike."""
    for index, argument in enumerate(original.function.arguments if launches else ()):
        bits = launches[0].arguments[index] if index < len(launches[0].arguments) else b""
        text = text_of(argument.type, bits) if argument.is_used and "byval" not in argument.attributes else None
        if text is not None and all(facts.arguments[index] == bits for facts in launches):
            yield FixArgument(index, f"{argument.type.text} {text}")


def fixed_block(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[FixBlock]:
    """The block's shape, if the kernel asks for it and all these launches had it alike."""
    if _asks(original, "tid", "ntid") and len({facts.launch.block for facts in launches}) == 1:
        yield FixBlock(launches[0].launch.block)


def fixed_grid(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[FixGrid]:
    """The grid's shape, if the kernel asks for it and all these launches had it alike."""
    if _asks(original, "ctaid", "nctaid") and len({facts.launch.grid for facts in launches}) == 1:
        yield FixGrid(launches[0].launch.grid)


def _asks(original: Original, *names: str) -> bool:
    """Whether the kernel asks for one of these of the launch's geometry."""
    asked = (register_asked(i) for i in original.function.instructions())
    return any(found is not None and found[0] in names for found in asked)


def _argument_in_words(original: Original, edit: FixArgument) -> Words:
    what = describe_argument(original, edit.index)
    return Words("specialised input", f"{what} is always {describe_value(edit.value)}")


def _block_in_words(original: Original, edit: FixBlock) -> Words:
    return Words("specialised input", f"blocks are always {' x '.join(map(str, edit.shape))}")


def _grid_in_words(original: Original, edit: FixGrid) -> Words:
    return Words("specialised input", f"the grid is always {' x '.join(map(str, edit.shape))}")


ARGUMENT = EditKind(
    "fix-argument",
    FixArgument,
    _argument_in_words,
    reads={"index": read_index, "value": read_value},
    known=fixed_arguments,
    fixes_launch=True,
    keeps_meaning=True,
)
BLOCK = EditKind(
    "fix-block",
    FixBlock,
    _block_in_words,
    reads={"shape": read_shape},
    known=fixed_block,
    fixes_launch=True,
    keeps_meaning=True,
)
GRID = EditKind(
    "fix-grid",
    FixGrid,
    _grid_in_words,
    reads={"shape": read_shape},
    known=fixed_grid,
    fixes_launch=True,
    keeps_meaning=True,
)
