"""The table of commands."""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import Any, NoReturn

import click
import typer
from typer.core import TyperGroup

from kernelwright.cli.support.error_exit import guarded, tell

# Command -> module that defines it as `command` (or, with flags of its own, as what `command()` returns), and the line
# that `kw --help` prints. A module is imported when its command runs, so that `kw --help` stays quick.
COMMANDS: dict[str, tuple[str, str]] = {
    "compile": ("kernelwright.cli.commands.compile", "CUDA source to IR, PTX, cubin or an executable."),
    "passes": ("kernelwright.cli.commands.passes", "The optimisation pipeline, step by step, with examples."),
    "run": ("kernelwright.cli.commands.run", "Compile and run an unmodified CUDA program, with a GPU or without."),
    "check": ("kernelwright.cli.commands.check", "Find races, bad accesses and barriers, without a GPU."),
    "capture": ("kernelwright.cli.commands.capture", "Record every kernel launch of a program into one file."),
    "replay": ("kernelwright.cli.commands.replay", "Run a recording again and compare."),
    "profile": ("kernelwright.cli.commands.profile", "Where a program's kernels spend their time, line by line."),
    "evolve": ("kernelwright.cli.commands.evolve", "Search for a faster kernel, and say what each gain depends on."),
    "breed": ("kernelwright.cli.commands.breed", "Breed programs in the language of a grammar."),
    "explore": (
        "kernelwright.cli.commands.explore.command",
        "All implementations of a computation, and the best of them.",
    ),
    "space": ("kernelwright.cli.commands.space.command", "How large a space is, and what a run has explored of it."),
    "tune": ("kernelwright.cli.commands.tune.command", "The right version of a program for every input."),
    "runs": ("kernelwright.cli.commands.runs", "The runs of kw evolve, kw breed and kw explore there are."),
    "show": ("kernelwright.cli.commands.show", "What a run has found."),
    "farm": ("kernelwright.cli.commands.farm", "The compile farm: back ends, workers, what is kept."),
    "minimize": ("kernelwright.cli.commands.minimize", "A variant down to the edits that matter."),
    "explain": ("kernelwright.cli.commands.explain", "Why a variant is faster, edit by edit."),
    "prove": ("kernelwright.cli.commands.prove", "What a variant depends on: checks, evidence, label."),
    "export": ("kernelwright.cli.commands.variant.export", "A variant as a folder to take along."),
    "patch": (
        "kernelwright.cli.commands.variant.patch",
        "A variant as a patch of its CUDA source, as far as it can be said there.",
    ),
    "report": ("kernelwright.cli.commands.report", "A run as one self-contained page."),
    "suite": ("kernelwright.cli.commands.suite", "The CUDA programs that ship with the package."),
    "bench": ("kernelwright.cli.commands.bench", "Measure what the project promises."),
    "model": ("kernelwright.cli.commands.model.command", "Estimates held against times that a tuner measured."),
    "doctor": ("kernelwright.cli.commands.doctor", "What this machine has, what is missing, and how to fix it."),
}


class LazyGroup(TyperGroup):
    """A command group that knows names and one-line helps without importing the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, line = COMMANDS[cmd_name]
        # Only the command that runs is imported; a listing shows names and lines.
        if len(sys.argv) > 1 and sys.argv[1] == cmd_name:
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            app.command(name=cmd_name)(importlib.import_module(module).command)
            return typer.main.get_command(app)
        return click.Command(cmd_name, help=line, short_help=line)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=2)
            ctx.fail(f"there is no command {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=LazyGroup, add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)


def _print_version(asked: bool) -> None:
    if asked:
        from kernelwright import __version__

        print(f"kernelwright {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=False)
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Makes GPU kernels faster and says, with evidence, what each gain depends on."""


def run() -> NoReturn:
    """Runs the command that ``sys.argv`` names and exits the process."""
    guarded(_run)


def _run() -> object:
    try:
        return typer.main.get_command(app)(prog_name="kw", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2
    except click.UsageError as error:
        asked = f"{error.ctx.command_path} --help" if error.ctx else "kw --help"
        tell(f"{error.format_message()}\nnext: {asked}")
        return 2
    except click.ClickException as error:
        tell(error.format_message())
        return 2
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
