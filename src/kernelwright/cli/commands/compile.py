"""``kw compile``: CUDA source to IR, PTX, cubin or an executable."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from kernelwright.cache import is_special, write_atomically
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, TUNED, WITH, CompileFlags, takes_flags
from kernelwright.cli.support.error_exit import guarded, leave_at_once
from kernelwright.cli.support.plain_flags import Flag, quick
from kernelwright.cli.support.receipts import leave_receipt
from kernelwright.cli.support.streams import say
from kernelwright.cuda.early_clang import leave_recipe
from kernelwright.cuda.inputs import working_folder
from kernelwright.errors import Misuse, ToolError
from kernelwright.pipeline import CUDA_SUFFIXES, STAGES, Program, Unit
from kernelwright.pipeline import compile as compile_program
from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from kernelwright.cuda.link import LinkOptions
    from kernelwright.kernel_version import Version

OBJECT = "object"
LINKABLE = (".o", ".obj", ".a", ".so")
"""What a link takes besides sources: objects (of ``-c``, or of a C compiler) and libraries."""
_PROGRAMS = re.compile(r"\.(out|exe|bin|elf|run|x|cuda|nvcc|gpu|\d+)$")
"""How programs end in the Makefiles of others, if they do; any other suffix is asked about."""
FATBIN = "fatbin"
# What can be emitted: the stage that makes it, and the usual suffix.
EMITS = {
    "ir": ("optimise", ".ll"), "ptx": ("ptx", ".ptx"), "cubin": ("cubin", ".cubin"), FATBIN: (FATBIN, ".fatbin"),
    "obj": (OBJECT, ".o"), "exe": ("link", ""),
}  # fmt: skip
HOST_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")
STAGE_SUFFIXES = {
    "frontend": ".raw.ll",
    "libdevice": ".linked.ll",
    "optimise": ".ll",
    "ptx": ".ptx",
    "cubin": ".cubin",
    FATBIN: ".fatbin",
    OBJECT: ".o",
}


@frozen
class DependencyFile:
    """A rule for make beside an object: what it was made from. ``kind``: -MD, or -MMD without the system's headers."""

    kind: str
    file: str | None
    target: str | None
    phony: bool
    """Whether headers that are gone stop nothing."""

    def flags(self, made: Path) -> tuple[str, ...]:
        """clang's, for the object ``made``."""
        named = self.file or str(made.with_suffix(".d"))
        return (
            self.kind,
            "-MF",
            os.path.abspath(named),
            "-MT",
            self.target or str(made),
            *(["-MP"] if self.phony else []),
        )


DEPENDENCY_FLAGS: tuple[Flag, ...] = (
    Flag("dependencies", ("-MD", "--generate-dependencies-with-compile"), "switch", "With -c: a rule for make, in a .d file.", False),
    Flag(
        "own_dependencies", ("-MMD", "--generate-nonsystem-dependencies-with-compile"), "switch",
        "The same without the system's headers.", False,
    ),
    Flag("dependency_targets", ("-MP", "--generate-dependency-targets"), "switch", "A rule without a command for each header.", False),
    Flag("dependency_file", ("-MF", "--dependency-output"), "text", "Where that rule is written."),
    Flag("dependency_target", ("-MT", "--dependency-target-name"), "text", "What that rule is for; default: the object."),
)  # fmt: skip
OWN_FLAGS: tuple[Flag, ...] = (
    Flag("output", ("-o", "--output-file"), "text", "Output file, or a folder; - prints."),
    Flag("emit", ("--emit",), "text", "ir, ptx, cubin, fatbin, obj or exe; default: what -o says, else ptx."),
    Flag("stop_after", ("--stop-after",), "text", f"Stop after a stage and write it: {', '.join(STAGES)}."),
    Flag("print_after", ("--print-after",), "texts", "Print what a stage produced, and go on."),
    Flag("ptx", ("-ptx", "--ptx"), "switch", "", False),
    Flag("cubin", ("-cubin", "--cubin"), "switch", "", False),
    Flag("fatbin", ("-fatbin", "--fatbin"), "switch", "", False),
    Flag(
        "compile_only",
        ("-c", "--compile"),
        "switch",
        "An object file for each source, to be linked by kw compile.",
        False,
    ),
    Flag(
        "device_c", ("-dc", "--device-c"), "switch", "As -rdc=true -c: device code is linked with the objects.", False
    ),
    Flag(
        "device_link",
        ("-dlink", "--device-link"),
        "switch",
        "An object with the device code of objects that -dc made.",
        False,
    ),
    *DEPENDENCY_FLAGS,
    Flag("library", ("-l", "--library"), "texts", "Library to link, for --emit exe."),
    Flag("library_folder", ("-L", "--library-path"), "texts", "Folder to search for libraries."),
    WITH,
    Flag("linker", ("-Xlinker", "--linker-options"), "texts", "Options for the linker, for --emit exe."),
)
# What nvcc's users link and our runtime stands for.
_OUR_RUNTIME = ("cudart", "cudart_static", "cudadevrt", "culibos")


