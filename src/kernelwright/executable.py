"""The other half of a compile: host objects with our device code inside, linked to a program.

    app.cu ─ device pipeline ─► blob ┐
    app.cu ─ host pass ──────────────┴─► app.o ┐
    util.c ─ host pass ────────────────► util.o┴─ link with our CUDA runtime ─► app

The program carries its kernels as LLVM-IR and PTX; on which device they run is decided when it starts. Started by hand, it
asks for the device ``auto`` and starts a worker of the installation that linked it (``worker_command``).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import site
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from kernelwright.cache import cache_folder, is_special, write_atomically
from kernelwright.codegen.carried_options import carrying
from kernelwright.codegen.line_directives import without_lines
from kernelwright.codegen.memory_layout import shared_layout
from kernelwright.cuda import blob, image, kernel_table
from kernelwright.cuda.clang import Clang
from kernelwright.cuda.early_clang import as_argument
from kernelwright.cuda.frontend import LAUNCH_FLAGS, SourceOptions, prerequisites
from kernelwright.cuda.host import HostObject, compile_host, host_flags, language
from kernelwright.cuda.inputs import Inputs, searched_folders
from kernelwright.cuda.link import LinkOptions, link_executable
from kernelwright.cuda.names import readable
from kernelwright.cuda.objects.elf import Elf
from kernelwright.cuda.objects.relocatable import (
    HOST_FLAGS,
    Relocatable,
    module_registered_by,
    pack,
    relocatables,
    with_own_name,
)
from kernelwright.cuda.runtime_library import linked_binary, merged
from kernelwright.errors import CompileError, ToolError
from kernelwright.kernel_version import Version
from kernelwright.passes.device_link import defined_variables, missing_functions
from kernelwright.passes.static_variables import named_by_host
from kernelwright.pipeline import CompileOptions, Program, Unit, link_device_functions, relocated
from kernelwright.values import replaced

OBJECT_SUFFIXES = (".o", ".obj")
_GIVE_THEM = "give the file that defines it as well, and say __device__ where it is declared and where it is defined"
_ELSEWHERE = re.compile(r'^@"?([\w.$]+)"? = external [a-z_ ]*addrspace\([14]\) ', re.M)


def build_executable(
    program: Program,
    others: Sequence[Path],
    output: Path,
    link: LinkOptions | None = None,
    versions: Mapping[Path, Sequence[Version]] = MappingProxyType({}),
    linked: Sequence[Path] = (),
) -> tuple[Path, str]:
    """Links ``program``, the C and C++ files ``others`` and the objects and libraries ``linked`` to ``output``; returns its path and
    all warnings.

    ``versions``: by source file, what its kernels have beside them, each made from the very kernel that is there.
    Raises ``Misuse``, ``CompileError`` (also for CUDA calls that our runtime does not
    implement, by name) and ``ToolError``; nothing half-written stays behind.
    """
    clang = program.clang
    options = program.options.source
    _let_zig_keep_its_cache()
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        objects: list[HostObject] = []
        later = [(code.module, linked_later(code, program.options)) for code in relocatables(linked)]
        every = (*program.units, *(unit for _, unit in later))
        if later:
            link_device_functions(every)
        shared = frozenset[str]().union(*(defined_variables(unit.source.text) for unit in every))
        also = [] if versions or later else [_compiled_for(program.units, arch) for arch in program.options.also]
        for number, unit in enumerate(program.units):
            embedded = Path(scratch) / f"{number}.blob"
            refuse_missing_device_code(unit, shared)
            embedded.write_bytes(device_blob(unit, versions.get(unit.path, ()), _nth(also, number)))
            made = Path(scratch) / f"{number}.o"
            if unit.source.launches_kernels:
                objects += _with_device_launches(unit, embedded, made)
            else:
                objects.append(compile_host(unit.path, embedded, made, unit.options.source, clang))
        for number, path in enumerate(others, start=len(objects)):
            made = Path(scratch) / f"{number}.o"
            objects.append(compile_host(path, None, made, options, clang))
        objects += [_registered(module, unit, shared, Path(scratch)) for module, unit in later]
        objects += [HostObject(path) for path in linked if path.suffix in OBJECT_SUFFIXES]
        libraries = tuple(str(path) for path in linked if path.suffix not in OBJECT_SUFFIXES)
        link = replace(link or LinkOptions(), extra=(*libraries, *(link.extra if link else ())))
        if is_special(output):
            _fill(output, link_executable(objects, Path(scratch) / "program", clang, link).read_bytes())
        else:
            # A link stays, and what it names is written.
            target = Path(os.path.realpath(output)) if output.is_symlink() else output
            link_executable(objects, target, clang, link)
        alone = _alone(program.options) if program.options.also and program.units and (versions or later) else ""
        return output, alone + "".join(o.warnings for o in objects)


def _with_device_launches(unit: Unit, embedded: Path, made: Path) -> list[HostObject]:
    """The host objects of a file whose kernels launch kernels, which clang takes for one whose device code is linked later."""
    options = unit.options.source
    chosen = replaced(options, host=(*options.host, *LAUNCH_FLAGS, *HOST_FLAGS))
    host = compile_host(unit.path, embedded, made, chosen, unit.clang)
    code = Relocatable(str(unit.path), unit.source.text, options.arch)
    made.write_bytes(with_own_name(made.read_bytes(), code, os.getcwd()))
    module = module_registered_by(Elf(made.read_bytes(), made.name))
    return [host, HostObject(linked_binary(module, embedded, made.parent), unit.path)]


def build_object(
    source: Unit | Path,
    output: Path,
    options: CompileOptions | None = None,
    listing: Sequence[str] = (),
    *,
    relocatable: bool = False,
) -> HostObject:
    """Writes the object file of one CUDA unit, or of a C or C++ file, to ``output``: host code with its kernels inside, for
    ``build_executable``. Raises as that does. ``listing``: clang's flags that write a dependency file beside it.

    ``relocatable``: its device code is linked with that of other objects, and optimised then. Otherwise a kernel that needs a device
    function of another file is refused.
    """
    _let_zig_keep_its_cache()
    if isinstance(source, Path):
        chosen = options or CompileOptions()
        return compile_host(source, None, output, chosen.source, Program((), chosen).clang, listing=listing)
    launches = source.source.launches_kernels  # once it is read, its options may be others
    chosen_source = source.options.source
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        embedded = Path(scratch) / "device.blob"
        if relocatable or launches:
            code = Relocatable(str(source.path), source.source.text, chosen_source.arch)
            embedded.write_bytes(pack(code))
            flags = LAUNCH_FLAGS if launches else ()
            chosen_source = replaced(chosen_source, host=(*chosen_source.host, *flags, *HOST_FLAGS))
            inside = Path(scratch) / "host.o"
            made = compile_host(source.path, embedded, inside, chosen_source, source.clang, listing=listing)
            _fill(output, with_own_name(inside.read_bytes(), code, os.getcwd()))
            alone = _alone(source.options) if source.options.also else ""
            return replace(made, path=output, warnings=alone + made.warnings)
        refuse_missing_device_code(source, defined_variables(source.source.text), _ALONE)
        others = [source.for_arch(arch) for arch in source.options.also]
        embedded.write_bytes(device_blob(source, (), others))
        return compile_host(source.path, embedded, output, chosen_source, source.clang, listing=listing)


def build_device_link(linked: Sequence[Path], output: Path, options: CompileOptions) -> None:
    """Links the device code of the objects and static libraries ``linked`` and writes an object that registers it, as ``nvcc -dlink``
    does: with it and our runtime library any linker makes a program of them. Raises as ``build_executable`` does."""
    _let_zig_keep_its_cache()
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        later = [(code.module, linked_later(code, options)) for code in relocatables(linked)]
        every = [unit for _, unit in later]
        link_device_functions(every)
        shared = frozenset[str]().union(*(defined_variables(unit.source.text) for unit in every))
        made = [_registered(module, unit, shared, Path(scratch)) for module, unit in later]
        _fill(output, merged([each.path for each in made], Path(scratch)).read_bytes())


def _registered(module: str, unit: Unit, shared: Collection[str], folder: Path) -> HostObject:
    """What registers the device code of an object, which was linked; ``shared``: device variables of the program."""
    refuse_missing_device_code(unit, shared)
    embedded = folder / f"{module}.blob"
    embedded.write_bytes(device_blob(unit))
    return HostObject(linked_binary(module, embedded, folder), unit.path)


def linked_later(code: Relocatable, options: CompileOptions) -> Unit:
    """The unit of an object's device code, to be linked, optimised for its architecture and as ``options`` say."""
    return relocated(Path(code.source), code.ir, replaced(options, source=replaced(options.source, arch=code.arch)))


