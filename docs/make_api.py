"""Writes docs/api.md from the docstrings of what kernelwright exports: ``make api``. tests/test_api_page.py compares the two."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import kernelwright

PAGE = Path(__file__).with_name("api.md")

GROUPS: dict[str, tuple[str, ...]] = {
    "Compile": ("compile", "load", "Program", "Kernel"),
    "Run and check": ("Device", "checked", "CheckFailed"),
    "Search": ("evolve", "breed", "explore", "expert", "Run"),
    "Say what is searched": ("workload", "Problem", "computation", "Computation", "from_kernel_tuner"),
    "Use winners": ("winners", "versions"),
    "Errors": ("KernelwrightError", "CompileError", "Misuse", "ToolError", "IRError"),
}
HEAD = """# Python, name by name

What `import kernelwright as kw` exports, with its docstrings, by `make api`; [README](../README.md) has the first lines to write,
the pages on each command the rest. Everything is loaded on first use.
"""


def page() -> str:
    """The whole page. Raises ``KeyError`` for a public name without a group, and for one that is gone."""
    named = {name for names in GROUPS.values() for name in names}
    if named != set(kernelwright.__all__) - {"__version__"}:
        raise KeyError(f"names without a group, or gone: {named ^ (set(kernelwright.__all__) - {'__version__'})}")
    parts = [HEAD]
    for group, names in GROUPS.items():
        parts.append(f"## {group}\n")
        for name in names:
            parts += _entry(name, getattr(kernelwright, name))
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str, found: Any) -> list[str]:
    parts = [f"### `kw.{name}`\n"]
    if inspect.isclass(found):
        if "__init__" in vars(found) and not issubclass(found, BaseException):
            parts.append(_signature(name, found))
        parts.append(_text(found))
        for member, value in _members(found):
            doc = inspect.getdoc(value)
            first = re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(doc.split()))[0] if doc else ""
            shown = f"{member}{_given(value)}" if callable(value) else member
            parts.append(f"- `{shown}`: {_code(first)}")
        parts.append("")
    elif callable(found) and inspect.isfunction(found):
        parts += [_signature(name, found), _text(found)]
    else:
        parts.append(_text(found))
    return parts


def _members(found: type) -> list[tuple[str, Any]]:
    """Public methods and properties with a docstring, inherited ones of our own classes included, in the order of their names."""
    members = {}
    for cls in reversed(found.__mro__):
        if cls.__module__.startswith("kernelwright"):
            members.update({name: value for name, value in vars(cls).items() if not name.startswith("_")})
    unwrapped = {name: getattr(value, "__func__", value) for name, value in members.items()}
    return sorted((name, value) for name, value in unwrapped.items() if _is_documented(value))


def _is_documented(value: Any) -> bool:
    is_member = callable(value) or isinstance(value, property) or type(value).__name__ == "cached_property"
    return is_member and not inspect.isclass(value) and bool(inspect.getdoc(value))


def _signature(name: str, found: Any) -> str:
    return f"    kw.{name}{_given(found)}\n"


def _given(found: Any) -> str:
    getattr(found, "__dataclass_fields__", None)  # whose methods may not be written yet (lazy_dataclasses.py)
    given = inspect.signature(found)
    plain = [
        p.replace(annotation=p.empty, default=_default(p.default))
        for p in given.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return str(given.replace(parameters=plain, return_annotation=given.empty))


class _Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> Any:
    """A default as it can be read: functions and objects have no text that stays the same."""
    if value is inspect.Parameter.empty or isinstance(value, str | int | float | bool | tuple | type(None)):
        return value
    return _Shown("...")


def _text(found: Any) -> str:
    doc = inspect.getdoc(found) or ""
    return _code(doc) + "\n"


def _code(text: str) -> str:
    """reStructuredText's ``code`` as Markdown's."""
    return text.replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE, file=sys.stderr)
