"""Mangled names as a person writes them: ``_ZN3net4reduIfLi4EEEvPT_`` is the kernel ``net::redu<float, 4>``.

Only the name is read, not the parameters behind it (Itanium C++ ABI, section 5.1). Template arguments that are neither
plain types nor numbers are shown as ``…``.
"""

from __future__ import annotations

import re

BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short", "t": "unsigned short",
    "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "f": "float", "d": "double", "e": "long double", "w": "wchar_t", "n": "__int128", "o": "unsigned __int128",
}  # fmt: skip
_LENGTH = re.compile(r"L?(\d+)")
_LITERAL = re.compile(r"L([a-z])(n?\d+)E")


def readable(mangled: str) -> str:
    """The qualified name with its template arguments; ``mangled`` itself when it is no C++ name."""
    if not mangled.startswith("_Z"):
        return mangled
    try:
        return NameReader(mangled, 2).name()
    except (IndexError, ValueError, KeyError):
        return mangled


def base_name(mangled: str) -> str:
    """The name alone: ``redu`` of ``net::redu<float, 4>``."""
    return readable(mangled).split("<")[0].rsplit("::", 1)[-1]


def is_called(mangled: str, name: str) -> bool:
    """Whether a person may mean ``mangled`` by ``name``: the mangled name itself, or any tail of the readable one."""
    shown = readable(mangled)
    plain = shown.split("<")[0]
    return name in (mangled, shown, plain) or plain.endswith(f"::{name}") or shown.endswith(f"::{name}")


class NameReader:
    """Reads one mangled name from ``at`` on. Raises ``ValueError`` and ``IndexError`` for what it does not know."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def name(self) -> str:
        """The next name as C++ writes it, with namespaces and template arguments; ``at`` is behind it afterwards."""
        if self.text[self.at] != "N":
            found = self._part()
            return found + (self._arguments() if self._next("I") else "")
        self.at += 1
        while self.text[self.at] in "rVK":
            self.at += 1
        parts: list[str] = []
        while not self._next("E"):
            if self._next("I"):
                parts[-1] += self._arguments()
            elif self.text.startswith("St", self.at):
                self.at += 2
                parts.append("std")
            else:
                parts.append(self._part())
        return "::".join(parts)

    def _next(self, letter: str) -> bool:
        """Steps over a letter if it is the next one."""
        if self.text[self.at] != letter:
            return False
        self.at += 1
        return True

    def _part(self) -> str:
        found = _LENGTH.match(self.text, self.at)
        if found is None:
            raise ValueError(self.text)
        self.at = found.end() + int(found[1])
        part = self.text[found.end() : self.at]
        if len(part) < int(found[1]):
            raise ValueError(self.text)
        return "(anonymous namespace)" if part.startswith("_GLOBAL__N_") else part

    def _arguments(self) -> str:
        """``<...>`` behind its ``I``."""
        shown: list[str] = []
        while not self._next("E"):
            if self._next("J"):
                shown.append(self._arguments()[1:-1])
                continue
            shown.append(self._argument())
        return f"<{', '.join(shown)}>"

    def _argument(self) -> str:
        literal = _LITERAL.match(self.text, self.at)
        if literal:
            self.at = literal.end()
            value = literal[2].replace("n", "-")
            return {"b0": "false", "b1": "true"}.get(literal[1] + value, value)
        letter = self.text[self.at]
        if letter in "PRK":
            self.at += 1
            inner = self._argument()
            return f"const {inner}" if letter == "K" else inner + {"P": "*", "R": "&"}[letter]
        if letter in BUILTIN:
            self.at += 1
            return BUILTIN[letter]
        if letter.isdigit() or letter == "N":
            return self.name()
        raise ValueError(self.text)
