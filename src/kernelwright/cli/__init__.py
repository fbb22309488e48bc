"""The command, ``kernelwright`` or ``kw``."""

from __future__ import annotations

import os
import sys

from kernelwright.cli.support.streams import prepare, say, take_over


def main() -> None:
    """Entry point of the command. Exit codes: 0 done, 1 the answer is no, 2 misuse, 3 the tool or machine failed."""
    prepare()
    # Without it the system's own tools are found, but do not find each other.
    os.environ.setdefault("PATH", os.defpath)
    try:
        _main()
    except KeyboardInterrupt:
        say("kw: interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        from kernelwright.cli.support.error_exit import give_up_output

        give_up_output()
        sys.exit(0)


def _main() -> None:
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
        from kernelwright.cli.commands.run import run_quickly as run_program_quickly

        run_program_quickly(sys.argv[2:])
    from kernelwright.cli.app import run

    run()


def _take_shelter() -> None:
    """Goes on in a copy of this process, so that somebody is left to say why LLVM ended it."""
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