def run_quickly(arguments: list[str]) -> None:
    """Runs a plain command line and exits; returns when typer had better look at it."""
    found = quick(arguments, (*OWN_FLAGS, *COMPILE_FLAGS))
    if found is None or not found[0]:
        return
    sources, values = found

    def run() -> None:
        flags = CompileFlags.of(values)
        say(flags.remarks)
        compile_files([Path(s) for s in sources], flags=flags, **values)

    guarded(run, leave=leave_at_once)


def compile_files(
    sources: list[Path],
    *,
    flags: CompileFlags,
    output: str | None = None,
    emit: str | None = None,
    stop_after: str | None = None,
    print_after: list[str] | None = None,
    ptx: bool = False,
    cubin: bool = False,
    fatbin: bool = False,
    compile_only: bool = False,
    device_c: bool = False,
    device_link: bool = False,
    dependencies: bool = False,
    own_dependencies: bool = False,
    dependency_targets: bool = False,
    dependency_file: str | None = None,
    dependency_target: str | None = None,
    library: list[str] | None = None,
    library_folder: list[str] | None = None,
    linker: list[str] | None = None,
    winners: list[str] | None = None,
) -> None:
    """What ``kw compile`` does, its flags read.
    Raises ``Misuse`` for flags that exclude each other and sources that are none, ``CompileError``, ``ToolError``."""
    if not working_folder():
        raise Misuse("the current folder has been removed", hint="cd to one that exists")
    _check_output(output)
    cuda = [s for s in sources if s.suffix in CUDA_SUFFIXES]
    linked = [s for s in sources if is_linkable(s)]
    others = [s for s in sources if s not in cuda and s not in linked]
    if device_link and (compile_only or device_c) and cuda:
        say("kw: ignored: -dlink (what -c makes is linked later)\n")
    elif device_link:
        _link_device_code([*cuda, *others], linked, Path(output or "a_dlink.o"), flags)
        return
    emitted = _emitted(emit, ptx=ptx, cubin=cubin, fatbin=fatbin, obj=compile_only or device_c)
    what = _what("exe" if emitted is None and linked and output is None else emitted, stop_after, output)
    if linked and what != "link":
        raise Misuse(f"{linked[0]} is compiled already", hint="objects belong to -o app, or --emit exe")
    _check_sources(sources, cuda, others, what)
    if winners and what != "link":
        raise Misuse("--with puts winners into a program", hint="-o app, or --emit exe")
    if winners:
        from kernelwright.passes.llvm import binding

        binding()  # variants take all of LLVM; from here on everybody here has that
    targets = _targets([*cuda, *others] if what == OBJECT else cuda or others or linked, what, output)
    _check_targets(targets, cuda, [*others, *linked])
    wanted = None
    if (dependency_file or dependency_target or dependency_targets) and not (dependencies or own_dependencies):
        say("kw: ignored: -MF, -MT, -MP (no dependency file is asked for: -MD or -MMD does)\n")
    if dependencies or own_dependencies:
        kind = "-MD" if dependencies else "-MMD"
        wanted = DependencyFile(kind, dependency_file, dependency_target, dependency_targets)
    if what == OBJECT:
        if dependency_file and len(targets) > 1:
            raise Misuse(
                f"{len(targets)} files have one -MF {dependency_file}", hint="compile them one by one, or leave out -MF"
            )
        _each_object([*cuda, *others], targets, flags, wanted, device_c or flags.relocatable)
        return
    if wanted:
        say(f"kw: ignored: {wanted.kind} (dependencies are written beside an object, with -c)\n")
    program = (
        compile_program(list(cuda), options=flags.options, cache=flags.use_cache)
        if cuda
        else Program((), flags.options)
    )
    warnings = "".join(unit.source.warnings for unit in program.units)
    say(warnings)
    for stage in print_after or ():
        for unit in program.units:
            _print_stage(unit, stage)
    if len(program.units) == 1 and program.units[0].source.command:
        leave_recipe(sys.argv, str(cuda[0]), program.units[0].source.command)
    if what == "link":
        program, carried = _with_winners(program, winners, flags) if winners else (program, {})
        link = link_options(library or (), library_folder or (), linker or ())
        _executable(program, others, targets[0], link, carried, linked)
        _say_whose_thresholds(cuda, targets[0], winners or [])
        return
    if flags.options.also and what != FATBIN:
        say(
            f"kw: {what} for {flags.options.source.arch} alone, not for {', '.join(flags.options.also)}: --arch chooses\n"
        )
    written = _each_unit(program, what, targets, is_loadable=ptx or cubin or what == FATBIN)
    if flags.use_cache and not print_after:
        inputs = program.units[0].inputs
        for unit in program.units[1:]:
            inputs += unit.inputs
        leave_receipt(sys.argv, inputs, written, flags.remarks + warnings)


