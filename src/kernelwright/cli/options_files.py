"""Files with flags in them, as build tools write them where a command line would be long.

kw compile @objects.rsp -o app         GNU's response files: words as a shell has them, quotes and backslashes included
kw compile -optf flags.txt main.cu     nvcc's ``--options-file``: the same, several with commas between
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from kernelwright.errors import Misuse

NAMED_BY = ("-optf", "--options-file")
DEEPEST = 10
"""Files that name files: a file that names itself has no end."""


def with_options_files(words: list[str], depth: int = 0) -> list[str]:
    """The words with those of the files in the place of their names; behind ``--`` all are names of sources. Raises ``Misuse`` for a file
    that cannot be read, or has no end."""
    found: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            return [*found, word, *left]
        if word.startswith("@") and len(word) > 1:
            found += _words_of(word[1:], depth)
        elif word.split("=", 1)[0] in NAMED_BY:
            for path in _named(word, left).split(","):
                found += _words_of(path, depth)
        else:
            found.append(word)
    return found


def _named(word: str, left: Iterator[str]) -> str:
    name, is_joined, path = word.partition("=")
    path = path if is_joined else next(left, "")
    if not path:
        raise Misuse(f"{name} needs a file", hint=f"{name} flags.txt")
    return path


def _words_of(path: str, depth: int) -> list[str]:
    if depth == DEEPEST:
        raise Misuse(f"the file of options {path} names itself", hint="take its name out of it")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            words = shlex.split(file.read())
    except OSError as error:
        raise Misuse(f"the file of options {path} cannot be read: {error.strerror}", hint="check the path") from None
    except ValueError as error:
        raise Misuse(
            f"the file of options {path} is none: {str(error).lower()}", hint="close its quotation marks"
        ) from None
    return with_options_files(words, depth + 1)
