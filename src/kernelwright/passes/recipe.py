"""Optimises a variant of a kernel by its recipe: the post-passes that every variant, and the original, goes through.

    before   a module that edits have changed
    after    LLVM's default pipeline has run on it once more (a recipe: at another level, more often, with passes after it)

What is measured must be what is run, so this comes before both the virtual GPU and PTX; and since it improves most kernels a
little even unedited, the original gets it, too. Recipes need no switch of LLVM's that holds for a whole process, so one
resident worker builds them all. What LLVM can only be told for a whole process is therefore no part of a recipe: leaving out
a pass of code generation (``msi``, ``par``, ``spec``, ``slsr``, ``gra``, ``lsr``) or of the middle end (``sroa``, ``gvn``, ``dse``,
...), and the thresholds of ``passes/pipeline.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from kernelwright.architectures import architecture
from kernelwright.errors import Misuse
from kernelwright.passes.llvm import binding, parse, retarget, run_once, target_machine
from kernelwright.passes.stderr_capture import stderr_captured


class PassRecipe(Protocol):
    """What this file asks of a recipe (``edits.Recipe``); the rest of it stands in the variant's text."""

    @property
    def level(self) -> int:
        """LLVM's optimisation level, 0 to 3."""

    @property
    def rounds(self) -> int:
        """How often the pipeline runs, 1 to 4."""

    @property
    def passes(self) -> tuple[str, ...]:
        """Passes that run after the pipeline, in this order."""

    @property
    def without(self) -> tuple[str, ...]:
        """Passes that are left out of the pipeline."""


EXTRA: dict[str, Callable[[Any], None]] = {
    "adce": lambda m: m.add_aggressive_dce_pass(),
    "dse": lambda m: m.add_dead_store_elimination_pass(),
    "instcombine": lambda m: m.add_instruction_combine_pass(),
    "jump-threading": lambda m: m.add_jump_threading_pass(),
    "newgvn": lambda m: m.add_new_gvn_pass(),
    "reassociate": lambda m: m.add_reassociate_pass(),
    "sccp": lambda m: m.add_sccp_pass(),
    "simplifycfg": lambda m: m.add_simplify_cfg_pass(),
    "sink": lambda m: m.add_sinking_pass(),
    "unroll-and-jam": lambda m: m.add_loop_unroll_and_jam_pass(),
}
"""The passes a recipe may run after the pipeline. Loop strength reduction is not among them: so early it aborts on some
modules, and code generation runs it in any case."""
UNROLL = "llvm.loop.unroll."


def optimise_with(ir_text: str, recipe: PassRecipe | None, arch: str) -> str:
    """The module after the post-passes, for ``arch`` (``sm_80``). None is the recipe of the original: the default pipeline once.

    In this process, so LLVM may abort on IR it cannot handle: call it in a worker. Raises ``IRError`` for IR that does not
    parse, ``Misuse`` for an unknown architecture or pass.
    """
    name = architecture(arch).name
    if UNROLL not in ir_text:
        return _optimised(ir_text, recipe, name)
    # LLVM warns of every loop that it could not unroll as asked; that one recipe failed is nothing to tell anybody.
    with stderr_captured() as log:
        text = _optimised(ir_text, recipe, name)
    others = [line for line in "".join(log).splitlines(keepends=True) if "loop not unrolled" not in line]
    sys.stderr.write("".join(others))
    return text


def _optimised(ir_text: str, recipe: PassRecipe | None, arch: str) -> str:
    llvm = binding()
    level = 3 if recipe is None else recipe.level
    machine = target_machine(arch, level)
    with llvm.create_context() as context, parse(retarget(ir_text, arch), context) as module:
        for _ in range(1 if recipe is None else recipe.rounds):
            builder = llvm.create_pass_builder(machine, _tuning(level, recipe))
            run_once(builder.getModulePassManager(), module, builder)
        for extra in () if recipe is None else recipe.passes:
            if extra not in EXTRA:
                raise Misuse(f"no pass of a recipe is called {extra!r}", hint=f"there are {', '.join(EXTRA)}")
            builder = llvm.create_pass_builder(machine, _tuning(level, recipe))
            manager = llvm.create_new_module_pass_manager()
            EXTRA[extra](manager)
            run_once(manager, module, builder)
        return str(module)


def _tuning(level: int, recipe: PassRecipe | None) -> Any:
    tuning = binding().create_pipeline_tuning_options(level)
    left_out = () if recipe is None else recipe.without
    if "slp" in left_out:
        tuning.slp_vectorization = False
    if "unroll" in left_out:
        tuning.loop_unrolling = False
    return tuning
