"""The part of ``llvmlite.binding`` that a compile needs, on the same shared library, for a command that compiles and ends.

``llvmlite.binding`` takes 25 ms to import, a quarter of a compile: it describes three hundred functions, and finds its library
through modules of Python's that are large. Here are the thirty functions that are called, under the names and with the
meanings that llvmlite gives them, so that its documentation is theirs and ``llvm.engine`` can give the one for the other.

Nothing is freed: the system does that when the process ends.
"""

from __future__ import annotations

import os
import sys
from ctypes import CDLL, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p, string_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LIBRARY = "llvmlite/binding/libllvmlite.so"
MAJOR = 22
INTERNAL = 8
"""``LLVMInternalLinkage``."""

_POINTER, _TEXT, _NUMBER, _SIZE, _UNSIGNED = c_void_p, c_char_p, c_int, c_size_t, c_uint
# Name after LLVMPY_ -> what it returns, what it takes. A text or a size that a function fills in is taken by its address.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "GetVersionInfo": (_UNSIGNED,),
    "InitializeAllTargetInfos": (None,),
    "InitializeAllTargets": (None,),
    "InitializeAllTargetMCs": (None,),
    "InitializeAllAsmPrinters": (None,),
    "SetCommandLine": (None, _TEXT, _TEXT),
    "ContextCreate": (_POINTER,),
    "ParseAssembly": (_POINTER, _POINTER, _TEXT, _POINTER),
    "ParseBitcode": (_POINTER, _POINTER, _TEXT, _SIZE, _POINTER),
    "VerifyModule": (_NUMBER, _POINTER, _POINTER),
    "PrintModuleToString": (None, _POINTER, _POINTER),
    "WriteBitcodeToString": (None, _POINTER, _POINTER, _POINTER),
    "LinkModules": (_NUMBER, _POINTER, _POINTER, _POINTER),
    "GetDataLayout": (None, _POINTER, _POINTER),
    "SetDataLayout": (None, _POINTER, _TEXT),
    "GetTarget": (None, _POINTER, _POINTER),
    "SetTarget": (None, _POINTER, _TEXT),
    "ModuleFunctionsIter": (_POINTER, _POINTER),
    "FunctionsIterNext": (_POINTER, _POINTER),
    "FunctionBlocksIter": (_POINTER, _POINTER),
    "BlocksIterNext": (_POINTER, _POINTER),
    "FunctionArgumentsIter": (_POINTER, _POINTER),
    "ArgumentsIterNext": (_POINTER, _POINTER),
    "FunctionAttributesIter": (_POINTER, _POINTER),
    "AttributeListIterNext": (_POINTER, _POINTER),
    "GetEnumAttributeKindForName": (_UNSIGNED, _TEXT, _SIZE),
    "AddFunctionAttr": (None, _POINTER, _UNSIGNED),
    "GetValueName": (_TEXT, _POINTER),
    "SetValueName": (None, _POINTER, _TEXT),
    "IsDeclaration": (_NUMBER, _POINTER),
    "SetLinkage": (None, _POINTER, _NUMBER),
    "GetTargetFromTriple": (_POINTER, _TEXT, _POINTER),
    "GetTargetName": (_TEXT, _POINTER),
    "CreateTargetMachine": (_POINTER, _POINTER, _TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, _TEXT, _NUMBER, _NUMBER, _TEXT),
    "SetTargetMachineAsmVerbosity": (None, _POINTER, _NUMBER),
    "TargetMachineEmitToMemory": (_POINTER, _POINTER, _POINTER, _NUMBER, _POINTER),
    "GetBufferStart": (_POINTER, _POINTER),
    "GetBufferSize": (_SIZE, _POINTER),
    "CreatePipelineTuningOptions": (_POINTER,),
    "CreatePassBuilder": (_POINTER, _POINTER, _POINTER),
    "buildPerModuleDefaultPipeline": (_POINTER, _POINTER, _NUMBER),
    "CreateNewModulePassManager": (_POINTER,),
    "module_AddGlobalDCEPass": (None, _POINTER),
    "RunNewModulePassManager": (None, _POINTER, _POINTER, _POINTER),
}

_calls: dict[str, Any] = {}
llvm_version_info: tuple[int, ...] = ()


