"""The types of a kernel's parameters as its source has them: ``const float*``, ``int``. IR has lost what a pointer points to.

Of a C++ kernel they stand in its mangled name (Itanium C++ ABI, section 5.1.5), of an ``extern "C"`` one in its source. What cannot
be read for certain is an empty text, which stands for any type.
"""

from __future__ import annotations

import re

from kernelwright.cuda.names import BUILTIN, NameReader

_NAMED = re.compile(r"S([0-9A-Z]*)_")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPELLED = {
    "unsigned": "unsigned int", "signed int": "int", "signed": "int", "signed short": "short", "signed long": "long",
    "long int": "long", "short int": "short", "size_t": "unsigned long", "int8_t": "signed char", "uint8_t": "unsigned char",
    "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
    "uint64_t": "unsigned long",
}  # fmt: skip
_KNOWN = frozenset(BUILTIN.values())


def parameter_types(kernel: str, count: int, source: str = "") -> tuple[str, ...]:
    """One for each of the ``count`` parameters. ``kernel``: as the linker sees it; ``source``: the text of its file."""
    found = _of_mangled(kernel) if kernel.startswith("_Z") else _of_source(kernel, source)
    return found if len(found) == count else ("",) * count


def _of_mangled(kernel: str) -> tuple[str, ...]:
    try:
        return tuple(_Parameters(kernel).read())
    except (IndexError, ValueError, KeyError):
        return ()


class _Parameters(NameReader):
    """Reads what stands behind the name. Raises ``ValueError`` and ``IndexError`` for what it does not know: templates whose
    arguments are no plain types, among them."""

    def __init__(self, mangled: str) -> None:
        super().__init__(mangled, 2)
        self._seen: list[str] = []

    def read(self) -> list[str]:
        name = self.name()
        plain, _, rest = name.partition("<")
        arguments = [each.strip() for each in rest[:-1].split(",")] if rest else []
        if any(each not in _KNOWN and not re.fullmatch(r"-?\d+|true|false", each) for each in arguments):
            raise ValueError(name)
        # Scopes are what later letters may refer to; so is a template's own name.
        scopes = plain.split("::")
        self._seen = [""] * (len(scopes) - 1 + bool(arguments))
        self._arguments_given = arguments
        if arguments:
            self._type()  # what it returns
        found = []
        while self.at < len(self.text) and self.text[self.at] != ".":
            found.append(self._type())
        return [] if found == ["void"] else found

    def _type(self) -> str:
        letter = self.text[self.at]
        if letter in "PRVr":
            self.at += 1
            inner = self._type()
            return self._kept(f"{inner}*" if letter == "P" and inner else "" if letter == "R" else inner)
        if letter == "K":
            self.at += 1
            inner = self._type()
            return self._kept(f"const {inner}" if inner else "")
        if letter in BUILTIN:
            self.at += 1
            return BUILTIN[letter]
        if letter == "S":
            named = _NAMED.match(self.text, self.at)
            if named is None:
                raise ValueError(self.text)
            self.at = named.end()
            return self._seen[0 if not named[1] else int(named[1], 36) + 1]
        if letter == "T":
            named = re.compile(r"T(\d*)_").match(self.text, self.at)
            if named is None:
                raise ValueError(self.text)
            self.at = named.end()
            return self._kept(self._arguments_given[0 if not named[1] else int(named[1]) + 1])
        if letter.isdigit():
            self._part()
            return self._kept("")
        raise ValueError(self.text)

    def _kept(self, found: str) -> str:
        self._seen.append(found)
        return found


def _of_source(kernel: str, source: str) -> tuple[str, ...]:
    """Of the one definition of that name in the text."""
    text = _COMMENT.sub(" ", source)
    found = re.findall(rf"\b{re.escape(kernel)}\s*\(([^()]*)\)\s*\{{", text)
    if len(found) != 1 or not found[0].strip() or found[0].strip() == "void":
        return ()
    return tuple(_spelled(each) for each in found[0].split(","))


def _spelled(declared: str) -> str:
    """``const float *__restrict__ a`` as ``const float*``; empty for what is no plain type or a pointer to one."""
    words = re.sub(
        r"\b(__restrict__|__restrict|restrict|volatile|__const)\b|\[\d*\]", " ", declared.replace("*", " * ")
    )
    parts = words.split()
    if len(parts) < 2 or not parts[-1].isidentifier():
        return ""
    stars = parts.count("*")
    base = [part for part in parts[:-1] if part not in ("*", "const")]
    name = _SPELLED.get(" ".join(base), " ".join(base))
    if name not in _KNOWN or "[" in declared:
        return ""
    constant = "const " if stars and "const" in parts[: parts.index("*")] else ""
    return f"{constant}{name}{'*' * stars}"
