"""A kernel's compile recipe: how LLVM is to treat the variant, as part of its genome.

    before   the post-passes: LLVM's default pipeline, once
    after    the same twice, then jump threading; at most 32 registers (``Recipe(3, 2, ("jump-threading",), (), 32)``)

The recipe keeps the meaning; a product that comes to stand beside its sum may be rounded with it.
At most one is in effect per kernel, the last. ``passes/recipe.py`` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind, Listing
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.json_fields import optional, read_number, read_words
from kernelwright.edits.original import Original
from kernelwright.edits.setting import MOST_REGISTERS, own_attribute
from kernelwright.lazy_dataclasses import dataclass

PASSES = (
    "adce",
    "dse",
    "instcombine",
    "jump-threading",
    "newgvn",
    "reassociate",
    "sccp",
    "simplifycfg",
    "sink",
    "unroll-and-jam",
)
"""What can run after the pipeline, as ``passes/recipe.py`` knows it."""
WITHOUT = ("slp", "unroll")
"""What can be left out of the pipeline for one module."""
REGISTERS = (16, 24, 32, 40, 48, 64, 80, 96, 128, 168)
"""The limits that are drawn."""


@dataclass(frozen=True)
class Recipe:
    """What is left as it is here is what the original gets, too. Loops are unrolled by edits of their own (``Unroll``)."""

    level: int = 3
    """LLVM's optimisation level, 0 to 3."""
    rounds: int = 1
    """How often the pipeline runs, 1 to 4."""
    passes: tuple[str, ...] = ()
    """Those of ``PASSES`` that run after it, in this order."""
    without: tuple[str, ...] = ()
    """Those of ``WITHOUT`` that are left out of it."""
    registers: int | None = None
    """The most registers a thread may have (``.maxnreg`` in PTX)."""

    def apply(self, draft: Draft) -> str | None:
        """Becomes the draft's recipe, in place of an earlier one; or says why it cannot."""
        refused = _refused(self, draft)
        if refused is None:
            draft.recipe = self
            draft.setting = replace(draft.setting, registers=self.registers)
        return refused


def _recipe_of(draft: Draft) -> Recipe:
    return draft.recipe if isinstance(draft.recipe, Recipe) else Recipe()


def _refused(recipe: Recipe, draft: Draft) -> str | None:
    if recipe == _recipe_of(draft):
        return "the recipe changes nothing"
    if recipe.level not in range(4) or recipe.rounds not in range(1, 5):
        return f"no pipeline of level {recipe.level} runs {recipe.rounds} times"
    for names, known in ((recipe.passes, PASSES), (recipe.without, WITHOUT)):
        unknown = [n for n in names if n not in known]
        if unknown:
            return f"{unknown[0]!r} is none of {', '.join(known)}"
    if recipe.registers is not None:
        if own_attribute(draft.original.function, MOST_REGISTERS):
            return "the kernel itself limits its registers"
        if not 16 <= recipe.registers <= 255:
            return f"no thread can be limited to {recipe.registers} registers"
    return None


def draw(dice: Dice) -> Recipe | None:
    """The draft's recipe with one thing changed."""
    now = _recipe_of(dice.draft)
    changed: tuple[Callable[[], Recipe], ...] = (
        lambda: replace(now, level=dice.one((1, 2, 3))),
        lambda: replace(now, rounds=dice.one((1, 2, 3))),
        lambda: replace(now, passes=(*now.passes, dice.one(PASSES))[-4:]),
        lambda: replace(now, passes=now.passes[:-1]),
        lambda: replace(now, without=_toggled(now.without, dice.one(WITHOUT))),
        lambda: replace(now, registers=dice.one((None, *REGISTERS))),
    )
    made = dice.one(changed)()
    return made if _refused(made, dice.draft) is None else None


def recipes(original: Original) -> Iterator[Recipe]:
    """Every recipe that differs from the original's in one thing."""
    draft = Draft(original)
    single = [Recipe(level=1), Recipe(level=2), Recipe(rounds=2), *(Recipe(without=(n,)) for n in WITHOUT)]
    single += [*(Recipe(passes=(n,)) for n in PASSES), *(Recipe(registers=n) for n in REGISTERS)]
    yield from (recipe for recipe in single if _refused(recipe, draft) is None)


def _toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(n for n in WITHOUT if (n in names) != (n == name))


def in_words(original: Original, edit: Recipe) -> Words:
    """Kind, sentence and place of the edit, for people."""
    parts = [f"level {edit.level}"] if edit.level != 3 else []
    parts += [f"{edit.rounds} rounds"] if edit.rounds != 1 else []
    parts += [f"then {', '.join(edit.passes)}"] if edit.passes else []
    parts += [f"without {', '.join(edit.without)}"] if edit.without else []
    parts += [f"at most {edit.registers} registers"] if edit.registers is not None else []
    return Words("compile recipe", f"compiled with {'; '.join(parts) or 'the usual passes'}")


KIND = EditKind(
    "recipe",
    Recipe,
    in_words,
    reads={
        "level": read_number,
        "rounds": read_number,
        "passes": read_words,
        "without": read_words,
        "registers": optional(read_number),
    },
    draw=draw,
    share=1.0,
    listed=(Listing(90, recipes),),
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
