"""PyTorch's tensors to and from the device's. Unaware of registration."""

from __future__ import annotations

from typing import Any, List, Sequence, Union

import torch

from ._device import Array, Spec
from ._errors import RunFindings
from ._library import Op
from ._twin import TwinSession

__all__ = ["call", "output"]

_NAMES = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
#: How PyTorch calls the types that the device lacks.
_OTHERS = {
    torch.float64: "Double",
    torch.bool: "Bool",
    torch.complex32: "ComplexHalf",
    torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
}


def call(op: Op, values: Sequence[Any]) -> torch.Tensor:
    """Runs an op on tensors of the CPU.

    :raises RunFindings: a core did not complete, or a check found an error
    """
    session = op.session
    if isinstance(session, TwinSession):
        return _call_twin(op, session, values)
    arguments = [_array(op, value) if isinstance(value, torch.Tensor) else value for value in values]
    outcome = op.call(arguments)
    if outcome.output is None or not outcome.is_clean:
        raise RunFindings(outcome.findings, outcome)
    spec = outcome.output.spec
    flat = torch.frombuffer(outcome.output.data, dtype=_DTYPES[spec.dtype])
    return flat.reshape(spec.shape)


def _call_twin(op: Op, session: TwinSession, values: Sequence[Any]) -> torch.Tensor:
    """Runs it on the tensors where they lie; what is not row-major is copied first."""
    plain = [value.contiguous() if isinstance(value, torch.Tensor) else value for value in values]
    specs = [_spec(op, value) if isinstance(value, torch.Tensor) else value for value in plain]
    spec = session.output(op.kernel, specs)
    result = torch.empty(spec.shape, dtype=_DTYPES[spec.dtype])
    arguments = [
        (value.data_ptr(), about) if isinstance(value, torch.Tensor) else value for value, about in zip(plain, specs)
    ]
    message = session.call_in_place(op.kernel, arguments, (result.data_ptr(), spec))
    if message:
        outcome = session.outcome(op.kernel, message)
        raise RunFindings(outcome.findings, outcome)
    return result


def output(op: Op, values: Sequence[Any]) -> torch.Tensor:
    """A tensor without elements that is what the op would return."""
    arguments: List[Union[Spec, int, float]] = [
        _spec(op, value) if isinstance(value, torch.Tensor) else value for value in values
    ]
    spec = op.output(arguments)
    return torch.empty(spec.shape, dtype=_DTYPES[spec.dtype], device="meta")


def _spec(op: Op, tensor: torch.Tensor) -> Spec:
    name = _NAMES.get(tensor.dtype)
    if name is None:
        raise RuntimeError(f'"{op.name}" not implemented for \'{_OTHERS.get(tensor.dtype, tensor.dtype)}\'')
    return Spec(name, tuple(int(extent) for extent in tensor.shape))


def _array(op: Op, tensor: torch.Tensor) -> Array:
    spec = _spec(op, tensor)
    flat = tensor.detach().contiguous().reshape(-1)
    return Array(spec, flat.view(torch.uint8).numpy().tobytes())
