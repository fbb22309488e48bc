"""LLVM-IR (LLVM 22 text) as Python objects: parse, change, verify, print. Pure Python, no LLVM needed.

    module = parse_module(text)
    for kernel in module.kernels:
        for instruction in kernel.instructions():
            ...
    verify(module)
    text = print_module(module)

In the order the data flows: ``tokens`` and ``types`` (words and types), ``values``, ``constants``, ``opcodes``, ``module``
(the nouns), ``reader``, ``read_instruction``, ``read_body``, ``source``,
``parser`` (text in), ``printer`` (text out), ``rules``, ``flags``, ``verify`` (what is
valid), ``clone``, ``graph``, ``control_flow``, ``data_layout``, ``debug`` (what can be asked).
"""

from __future__ import annotations

from kernelwright.ir import types
from kernelwright.ir.clone import clone_function, clone_module
from kernelwright.ir.constants import (
    Constant,
    ConstantAggregate,
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    ConstantNull,
    ConstantString,
    InlineAsm,
    MetadataOperand,
    Poison,
    Undef,
    ZeroInitializer,
    zero,
)
from kernelwright.ir.control_flow import Dominators, loop_latches, reverse_postorder
from kernelwright.ir.data_layout import DataLayout
from kernelwright.ir.debug import Location, function_location, source_location
from kernelwright.ir.module import Argument, BasicBlock, Function, GlobalVariable, Instruction, Module
from kernelwright.ir.text.parser import parse_module
from kernelwright.ir.text.printer import local_names, print_function, print_instruction, print_module
from kernelwright.ir.types import (
    ArrayType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
    Type,
    VectorType,
    parse_type,
)
from kernelwright.ir.values import Names, Use, Value
from kernelwright.ir.verify import verify, verify_function

__all__ = [
    "Argument",
    "ArrayType",
    "BasicBlock",
    "Constant",
    "ConstantAggregate",
    "ConstantExpr",
    "ConstantFloat",
    "ConstantInt",
    "ConstantNull",
    "ConstantString",
    "DataLayout",
    "Dominators",
    "FloatType",
    "Function",
    "FunctionType",
    "GlobalVariable",
    "InlineAsm",
    "Instruction",
    "IntType",
    "Location",
    "MetadataOperand",
    "Module",
    "Names",
    "PointerType",
    "Poison",
    "StructType",
    "Type",
    "Undef",
    "Use",
    "Value",
    "VectorType",
    "ZeroInitializer",
    "clone_function",
    "clone_module",
    "function_location",
    "local_names",
    "loop_latches",
    "parse_module",
    "parse_type",
    "print_function",
    "print_instruction",
    "print_module",
    "reverse_postorder",
    "source_location",
    "types",
    "verify",
    "verify_function",
    "zero",
]
