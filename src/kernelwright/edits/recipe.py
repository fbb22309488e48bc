"""A kernel's compile recipe: how LLVM is to treat the variant, as part of its genome.

    before   for (k = 0; k < n; ++k) s += a[k] * b[k];
    after    the same, with its innermost loops unrolled four times (``Recipe(unroll=4)``)

The recipe keeps the meaning. At most one is in effect per kernel: the last. ``passes/recipe.py`` carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kernelwright.edits.draft import Draft


@dataclass(frozen=True)
class Recipe:
    """What is None stays as LLVM has it."""

    unroll: int | None = None
    """How often the body of an innermost loop is repeated; 1 leaves loops as they are, 0 unrolls wholly where it can."""
    level: int = 3
    """LLVM's optimisation level."""
    rounds: int = 1
    """How often the pipeline runs."""
    passes: tuple[str, ...] = ()
    """Passes that run after it, by the names in ``passes/recipe.py``."""
    without: tuple[str, ...] = ()
    """Steps left out."""
    registers: int | None = None
    """The most registers a thread may have (``maxnreg`` in PTX)."""

    def apply(self, draft: Draft) -> str | None:
        """Becomes the draft's recipe; one that asks for nothing is inert."""
        if all(getattr(self, f.name) == f.default for f in fields(self)):
            return "the recipe asks for nothing"
        draft.recipe = self
        return None
