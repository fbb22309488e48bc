"""The command, ``kernelwright`` or ``kw``."""

from __future__ import annotations

import os
import sys

from kernelwright.cli.support.streams import prepare, progress, say, take_loudness, take_over
from kernelwright.long_steps import announced, listen


def main() -> None:
    """Entry point of the command. Exit codes: 0 done, 1 the answer is no, 2 misuse, 3 the tool or machine failed."""
    prepare()
    # Without it the system's own tools are found, but do not find each other.
    os.environ.setdefault("PATH", os.defpath)
    try:
        _main(*_words())
    except KeyboardInterrupt:
        say("kw: interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        from kernelwright.cli.support.error_exit import give_up_output

        give_up_output()
        sys.exit(0)


def _words() -> tuple[bool, list[str]]:
    """Makes ``sys.argv`` what is to be done: without ``-q`` and ``-v``, with the flags of this folder's settings. Whether ``-v`` was given;
    those flags."""
    sys.argv[:], is_verbose = take_loudness(sys.argv)
    has_files = sys.argv[1:2] == ["compile"] and any(w[:1] == "@" or w[:5] in ("-optf", "--opt") for w in sys.argv)
    has_settings = os.path.exists("kernelwright.toml")
    if not has_files and not has_settings:
        return is_verbose, []
    from kernelwright.cli.options_files import with_options_files
    from kernelwright.cli.support.error_exit import leave_at_once, tell
    from kernelwright.cli.support.settings_file import with_settings
    from kernelwright.errors import KernelwrightError

    flags: list[str] = []
    try:
        if has_files:
            sys.argv[:] = with_options_files(sys.argv)
        if has_settings:
            sys.argv[:], flags = with_settings(sys.argv)
    except KernelwrightError as error:
        tell(str(error))
        leave_at_once(error.exit_code)
    return is_verbose, flags


def _main(is_verbose: bool, flags: list[str]) -> None:
    listen(progress)
    if is_verbose:
        _say_surroundings(flags)
    if len(sys.argv) > 2 and sys.argv[1] == "compile":
        # A compile that was done before is answered from its receipt, before anything heavy is imported.
        from kernelwright.cli.support.receipts import recall

        if recall(sys.argv):
            return
        import gc

        # Nothing becomes garbage while modules load; looking for it takes 4 ms.
        gc.disable()
        _take_shelter()
        from kernelwright.cuda import early_clang

        early_clang.start(sys.argv)
        from kernelwright.cli.commands.compile import run_quickly

        run_quickly(sys.argv[2:])
    if len(sys.argv) > 2 and sys.argv[1] == "run":
        with announced("loading"):
            from kernelwright.cli.commands.run import run_quickly as run_program_quickly

        run_program_quickly(sys.argv[2:])
    with announced("loading"):
        from kernelwright.cli.app import run

    run()


def _say_surroundings(flags: list[str]) -> None:
    """What ``-v`` tells: at the beginning what the command stands on, at the end how long it took."""
    import atexit
    import time

    from kernelwright import __version__
    from kernelwright.cache import cache_folder

    begin = time.monotonic()
    progress(
        f"Kernelwright {__version__} of {os.path.dirname(os.path.dirname(__file__))}, Python {sys.version.split()[0]}"
    )
    progress(f"what is kept between commands: {cache_folder()}")
    if flags:
        progress(f"kernelwright.toml: {' '.join(flags)}")
    owner = os.getpid()
    atexit.register(lambda: progress(f"{time.monotonic() - begin:.2f} s") if os.getpid() == owner else None)


def _take_shelter() -> None:
    """Goes on in a copy of this process, so that a process is left to say why LLVM ended it."""
    from kernelwright.passes import command_fork

    ended = command_fork.take()
    if ended is None:
        take_over()
        return
    from kernelwright.cli.support.error_exit import leave_at_once, tell

    if isinstance(ended, int):
        leave_at_once(ended)
    tell(str(ended))
    leave_at_once(ended.exit_code)
