"""Device code inside PTX and cubins: what goes in comes out, and what was changed on the way is noticed."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda import blob, image
from kernelwright.errors import ToolError

PTX = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
EMBEDDED = blob.write(blob.Blob("k.cu", "define void @k() { ret void }\n", (blob.Kernel("k"),), ptx={"sm_80": PTX}))


def an_elf(folder: Path) -> bytes:
    """An object of the system's C compiler, which has the sections and strings that a cubin has."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "k.c").write_text("int k(void) { return 7; }\n")
    subprocess.run([compiler, "-c", folder / "k.c", "-o", folder / "k.o"], check=True)
    return (folder / "k.o").read_bytes()


def test_ptx_stays_ptx() -> None:
    made = image.ptx_with(PTX, EMBEDDED)
    assert made.startswith(PTX) and all(line.startswith("//") for line in made[len(PTX) :].splitlines())
    assert max(map(len, made.splitlines())) < 200
    for given in (made, made + "\0", made.replace("\n", "\r\n"), made + "\n\n"):
        assert image.blob_in(given.encode()) == EMBEDDED


def test_without_a_last_newline() -> None:
    assert image.blob_in(image.ptx_with(PTX.rstrip(), EMBEDDED).encode()) == EMBEDDED


@pytest.mark.parametrize("given", [PTX.encode(), b"", b"\0", b"hello", b"\x50\xed\x55\xba" + b"\0" * 40])
def test_what_carries_nothing(given: bytes) -> None:
    assert image.blob_in(given) is None


def test_a_blob_is_its_own() -> None:
    assert image.blob_in(EMBEDDED) == EMBEDDED
    with pytest.raises(ToolError, match="damaged"):
        image.blob_in(EMBEDDED[:-3])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("ret;", "trap;"), "was changed after it was made"),
        (lambda text: "// mine\n" + text, "was changed"),
        (lambda text: text.replace("//kw ", "//kw !", 1), "damaged|not made"),
        (lambda text: text[:-200], "damaged|not made"),
    ],
)
def test_changed_ptx(change: object, says: str) -> None:
    changed = change(image.ptx_with(PTX, EMBEDDED))  # type: ignore[operator]
    with pytest.raises(ToolError, match=says):
        image.blob_in(changed.encode())


def test_an_elf_file_stays_one(tmp_path: Path) -> None:
    plain = an_elf(tmp_path)
    made = image.cubin_with(plain, EMBEDDED)
    assert image.blob_in(made) == EMBEDDED and image.blob_in(plain) is None
    (tmp_path / "made.o").write_bytes(made)
    readelf = shutil.which("readelf")
    if readelf:
        listed = subprocess.run([readelf, "-SW", tmp_path / "made.o"], capture_output=True, text=True)
        assert ".text" in listed.stdout and f" {image.SECTION} " in listed.stdout and listed.stderr == ""
    # It still links, and says what it said.
    (tmp_path / "main.c").write_text("int k(void);\nint main(void) { return k(); }\n")
    subprocess.run(["cc", tmp_path / "main.c", tmp_path / "made.o", "-o", tmp_path / "app"], check=True)
    assert subprocess.run([tmp_path / "app"]).returncode == 7


def test_damaged_elf_files(tmp_path: Path) -> None:
    made = image.cubin_with(an_elf(tmp_path), EMBEDDED)
    for cut in (5, 0x30, 64, len(made) - 70):
        with pytest.raises(ToolError):
            image.blob_in(made[:cut])
    with pytest.raises(ToolError, match="no ELF file"):
        image.cubin_with(b"\x7fELF", EMBEDDED)
    far = bytearray(made)
    struct.pack_into("<Q", far, 0x28, 1 << 40)
    with pytest.raises(ToolError):
        image.blob_in(bytes(far))