def _link_device_code(sources: list[Path], linked: list[Path], output: Path, flags: CompileFlags) -> None:
    if sources or not linked:
        raise Misuse(
            "-dlink takes objects and libraries alone",
            hint="kw compile -dc first, then kw compile -dlink a.o b.o -o device.o",
        )
    _check_sources(linked, [], [], "link")
    _check_targets([output], linked[:1], linked)
    from kernelwright.executable import build_device_link

    build_device_link(linked, output, flags.options)


def is_linkable(path: Path) -> bool:
    """Whether a file among the sources is for the linker: an object, or a library, also with a version (``libx.so.1``)."""
    return path.suffix in LINKABLE or bool(re.search(r"\.so(\.\d+)+$", path.name))


def _emitted(emit: str | None, **switches: bool) -> str | None:
    """What ``--emit`` and nvcc's ``-ptx``, ``-cubin``, ``-fatbin`` and ``-c`` ask for together."""
    asked = {kind for kind, given in switches.items() if given} | ({emit} if emit is not None else set())
    if len(asked) > 1:
        raise Misuse(
            f"one compile makes one thing, not {' and '.join(sorted(map(str, asked)))}", hint="give one of them"
        )
    return next(iter(asked), None)


def _what(emit: str | None, stop_after: str | None, output: str | None) -> str:
    """The last stage to run."""
    if emit and stop_after:
        raise Misuse("--emit and --stop-after both say where to stop", hint="give one of them")
    if stop_after:
        if stop_after not in STAGES:
            raise Misuse(f"there is no stage {stop_after!r}", hint=f"the stages are {', '.join(STAGES)}")
        return stop_after
    if emit is None:
        emit = _meant_by(output)
    if emit not in EMITS:
        raise Misuse(f"--emit {emit!r} is not known", hint=f"it is one of {', '.join(EMITS)}")
    return EMITS[emit][0]


def _meant_by(output: str | None) -> str:
    """What a name asks for: ``x.ll`` IR, a folder or no name at all PTX, ``x`` and ``x.out`` an executable as with every
    compiler."""
    if output is None or output == "-" or output.endswith("/") or Path(output).is_dir():
        return "ptx"
    for emit, (_, suffix) in EMITS.items():
        if Path(output).suffix == suffix and emit != "obj":  # nvcc makes a program of that name, which nothing wants
            return emit
    if _PROGRAMS.search(output) and not is_linkable(Path(output)):
        return "exe"
    raise Misuse(
        f"-o {output} does not say what to make", hint="add -c for an object, or --emit ir, ptx, cubin, fatbin or exe"
    )


