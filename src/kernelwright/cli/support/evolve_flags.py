"""The compile flags of a program that is going to be evolved: searched first, so that edits start from the best of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kernelwright.cli.support.program_arguments import GivenProgram
from kernelwright.device.describe_access import plural
from kernelwright.errors import CompileError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.flag_choice import FlagChoice
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.flag_sets import Texts
from kernelwright.ir.text.canonical import canonical
from kernelwright.long_steps import announced
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CUDA_SUFFIXES
from kernelwright.pipeline import compile as compile_program
from kernelwright.stories.flags import Compiled, best_flags
from kernelwright.values import replaced


def searched_flags(
    subject: Recordings, given: GivenProgram, settings: RunSettings, folder: Path, jobs: int | None,
    say: Callable[[str], None],
) -> FlagChoice | None:  # fmt: skip
    """The best flags, the kernels under them in files of ``folder``; None, and a line that says why, where none can be searched."""
    if given.is_executable:
        say("its compile flags are not searched: it came built; give its sources")
        return None
    compiled = _compiler(given, subject.workload())
    if compiled is None:
        say("its compile flags are not searched: its kernels cannot be told apart by their files")
        return None
    say("searching compile flags")
    passes = given.flags.options.passes
    with announced("searching compile flags") as step:

        def watch(judged: int) -> None:
            step.now(f"searching compile flags, {plural(judged, 'program')} tried")

        found, texts = best_flags(subject, passes, compiled, settings.demands, settings.virtual, jobs, watch)
    say(str(found))
    files = {text: f"kernels-{number}.ll" for number, text in enumerate(dict.fromkeys(texts.values()), start=1)}
    for text, name in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return FlagChoice(
        found.flags, found.spelled, found.speedup, found.tried, tuple((k, files[t]) for k, t in texts.items())
    )


def _compiler(given: GivenProgram, workload: Workload) -> Compiled | None:
    """Compiles the kernels of a recording under other flags; None where it is not clear which file a kernel is from."""
    paths = [path for path in given.paths if path.suffix in CUDA_SUFFIXES]
    of_unit: dict[str, int] = {}
    units = compile_program(paths, options=given.flags.options, cache=given.flags.use_cache).units
    recorded = {case.launch.kernel: case for case in reversed(workload.in_process) if isinstance(case, RecordedCase)}
    for kernel, case in recorded.items():
        text = canonical(case.capture.ir(case.recorded.module))
        fitting = [number for number, unit in enumerate(units) if canonical(unit.optimised) == text]
        if not fitting:
            return None
        of_unit[kernel] = fitting[0]

    def compiled(passes: PassOptions) -> Texts:
        options = replaced(given.flags.options, passes=passes)
        made = compile_program(paths, options=options, cache=given.flags.use_cache).units
        texts = {kernel: made[number].optimised for kernel, number in of_unit.items()}
        for kernel, number in of_unit.items():
            if kernel not in {each.name for each in made[number].module.kernels}:
                raise CompileError(f"there is no kernel {kernel} under {passes}", hint="report it with the program")
        return texts

    return compiled
