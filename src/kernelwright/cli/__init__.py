"""The command, ``kernelwright`` or ``kw``."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the command. Exit codes: 0 done, 1 the answer is no, 2 misuse, 3 the tool or machine failed."""
    if len(sys.argv) > 2 and sys.argv[1] == "compile":
        # A compile that was done before is answered from its receipt, before anything heavy is imported.
        from kernelwright.cli.recall import recall

        if recall(sys.argv):
            return
        import gc

        from kernelwright.cuda import early

        # Nothing becomes garbage while modules load; looking for it takes 4 ms.
        gc.disable()
        early.start(sys.argv)
        from kernelwright.cli.compile import run_quickly

        run_quickly(sys.argv[2:])
    if len(sys.argv) > 2 and sys.argv[1] == "run":
        from kernelwright.cli.run import run_quickly as run_program_quickly

        run_program_quickly(sys.argv[2:])
    from kernelwright.cli.app import run

    run()
