"""What a compile read, in a form that tells later whether it would read the same again.

    r 8f14e45f…           /home/me/app.cu        a file, with a hash of its content
    s c9f0f895…           /home/me/include       a folder, with the headers in it that bear the names of some that were read
    n extras.h                                   a name that a program asked for with __has_include
    t 474635-17…          /usr/…/libdevice.bc    a tool, which no header takes the place of

A hash of every file is not enough: a header that is new in a folder searched earlier takes the place of one that has not
changed. And a file that was changed while clang was reading must not be taken for what clang read.

This file is imported before anything else, and so imports nothing that takes time.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What clang takes from the environment.
ENVIRONMENT = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH",
)
_SEARCHED = ("CPATH", "CPLUS_INCLUDE_PATH")
_COARSE_CLOCK = 5  # CLOCK_REALTIME_COARSE of Linux, which Python has no name for
_TIMES = (b"__TIME__", b"__DATE__", b"__TIMESTAMP__")


def now_ns() -> int:
    """The time as the system stamps files with it: a file stamped earlier was not written after this call."""
    return time.clock_gettime_ns(_COARSE_CLOCK)


def environment() -> list[str]:
    """``NAME=value`` of every variable that may change what a compile reads."""
    return [f"{name}={os.environ.get(name, '')}" for name in ENVIRONMENT]


def working_folder() -> str:
    """The current folder; empty when it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


class Inputs:
    """The files that a compile read since ``since_ns``, the folders that it searched for them, and its tools."""

    def __init__(self, files: Iterable[str], folders: Iterable[str], since_ns: int, tools: Iterable[str] = ()) -> None:
        self.files = tuple(dict.fromkeys(files))
        self.folders = tuple(dict.fromkeys(folders))
        self.tools = tuple(dict.fromkeys(tools))
        self.since_ns = since_ns
        self._headers: list[list[str] | None] = []

    def __add__(self, other: Inputs) -> Inputs:
        return Inputs(
            (*self.files, *other.files),
            (*self.folders, *other.folders),
            min(self.since_ns, other.since_ns),
            (*self.tools, *other.tools),
        )

    def with_tool(self, path: str) -> Inputs:
        """These inputs and a tool, or an installed library that is no header."""
        more = Inputs(self.files, self.folders, self.since_ns, (*self.tools, path))
        more._headers = self._headers
        return more

    def record(self) -> list[str] | None:
        """One line per file, name asked for, folder and tool. None when no record can be trusted: a file has changed since,
        or tells the time of its own compile."""
        if not self._headers:
            self._headers.append(self._record_headers())
        lines = self._headers[0]
        states = [(_stamp(path), path) for path in self.tools]
        if lines is None or any(state is None or "\n" in path for state, path in states):
            return None
        return lines + [f"t {state} {path}" for state, path in states]

    def _record_headers(self) -> list[str] | None:
        lines: list[str] = []
        asked: list[str] = []
        for path in self.files:
            state, text = _state(path)
            if state is None or "\n" in path or not self._is_older(path):
                return None
            if any(word in text for word in _TIMES):
                return None
            asked += _asked_for(text)
            lines.append(f"r {state} {path}")
        if any("\n" in text for text in (*asked, *self.folders)):
            return None
        lines += [f"n {name}" for name in dict.fromkeys(asked)]
        return lines + [f"s {state} {folder}" for folder, state in _bearing([*self.files, *asked], self.folders)]

    def _is_older(self, path: str) -> bool:
        return _is_installed(path) or os.stat(path).st_ctime_ns < self.since_ns


def unchanged(record: Iterable[str]) -> bool:
    """Whether every file of a record still has its content, and nothing new would be found before it."""
    names: list[str] = []
    folders: dict[str, str] = {}
    for line in record:
        kind, _, rest = line.partition(" ")
        if kind == "n":
            names.append(rest)
        elif kind == "s":
            state, _, folder = rest.partition(" ")
            folders[folder] = state
        elif kind == "t":
            state, _, path = rest.partition(" ")
            if _stamp(path) != state:
                return False
        else:
            state, _, path = rest.partition(" ")
            if _state(path)[0] != state:
                return False
            names.append(path)
    return all(state == folders[folder] for folder, state in _bearing(names, folders))


