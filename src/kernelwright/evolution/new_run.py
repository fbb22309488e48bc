"""A run of evolution begins: its subject, its folder, its journal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.errors import KernelwrightError, Misuse, check_kind
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.run.variant_run import facts_of
from kernelwright.evaluate.workload.subject import PythonFile, Recordings, Subject, subject_of
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES, EvolveRun


def create(
    folder: Path, subject: Subject, settings: RunSettings, *, command: str = "", given: Subject | None = None
) -> EvolveRun:
    """A new run in ``folder``, which is there already. ``command``: the command line that began it, if one did. ``given``: the
    subject, opened, where that is another value than what is written down."""
    return EvolveRun.create(folder, GENOMES, facts_of(subject, settings), command=command, given=given or subject)


@contextmanager
def gone_if_refused(run: EvolveRun, is_ours: bool = True) -> Iterator[None]:
    """Closes a new run that is refused before its first evaluation, and removes its folder if it was made for it: there is
    nothing to resume."""
    try:
        yield
    except KernelwrightError:
        if is_ours and not len(run.journal):
            run.close()
            shutil.rmtree(run.folder, ignore_errors=True)
        raise


def opened(workload: Workload | Subject | Path | str) -> Subject:
    """What is evolved, given in any way that ``evolve`` takes. Raises ``Misuse``."""
    if isinstance(workload, Workload):
        return subject_of(workload)
    if isinstance(workload, Path | str):
        path = Path(workload)
        if path.suffix != ".py":
            raise Misuse(
                f"{path} is no Python file that defines a workload", hint=f"kw evolve {path} takes programs too"
            )
        return PythonFile(str(path.resolve()))
    if not hasattr(workload, "workload"):
        check_kind(workload, Workload, "the workload", "give one, or the path of a Python file that defines one")
    return workload


def stem(subject: Subject) -> str:
    """What a run of it is called, before its number."""
    if isinstance(subject, PythonFile):
        return Path(subject.path).stem
    return Path(subject.paths[0]).stem if isinstance(subject, Recordings) else "workload"
