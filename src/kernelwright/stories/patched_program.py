"""Changed sources of a run's program: compiled beside the original, so that they find its headers, and run on the run's data.

program = PatchedProgram(run, Path("app.cu"), options)
module = program.compiled(text)
(outcome,) = program.judged([module])       as a candidate of the run: outputs against the original's, time estimated
code(module, kernel, arch)                  the lines of its PTX, to be compared with others
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.errors import ToolError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.worker_process import setup
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.evolution.flag_sets import FlagSets
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm import Pool
from kernelwright.ir import Module, print_module
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.stories.flags import reference_of

TIMEOUT_S = 300.0
"""Of one patched program on all data sets."""
_INSTRUCTION = re.compile(r"^\s+(?!\.)[^/\s][^\n]*;", re.MULTILINE)
_LABEL = re.compile(r"\$L__BB\d+_")


class PatchedProgram:
    """Of the kernels of one file; what others the workload has stays as it is."""

    def __init__(self, run: EvolveRun, file: Path, options: CompileOptions, arch: str) -> None:
        self._run = run
        self._file = file
        self._options = options
        self.arch = arch
        self.original_us = 0.0
        """Of the run's original, once something was judged."""

    def compiled(self, text: str) -> Module:
        """Raises ``CompileError``, and ``ToolError`` where nothing can be written beside the source."""
        try:
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, prefix=".kw-patch-", suffix=".cu") as beside:
                beside.write(text)
                beside.flush()
                (unit,) = compile_program([Path(beside.name)], options=self._options, cache=False).units
                return unit.module
        except OSError as error:
            raise ToolError(
                f"nothing can be written beside {self._file}: {error.strerror}",
                hint="copy the source to a folder of your own",
            ) from error

    def kernel(self, module: Module, kernel: str) -> Built:
        """Through the post-passes that every variant gets."""
        return GENOMES.builder({kernel: module}, self.arch).build(()).kernels[kernel]

    def judged(self, modules: Sequence[Module]) -> list[Outcome]:
        """What came of each on the run's data sets, by the run's own demands. Guards are not asked: a patched source has none.

        Raises ``Misuse`` for an original that is no judge, ``ToolError`` for one that cannot be run.
        """
        run = self._run
        own = {kernel: print_module(module) for kernel, module in run.workload().modules().items()}
        texts = {
            str(n): {k: print_module(module) if _defines(module, k) else text for k, text in own.items()}
            for n, module in enumerate(modules)
        }
        found: dict[int, Outcome] = {}
        asked = (run.subject, FlagSets(texts, name="patched source"), run.settings.virtual, run.settings.demands)
        with Pool(setup, asked, workers=1, timeout_s=TIMEOUT_S, shared=True) as pool:
            self.original_us = reference_of(pool).time_us
            for number, evaluated in pool.map(list(texts)):
                answered = isinstance(evaluated, Evaluated)
                found[number] = evaluated.outcome if answered else Rejected("crash", str(evaluated))
        return [found[n] for n in range(len(modules))]


def code(built: Built, kernel: str, arch: str) -> list[str]:
    """The instructions of a kernel in PTX, one a line; labels are counted from the kernel's beginning."""
    ptx = built.ptx(arch)
    start = re.search(rf"\.entry {re.escape(kernel)}\(", ptx)
    body = ptx[start.start() :] if start else ptx
    stop = re.search(r"^\}", body, re.MULTILINE)
    return [_LABEL.sub("$L_", line.strip()) for line in _INSTRUCTION.findall(body[: stop.start()] if stop else body)]


def _defines(module: Module, kernel: str) -> bool:
    return kernel in module.functions and bool(module.functions[kernel].blocks)