def _check_sources(sources: list[Path], cuda: list[Path], others: list[Path], what: str) -> None:
    for path in sources:
        if str(path) == "-":
            raise Misuse("a program is not read from standard input", hint="put it into a file: cat > app.cu")
        if not os.path.exists(path):
            raise Misuse(f"{path} does not exist", hint="check the path")
    for path in others:
        if path.suffix not in HOST_SUFFIXES:
            known = ", ".join((*CUDA_SUFFIXES, *HOST_SUFFIXES))
            raise Misuse(f"{path} is neither CUDA nor C nor C++ by its suffix", hint=f"known suffixes are {known}")
    if others and what not in ("link", OBJECT):
        raise Misuse(f"{others[0]} has no device side", hint="C and C++ files belong to --emit exe, or to -c")
    if not cuda and what not in ("link", OBJECT):
        raise Misuse("there is no CUDA file among the sources", hint="give a .cu file, or --emit exe")


def _check_output(output: str | None) -> None:
    """Says so before minutes of work when the result could not be written."""
    if output is None or output == "-":
        return
    if not output:
        raise Misuse("-o names nothing", hint="-o FILE, -o FOLDER, or -o - to print")
    if is_special(output):
        return
    path = Path(os.path.realpath(output))  # a link stays, and what it names is written
    folder = path if path.is_dir() or output.endswith("/") else path.parent
    if not folder.is_dir():
        raise Misuse(f"there is no folder {folder}", hint=f"mkdir -p {folder}")
    if not os.access(folder, os.W_OK):
        raise ToolError(
            f"the folder {folder} is not writable", hint="give -o another folder, or change its permissions"
        )


def _targets(cuda: list[Path], what: str, output: str | None) -> list[Path]:
    """Where each source's result goes, or the one program; none when results are printed."""
    if output == "-":
        if what in ("link", OBJECT):
            raise Misuse(f"an {'executable' if what == 'link' else 'object'} is not printed", hint="-o FILE")
        return []
    folder = Path(output) if output is not None and Path(output).is_dir() else None
    if what == "link":
        return [folder / cuda[0].stem if folder else Path(output or "a.out")]
    if len(cuda) > 1 and output is not None and not folder:
        raise Misuse(f"{len(cuda)} files do not fit into one {output}", hint="give -o a folder")
    names = [source.stem + STAGE_SUFFIXES[what] for source in cuda]
    return [folder / name for name in names] if folder else [Path(output or name) for name in names]


def _check_targets(targets: list[Path], cuda: list[Path], others: list[Path]) -> None:
    """Refuses to write one result over another, or over a source."""
    sources_by_target: dict[Path, Path] = {}
    for target, source in zip(targets, cuda, strict=False):
        other = sources_by_target.setdefault(target, source)
        if other is not source:
            raise Misuse(
                f"the results of {other} and {source} would both be written to {target}",
                hint="compile them one by one, each with its own -o",
            )
        for each in (*cuda, *others):
            if os.path.exists(target) and each.samefile(target):
                raise Misuse(f"{target} is a source, and would be written over", hint="give -o another name")


def _print_stage(unit: Unit, stage: str) -> None:
    result = unit.stage(stage)
    if isinstance(result, bytes):
        raise Misuse(f"what {stage} produces is binary and is not printed", hint="--emit cubin -o FILE")
    print(f"// {unit.path}, after {stage}\n{result}")


def _each_unit(program: Program, stage: str, targets: list[Path], *, is_loadable: bool) -> dict[str, bytes]:
    """Writes every unit's result, or prints them when there are no targets; returns path or ``-`` -> bytes.

    ``is_loadable``: what is written carries the blob as well, so that a program can load it on any device, as nvcc's flags ask for;
    ``--emit`` makes what people read, and so does what is printed.
    """
    results: list[str | bytes]
    if is_loadable and (targets or stage == FATBIN):
        from kernelwright.executable import loadable

        results = [loadable(unit, stage) for unit in program.units]
    else:
        results = [unit.stage(stage) for unit in program.units]
    datas = [r if isinstance(r, bytes) else r.encode("utf-8", "surrogateescape") for r in results]
    if targets:
        written = {str(path): data for path, data in zip(targets, datas, strict=True)}
        for path, data in written.items():
            _write(Path(path), data)
        return written
    if isinstance(results[0], bytes) and sys.stdout.isatty():
        raise Misuse(f"a {stage} is binary and is not printed to a terminal", hint="-o FILE")
    if len(datas) > 1:
        datas = [os.fsencode(f"// {u.path}\n") + data for u, data in zip(program.units, datas, strict=True)]
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(datas))
    sys.stdout.flush()
    return {"-": b"".join(datas)}


