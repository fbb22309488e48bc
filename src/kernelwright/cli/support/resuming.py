"""What is said when a search is interrupted: how to go on with it; and what ``--resume`` does not take."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import Run

if TYPE_CHECKING:
    from click import Context, Parameter


@contextmanager
def saying_how_to_resume(run: Run[Any]) -> Iterator[None]:
    """Within, Ctrl-C and a signal are followed by the command that goes on with the run."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        print(f"kw: go on with: {run.resuming} {shlex.quote(str(run.folder))}", file=sys.stderr)
        raise


def spelled_flags(context: Context) -> dict[str, str]:
    """The flags that were on the command line, also those whose value is the default: by name, as they are spelled first."""
    return {
        str(each.name): each.opts[0]
        for each in context.command.params
        if each.param_type_name == "option" and _is_given(context, each)
    }


def refuse_settled(given: Mapping[str, str], kept: Collection[str], way: str) -> None:
    """Raises ``Misuse`` for the first flag ``given`` that a run settled when it began: one that is not in ``kept``.

    ``given``: as ``spelled_flags`` has them. ``way``: the command that goes on with the run.
    """
    if settled := [flag for flag in given if flag not in kept]:
        raise Misuse(f"{given[settled[0]]} was settled when the run began", hint=f"{way}, or start a new run")


def _is_given(context: Context, parameter: Parameter) -> bool:
    source = context.get_parameter_source(str(parameter.name))
    return source is not None and source.name == "COMMANDLINE"
