"""A head start for clang: it runs while our own modules and LLVM load, which takes as long as the front end does.

``kw compile app.cu ...`` asks here first. If a compile with the same flags was done before, its clang command is known
as a recipe; clang starts at once on the new source, and the front end adopts the process when it comes to the same
command by itself. When it comes to another one, the process is stopped and its output thrown away: a recipe decides
when clang runs, never what runs.

This file is imported before anything else, and so imports nothing that takes time.
"""

from __future__ import annotations

import atexit
import os
import sys

# As in `cli/support/streams.py`: `signal` itself takes a millisecond.
from _signal import (  # type: ignore[import-not-found]
    SIG_BLOCK,
    SIG_SETMASK,
    SIGHUP,
    SIGINT,
    SIGKILL,
    SIGTERM,
    pthread_sigmask,
)

from kernelwright.cuda.inputs import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE, OUTPUT, LISTED = "{source}", "{output}", "{listed}"
"""Stand in a recipe for what differs from compile to compile: the source, the IR, the list of files read."""


class Started:
    """A clang that is under way, with its scratch folder."""

    def __init__(self, template: list[str], source: str) -> None:
        self.template = template
        self.source = source
        self.since_ns = now_ns()
        self.process = 0
        # An interrupt between making something and the note of it would leave it behind.
        before = pthread_sigmask(SIG_BLOCK, _INTERRUPTS)
        self.folder = _scratch()
        # In memory: on a full disk the message that it is full would be lost.
        self._said = os.memfd_create("said")
        try:
            try:
                self._spawn(before)
            finally:
                pthread_sigmask(SIG_SETMASK, before)
        except BaseException:
            self.stop()
            self.remove()
            raise

    def _spawn(self, mask: set[int]) -> None:
        command = fill(self.template, self.source, self.folder)
        # What clang leaves behind when it crashes goes with the folder.
        environment = {**os.environ, "TMPDIR": self.folder}
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, self._said, 2),
        ]
        self.process = os.posix_spawn(command[0], command, environment, file_actions=actions, setsigmask=mask)

    def wait(self) -> tuple[bool, str]:
        """Whether it failed, and what it said on stderr."""
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        with open(self._said, "rb", closefd=False) as f:
            f.seek(0)
            return status != 0, f.read().decode("utf-8", "replace")

    def stop(self) -> None:
        """Ends it, if it has not ended."""
        if self.process:
            os.kill(self.process, SIGKILL)
            os.waitpid(self.process, 0)
            self.process = 0

    def remove(self) -> None:
        """Removes the scratch folder and all that clang left there; nothing interrupts this half-way."""
        before = pthread_sigmask(SIG_BLOCK, _INTERRUPTS)
        try:
            os.close(self._said)
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))
            os.rmdir(self.folder)
        except OSError:
            import shutil

            shutil.rmtree(self.folder, ignore_errors=True)
        finally:
            pthread_sigmask(SIG_SETMASK, before)


_started: Started | None = None
_INTERRUPTS = (SIGINT, SIGTERM, SIGHUP)


def since_ns() -> int:
    """When clang began to read the source, if it has a head start; else the time now. In ``inputs.now_ns``'s clock."""
    return _started.since_ns if _started else now_ns()


def fill(template: Sequence[str], source: str, folder: str) -> list[str]:
    """The command of a recipe for one source."""
    values = {
        SOURCE: as_argument(source),
        OUTPUT: os.path.join(folder, "device.ll"),
        LISTED: os.path.join(folder, "device.d"),
    }
    return [values.get(word, word) for word in template]


def as_argument(path: str) -> str:
    """``path`` as clang takes it for a file, also where it begins like a flag or like a list of flags."""
    return f"./{path}" if path.startswith(("-", "@")) else path


def start(argv: Sequence[str]) -> None:
    """Starts clang for the command line ``argv``, if it names one CUDA file and its flags are known."""
    global _started
    from kernelwright.cache import read_entry

    sources = [a for a in argv if a.endswith(".cu") and not a.startswith("-")]
    if len(sources) != 1 or not os.path.isfile(sources[0]):
        return
    recipe = read_entry("recipe", _key(argv, sources[0]))
    if recipe is None:
        return
    template = recipe.decode("utf-8", "surrogateescape").split("\0")
    try:
        _started = Started(template, sources[0])
    except OSError:
        return  # the front end meets the same trouble and says what it is
    atexit.register(abandon)


def adopt(template: Sequence[str], source: str) -> Started | None:
    """The clang that was started for this very command, or None. One that was started for another is stopped."""
    global _started
    found, _started = _started, None
    if found is None:
        return None
    if found.template == list(template) and found.source == source:
        return found
    found.stop()
    found.remove()
    return None


def abandon() -> None:
    """Stops a clang that was not adopted."""
    adopt((), "")


def leave_recipe(argv: Sequence[str], source: str, template: Sequence[str]) -> None:
    """Keeps the clang command that ``argv`` came to, for the next source with the same flags."""
    from kernelwright.cache import Cache

    if not any("\0" in word for word in template):
        Cache().put("recipe", _key(argv, source), "\0".join(template).encode("utf-8", "surrogateescape"))


def _key(argv: Sequence[str], source: str) -> str:
    """The flags, without the source and what follows ``-o``; and the installation they were read by."""
    from kernelwright.cache import content_key

    flags = [word for n, word in enumerate(argv) if n and word != source and argv[n - 1] != "-o"]
    return content_key([*flags, "", sys.version, os.environ.get("PATH", ""), *sys.path, os.path.dirname(__file__)])


def _scratch() -> str:
    name = f"kernelwright-{os.getpid()}-{os.urandom(4).hex()}"
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", name)
    try:
        os.mkdir(folder, 0o700)
    except OSError:
        import tempfile  # knows where else to look

        folder = os.path.join(tempfile.gettempdir(), name)
        os.mkdir(folder, 0o700)
    return os.path.abspath(folder)
