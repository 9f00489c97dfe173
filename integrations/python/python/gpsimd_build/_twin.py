"""Calls of a library's native twin, in this process: its kernels as code of this machine, without a device.

Unaware of numpy and of torch: elements are addresses or bytes. The other side is ``sdk/native/native.h``.
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _device
from ._errors import GpsimdBuildError

__all__ = ["InPlace", "TwinSession"]

_VERSION = 1
#: PyTorch's numbers of the device's element types.
_DTYPES = {
    "uint8": 0,
    "int8": 1,
    "int16": 2,
    "int32": 3,
    "int64": 4,
    "float16": 5,
    "float32": 6,
    "bfloat16": 15,
}
_MESSAGE_BYTES = 4096

#: A tensor where it lies: its address, and its type and shape.
InPlace = Tuple[int, _device.Spec]


class _Argument(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
    ]


class TwinSession(_device.Session):
    """A library of which the twin runs the kernels; the device says only what shape a result has."""

    def __init__(self, library: str, cores: int) -> None:
        """``<dir>/<stem>``, and how many cores it is for."""
        super().__init__(library)
        self._call = _function(library + ".native.so")
        self._cores = cores
        self._types: Dict[str, List[str]] = {}
        self._outputs: Dict[Any, _device.Spec] = {}

    def call(
        self,
        kernel: str,
        arguments: Sequence[_device.Argument],
        output: _device.Spec,
        allow: Sequence[str] = (),
        budget: Optional[int] = None,
    ) -> _device.Outcome:
        """Calls an op. There are no checks to allow, and nothing counts instructions."""
        data = bytearray(_bytes_of(output))
        kept: List[Any] = []

        def in_place(array: _device.Array) -> InPlace:
            # a copy: the caller's bytes may be nobody's to change
            kept.append((ctypes.c_char * max(len(array.data), 1)).from_buffer_copy(bytes(array.data) or b"\0"))
            return ctypes.addressof(kept[-1]), array.spec

        plain = [in_place(value) if isinstance(value, _device.Array) else value for value in arguments]
        result = (ctypes.c_char * max(len(data), 1)).from_buffer(data if data else bytearray(1))
        message = self.call_in_place(kernel, plain, (ctypes.addressof(result), output))
        del result
        return self.outcome(kernel, message, _device.Array(output, data))

    def call_in_place(self, kernel: str, arguments: Sequence[Union[InPlace, int, float]], output: InPlace) -> str:
        """Calls an op on tensors where they lie; gives why a core stopped, or nothing."""
        if kernel not in self._types:
            self._types[kernel] = self.types(kernel)
        types = self._types[kernel]
        if len(arguments) != len(types):
            raise GpsimdBuildError(
                "run::input_count",
                f"{len(arguments)} inputs are given, {kernel} takes {len(types)}",
                f"in this order: {', '.join(types)}",
            )
        plain = (_Argument * (len(arguments) + 1))()
        _put(plain[0], *output)
        kept = []
        for slot, value, kind in zip(list(plain)[1:], arguments, types):
            if isinstance(value, tuple):
                _put(slot, *value)
            else:
                kept.append(_number(kernel, value, kind))
                number, dtype = kept[-1]
                _put(slot, ctypes.addressof(number), _device.Spec(dtype, (1,)))
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        status = self._call(kernel.encode(), plain, len(plain), self._cores, message, _MESSAGE_BYTES)
        return "" if status == 0 else message.value.decode("utf-8", "replace").rstrip()

    def outcome(self, kernel: str, message: str, output: Optional[_device.Array] = None) -> _device.Outcome:
        """What a call came to, as one on the device would be reported."""
        finding = {
            "code": "native::stopped",
            "severity": "error",
            "message": f"{kernel} stopped on {message}",
            "help": "the same call on the simulated device names the line",
        }
        report = {"op": kernel, "cores": [], "findings": [finding] if message else []}
        return _device.Outcome(None if message else output, not message, lambda: json.dumps(report))


def _function(path: str) -> Any:
    if not os.path.isfile(path):
        raise GpsimdBuildError(
            "python::no_twin", f"there is no {path}", "build the library with --native, or load(..., native=True)"
        )
    if not hasattr(ctypes.CDLL(None), "__asan_init"):
        with open(path, "rb") as file:
            is_checked = b"__asan_init" in file.read()
        if is_checked:
            raise GpsimdBuildError(
                "python::sanitizer",
                f"{path} was built with --sanitize address, which must be in a process from its start",
                'start Python so: LD_PRELOAD="$(c++ -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 python3',
            )
    twin = ctypes.CDLL(os.path.abspath(path))
    if twin.gpsimd_native_version() != _VERSION:
        raise GpsimdBuildError("python::no_twin", f"{path} is of another version", "build the library again")
    function = twin.gpsimd_native_call
    function.argtypes = [
        ctypes.c_char_p,
        ctypes.POINTER(_Argument),
        ctypes.c_uint32,
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    return function


def _put(slot: _Argument, address: int, spec: _device.Spec) -> None:
    slot.data, slot.rank, slot.dtype = address, len(spec.shape), _DTYPES[spec.dtype]
    slot.sizes = (ctypes.c_int64 * len(spec.shape))(*spec.shape)


def _number(kernel: str, value: Union[int, float], kind: str) -> Tuple[Any, str]:
    """A number as it travels to the device, and its type there."""
    is_whole = isinstance(value, int)
    if kind == "float" or (kind == "Scalar" and not is_whole):
        return ctypes.c_float(value), "float32"
    if kind == "int" and is_whole and -(2**31) <= value < 2**31:
        return ctypes.c_int32(int(value)), "int32"
    if kind in ("long long", "Scalar") and is_whole:
        return ctypes.c_int64(int(value)), "int64"
    raise GpsimdBuildError("run::input_type", f"{kernel} has a parameter of type {kind}, which {value!r} is not")


def _bytes_of(spec: _device.Spec) -> int:
    bits = 16 if spec.dtype == "bfloat16" else int("".join(c for c in spec.dtype if c.isdigit()))
    count = bits // 8
    for extent in spec.shape:
        count *= extent
    return count
