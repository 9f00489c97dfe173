"""Ops of built libraries as PyTorch's own: ``torch.ops.my.relu(x)`` runs on the simulated device.

``load`` and ``load_library`` take the keywords of ``torch_neuronx.xla_impl.custom_op`` and register every op of the library
under the name that its schema gives it. What is registered works in modules, in ``torch.jit.trace`` and, where the version
has them, with FakeTensor and ``torch.compile``.

>>> import torch, gpsimd_build.torch
>>> gpsimd_build.torch.load("relu", "relu.cpp", "relu_shape.cpp", gradient={"relu_forward": "relu_backward"})
>>> torch.ops.my.relu_forward(torch.randn(3))

Unaware of how an op runs.
"""

from __future__ import annotations

import os
import struct
from typing import Any, Dict, Mapping, Optional, Sequence, Union

import torch

from . import custom_op
from ._arguments import PathLike
from ._errors import GpsimdBuildError
from ._library import Library, Op
from ._operators import Gradients, register

__all__ = ["load", "load_library", "register_library"]

#: The op that gives an op's gradient: one for all of a library, by op, or by op and parameter.
Gradient = Union[str, Mapping[str, Union[str, Gradients]]]


def load(
    name: str,
    compute_srcs: Union[PathLike, Sequence[PathLike]],
    shape_srcs: Union[PathLike, Sequence[PathLike]],
    extra_cflags: Sequence[str] = [],
    extra_include_paths: Sequence[PathLike] = [],
    build_directory: Optional[PathLike] = None,
    multicore: bool = False,
    verbose: bool = False,
    gradient: Optional[Gradient] = None,
    native: bool = False,
) -> Library:
    """Builds a library as :func:`gpsimd_build.custom_op.load` does, and registers its ops.

    :param gradient: see :func:`register_library`
    :param native: run the library's native twin, not the simulated device
    """
    library = custom_op.load(
        name, compute_srcs, shape_srcs, extra_cflags, extra_include_paths, build_directory, multicore, verbose, native
    )
    register_library(library, gradient)
    return library


def load_library(
    libname: PathLike, verbose: bool = False, gradient: Optional[Gradient] = None, native: bool = False
) -> Library:
    """Registers the ops of a library that an earlier build wrote.

    :param libname: ``<dir>/lib<name>`` with or without ``.so``, one of the library's images, or its manifest
    :param gradient: see :func:`register_library`
    :param native: run the library's native twin, not the simulated device
    """
    library = custom_op.load_library(libname, verbose, native)
    register_library(library, gradient)
    return library


def register_library(library: Library, gradient: Optional[Gradient] = None) -> Sequence[str]:
    """Registers every op of a library; gives their names, ``ns::op``.

    ``gradient`` makes ops differentiable by other ops of the library. ``"relu_backward"`` is for the one op that is left
    beside it; ``{"relu_forward": "relu_backward"}`` names both; ``{"mul": {"a": "mul_grad_a", "b": "mul_grad_b"}}`` has one
    for each parameter. Without a parameter it is the op's first tensor. The op that gives a gradient is called with the
    gradient of the result, then with those arguments of the forward call that have its parameters' names (or, if it has
    other names, with the first ones).

    :raises GpsimdBuildError: ``gradient`` names what is not there
    :raises RuntimeError: an op of that name is registered by somebody else, or with another schema
    """
    gradients = _gradients(library, gradient)
    return [register(op, gradients.get(op.qualified, {})) for op in library.values()]


def _gradients(library: Library, gradient: Optional[Gradient]) -> Dict[str, Gradients]:
    if gradient is None:
        return {}
    if isinstance(gradient, str):
        backward = library.op(gradient)
        rest = [op for op in library.values() if op is not backward]
        if len(rest) != 1:
            raise GpsimdBuildError(
                "python::gradient",
                f"{gradient} could be the gradient of {len(rest)} ops",
                'say of which: gradient={"forward": "backward"}',
            )
        gradient = {rest[0].name: gradient}
    found: Dict[str, Gradients] = {}
    for name, by_parameter in gradient.items():
        forward = library.op(name)
        if isinstance(by_parameter, str):
            by_parameter = {_first_tensor(forward): by_parameter}
        names = [argument.name for argument in torch._C.parse_schema(forward.schema).arguments]
        for parameter in by_parameter:
            if parameter not in names:
                raise GpsimdBuildError(
                    "python::gradient", f"{name} has no parameter {parameter}", f"it has {', '.join(names)}"
                )
        found[forward.qualified] = {key: library.op(op).qualified for key, op in by_parameter.items()}
    return found


def _first_tensor(op: Op) -> str:
    for argument in torch._C.parse_schema(op.schema).arguments:
        if str(argument.type) == "Tensor":
            return str(argument.name)
    raise GpsimdBuildError("python::gradient", f"{op.name} takes no tensor", "leave it out of gradient")


_XTENSA = 94
_load_host_library = torch.ops.load_library


def _load_library(path: Any) -> None:
    """``torch.ops.load_library``, which dlopens, with words for what cannot be."""
    with open(path, "rb") if os.path.isfile(path) else open(os.devnull, "rb") as file:
        head = file.read(20)
    if head.startswith(b"\x7fELF\x01\x01") and len(head) == 20 and struct.unpack_from("<H", head, 18)[0] == _XTENSA:
        raise RuntimeError(
            f"{path} is code for the device, not for this machine: "
            f"gpsimd_build.torch.load_library({os.fspath(path)!r}) registers its operators"
        )
    _load_host_library(path)


torch.ops.load_library = _load_library
