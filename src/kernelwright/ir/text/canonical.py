"""Text of LLVM-IR without what tells equal code apart: names of values, debug information, numbers of metadata nodes."""

from __future__ import annotations

import re

_ANY = re.compile(
    r"""(?P<drop>,[ ]![a-z.]*dbg[ ]!\d+ | [ ]![a-z.]*dbg[ ]!\d+(?=[ ]\{))   # debug locations
      | (?P<name>%(?:"[^"]*"|[\w.$-]+))
      | (?P<label>^(?:"[^"]*"|[\w.$-]+)(?=:))
      | (?P<node>!\d+)""",
    re.MULTILINE | re.VERBOSE,
)
_COMMENT = re.compile(r"\s*; preds = .*$", re.MULTILINE)


def canonical(text: str) -> str:
    """A module's text without names, debug information and metadata nodes: values and nodes are numbered as they come.

    before   ``%sum = fadd float %a, %b, !dbg !12``
    after    ``%0 = fadd float %1, %2``
    """
    numbers: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == "drop":
            return ""
        found = match[0] if kind != "label" else f"%{match[0]}"
        number = numbers.get(found)
        if number is None:
            number = numbers[found] = f"{'!' if kind == 'node' else '%'}{len(numbers)}"
        return number

    body = text[: _start_of_metadata(text)]
    return _ANY.sub(renamed, _COMMENT.sub("", body))


def _start_of_metadata(text: str) -> int:
    """Where the list of metadata nodes begins, which LLVM prints last."""
    found = re.search(r"^![\w.]+ = ", text, re.MULTILINE)
    return found.start() if found else len(text)
