"""CUDA calls that a program makes and our runtime does not have: refused by name, with the line, before the link.

app.cu:12:5: app.cu uses cudaGraphAddMemAllocNode, which our CUDA runtime does not implement
    cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
    ^
next: graphs have nodes for kernels, copies, fills, functions of the host and graphs
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from kernelwright.cuda.host import HostObject
from kernelwright.cuda.objects.elf import Symbol
from kernelwright.errors import CompileError, Place

_RUNTIME = re.compile(r"(__)?cuda[A-Z]\w*$")

# Other libraries of the toolkit by the beginning of their functions: what they are called, and what links them.
_LIBRARIES: tuple[tuple[str, str, str], ...] = (
    (r"cublas[A-Z]\w*", "cuBLAS", "cublas"),
    (r"cusparse[A-Z]\w*", "cuSPARSE", "cusparse"),
    (r"cusolver[A-Z]\w*", "cuSOLVER", "cusolver"),
    (r"cufft[A-Z]\w*", "cuFFT", "cufft"),
    (r"curand[A-Z]\w*", "cuRAND", "curand"),
    (r"cudnn[A-Z]\w*", "cuDNN", "cudnn"),
    (r"nvrtc[A-Z]\w*", "NVRTC", "nvrtc"),
    (r"nccl[A-Z]\w*", "NCCL", "nccl"),
    (r"nvtx[A-Z]\w*", "NVTX", "nvToolsExt"),
    (r"nvml[A-Z]\w*", "NVML", "nvidia-ml"),
    (r"cu[A-Z]\w*", "the CUDA driver", "cuda"),
)

# Those of which our runtime has the common functions, and the header that says which: the rest is refused, -l or not.
_PARTLY_OURS: dict[str, str] = {
    "cublas": "cublas_api.h",
    "cufft": "cufft.h",
    "curand": "curand.h",
    "cusparse": "cusparse.h",
    "cusolver": "cusolverDn.h",
    "nccl": "nccl.h",
    "cuda": "cuda.h",
    "nvrtc": "nvrtc.h",
}

# What to do instead, by family of runtime functions. First match wins.
_INSTEAD: tuple[tuple[str, str], ...] = (
    (
        r"cuda\w*Graph(?!ics)|cudaStream(Begin|End|Is|Get)\w*Capt",
        "graphs have nodes for kernels, copies, fills, functions of the host and graphs",
    ),
    (r"cuda\w*Cooperative|cudaCG", "cudaLaunchCooperativeKernel launches on one device: launch on each by itself"),
    (r"cudaIpc", "memory cannot be shared between processes: copy it through the host"),
    (r"cuda\w*Surface", "surfaces are objects: cudaCreateSurfaceObject"),
    (r"cuda\w*Mipmap", "use a texture without mipmaps"),
    (r"cudaLaunchKernelEx", "launch with <<<...>>>"),
    (r"cuda(Graphics|GL|EGL|VDPAU)|cuda\w*External", "copy through the host instead of sharing with graphics"),
    (r"cudaMemPool|cudaMallocFromPool", "use cudaMallocAsync"),
    (
        r"__cudaRegisterLinkedBinary|__fatbinwrap|__cuda(LaunchKernel|InitModule|GetKernel)$",
        "nvcc's objects are not linked: compile their sources with kw compile -c",
    ),
)


def refuse_unknown_calls(
    objects: Mapping[HostObject, Sequence[Symbol]],
    implemented: Collection[str],
    libraries: Sequence[str] = (),
    defined: Collection[str] = (),
) -> None:
    """Raises ``CompileError`` when an object calls a function of CUDA that neither ``implemented`` (our runtime), nor
    ``defined`` (other libraries given), nor another object has. Functions of a library named in ``libraries`` are its own."""
    own = {s.name for table in objects.values() for s in table if s.is_defined}
    known = own | set(implemented) | set(defined)
    by_object = {
        o: [
            n
            for n in dict.fromkeys(s.name for s in table if not s.is_defined)
            if n not in known and _belongs(n, libraries)
        ]
        for o, table in objects.items()
    }
    refused = {o: names for o, names in by_object.items() if names}
    if not refused:
        return
    first, names = next(iter(refused.items()))
    uses = ", ".join(f"{_source_name(o, objects[o])} uses {_list(n)}" for o, n in refused.items())
    whose = _library_of(names[0])
    one = len(refused) == 1 and len(names) == 1
    sentence = (
        f"{uses}, which our CUDA runtime does not implement"
        if whose is None and one
        else f"{uses}: our CUDA runtime does not implement {'it' if one else 'them'}"
        if whose is None
        else f"{uses}, of {whose[0]}, {'which our CUDA runtime does not implement' if one else 'which our CUDA runtime lacks'}"
        if whose[1] in _PARTLY_OURS
        else f"{uses}, of {whose[0]}, which is not part of our CUDA runtime"
    )
    hint = (
        f"{_PARTLY_OURS[whose[1]]} declares what it implements"
        if whose and whose[1] in _PARTLY_OURS
        else f"link NVIDIA's library with -l{whose[1]}, where there is one"
        if whose
        else next(
            (h for pattern, h in _INSTEAD if re.match(pattern, names[0])),
            "cuda_runtime_api.h declares what it implements",
        )
    )
    raise CompileError(sentence, place=_place(first.source, names[0]), hint=hint)


def _belongs(name: str, libraries: Sequence[str]) -> bool:
    """Whether a missing function is CUDA's to refuse: the rest is for the linker to find or to miss."""
    whose = _library_of(name)
    return bool(_RUNTIME.match(name)) if whose is None else whose[1] in _PARTLY_OURS or whose[1] not in libraries


def _library_of(name: str) -> tuple[str, str] | None:
    return next(((title, link) for pattern, title, link in _LIBRARIES if re.fullmatch(pattern, name)), None)


def _list(names: Sequence[str]) -> str:
    shown = list(names[:3])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _source_name(of: HostObject, table: Sequence[Symbol]) -> str:
    """The source as the user named it, else the name that the compiler left in the object."""
    if of.source is not None:
        return str(of.source)
    return next((s.name for s in table if s.is_file), str(of.path))


def _place(source: Path | None, name: str) -> Place | None:
    """The first line of the source that has the name; it may come from a header, and then we do not know."""
    if source is None:
        return None
    try:
        lines = source.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return None
    for number, line in enumerate(lines, 1):
        found = re.search(rf"\b{re.escape(name)}\b", line.split("//")[0])
        if found:
            return Place(str(source), number, found.start() + 1, line)
    return None
