"""Flags of nvcc's that people paste: those that decide nothing here, and those we refuse, each with the reason.

    --ptxas-options=-v    accepted; one line on stderr says that it is ignored, and why
    -shared               refused by name, with the next step

Flags of nvcc's that mean something here are among ours (``compile_flags.py``). Spellings and values: ``nvcc --help`` of CUDA 13.0.
"""

from __future__ import annotations

from kernelwright.cli.support.plain_flags import Flag
from kernelwright.errors import Misuse
from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from kernelwright.cli.support.plain_flags import Kind


@frozen
class NvccFlag(Flag):
    """``why`` follows the flag in what we say about it. A value in ``usual`` asks for what holds anyway: nothing is said."""

    why: str = ""
    usual: tuple[str, ...] = ()
    next_step: str | None = None
    """Refused, when there is one."""


def _flag(spellings: str, kind: Kind, why: str, usual: str = "", next_step: str | None = None) -> NvccFlag:
    names = tuple(spellings.split())
    default = False if kind == "switch" else None
    name = "nvcc_" + names[0].strip("-").replace("-", "_")
    return NvccFlag(name, names, kind, "", default, "", why, tuple(usual.split()), next_step)


def _usual(spellings: str) -> NvccFlag:
    """A switch for what holds anyway."""
    return _flag(spellings, "switch", "", usual="True")


_ONE_GO = "kw compile goes from sources to an executable in one step"
_ALL_FILES = "give all sources at once with --emit exe"
_BUNDLED = "host code is compiled by the same clang"
_NO_STAGE = "--print-after and --stop-after show every stage"
_NO_LISTING = "dependencies are written beside an object, with -c -MD"