_ALONE = "compile all files with -dc, or -rdc=true -c, and link the objects; or give all sources at once to one program"
_NO_SUCH_TEXTURE = "__kw_mipmapped_gathered_or_sparse_texture"
"""What our stand-in below NVIDIA's texture functions calls for those that our runtime has no objects for."""


def refuse_missing_device_code(unit: Unit, shared: Collection[str], hint: str = _GIVE_THEM) -> None:
    """Raises ``CompileError`` for what a kernel uses and no file of the program defines; ``shared``: their device variables."""
    text = unit.optimised
    missing = [*missing_functions(text), *(n for n in _ELSEWHERE.findall(text) if n not in shared)]
    if _NO_SUCH_TEXTURE in missing:
        raise CompileError(
            f"a kernel of {unit.path} uses levels of a mipmap, gathers texels, or has a sparse texture",
            hint="textures of one to three dimensions, of layers and of cubes work, and surfaces",
        )
    if missing:
        raise CompileError(
            f"a kernel of {unit.path} uses {readable(missing[0])}, which that file declares and no file of the program defines",
            hint=hint,
        )


def _let_zig_keep_its_cache() -> None:
    """zig builds its libraries below the home folder, and gives up where there is none."""
    home = os.path.expanduser("~")
    if "XDG_CACHE_HOME" in os.environ or (os.environ.get("HOME") and os.access(home, os.W_OK)):
        return
    folder = cache_folder()
    usable = os.access(folder if folder.is_dir() else folder.parent, os.W_OK)
    kept = folder / "zig" if usable else Path(tempfile.gettempdir(), f"kernelwright-zig-{os.getuid()}")
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(kept))