def files_of(record: Iterable[str]) -> tuple[str, ...]:
    """The files of a record, in order."""
    return tuple(line.split(" ", 2)[2] for line in record if line.startswith("r "))


def folders_of(record: Iterable[str]) -> tuple[str, ...]:
    """The folders of a record, in order."""
    return tuple(line.split(" ", 2)[2] for line in record if line.startswith("s "))


def searched_folders(command: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    """The user's folders that clang's ``command`` searches for headers: its own flags', the environment's, and those of the
    files that include others."""
    found = []
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word in ("-I", "-isystem", "-iquote", "-idirafter"):
            found.append(following)
        elif word.startswith("-I"):
            found.append(word[2:])
        elif word == "-include":
            found.append("")
    for name in _SEARCHED:
        found += os.environ[name].split(":") if os.environ.get(name) else []
    found += [os.path.dirname(path) for path in files]
    here = working_folder()
    absolute = (os.path.join(here, folder) if folder else here for folder in found)
    return tuple(dict.fromkeys(folder for folder in absolute if not _is_installed(folder + "/")))


def _is_installed(path: str) -> bool:
    return path.startswith("/usr/") or "/site-packages/" in path


def _state(path: str) -> tuple[str | None, bytes]:
    """What must not have changed about a file that was read, its content, and the content itself; of an installed header
    size and times, and nothing. None for a file that is not there.

    A compile reads some 180 headers of the system and of wheels. Package managers change those, and their times; hashing
    all of them would be half the work here.
    """
    if _is_installed(path):
        return _stamp(path), b""
    try:
        with open(path, "rb") as f:
            text = f.read()
    except OSError:
        return None, b""
    from kernelwright.cache import content_key

    return content_key([text]), text


def _asked_for(text: bytes) -> list[str]:
    """The names that a program asks for with ``__has_include``."""
    if b"__has_include" not in text:
        return []
    import re

    found = re.findall(rb'__has_include(?:_next)?\s*\(\s*["<]([^">\n]+)[">]', text)
    return [name.decode("utf-8", "surrogateescape") for name in found]


def _stamp(path: str) -> str | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def _bearing(paths: Iterable[str], folders: Iterable[str]) -> list[tuple[str, str]]:
    """Every folder, with a hash of those names in it by which one of the paths may have been included: ``/a/sub/x.h`` as
    ``x.h``, ``sub/x.h``, …"""
    from kernelwright.cache import content_key

    listings = {folder: _listing(folder) for folder in folders}
    somewhere: set[str] = set().union(*listings.values())
    names: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        # gcc's C++ headers lie below lib/gcc/…/12/../../../../include, by which no program names them.
        parts = (os.path.normpath(path) if _is_installed(path) else path).split("/")
        for n, part in enumerate(parts):
            if part in somewhere:
                names.setdefault(part, []).append("/".join(parts[n:]))
    found = []
    for folder, here in listings.items():
        bearing = {name for first in here & names.keys() for name in names[first] if os.path.exists(f"{folder}/{name}")}
        found.append((folder, content_key(sorted(bearing))))
    return found


def _listing(folder: str) -> set[str]:
    try:
        return {*os.listdir(folder), ".."}
    except OSError:
        return {".."}


def check_name(path: str) -> None:
    """Raises ``Misuse`` for the name of a source that PTX could not repeat."""
    from kernelwright.errors import Misuse

    try:
        path.encode()
    except UnicodeEncodeError:
        raise Misuse(
            f"the name of {path!a} is not UTF-8, which PTX has to repeat", hint="rename it, or the folder it is in"
        ) from None
