"""What cuSOLVER's routines tell of themselves: a number on the device, 0 where all went well."""

from __future__ import annotations

from kernelwright.device.libraries.number_types import I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call


def dev_info(call: Call, address: int, count: int = 1) -> Array:
    """``devInfo``, to be written; looked up before anything is computed, so that a null pointer leaves all else as it was."""
    return call.vector("devInfo", address, count, 1, I32, reads=False, writes=True).stored


def wrong_parameter(call: Call, t: NumberType, info: int, number: int) -> None:
    """devInfo = -number, of a call whose parameter of that number, the handle not counted, cannot be."""
    dev_info(call, info)[0] = -number