def load() -> bool:
    """Loads the library; False when there is none, or it is not the one that this file describes."""
    global llvm_version_info
    places = (os.path.join(folder, LIBRARY) for folder in sys.path)
    found = next((path for path in places if os.path.isfile(path)), None)
    if found is None:
        return False
    try:
        library = CDLL(found)
        for name, (returned, *taken) in FUNCTIONS.items():
            function = getattr(library, f"LLVMPY_{name}")
            function.restype, function.argtypes = returned, taken
            _calls[name] = function
    except (OSError, AttributeError):
        return False
    version = _calls["GetVersionInfo"]()
    llvm_version_info = tuple(byte for byte in version.to_bytes(4, "big") if byte)
    return llvm_version_info[0] == MAJOR


def initialize_all_targets() -> None:
    """As ``llvmlite.binding`` has it."""
    for name in ("InitializeAllTargetInfos", "InitializeAllTargets", "InitializeAllTargetMCs"):
        _calls[name]()


def initialize_all_asmprinters() -> None:
    """As ``llvmlite.binding`` has it."""
    _calls["InitializeAllAsmPrinters"]()


def set_option(name: str, option: str) -> None:
    """As ``llvmlite.binding`` has it: a switch for the whole process."""
    _calls["SetCommandLine"](name.encode(), option.encode())


class _Reference:
    """Something of LLVM's. Closing it does nothing."""

    def __init__(self, pointer: int | None) -> None:
        self._as_parameter_ = pointer

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        return None


def create_context() -> _Reference:
    """As ``llvmlite.binding`` has it."""
    return _Reference(_calls["ContextCreate"]())


def parse_assembly(text: str, context: _Reference) -> Module:
    """As ``llvmlite.binding`` has it. Raises ``RuntimeError`` for what is no IR."""
    said = c_char_p()
    made = _calls["ParseAssembly"](context, text.encode(), byref(said))
    if said.value:
        raise RuntimeError(f"LLVM IR parsing error\n{_decoded(said)}")
    return Module(made)


def parse_bitcode(data: bytes, context: _Reference) -> Module:
    """As ``llvmlite.binding`` has it. Raises ``RuntimeError`` for what is no bitcode."""
    said = c_char_p()
    made = _calls["ParseBitcode"](context, data, len(data), byref(said))
    if said.value:
        raise RuntimeError(f"LLVM bitcode parsing error\n{_decoded(said)}")
    return Module(made)


class Module(_Reference):
    def __str__(self) -> str:
        return _filled("PrintModuleToString", self)

    def as_bitcode(self) -> bytes:
        """The module as LLVM writes it to a ``.bc`` file."""
        data, size = c_char_p(), c_size_t()
        _calls["WriteBitcodeToString"](self, byref(data), byref(size))
        return string_at(data, size.value)

    def verify(self) -> None:
        """Raises ``RuntimeError`` with LLVM's message for a module that is not well formed."""
        said = c_char_p()
        if _calls["VerifyModule"](self, byref(said)) & 0xFF:  # a C++ bool
            raise RuntimeError(_decoded(said))

    def link_in(self, other: Module) -> None:
        """Moves all of ``other`` here, which cannot be used afterwards. Raises ``RuntimeError`` with LLVM's message."""
        said = c_char_p()
        if _calls["LinkModules"](self, other, byref(said)):
            raise RuntimeError(_decoded(said))

    @property
    def functions(self) -> Iterator[Value]:
        """Functions of the module, declared and defined ones, in its order."""
        return _each("ModuleFunctionsIter", "FunctionsIterNext", self)

    @property
    def data_layout(self) -> str:
        """LLVM's data layout string; can be assigned."""
        return _filled("GetDataLayout", self)

    @data_layout.setter
    def data_layout(self, text: str) -> None:
        _calls["SetDataLayout"](self, text.encode())

    @property
    def triple(self) -> str:
        """The target triple, as ``nvptx64-nvidia-cuda``; can be assigned."""
        return _filled("GetTarget", self)

    @triple.setter
    def triple(self, text: str) -> None:
        _calls["SetTarget"](self, text.encode())