def _fill(output: Path, made: bytes) -> None:
    try:
        write_atomically(output, made)
    except OSError as error:
        raise ToolError(f"cannot write {output}: {error.strerror}", hint="choose another place with -o") from None


def host_inputs(path: Path, options: SourceOptions, clang: Clang, since_ns: int) -> Inputs:
    """What the host pass of ``path`` reads, if it began at ``since_ns``. Raises ``ToolError`` when clang fails."""
    flags = host_flags(clang, options, language(path))
    command = [*clang.command, *(f for f in flags if f != "-c"), "-M", as_argument(str(path))]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ToolError(f"clang does not list what {path} includes: {done.stderr.strip()[:200]}", hint="kw doctor")
    files = prerequisites(done.stdout, Path(os.devnull))
    return Inputs(files, searched_folders(command, files), since_ns)


def _alone(options: CompileOptions) -> str:
    """What is said where code has one architecture of several that were asked for: its kernels have winners beside them, or it is linked
    later."""
    return f"kw: compiled for {options.source.arch} alone, not for {', '.join(options.also)}: --arch chooses\n"


def _compiled_for(units: Sequence[Unit], arch: str) -> list[Unit]:
    """The units of a program for one more architecture, device functions of other files linked as in the first."""
    made = [unit.for_arch(arch) for unit in units]
    if len(made) > 1:
        link_device_functions(made)
    return made


def _nth(also: Sequence[Sequence[Unit]], number: int) -> list[Unit]:
    """One unit for all architectures."""
    return [units[number] for units in also]


def device_blob(unit: Unit, versions: Sequence[Version] = (), also: Sequence[Unit] = ()) -> bytes:
    """The device code of a unit, as it is embedded: optimised IR, PTX, the tables of kernels and variables, and versions. ``also``: it
    compiled for other architectures."""
    # The tables come from the IR before optimisation: the host registers every variable, also one that no kernel uses.
    kernels, variables = kernel_table.tables(unit.source.text)
    shared = _static_shared_bytes(unit)
    kernels = tuple(replace(k, static_shared_bytes=shared.get(k.name, 0)) for k in kernels)
    arch = unit.options.source.arch
    content = blob.Blob(
        source=str(unit.path), ir=carrying(unit.optimised, unit.options.passes), kernels=kernels, variables=variables,
        ptx={arch: unit.ptx, **{each.options.source.arch: each.ptx for each in also}},
        irs={each.options.source.arch: carrying(each.optimised, each.options.passes) for each in also},
        versions_text=json.dumps([_with_ptx(each, arch).as_json() for each in versions]) if versions else "",
    )  # fmt: skip
    return blob.write(content)


def loadable(unit: Unit, kind: str) -> bytes:
    """A unit as a program loads it while it runs, on any device: ``ptx``, ``cubin`` or ``fatbin``, each with the blob in it.

    Raises ``CompileError`` for a kernel that needs a device function of another file, ``ToolError`` where a cubin cannot be made.
    """
    unit.replace_source(named_by_host(unit.source.text))
    refuse_missing_device_code(unit, defined_variables(unit.source.text), _ALONE)
    if kind == "fatbin":
        return device_blob(unit, (), [unit.for_arch(arch) for arch in unit.options.also])
    embedded = device_blob(unit)
    return image.cubin_with(unit.cubin, embedded) if kind == "cubin" else image.ptx_with(unit.ptx, embedded).encode()


def _with_ptx(version: Version, arch: str) -> Version:
    """As a real GPU takes it without a compiler."""
    from kernelwright.codegen.ptx import emit_ptx

    return replace(version, ptx={arch: without_lines(emit_ptx(version.ir, arch, isolate=True))})


def _static_shared_bytes(unit: Unit) -> dict[str, int]:
    """Bytes of ``__shared__`` variables by kernel."""
    if "addrspace(3) global" not in unit.optimised:
        return {}
    return {kernel.name: shared_layout(kernel).static_bytes for kernel in unit.module.kernels}


def worker_command() -> str:
    """The shell command by which a program starts a worker of this installation, wherever the program is run from."""
    return installation_command("kernelwright.device.serving.worker")


def installation_command(module: str) -> str:
    """The shell command that runs a module of this installation, wherever it is run from."""
    start = f"{shlex.quote(sys.executable)} -P -m {module}"
    root = str(Path(__file__).parents[1])
    if root in site.getsitepackages():
        return start
    # Not where this Python looks by itself: a working tree, or another folder of packages.
    return f"PYTHONPATH={shlex.quote(root)}${{PYTHONPATH:+:$PYTHONPATH}} {start}"
