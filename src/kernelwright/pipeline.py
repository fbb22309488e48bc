"""The compiler as one sentence: CUDA source → IR → libdevice → optimised IR → PTX → cubin.

    source ─ frontend ─ libdevice ─ optimise ─ ptx ─ cubin           (device side, this file)
           └ host ─ link                                             (host side, ``cuda/host.py``, ``cuda/link.py``)

Each stage is a function of text and options, cached by the content of both; ``Unit`` runs only what is asked of it.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture
from kernelwright.cache import Cache, content_key, installation
from kernelwright.codegen.line_directives import without_lines
from kernelwright.cuda import early_clang
from kernelwright.cuda.clang import LLVM_MAJOR, Clang, find_clang
from kernelwright.cuda.frontend import DeviceSource, SourceOptions, device_pass
from kernelwright.cuda.inputs import (
    Inputs,
    check_name,
    environment,
    files_of,
    folders_of,
    searched_folders,
    unchanged,
    working_folder,
)
from kernelwright.cuda.leniency import newer_standard
from kernelwright.errors import CompileError, Misuse, check_kind, reason, texts
from kernelwright.passes.options import PassOptions
from kernelwright.values import frozen, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelwright.codegen.machine.resources import Resources
    from kernelwright.codegen.source_lines import SourceLine
    from kernelwright.ir import Module

STAGES = ("frontend", "libdevice", "optimise", "ptx", "cubin")

CUDA_SUFFIXES = (".cu", ".cuh")

_DECLARED = re.compile(r'^declare [^@\n]*@(?!"?(?:llvm\.|__nv_))', re.MULTILINE)


@frozen
class CompileOptions:
    """Everything that decides what comes out; two equal values give the same bytes."""

    source: SourceOptions = SourceOptions()
    passes: PassOptions = PassOptions()
    line_info: bool = False
    """Keep ``.loc`` lines in PTX, for profilers (nvcc's ``-lineinfo``)."""
    clang: str | None = None
    cuda_path: str | None = None
    headers: str = "own"
    """``own``, or ``nvidia``: the CUDA headers of NVIDIA's wheels. A toolkit named by ``cuda_path`` brings its own."""
    also: tuple[str, ...] = ()
    """Architectures that a program is compiled for besides that of ``source``."""
    hermetic: bool | None = None
    """C and C++ headers from the wheel: True always, None where the system has no C++ compiler."""


class Unit:
    """One translation unit on its way; every stage is made on first use and kept."""

    def __init__(self, path: Path, options: CompileOptions, cache: Cache | None) -> None:
        self.path = path
        self.options = options
        self._cache = cache
        self._inputs = Inputs((), (), 0)

    @functools.cached_property
    def clang(self) -> Clang:
        """The clang that reads it. Raises ``ToolError`` or ``Misuse`` where ``find_clang`` does."""
        return _clang_for(self.options)

    @functools.cached_property
    def source(self) -> DeviceSource:
        """The device pass, from the cache when neither the source nor any file it included has changed. Where its C++ standard is too old
        for our headers it is compiled as a newer one, which ``options`` and a warning say then."""
        try:
            return self._device_pass()
        except CompileError as error:
            newer = newer_standard(error.message, self.options.source.std)
            if newer is None:
                raise
        remark = f"kw: {self.path} is compiled as {newer}, which our thrust needs, not as {self.options.source.std}\n"
        self.options = replaced(self.options, source=replaced(self.options.source, std=newer))
        made = self._device_pass()
        return replaced(made, warnings=remark + made.warnings)

    def _device_pass(self) -> DeviceSource:
        since_ns = early_clang.since_ns()
        # The path as it is spelled: __FILE__, messages and debug lines repeat it.
        here = [working_folder(), str(self.path), *environment(), installation()]
        name = content_key(["frontend", *here, repr(self.options.source), self.clang.fingerprint()])
        kept = self._cache and self._cache.get("frontend", name)
        if kept:
            found = _still_valid(kept, self.path, since_ns)
            if found:
                made, self._inputs = found
                return made
        # LLVM takes as long to load as clang takes to run: on a second core it costs nothing.
        made = device_pass(self.path, self.options.source, self.clang, meanwhile=_load_llvm)
        if '@"' in made.text:
            from kernelwright.cuda.diagnostics import refuse_foreign_names

            refuse_foreign_names(made.text, self.path)
        if self.clang.major < LLVM_MAJOR:
            made = _in_todays_words(made)
        folders = searched_folders(made.command, made.dependencies)
        self._inputs = Inputs(made.dependencies, folders, since_ns)
        record = self._inputs.record() if self._cache else None
        if self._cache and record:
            self._cache.put("frontend", name, _manifest(made, record))
        return made

    def for_arch(self, arch: str) -> Unit:
        """The same source, compiled for ``arch`` alone."""
        source = replaced(self.options.source, arch=arch)
        return Unit(self.path, replaced(self.options, source=source, also=()), self._cache)

    def link_device_functions(self, others: Mapping[str, str], units: Mapping[str, Unit]) -> None:
        """Adds to the source what it declares and ``others`` (IR by path) define. Raises ``CompileError``."""
        from kernelwright.passes.device_link import linked_with

        text, files = linked_with(self.source.text, others)
        if files:
            self.replace_source(text)
            for file in files:
                self._inputs += units[file].inputs

    def replace_source(self, text: str) -> None:
        """Goes on with another raw IR; what was made of the former is made anew."""
        self.__dict__["source"] = replaced(self.source, text=text)
        for stage in ("_key", "linked", "optimised", "module", "ptx"):
            self.__dict__.pop(stage, None)

    @property
    def inputs(self) -> Inputs:
        """What was read for the stages that are made: sources and headers with the folders searched for them, and tools."""
        _ = self.source
        return self._inputs

    def _also_read(self, path: Path) -> str:
        """Adds an installed file to the inputs; its stamp, for a key."""
        self._inputs = self.inputs.with_tool(str(path))
        status = path.stat()
        return f"{path} {status.st_size} {status.st_mtime_ns}"

    @functools.cached_property
    def linked(self) -> str:
        """The IR with the libdevice functions it needs linked in and made internal; optimising does this on its way."""
        from kernelwright.passes.libdevice import linked_text

        return linked_text(self.source.text, _path(self.options.cuda_path))

    @functools.cached_property
    def optimised(self) -> str:
        """The IR after libdevice is linked and the middle end has run, as text."""
        from kernelwright.passes.optimise import optimise

        options = self.options
        return self._made(
            "ir",
            lambda: optimise(
                self.source.text,
                options.passes,
                arch=options.source.arch,
                cuda_path=_path(options.cuda_path),
                isolate=True,
            ),
        )

    @functools.cached_property
    def module(self) -> Module:
        """The optimised IR as objects."""
        from kernelwright.ir import parse_module

        return parse_module(self.optimised)

    @functools.cached_property
    def ptx(self) -> str:
        """PTX of the optimised IR, its blocks named in comments; source lines in it only when they were asked for."""
        text = self._made("ptx", self._generate)
        return text if self.options.line_info else without_lines(text)

    def _generate(self) -> str:
        from kernelwright.codegen.ptx import emit_ptx, generate

        options = self.options
        if "optimised" in self.__dict__ or self._kept("ir"):
            return emit_ptx(self.optimised, options.source.arch, options.passes, isolate=True)
        # Both in one go: going through LLVM's text twice, and through a process of its own, costs as much as the work.
        made = generate(
            self.source.text,
            options.source.arch,
            options.passes,
            cuda_path=_path(options.cuda_path),
            isolate=True,
        )
        self.__dict__["optimised"] = self._made("ir", lambda: made.ir)
        return made.ptx

    @functools.cached_property
    def cubin(self) -> bytes:
        """Machine code for the architecture of the options, an ELF file."""
        return self.assembled[0]

    @property
    def assembled(self) -> tuple[bytes, str]:
        """The cubin and the assembler's log, which alone tells of spills."""
        from kernelwright.codegen.machine.assemble import assemble, find_assemblers

        ptx, options = self.ptx, self.options
        toolkit = _path(options.cuda_path)
        tools = [self._also_read(tool.path) for tool in find_assemblers(toolkit)]
        key = content_key([installation(), *tools, ptx, options.source.arch, str(options.line_info)])
        kept = self._cache and self._cache.get("cubin", key)
        if kept:
            log, _, data = kept.partition(b"\0")
            return data, log.decode()
        made = assemble(ptx, options.source.arch, line_info=options.line_info, cuda_path=toolkit)
        if self._cache:
            self._cache.put("cubin", key, made.log.replace("\0", "").encode() + b"\0" + made.data)
        return made.data, made.log

    def stage(self, name: str) -> str | bytes:
        """What the stage called ``name`` produced. Raises ``Misuse`` for a name that is none of ``STAGES``."""
        table: dict[str, Callable[[], str | bytes]] = {
            "frontend": lambda: self.source.text,
            "libdevice": lambda: self.linked,
            "optimise": lambda: self.optimised,
            "ptx": lambda: self.ptx,
            "cubin": lambda: self.cubin,
        }
        if name not in table:
            raise Misuse(f"there is no stage {name!r}", hint=f"the stages are {', '.join(STAGES)}")
        return table[name]()

    def _made(self, kind: str, make: Callable[[], str]) -> str:
        kept = self._kept(kind)
        if kept:
            return kept.decode()
        text = make()
        if self._cache:
            self._cache.put(kind, self._key, text.encode())
        return text

    def _kept(self, kind: str) -> bytes | None:
        return self._cache.get(kind, self._key) if self._cache else None

    @functools.cached_property
    def _key(self) -> str:
        """Names what the back end makes of this unit: all of it follows from the raw IR and these options."""
        options = self.options
        library = [self._also_read(path) for path in self._libdevice()]
        return content_key([installation(), self.source.text, options.source.arch, str(options.passes), *library])

    def _libdevice(self) -> list[Path]:
        """The library of math functions, where there is one and the module may need it."""
        from kernelwright.passes.libdevice import find_libdevice

        try:
            found = find_libdevice(_path(self.options.cuda_path))
        except Misuse:  # said later, to those who need it
            return []
        return [found] if found else []


@frozen
class Kernel:
    """A kernel of a program: the unit that defines it and its name as the linker sees it."""

    unit: Unit
    name: str

    def __repr__(self) -> str:
        from kernelwright.cuda.names import readable

        return f"<kernel {readable(self.name)} of {self.unit.path}>"


class Program:
    """A compiled CUDA program: its translation units and what can be asked of them."""

    def __init__(self, units: Sequence[Unit], options: CompileOptions) -> None:
        self.units = tuple(units)
        """None for a program of host code alone, which calls the CUDA runtime and launches no kernel of its own."""
        self.options = options

    def __repr__(self) -> str:
        paths = ", ".join(str(unit.path) for unit in self.units) or "host code alone"
        return f"<program {paths}, {self.options.source.arch}>"

    @functools.cached_property
    def clang(self) -> Clang:
        """The clang that reads its units, also of a program without any."""
        return self.units[0].clang if self.units else _clang_for(self.options)

    @property
    def module(self) -> Module:
        """The optimised IR. Raises ``Misuse`` for a program of several units: each has its own, ``program.units[i].module``."""
        return self._only().module

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of all kernels as the linker sees them, in source order."""
        return tuple(kernel.name for unit in self.units for kernel in unit.module.kernels)

    def ptx(self) -> str:
        """The PTX of its only unit. Raises ``Misuse`` for a program of several or none."""
        return self._only().ptx

    def cubin(self) -> bytes:
        """Machine code of its only unit, an ELF file. Raises ``Misuse`` for a program of several or none."""
        return self._only().cubin

    def lines(self, kernel: str) -> list[SourceLine]:
        """The source lines behind a kernel, with the number of IR instructions each became."""
        from kernelwright.codegen.source_lines import kernel_lines

        return kernel_lines(self.unit_of(kernel).module, kernel)

    def resources(self, kernel: str) -> Resources:
        """Registers, shared memory and spills of a kernel, as the assembler reports them."""
        from kernelwright.codegen.machine.resources import resources

        return resources(*self.unit_of(kernel).assembled)[kernel]

    def kernel(self, name: str) -> Kernel:
        """The kernel that a person calls ``name``: mangled, as ``net::reduce<float>``, or the last part alone.

        Raises ``Misuse`` naming the kernels there are when none or several are meant.
        """
        from kernelwright.cuda.names import is_called, readable

        all_kernels = [Kernel(unit, kernel.name) for unit in self.units for kernel in unit.module.kernels]
        found = [k for k in all_kernels if k.name == name] or [k for k in all_kernels if is_called(k.name, name)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(readable(k.name) for k in found or all_kernels) or "none"
        what = f"{len(found)} kernels are called" if found else "there is no kernel"
        raise Misuse(f"{what} {name!r}", hint=f"the kernels are {known}")

    def unit_of(self, kernel: str) -> Unit:
        """The unit that defines ``kernel``. Raises ``Misuse`` naming the kernels there are."""
        for unit in self.units:
            if any(kernel == one.name for one in unit.module.kernels):
                return unit
        raise Misuse(f"there is no kernel {kernel!r}", hint=f"the kernels are {', '.join(self.kernels) or 'none'}")

    def _only(self) -> Unit:
        if len(self.units) != 1:
            names = ", ".join(str(u.path) for u in self.units)
            raise Misuse(f"the program has {len(self.units)} translation units ({names})", hint="ask program.units[i]")
        return self.units[0]


class _Optimised(Unit):
    """A unit that begins with optimised IR, such as an exported variant: nothing before it runs again."""

    def __init__(self, path: Path, text: str, arch: str) -> None:
        super().__init__(path, CompileOptions(source=SourceOptions(arch=arch)), None)
        self.__dict__["optimised"] = text


def relocated(path: Path, text: str, options: CompileOptions) -> Unit:
    """A unit that begins with the IR of an object's device code, not optimised yet."""
    unit = Unit(path, options, None)
    unit.__dict__["source"] = DeviceSource(path=path, text=text, dependencies=(), warnings="")
    return unit


def load(path: str | os.PathLike[str]) -> Program:
    """An exported kernel (``.ll``) as a program: its IR is taken as it is, optimised already.

    Raises ``Misuse`` for a file that cannot be read, ``IRError`` for one that is no LLVM-IR.
    """
    from kernelwright.passes.llvm import architecture_of

    check_kind(path, (str, os.PathLike), "what is to be loaded", "give the path of an .ll of a folder of kw export")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(
            f"{os.fspath(path)} cannot be read ({reason(error)})", hint="give the .ll of a folder of kw export"
        ) from None
    unit = _Optimised(Path(path), text, architecture(architecture_of(text)).name)
    _ = unit.module
    return Program([unit], unit.options)


def compile(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    arch: str = DEFAULT_ARCHITECTURE,
    level: int = 3,
    include: Sequence[str] = (),
    define: Sequence[str] = (),
    std: str | None = None,
    without: Sequence[str] = (),
    options: CompileOptions | None = None,
    cache: bool = True,
) -> Program:
    """Compiles the device side of one or several CUDA files.

    ``arch``: ``sm_75`` to ``sm_121``; ``level``: 0 to 3; ``without``: steps of the pipeline to leave out, by the names
    ``kw passes`` lists; ``options`` overrides all of these. Stages run when their result is asked for, but errors in the
    source are raised here. Raises ``Misuse``, ``CompileError``, ``ToolError``.
    """
    if options is None:
        options = CompileOptions(
            source=SourceOptions(
                arch=architecture(arch).name, include=texts(include, "include"), define=texts(define, "define"), std=std
            ),
            passes=PassOptions.of(level, texts(without, "without")),
        )
    check_kind(options, CompileOptions, "what is given as options", "give kw.compile's own arguments instead")
    how = "give the path of a CUDA source file, or several in a list"
    if not hasattr(source, "__iter__"):
        check_kind(source, (str, os.PathLike), "what is to be compiled", how)
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    for path in paths:
        check_kind(path, (str, os.PathLike), "what is to be compiled", how)
    if not paths:
        raise Misuse(
            "there is nothing to compile",
            hint="give at least one .cu file: of a program that loads its kernels or compiles them as it runs, theirs as well",
        )
    for path in paths:
        check_name(os.path.join(working_folder(), path))
    store = Cache() if cache else None
    units = [Unit(Path(p), options, store) for p in paths]
    for unit in units:
        _ = unit.source
    if len(units) > 1:
        link_device_functions(units)
    return Program(units, options)


def link_device_functions(units: Sequence[Unit]) -> None:
    """Gives each unit the device functions that it declares and another defines. Raises ``CompileError``."""
    named: dict[str, Unit] = {}
    for unit in units:  # objects of several folders may come from files of one name
        path = str(unit.path)
        named[path if path not in named else f"{path} ({len(named)})"] = unit
    texts = {name: unit.source.text for name, unit in named.items()}
    for unit in units:
        # Looked for first: LLVM is needed by a program of several files only where there is something to link.
        if _DECLARED.search(unit.source.text):
            unit.link_device_functions({name: text for name, text in texts.items() if named[name] is not unit}, named)


def _clang_for(options: CompileOptions) -> Clang:
    return find_clang(options.clang, options.cuda_path, options.hermetic, options.headers)


def _in_todays_words(made: DeviceSource) -> DeviceSource:
    """The same module as our LLVM writes it: an older clang marks kernels by metadata, not by calling convention."""
    from kernelwright.passes.llvm import parsed

    with parsed(made.text) as module:
        return replaced(made, text=str(module))


def _load_llvm() -> None:
    from kernelwright.codegen import ptx
    from kernelwright.passes import optimise
    from kernelwright.passes.llvm import engine

    assert ptx and optimise  # loaded here, while clang runs
    engine()


def _path(text: str | None) -> Path | None:
    return Path(text) if text is not None else None


def _manifest(made: DeviceSource, record: list[str]) -> bytes:
    return "\0".join(("\n".join(record), made.warnings.replace("\0", ""), made.text)).encode("utf-8", "surrogateescape")


def _still_valid(kept: bytes, path: Path, since_ns: int) -> tuple[DeviceSource, Inputs] | None:
    """What is kept, unless something that was read has changed by ``since_ns``."""
    listed, warnings, text = kept.decode("utf-8", "surrogateescape").split("\0", 2)
    record = listed.split("\n")
    if not unchanged(record):
        return None
    files = files_of(record)
    source = DeviceSource(path=path, text=text, dependencies=files, warnings=warnings)
    return source, Inputs(files, folders_of(record), since_ns)