class Value(_Reference):
    """A function, an argument or a block."""

    @property
    def name(self) -> str:
        """The name without ``@`` or ``%``; can be assigned."""
        return str(_calls["GetValueName"](self).decode())

    @name.setter
    def name(self, text: str) -> None:
        _calls["SetValueName"](self, text.encode())

    @property
    def is_declaration(self) -> int:
        """1 for a function without a body here, else 0."""
        return int(_calls["IsDeclaration"](self))

    def _set_linkage(self, linkage: str) -> None:
        assert linkage == "internal"
        _calls["SetLinkage"](self, INTERNAL)

    linkage = property(fset=_set_linkage)

    @property
    def attributes(self) -> Iterator[bytes]:
        """The attributes of a function as text, one after another."""
        found = _calls["FunctionAttributesIter"](self)
        while text := _calls["AttributeListIterNext"](found):
            yield c_char_p(text).value or b""

    def add_function_attribute(self, name: str) -> None:
        """``name`` is that of an attribute without a value, as ``alwaysinline``."""
        kind = _calls["GetEnumAttributeKindForName"](name.encode(), len(name))
        _calls["AddFunctionAttr"](self, kind)

    @property
    def blocks(self) -> Iterator[Value]:
        """The blocks of a function in order; a declaration has none."""
        return _each("FunctionBlocksIter", "BlocksIterNext", self)

    @property
    def arguments(self) -> Iterator[Value]:
        """The arguments of a function in order."""
        return _each("FunctionArgumentsIter", "ArgumentsIterNext", self)


class Target(_Reference):
    _triple = ""

    @classmethod
    def from_triple(cls, triple: str) -> Target:
        """Raises ``RuntimeError`` with LLVM's message for a triple that this LLVM has no target for."""
        said = c_char_p()
        found = cls(_calls["GetTargetFromTriple"](triple.encode(), byref(said)))
        if found._as_parameter_ is None:
            raise RuntimeError(_decoded(said))
        found._triple = triple
        return found

    @property
    def name(self) -> str:
        """LLVM's short name of the target, as ``nvptx64``."""
        return str(_calls["GetTargetName"](self).decode())

    def create_target_machine(self, cpu: str, features: str, opt: int) -> Machine:
        """``opt``: level of code generation, 0 to 3. Raises ``RuntimeError`` where LLVM makes none."""
        texts = (text.encode() for text in (self._triple, cpu, features))
        made = Machine(_calls["CreateTargetMachine"](self, *texts, opt, b"default", b"jitdefault", 0, 0, b""))
        if made._as_parameter_ is None:
            raise RuntimeError("Cannot create target machine")
        return made


class Machine(_Reference):
    def set_asm_verbosity(self, verbose: bool) -> None:
        """Whether assembly has comments."""
        _calls["SetTargetMachineAsmVerbosity"](self, verbose)

    def emit_assembly(self, module: Module) -> str:
        """The module's assembly, of NVPTX its PTX. Raises ``RuntimeError`` with LLVM's message."""
        said = c_char_p()
        buffer = _calls["TargetMachineEmitToMemory"](self, module, 0, byref(said))
        if buffer is None:
            raise RuntimeError(_decoded(said))
        return string_at(_calls["GetBufferStart"](buffer), _calls["GetBufferSize"](buffer)).decode()


class _Tuning(_Reference):
    speed_level = 2


def create_pipeline_tuning_options(speed_level: int) -> _Tuning:
    """As ``llvmlite.binding`` has it."""
    made = _Tuning(_calls["CreatePipelineTuningOptions"]())
    made.speed_level = speed_level
    return made


class _PassBuilder(_Reference):
    level = 2

    def getModulePassManager(self) -> _PassManager:
        return _PassManager(_calls["buildPerModuleDefaultPipeline"](self, self.level))


class _PassManager(_Reference):
    def add_global_dead_code_eliminate_pass(self) -> None:
        _calls["module_AddGlobalDCEPass"](self)

    def run(self, module: Module, builder: _PassBuilder) -> None:
        _calls["RunNewModulePassManager"](self, module, builder)


def create_pass_builder(machine: Machine, tuning: _Tuning) -> _PassBuilder:
    """As ``llvmlite.binding`` has it."""
    made = _PassBuilder(_calls["CreatePassBuilder"](machine, tuning))
    made.level = tuning.speed_level
    return made


def create_new_module_pass_manager() -> _PassManager:
    """As ``llvmlite.binding`` has it."""
    return _PassManager(_calls["CreateNewModulePassManager"]())


def _each(begin: str, following: str, whole: _Reference) -> Iterator[Value]:
    found = _calls[begin](whole)
    while pointer := _calls[following](found):
        yield Value(pointer)


def _filled(name: str, about: _Reference) -> str:
    text = c_char_p()
    _calls[name](about, byref(text))
    return _decoded(text)


def _decoded(text: c_char_p) -> str:
    return (text.value or b"").decode()