def _write(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        raise ToolError(
            f"{path} cannot be written: {error.strerror}",
            hint="free some space or give -o another folder; nothing was left behind",
        ) from None


def link_options(libraries: Sequence[str], folders: Sequence[str], options: Sequence[str]) -> LinkOptions:
    """What ``-l``, ``-L`` and ``-Xlinker`` say; a program started by hand finds a device worker of this installation."""
    from kernelwright.cuda.link import LinkOptions
    from kernelwright.executable import worker_command

    ours = [name for name in libraries if name in _OUR_RUNTIME]
    if ours:
        print(
            f"kw: ignored: {' '.join(f'-l{name}' for name in ours)} (our CUDA runtime takes its place)", file=sys.stderr
        )
    return LinkOptions(
        libraries=tuple(name for name in libraries if name not in _OUR_RUNTIME),
        library_folders=tuple(folders),
        extra=tuple(f"-Wl,{','.join(text.split())}" for text in options),
        device="auto",
        worker=worker_command(),
    )


def _with_winners(
    program: Program, winners: list[str], flags: CompileFlags
) -> tuple[Program, dict[Path, list[Version]]]:
    """The program, for an architecture that the winners fit, and by source file the versions that its kernels are compiled with; says
    which have no place."""
    from kernelwright.cli.support.winners_view import given_versions, print_valid_for
    from kernelwright.stories.winners import placed_where_they_fit

    program, carried, said = placed_where_they_fit(program, given_versions(winners), cache=flags.use_cache)
    say("".join(f"kw: {sentence}\n" for sentence in said))
    print_valid_for([version for versions in carried.values() for version in versions])
    return program, carried


def _say_whose_thresholds(cuda: list[Path], target: Path, winners: list[str]) -> None:
    """Where there are thresholds for guards of the program, and it looks for them elsewhere."""
    named = [Path(name) for text in winners for name in text.split(",") if name.endswith(TUNED)]
    tuned = next((path for path in (*named, *(path.with_suffix(TUNED) for path in cuda[:1])) if path.is_file()), None)
    place = target.with_name(target.name + TUNED)
    if tuned is None or place.exists():
        return
    from kernelwright.versions.threshold_file import read_thresholds, winners_named

    try:
        thresholds = read_thresholds(tuned)
    except Misuse:
        return  # what is wrong with it is no matter of compiling
    if len(winners_named(tuned, thresholds)) < len(thresholds):
        say(f"kw: its guards read {place}, which is not there: copy {tuned} to it\n")


def _each_object(
    sources: list[Path], targets: list[Path], flags: CompileFlags, wanted: DependencyFile | None, relocatable: bool
) -> None:
    """Every source by itself, as ``-c`` has it: what others define is not known here."""
    from kernelwright.executable import build_object

    for source, target in zip(sources, targets, strict=True):
        listing = wanted.flags(target) if wanted else ()
        if source.suffix in CUDA_SUFFIXES:
            (unit,) = compile_program([source], options=flags.options, cache=flags.use_cache).units
            say(unit.source.warnings)
            if not relocatable:
                _ = unit.ptx  # as below
            say(build_object(unit, target, listing=listing, relocatable=relocatable).warnings)
        else:
            say(build_object(source, target, flags.options, listing).warnings)


def _executable(
    program: Program,
    others: list[Path],
    target: Path,
    link: LinkOptions,
    carried: Mapping[Path, Sequence[Version]],
    linked: Sequence[Path] = (),
) -> None:
    from kernelwright.executable import build_executable

    for unit in program.units:
        _ = unit.ptx  # LLVM may end the process: not while there is a folder to tidy up
    _, warnings = build_executable(program, others, target, link, carried, linked)
    say(warnings)


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer, which a quick run has no need of."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated, Any

    import typer

    def command(sources: list[Path], flags: CompileFlags, **own: Any) -> None:
        """CUDA source to IR, PTX, cubin or an executable."""
        compile_files(sources, flags=flags, **own)

    command.__annotations__["sources"] = Annotated[
        list[Path], typer.Argument(help="CUDA files; C and C++ files, objects and libraries among them for --emit exe.")
    ]
    command.__annotations__["own"] = Any
    return takes_flags(command, OWN_FLAGS)
