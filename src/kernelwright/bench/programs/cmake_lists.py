"""What a ``CMakeLists.txt`` says of a program, as far as it is needed to build it without CMake: which sources are linked, which folders
are searched, and which commands are run beside it, for device code that the program loads or compiles when it runs.

    add_executable(app app.cpp)                                              -> sources ("app.cpp",)
    include_directories(../Common)                                           -> folders ("../Common",)
    add_custom_command(OUTPUT k.fatbin COMMAND ${CMAKE_CUDA_COMPILER} -o k.fatbin -fatbin k.cu)
                                                                             -> commands (("nvcc", "-o", "k.fatbin", "-fatbin", "k.cu"),)

Conditions are not evaluated: what stands in any of their branches is taken. A variable that nothing sets is empty.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from kernelwright.cuda.clang import HEADERS
from kernelwright.cuda.host import LANGUAGES
from kernelwright.lazy_dataclasses import dataclass

NAME = "CMakeLists.txt"
_PROJECT = re.compile(r"^\s*project\s*\(", re.I | re.M)
_TARGET = re.compile(r"[\w.+-]+")
_COMMAND = re.compile(r"(\w+)\s*\(")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()"]+)|([()])')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_KEYWORDS = (
    "TARGET", "OUTPUT", "COMMAND", "DEPENDS", "COMMENT", "POST_BUILD", "PRE_BUILD", "PRE_LINK", "WORKING_DIRECTORY", "VERBATIM",
    "ARGS", "MAIN_DEPENDENCY", "BYPRODUCTS",
)  # fmt: skip
_COPIES = {"copy": "-rL", "copy_if_different": "-rL", "copy_directory": "-rLT"}


@dataclass(frozen=True)
class Lists:
    """Files and folders are relative to the program's folder, or absolute."""

    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()


def read_lists(at: Path, tools: Path) -> Lists:
    """The file in ``at``; nothing where there is none, or it has no program. ``tools``: a folder like a toolkit's."""
    variables = {
        "CMAKE_CURRENT_BINARY_DIR": ".", "CMAKE_CURRENT_SOURCE_DIR": ".", "CMAKE_SOURCE_DIR": ".", "CMAKE_BINARY_DIR": ".",
        "CMAKE_CUDA_COMPILER": "nvcc", "CUDAToolkit_INCLUDE_DIRS": str(HEADERS), "CUDA_INCLUDE_DIR": str(HEADERS),
        "CUDAToolkit_ROOT": str(tools), "CMAKE_COMMAND": "cmake",
    }  # fmt: skip
    sources: tuple[str, ...] = ()
    folders: list[str] = []
    commands: list[tuple[str, ...]] = []
    for name, words in _commands(_read(at)):
        given = [each for word in words for each in _expanded(word, variables).split(";") if each]
        if name == "set" and given:
            variables[given[0]] = ";".join(given[1:])
        elif name == "add_executable" and given and not sources:
            sources = tuple(word for word in given[1:] if Path(word).suffix in LANGUAGES and (at / word).is_file())
        elif name in ("include_directories", "target_include_directories"):
            folders += [word for word in given if (at / word).is_dir() and word != str(HEADERS)]
        elif name == "add_custom_command":
            commands += _custom(given)
    return Lists(sources, tuple(folders), tuple(commands)) if sources else Lists()


def executables(root: Path) -> list[tuple[str, Path]]:
    """Of a folder that CMake builds with folders below, of which some compile CUDA: the names of its executables, each with the file
    that names it. None where it is no such folder, and none of projects below that stand by themselves."""
    text = _read(root)
    if not _PROJECT.search(text) or "add_subdirectory" not in text:
        return []
    found: list[tuple[str, Path]] = []
    compiles_cuda = False
    for folder, below, files in os.walk(root):
        at = Path(folder)
        below[:] = sorted(name for name in below if not _PROJECT.search(_read(at / name)))
        compiles_cuda = compiles_cuda or any(name.endswith(".cu") for name in files)
        found += [
            (words[0], at / NAME)
            for command, words in _commands(_read(at))
            if command == "add_executable"
            and len(words) > 1
            and _TARGET.fullmatch(words[0])
            and "IMPORTED" not in words
        ]
    return found if compiles_cuda else []


def _read(folder: Path) -> str:
    try:
        return (folder / NAME).read_text(errors="replace")
    except OSError:
        return ""


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """Every command with its words, quotes and comments taken away."""
    text = re.sub(r"#[^\n]*", "", text)
    found = []
    at = 0
    while begun := _COMMAND.search(text, at):
        words: list[str] = []
        depth, at = 1, begun.end()
        while depth and (token := _TOKEN.search(text, at)):
            at = token.end()
            depth += {"(": 1, ")": -1}.get(token[3] or "", 0)
            if token[3] is None:
                words.append(token[1] if token[1] is not None else token[2])
        found.append((begun[1].lower(), words))
    return found


def _expanded(word: str, variables: dict[str, str]) -> str:
    for _ in range(8):
        if not _VARIABLE.search(word):
            break
        word = _VARIABLE.sub(lambda found: variables.get(found[1], ""), word)
    return word


def _custom(words: list[str]) -> list[tuple[str, ...]]:
    """The commands of an ``add_custom_command`` that make device code or copy files."""
    commands: list[list[str]] = []
    current: list[str] | None = None
    for word in words:
        if word in _KEYWORDS:
            current = [] if word == "COMMAND" else None
            if current is not None:
                commands.append(current)
        elif current is not None:
            current.append(word)
    found = []
    for command in commands:
        if command[:2] == ["cmake", "-E"] and len(command) > 4 and command[2] in _COPIES:
            found.append(("cp", _COPIES[command[2]], *command[3:]))
        elif command[:1] == ["nvcc"]:
            found.append(tuple(command))
    return found
