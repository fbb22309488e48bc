"""What ``--with`` names, and what is printed of the versions that ran."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernelwright.device.versions.table import version_lines

if TYPE_CHECKING:
    from kernelwright.device.settings import Settings
    from kernelwright.kernel_version import Version
    from kernelwright.stories.winners import Winners

FLAGS = ":flags"
"""How versions end that are kernels as they are, compiled with other flags."""
NONE = "none"
"""In place of a run: without the winners that the program itself carries, too."""


def given_versions(texts: Sequence[str]) -> list[Version]:
    """What ``--with`` names; says which variants they are, and which is tried first. Raises ``Misuse``, ``ToolError``."""
    if not texts:
        return []  # without the search, the prover and the report, which most commands begin sooner without
    return given_winners(texts).versions


def given_winners(texts: Sequence[str], *, ordered: bool = True) -> Winners:
    """As ``given_versions``, with what else is known of them. ``ordered``: whether it is said which is tried first.
    Raises ``Misuse``, ``ToolError``."""
    from kernelwright.errors import Misuse
    from kernelwright.stories.winners import winners

    names = [name for text in texts for name in text.split(",")]
    if NONE in names and len(names) > 1:
        raise Misuse(f"--with {NONE} goes with no other", hint="--with RUN, or --with RUN:VARIANT")
    if not all(names):
        raise Misuse("--with names no run", hint="--with RUN, or --with RUN:VARIANT; kw runs lists the runs there are")
    found = winners(names, ordered=ordered)
    for sentence in (*found.said, *found.warned):
        print(f"kw: {sentence}", file=sys.stderr)
    return found


def print_valid_for(versions: Sequence[Version]) -> None:
    """For which launches each is, on standard error."""
    from kernelwright.cuda.names import readable
    from kernelwright.stories.candidate_words import sentence

    for number, version in enumerate(versions):
        if version.name.endswith(FLAGS):
            continue
        later = ", then ".join(each.name for each in versions[number + 1 :] if each.kernel == version.kernel)
        said = sentence(version.name, version.label, {readable(version.kernel): version.words}, later)
        print(f"kw: {said}", file=sys.stderr)


def print_versions(rows: Sequence[dict[str, Any]], settings: Settings) -> None:
    """The table, on standard error: standard output is the program's."""
    for line in version_lines(rows, settings):
        print(f"kw: {line}", file=sys.stderr)
