"""The table of commands."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from contextlib import nullcontext
from typing import Any, NoReturn

import click
import typer
from typer.core import TyperGroup

from kernelwright.cli.support.error_exit import guarded, tell
from kernelwright.cli.support.plain_flags import MEANT as MEANT_FLAGS
from kernelwright.long_steps import announced

MAKE, SEARCH, USE, LOOK = "Compile, run, look at", "Make it faster", "What a run found", "This machine and this tool"

# Command -> module that defines it as `command` (or, with flags of its own, as what `command()` returns), the group and the line
# that `kw --help` prints. A module is imported when its command runs, so that `kw --help` stays quick.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "compile": ("compile", MAKE, "CUDA source to IR, PTX, cubin or an executable."),
    "run": ("run", MAKE, "Compile and run an unmodified CUDA program, with a GPU or without."),
    "profile": ("profile", MAKE, "Where a program's kernels spend their time, line by line."),
    "check": ("check", MAKE, "Find races, bad accesses and barriers, without a GPU."),
    "capture": ("capture", MAKE, "Record every kernel launch of a program into one file."),
    "replay": ("replay", MAKE, "Run a recording again and compare."),
    "evolve": ("evolve", SEARCH, "Search for a faster kernel, and say what each gain depends on."),
    "tune": ("tune.command", SEARCH, "The right version of a program for every input."),
    "explore": ("explore.command", SEARCH, "All implementations of a computation, and the best of them."),
    "breed": ("breed", SEARCH, "Breed programs in the language of a grammar."),
    "runs": ("runs", USE, "The runs of kw evolve, kw breed, kw explore and kw tune there are."),
    "show": ("show", USE, "What a run has found."),
    "compare": ("variant.compare", USE, "Two runs, or two variants, side by side."),
    "report": ("report", USE, "A run as one self-contained page."),
    "explain": ("explain", USE, "Why a variant is faster, edit by edit."),
    "prove": ("prove", USE, "What a variant depends on: checks, evidence, label."),
    "minimize": ("minimize", USE, "A variant down to the edits that matter."),
    "patch": ("variant.patch", USE, "A variant as a patch of its CUDA source, as far as it can be said there."),
    "export": ("variant.export", USE, "A variant as a folder to take along."),
    "init": ("settings.init", LOOK, "Write a commented kernelwright.toml: flags for the commands of a folder."),
    "toolkit": (
        "settings.toolkit",
        LOOK,
        "A folder that looks like an installed CUDA toolkit, for builds that look for one.",
    ),
    "doctor": ("doctor", LOOK, "What this machine has, what is missing, and how to fix it."),
    "cache": ("cache", LOOK, "What is kept on disk between commands, and how to be rid of it."),
    "suite": ("suite", LOOK, "The CUDA programs that ship with the package."),
    "passes": ("passes", LOOK, "The optimisation pipeline, step by step, with examples."),
    "space": ("space.command", LOOK, "How large a space is, and what a run has explored of it."),
    "model": ("model.command", LOOK, "Estimates held against times that a tuner measured."),
    "farm": ("farm", LOOK, "The compile farm: back ends, workers, what is kept."),
    "bench": ("bench", LOOK, "Measure what the project promises."),
}


# What people call a command elsewhere.
MEANT: dict[str, str] = {
    **dict.fromkeys(("optimize", "optimise", "search", "improve", "speedup"), "evolve"),
    **dict.fromkeys(("build", "nvcc"), "compile"),
    **dict.fromkeys(("list", "ls"), "runs"),
    **dict.fromkeys(("sanitize", "memcheck", "racecheck", "verify"), "check"),
    **dict.fromkeys(("ncu", "nsys", "time"), "profile"),
    **dict.fromkeys(("record",), "capture"),
    **dict.fromkeys(("diff",), "compare"),
}

SAY_THEMSELVES = frozenset(
    {
        "compile",
        "run",
        "profile",
        "check",
        "capture",
        "replay",
        "evolve",
        "tune",
        "explore",
        "breed",
        "space",
        "model",
        "bench",
    }
)
"""Commands that say how far they are, or run a program that speaks for itself."""


class _Interrupted(BaseException):
    """Ctrl-C, by a name that typer does not know: of ``KeyboardInterrupt`` it makes an exit without a word."""


class LazyGroup(TyperGroup):
    """A command group that knows names and one-line helps without importing the commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; Ctrl-C leaves as ``_Interrupted``, which typer does not catch."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _Interrupted from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands in the order of the table ``COMMANDS``."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The imported command where it is the one to be run or completed, else one with name and help only; None: there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, group, line = COMMANDS[cmd_name]
        # Only the command that runs is imported; a listing shows names and lines.
        if cmd_name in (sys.argv[1:2] or _completed_words()[1:2]):
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            with announced("loading"):
                app.command(name=cmd_name)(importlib.import_module(f"kernelwright.cli.commands.{module}").command)
            return typer.main.get_command(app)
        listed = click.Command(cmd_name, help=line, short_help=line)
        listed.rich_help_panel = group  # type: ignore[attr-defined]
        return listed

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does it; for an unknown name it ends with a usage error that suggests similar ones."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = [MEANT[name]] if name in MEANT else difflib.get_close_matches(name, COMMANDS, n=2)
            ctx.fail(f"there is no command {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        return super().resolve_command(ctx, args)


def _completed_words() -> list[str]:
    """The command line that a shell wants to complete, as typer's scripts hand it over; none when that is not asked."""
    return (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()


app = typer.Typer(
    cls=LazyGroup,
    add_completion=True,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Results and errors only, no progress; with any command."),
    verbose: bool = typer.Option(
        False, "-v", "--verbose", help="Also versions, folders, settings and the time taken; with any command."
    ),
) -> None:
    """Makes GPU kernels faster and says, with evidence, what each gain depends on."""


def run() -> NoReturn:
    """Runs the command that ``sys.argv`` names and exits the process."""
    guarded(_run)


def _run() -> object:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    is_announced = name in COMMANDS and name not in SAY_THEMSELVES
    try:
        with announced(name) if is_announced else nullcontext():
            return typer.main.get_command(app)(prog_name="kw", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2
    except click.UsageError as error:
        asked = f"{error.ctx.command_path} --help" if error.ctx else "kw --help"
        tell(f"{_negative_number(error) or _meant_flag(error) or error.format_message()}\nnext: {asked}")
        return 2
    except click.ClickException as error:
        tell(error.format_message())
        return 2
    except (_Interrupted, click.exceptions.Abort):
        raise KeyboardInterrupt from None


def _meant_flag(error: click.UsageError) -> str | None:
    """What is to be said of ``kw evolve --candidates 5``."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    meant = MEANT_FLAGS.get(error.option_name)
    known = [spelling for each in error.ctx.command.params for spelling in each.opts]
    return f"there is no flag {error.option_name}; did you mean {meant}?" if meant in known else None


def _negative_number(error: click.UsageError) -> str | None:
    """What is to be said of ``kw space size axpy -5``: an option that is a number was meant as a size or a count."""
    given = next((word for word in sys.argv[1:] if word[:1] == "-" and word[1:2].isdigit()), None)
    if given is None or not isinstance(error, click.NoSuchOption):
        return None
    return f"{given} is a negative number: sizes and counts are numbers from 1 up"