NVCC_FLAGS: tuple[NvccFlag, ...] = (
    # ---- what holds anyway ----
    _usual("--expt-relaxed-constexpr -expt-relaxed-constexpr"),
    _usual("--extended-lambda -extended-lambda --expt-extended-lambda -expt-extended-lambda"),
    _usual("-m64"),
    _usual("--allow-unsupported-compiler -allow-unsupported-compiler"),
    _usual("--Wno-deprecated-gpu-targets -Wno-deprecated-gpu-targets"),
    _usual("--link -link"),
    _flag("--machine -m", "text", "only 64 bits are supported", "64", "leave it out"),
    _flag("--cudart -cudart", "text", "our CUDA runtime takes its place", "static"),
    _flag("--cudadevrt -cudadevrt", "text", "our CUDA runtime takes its place", "none"),
    _flag("--x -x", "text", "the suffix of a file says what it is", "cu", "name CUDA files .cu"),
    _flag("--dopt -dopt", "text", "", "on"),
    _flag("--relocatable-device-code -rdc", "text", "", "true false"),
    # ---- ignored ----
    _flag("--ptxas-options -Xptxas", "texts", "the assembler runs with its defaults"),
    _flag("--nvlink-options -Xnvlink", "texts", "there is no device link"),
    _flag("--archive-options -Xarchive", "texts", "no library is made"),
    _flag("-Xcudafe", "texts", "that tool is nvcc's own"),
    _flag("-Xcicc", "texts", "that tool is nvcc's own"),
    _flag("--compiler-bindir -ccbin", "text", _BUNDLED),
    _flag("--forward-unknown-to-host-compiler -forward-unknown-to-host-compiler", "switch", _BUNDLED),
    _flag("--device-debug -G", "switch", "there is no device debugger; -lineinfo keeps source lines"),
    _flag("--debug -g", "switch", "no host debug information is made"),
    _flag("--profile -pg", "switch", "host code is not instrumented"),
    _flag("--verbose -v", "switch", _NO_STAGE),
    _flag("--cuda -cuda", "switch", "there is no such intermediate file"),
    _flag("--keep -keep --save-temps -save-temps", "switch", _NO_STAGE),
    _flag("--keep-dir -keep-dir", "text", _NO_STAGE),
    _flag("--resource-usage -res-usage", "switch", "kw suite show prints registers and spills"),
    _flag("--source-in-ptx -src-in-ptx", "switch", "-lineinfo keeps source lines"),
    _flag("--maxrregcount -maxrregcount", "text", "__launch_bounds__ in the source limits registers"),
    _flag("--prec-div -prec-div", "text", "division stays exact", "true"),
    _flag("--prec-sqrt -prec-sqrt", "text", "square roots stay exact", "true"),
    _flag("--restrict -restrict", "switch", "write __restrict__ where it holds"),
    _flag("--extra-device-vectorization -extra-device-vectorization", "switch", "kw passes lists what runs"),
    _flag("--Ofast-compile -Ofc", "text", "-O0 to -O3 say how much is optimised", "0"),
    _flag("--dlink-time-opt -dlto --lto -lto", "switch", "each file is optimised as a whole"),
    _flag("--threads -t", "text", "one architecture is compiled"),
    _flag("--split-compile -split-compile", "text", "one architecture is compiled"),
    _flag("--no-compress -no-compress", "switch", "device code is not compressed"),
    _flag("--compress-mode -compress-mode", "text", "device code is not compressed"),
    _flag("--no-exceptions -noeh", "switch", "host code keeps its exceptions"),
    _flag("--Werror -Werror", "texts", "warnings stay warnings"),
    _flag("--diag-suppress -diag-suppress", "texts", "those numbers are nvcc's"),
    _flag("--diag-warn -diag-warn", "texts", "those numbers are nvcc's"),
    _flag("--diag-error -diag-error", "texts", "those numbers are nvcc's"),
    _flag("--display-error-number -err-no", "switch", "those numbers are nvcc's"),
    _flag("--no-display-error-number -no-err-no", "switch", "those numbers are nvcc's"),
    _flag("--Wreorder -Wreorder", "switch", "clang warns by itself"),
    _flag("--Wno-deprecated-declarations -Wno-deprecated-declarations", "switch", "-w silences warnings"),
    _flag("--Wdefault-stream-launch -Wdefault-stream-launch", "switch", "there is no such warning"),
    _flag("--Wmissing-launch-bounds -Wmissing-launch-bounds", "switch", "there is no such warning"),
    _flag("--Wext-lambda-captures-this -Wext-lambda-captures-this", "switch", "there is no such warning"),
    _flag("--frandom-seed -frandom-seed", "text", "names are the same in every compile"),
    # ---- refused ----
    _flag("--device-w -dw", "switch", _ONE_GO, next_step=_ALL_FILES),
    _flag("--lib -lib", "switch", "no libraries are made", next_step=_ALL_FILES),
    _flag("--shared -shared", "switch", "no libraries are made", next_step=_ALL_FILES),
    _flag("-m32", "switch", "only 64 bits are supported", next_step="leave it out"),
    _flag("--optix-ir -optix-ir", "switch", "OptiX is not supported", next_step="--emit ptx"),
    _flag("--ltoir -ltoir", "switch", _ONE_GO, next_step="--emit ir"),
    _flag("--preprocess -E", "switch", "preprocessed source is not written", next_step="--stop-after frontend"),
    _flag("--generate-dependencies -M", "switch", _NO_LISTING, next_step="-c -MD"),
    _flag("--generate-nonsystem-dependencies -MM", "switch", _NO_LISTING, next_step="-c -MMD"),
    _flag("--run -run", "switch", "programs are compiled, not run", next_step="run the executable"),
    _flag("--dryrun -dryrun", "switch", "commands are not listed", next_step=_NO_STAGE),
    _flag("--output-directory -odir", "text", "-o takes a folder, too", next_step="-o FOLDER"),
)


def remarks(given: Mapping[str, Any]) -> Iterator[str]:
    """What to say about the flags of nvcc's in ``given`` (values by name): ``-ccbin g++ (host code is ...)``.

    Raises ``Misuse`` for one that is refused.
    """
    for flag in NVCC_FLAGS:
        if given.get("device_link") and "-shared" in flag.spellings:
            continue  # CMake says so where device code is linked, which makes no library
        for value in dict.fromkeys(_values(given.get(flag.name))):
            if value in flag.usual:
                continue
            if flag.next_step is not None:
                raise Misuse(f"{_shown(flag, value)} is not supported: {flag.why}", hint=flag.next_step)
            yield f"{_shown(flag, value)} ({flag.why})"


def _values(given: Any) -> list[str]:
    """One text per time the flag was given; ``True`` for a switch."""
    if given is None or given is False:
        return []
    return list(given) if isinstance(given, list | tuple) else [str(given)]


def _shown(flag: NvccFlag, value: str) -> str:
    short = min(flag.spellings, key=len)
    if flag.kind == "switch":
        return short
    return f"{short}={value}" if flag.next_step is not None else f"{short} {value}"
