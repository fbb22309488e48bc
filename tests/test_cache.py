"""The cache: entries are found, verified, and never half-written."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright import cache as cache_module
from kernelwright.cache import DIGEST_BYTES, KINDS, MAGIC, Cache, content_key, write_atomically


def test_what_is_put_is_got(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", content_key(["a"]), b"body")
    assert cache.get("ir", content_key(["a"])) == b"body"
    assert cache.get("ir", content_key(["b"])) is None
    assert cache.get("ptx", content_key(["a"])) is None


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "foreign"])
def test_a_damaged_entry_is_dropped(tmp_path: Path, damage: str) -> None:
    cache, key = Cache(tmp_path), content_key(["a"])
    cache.put("ir", key, b"body of some length")
    path = cache.path("ir", key)
    raw = path.read_bytes()
    path.write_bytes({"flip": raw[:-1] + b"!", "truncate": raw[:-4], "empty": b"", "foreign": b"hello"}[damage])
    assert cache.get("ir", key) is None
    assert not path.exists()


def test_an_unusable_folder_is_only_slow(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    cache = Cache(blocker / "cache")
    cache.put("ir", content_key(["a"]), b"body")
    assert cache.get("ir", content_key(["a"])) is None


def test_trim_drops_the_oldest_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit_bytes=5000)
    keys = [content_key([str(n)]) for n in range(10)]
    for n, key in enumerate(keys):
        cache.put("ir", key, b"x" * 1000)
        os.utime(cache.path("ir", key), (n, n))
    cache.trim()
    assert cache.get("ir", keys[0]) is None
    assert cache.get("ir", keys[9]) == b"x" * 1000
    assert sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file()) <= 4500


def test_clear_empties_and_counts(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", content_key(["a"]), b"x" * 100)
    assert cache.measure("ir") == (1, 100 + len(MAGIC) + DIGEST_BYTES)
    assert cache.clear() > 100
    assert cache.get("ir", content_key(["a"])) is None and cache.measure("ir") == (0, 0)


def test_what_is_not_the_caches_own_is_left_alone(tmp_path: Path) -> None:
    """Its folder may be one that a person names, and hold more."""
    (tmp_path / "thesis.txt").write_text("x" * 5000)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x" * 5000)
    cache = Cache(tmp_path, limit_bytes=100)
    cache.put("ir", content_key(["a"]), b"x" * 1000)
    cache.trim()
    assert cache.get("ir", content_key(["a"])) is None
    cache.put("ptx", content_key(["a"]), b"x" * 1000)
    assert cache.clear(["ir"]) == 0 and cache.clear() > 1000
    assert (tmp_path / "photos" / "one.jpg").is_file() and (tmp_path / "thesis.txt").is_file()


def test_every_kind_that_is_written_has_its_words() -> None:
    """By the places that write: ``put("kind", ...)``, ``cache_folder() / "kind"``, ``KIND = "kind"``."""
    package = Path(cache_module.__file__).parent
    written = r'\.put\("([a-z-]+)", |cache_folder\(\) / "([a-z-]+)"|^KIND = "([a-z-]+)"$'
    found = {
        kind
        for path in package.rglob("*.py")
        for groups in re.findall(written, path.read_text(), re.M)
        for kind in groups
        if kind
    }
    assert len(found) > 8 and found <= set(KINDS)


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "out.ptx", b"text")
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_entry(tmp_path: Path) -> None:
    cache, key = Cache(tmp_path), content_key(["a"])
    body = b"y" * 100_000
    seen: list[bytes | None] = []

    def work() -> None:
        for _ in range(30):
            cache.put("ir", key, body)
            seen.append(cache.get("ir", key))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(seen) == {body}


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_keys_tell_part_lists_apart(a: list[str], b: list[str]) -> None:
    assert (content_key(a) == content_key(b)) == (a == b)


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/real")
    for text in (b"one", b"two"):
        write_atomically(link, text)
        assert link.is_symlink()
        assert (tmp_path / "folder" / "real").read_bytes() == text
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["real"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"text")
    reader.join(timeout=10)
    assert seen == [b"text"]
    assert pipe.is_fifo()


def test_trim_leaves_what_it_may_not_remove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path, limit_bytes=100)
    cache.put("ir", content_key(["a"]), b"x" * 1000)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    cache.trim()
    assert cache.get("ir", content_key(["a"])) == b"x" * 1000


def test_every_package_that_decides_a_result_is_looked_at() -> None:
    package = Path(cache_module.__file__).parent
    rooms = [package / room for room in ("cli", "codegen", "cuda", "ir", "passes")]
    folders = {str(path.parent.relative_to(package)) for room in rooms for path in room.rglob("__init__.py")}
    assert folders <= set(cache_module._RESULTS_COME_FROM)
