"""Registered operators: what a name of ``torch.ops`` does when it is called.

An operator has a CPU implementation, a Meta implementation (types and shapes only: what FakeTensor and ``torch.compile``
ask) and, if its library says so, a gradient. Unaware of files and builds.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

import torch

from . import _tensors
from ._library import Op

__all__ = ["Gradients", "register"]

#: Ops that give the gradient of another, by the parameter it is for.
Gradients = Mapping[str, str]


class Operator:
    """What a registered name stands for. Loading a library again puts another op into its place."""

    def __init__(self, op: Op, gradients: Gradients) -> None:
        self.op = op
        self.gradients = gradients
        self.schema = torch._C.parse_schema(op.schema)

    @property
    def name(self) -> str:
        """``ns::op``."""
        return str(self.schema.name)

    @property
    def parameters(self) -> List[str]:
        return [str(argument.name) for argument in self.schema.arguments]

    def cpu(self, *values: Any) -> torch.Tensor:
        return _tensors.call(self.op, values)

    def meta(self, *values: Any) -> torch.Tensor:
        return _tensors.output(self.op, values)

    def autograd(self, *values: Any) -> Any:
        return _Function.apply(self, *values)

    def without_gradient(self, *values: Any) -> torch.Tensor:
        return self.below_autograd(values)

    def below_autograd(self, values: Sequence[Any]) -> torch.Tensor:
        with _below_autograd():
            result: torch.Tensor = _packet(self.name)(*values)
        return result

    def gradient(self, parameter: str, grad: torch.Tensor, values: Sequence[Any]) -> torch.Tensor:
        """The gradient for a parameter: its op gets ``grad``, then what it names of this op's arguments."""
        op = _packet(self.gradients[parameter])
        wanted = [str(argument.name) for argument in op.default._schema.arguments[1:]]
        known = dict(zip(self.parameters, values))
        # a registration without names has PyTorch's `_0`, `_1`
        by_name = all(name in known and not re.fullmatch(r"_\d+", name) for name in wanted)
        rest = [known[name] for name in wanted] if by_name else list(values[: len(wanted)])
        result: torch.Tensor = op(grad.contiguous(), *rest)
        return result


class _Function(torch.autograd.Function):
    """The step of a graph that an operator with a gradient is."""

    @staticmethod
    def forward(ctx: Any, operator: Operator, *values: Any) -> torch.Tensor:
        ctx.operator = operator
        ctx.others = [None if isinstance(value, torch.Tensor) else value for value in values]
        ctx.save_for_backward(*(value for value in values if isinstance(value, torch.Tensor)))
        return operator.below_autograd(values)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tuple[Any, ...]:
        operator: Operator = ctx.operator
        tensors = iter(ctx.saved_tensors)
        is_tensor = [str(argument.type) == "Tensor" for argument in operator.schema.arguments]
        values = [next(tensors) if here else other for here, other in zip(is_tensor, ctx.others)]
        found: List[Any] = [None]
        for index, parameter in enumerate(operator.parameters):
            needed = parameter in operator.gradients and ctx.needs_input_grad[index + 1]
            found.append(operator.gradient(parameter, grads[0], values) if needed else None)
        return tuple(found)


#: By ``ns::op``. What is in a dispatcher stays there to the end of the process, so this does too.
_registered: Dict[str, Operator] = {}
#: What keeps registrations alive.
_fragments: List[Any] = []


def register(op: Op, gradients: Gradients) -> str:
    """Makes ``torch.ops.<ns>.<op>``; gives ``ns::op``.

    :raises RuntimeError: somebody else has registered that name, or this package with another schema
    """
    operator = Operator(op, gradients)
    name = operator.name
    present = _registered.get(name)
    if present is not None:
        if str(present.schema) != str(operator.schema):
            raise RuntimeError(
                f"{name} is registered as {present.schema}; an operator's schema cannot change within a process, "
                f"and this library says {operator.schema}"
            )
        if bool(present.gradients) != bool(gradients):
            raise RuntimeError(f"{name} is registered {'with' if present.gradients else 'without'} a gradient")
        present.op, present.gradients = op, gradients
        return name
    namespace, _, short = name.partition("::")
    fragment = _fragment(namespace)
    fragment.define(op.schema.partition("::")[2])
    fragment.impl(short, operator.cpu, "CPU")
    fragment.impl(short, operator.meta, "Meta")
    if gradients:
        fragment.impl(short, operator.autograd, "Autograd")
    elif isinstance(fragment, _OldFragment):
        # what other backends pass over, this one lacks before PyTorch 2.0
        fragment.impl(short, operator.without_gradient, "AutogradMeta")
    _registered[name] = operator
    _fragments.append(fragment)
    return name


@contextlib.contextmanager
def _below_autograd() -> Iterator[None]:
    guard: Any = torch._C._AutoDispatchBelowAutograd()
    if hasattr(guard, "__enter__"):
        with guard:
            yield
    else:
        # before PyTorch 2.0 the guard holds as long as it exists
        try:
            yield
        finally:
            del guard


def _packet(name: str) -> Any:
    namespace, _, short = name.partition("::")
    return getattr(getattr(torch.ops, namespace), short)


class _OldFragment:
    """A fragment of a namespace where ``torch.library`` makes whole namespaces only (before PyTorch 2.0)."""

    def __init__(self, namespace: str) -> None:
        self._module = torch._C._dispatch_library("FRAGMENT", namespace, "")

    def define(self, schema: str) -> None:
        self._module.define(schema, "")

    def impl(self, name: str, function: Any, key: str) -> None:
        self._module.impl(name, key, function)


def _fragment(namespace: str) -> Any:
    try:
        return torch.library.Library(namespace, "FRAGMENT")
    except ValueError:
        return _OldFragment(namespace)
