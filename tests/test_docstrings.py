"""Every public function says what it does, and which of our errors it raises; pages of the API and of JSON are made of that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "kernelwright"
OURS = {"Misuse", "ToolError", "CompileError", "IRError", "DeviceError", "Refused", "ValueError"}
HELP = "cli/commands/"
"""There a ``command``'s docstring is what ``--help`` prints."""


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, bool]]:
    """Public ones with their names, and whether each stands in no class."""

    def inside(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, ast.FunctionDef, bool]]:
        for each in node.body:
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                yield from inside(each, f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and not is_overload(each):
                yield prefix + each.name, each, not prefix

    yield from inside(tree, "")


def is_overload(function: ast.FunctionDef) -> bool:
    return any("overload" in ast.dump(decorator) for decorator in function.decorator_list)


def raised(function: ast.FunctionDef) -> set[str]:
    """Those of our errors that it raises itself."""
    calls = (each.exc for each in ast.walk(function) if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)} & OURS


def test_functions_say_what_they_do_and_raise() -> None:
    silent, unsaid, seen = [], [], 0
    for path in SRC.rglob("*.py"):
        name = path.relative_to(SRC).as_posix()
        for title, function, is_alone in functions(ast.parse(path.read_text(encoding="utf-8"))):
            seen += 1
            text = ast.get_docstring(function) or ""
            if is_alone and not text:
                silent.append(f"{name}:{function.lineno} {title}")
            is_help = name.startswith(HELP) and title == "command"
            if raised(function) and not is_help and not any(word in text for word in ("aises", "refuse", "Error``")):
                unsaid.append(f"{name}:{function.lineno} {title}")
    assert seen > 3000 and not silent and not unsaid
