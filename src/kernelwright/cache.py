"""One content-addressed cache on disk, shared by every process of a user.

An entry is named by a hash of what it was made *from* and carries a hash of what it *is*: a torn, truncated or
edited entry is noticed when it is read, dropped, and made again. Writers put a complete temporary file in place by
rename, so two processes that make the same entry at once disturb neither each other nor a reader.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

# hashlib would load OpenSSL for other hashes; this is where it takes blake2b from. A cached compile is counted in
# milliseconds, so this file imports nothing it does not need at once.
from _blake2 import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAGIC = b"kwcache1"
DIGEST_BYTES = 16
DEFAULT_LIMIT_BYTES = 2 << 30
KINDS: dict[str, str] = {
    "bench": "what a benchmark measured before it was interrupted",
    "clang": "what a clang says of itself",
    "cubin": "machine code of kernels",
    "cudart": "our runtime as a shared library",
    "exe": "executables of programs that were run",
    "fitness": "what bred programs are worth",
    "formula": "bred formulas, simplified",
    "frontend": "which headers a source reads",
    "header": "precompiled CUDA headers",
    "ir": "kernels as LLVM-IR",
    "libdevice": "the parts of libdevice that kernels use",
    "model": "the timing model's inner loops",
    "nvrtc": "sources that programs had compiled while they ran",
    "output": "files that compiles wrote",
    "ptx": "kernels as PTX",
    "receipt": "command lines of compiles, with what they came to",
    "recipe": "command lines of clang's own passes",
    "runtime": "our runtime as an object",
    "runtime-managed": "the same, the part for managed variables",
    "simt": "the virtual GPU's runtime",
    "solved": "what the solver answered",
    "space": "the engine of spaces of implementations",
    "workload": "sources of workloads that were given as a text",
}
"""The folders of the cache, and what is in them. Whatever else lies beside them belongs to others and is left alone: who sets
``KERNELWRIGHT_CACHE`` may have named a folder that holds more."""


def cache_folder() -> Path:
    """``$KERNELWRIGHT_CACHE``, else ``$XDG_CACHE_HOME/kernelwright``, else ``~/.cache/kernelwright``."""
    from pathlib import Path

    return Path(_folder())


def _folder() -> str:
    own = os.environ.get("KERNELWRIGHT_CACHE")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "kernelwright")


def content_key(parts: Iterable[str | bytes]) -> str:
    """A hash of the parts that also fixes where one ends and the next begins: 40 hexadecimal digits."""
    h = blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


_RESULTS_COME_FROM = (
    "", "cli", "cli/commands", "cli/commands/explore", "cli/commands/model", "cli/commands/settings",
    "cli/commands/space", "cli/commands/tune", "cli/commands/variant", "cli/support",
    "codegen", "codegen/cost", "codegen/inline_asm", "codegen/machine",
    "codegen/simt", "codegen/simt/analyses", "codegen/simt/emission", "codegen/simt/emission/accesses", "codegen/simt/program",
    "codegen/simt/launching",
    "cuda", "cuda/include", "cuda/objects", "cuda/runtime", "cuda/runtime/driver", "cuda/runtime/libraries",
    "cuda/runtime/libraries/blas", "cuda/runtime/libraries/fft", "cuda/runtime/libraries/nccl",
    "cuda/runtime/libraries/solver", "cuda/runtime/libraries/sparse", "cuda/wire",
    "ir", "ir/text", "passes",
)  # fmt: skip
"""Our folders whose files decide what a compile gives. Headers further down are noted with the compiles that read them."""
_TOOLS = ("ziglang/zig", "llvmlite/binding/libllvmlite.so")
_installation = ""


def installation() -> str:
    """Changes when our package, Python, clang or LLVM does, so that a cache never outlives the code that filled it."""
    global _installation
    if _installation:
        return _installation
    stamps = [sys.version.split()[0]]
    package = os.path.dirname(os.path.abspath(__file__))
    for room in _RESULTS_COME_FROM:
        count = size = latest = 0
        with os.scandir(os.path.join(package, room)) as entries:
            for entry in entries:
                if entry.is_file():
                    status = entry.stat()
                    count, size = count + 1, size + status.st_size
                    latest = max(latest, status.st_mtime_ns)
        stamps.append(f"{count}-{size}-{latest}")
    for path in sys.path:
        for tool in _TOOLS:
            try:
                status = os.stat(os.path.join(path, tool))
            except OSError:
                continue
            stamps.append(f"{status.st_size}-{status.st_mtime_ns}")
    _installation = " ".join(stamps)
    return _installation


def file_digest(path: str) -> str | None:
    """Hash of a file's content, None when it cannot be read."""
    try:
        with open(path, "rb") as f:
            return blake2b(f.read(), digest_size=DIGEST_BYTES).hexdigest()
    except OSError:
        return None


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is something that is written to, not replaced: a device, a pipe, a socket."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_atomically(path: str | os.PathLike[str], data: bytes, *, executable: bool = False) -> None:
    """Writes ``path`` whole or not at all. Raises ``OSError`` and leaves nothing behind when it cannot.

    The file gets the permissions any program would give it; ``executable``: also to be run, from the moment it is there. A link
    stays, what it names is written; a device or a pipe takes the bytes as they come.
    """
    if is_special(path):
        with open(path, "wb") as f:
            f.write(data)
        return
    if os.path.islink(path):
        path = os.path.realpath(path)
    folder, name = os.path.split(os.fspath(path))
    temporary = os.path.join(folder, f".{name[:40]}.{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        with open(temporary, "xb") as f:
            f.write(data)
            if executable:
                os.fchmod(f.fileno(), os.fstat(f.fileno()).st_mode | 0o111)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def _entry_path(folder: str, kind: str, key: str) -> str:
    return os.path.join(folder, kind, key[:2], key[2:])


def read_entry(kind: str, key: str, folder: str | None = None) -> bytes | None:
    """An entry's payload; None when there is none or it is damaged. A damaged entry is removed."""
    path = _entry_path(folder or _folder(), kind, key)
    try:
        with open(path, "rb") as f:
            raw = f.read()
    except OSError:
        return None
    head = len(MAGIC) + DIGEST_BYTES
    payload = raw[head:]
    if raw[:head] == MAGIC + blake2b(payload, digest_size=DIGEST_BYTES).digest():
        return payload
    try:
        os.unlink(path)
    except OSError:
        pass
    return None


class Cache:
    """``get`` and ``put`` bytes by key, in kinds (``ir``, ``ptx``, ...).

    A cache that cannot be used is a slow one, never an error: on a read-only or full disk ``put`` does nothing and ``get``
    finds nothing.
    """

    def __init__(self, folder: Path | None = None, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder or cache_folder()
        self.limit_bytes = limit_bytes

    def path(self, kind: str, key: str) -> Path:
        """The file of an entry, there or not: ``KIND/ab/cdef...`` for the key ``abcdef...``."""
        return self.folder / kind / key[:2] / key[2:]

    def get(self, kind: str, key: str) -> bytes | None:
        """The bytes that ``put`` wrote; None where there are none, or where they are damaged or cannot be read."""
        return read_entry(kind, key, str(self.folder))

    def put(self, kind: str, key: str, payload: bytes) -> None:
        """Writes an entry with its checksum, in one step, in place of an earlier one; does nothing where the disk is full or read-only."""
        path = self.path(kind, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, MAGIC + blake2b(payload, digest_size=DIGEST_BYTES).digest() + payload)
        except OSError:
            return
        # One entry in 256, chosen by its own name, pays for the tidying.
        if key.startswith("00"):
            self.trim()

    def trim(self) -> None:
        """Drops the entries unused for longest until the cache is within nine tenths of its limit."""
        entries = []
        for path in (path for kind in KINDS for path in (self.folder / kind).rglob("*")):
            try:
                if path.is_file():
                    status = path.stat()
                    entries.append((max(status.st_atime, status.st_mtime), status.st_size, path))
            except OSError:
                continue  # another process tidied it away
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        for _, size, path in sorted(entries):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                continue  # not ours to remove
            total -= size
            if total <= self.limit_bytes * 0.9:
                return

    def clear(self, kinds: Iterable[str] = tuple(KINDS)) -> int:
        """Removes every entry of these kinds; returns the bytes freed. Raises ``OSError`` for what it may not remove."""
        freed = 0
        for kind in kinds:
            for path in sorted((self.folder / kind).rglob("*"), reverse=True):
                try:
                    if path.is_dir() and not path.is_symlink():
                        path.rmdir()
                    else:
                        freed += path.lstat().st_size
                        path.unlink()
                except OSError as error:
                    # Another process tidied it away, or put something into it.
                    if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                        raise
        return freed

    def measure(self, kind: str) -> tuple[int, int]:
        """How many entries a kind has, and their bytes."""
        sizes = []
        for path in (self.folder / kind).rglob("*"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process tidied it away
            if stat.S_ISREG(status.st_mode):
                sizes.append(status.st_size)
        return len(sizes), sum(sizes)
