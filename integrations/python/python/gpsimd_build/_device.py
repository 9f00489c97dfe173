"""Calls on the simulated device, in this process. Unaware of numpy and of torch: elements are bytes."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import Finding, GpsimdBuildError, LibraryWarning

__all__ = ["Array", "Outcome", "Session", "Spec"]


@dataclass(frozen=True)
class Spec:
    """Type and shape of a tensor."""

    #: ``float32`` and so on.
    dtype: str
    #: Outermost first.
    shape: Tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """A tensor: little-endian elements, row-major, without padding."""

    spec: Spec
    data: Union[bytes, bytearray]


#: What an op takes.
Argument = Union[Array, int, float]


@dataclass(frozen=True)
class Outcome:
    """A call that came to an end, whatever it was."""

    #: ``None`` if a core did not complete.
    output: Optional[Array]
    #: No core failed and no check found an error.
    is_clean: bool
    #: The report in JSON, made when it is asked for: most callers want the output.
    _report: Callable[[], str]

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """``op``, ``cores`` and ``findings``, as ``run --json`` has them."""
        document: Mapping[str, Any] = json.loads(self._report())
        return document

    @property
    def findings(self) -> List[Finding]:
        """What the checks found, worst first."""
        return [Finding.from_document(finding) for finding in self.document["findings"]]


class Session:
    """A library on the cores of a simulated device, from its first call on."""

    def __init__(self, library: str) -> None:
        """``<dir>/<stem>``, a manifest or an image."""
        self._session = _told(_native.Session, library)
        self._outputs: Dict[Any, Spec] = {}
        for text in self._session.warnings():
            warnings.warn(text, LibraryWarning, stacklevel=3)

    def kernel(self, name: Optional[str]) -> str:
        """The kernel function of an op: by that, by op, by ``ns::op`` or ``ns.op``; ``None`` takes the only one."""
        kernel: str = _told(self._session.kernel, name)
        return kernel

    def types(self, kernel: str) -> List[str]:
        """The types of an op's parameters, as schemas name them; none where no schema is known."""
        types: List[str] = _told(self._session.types, kernel)
        return types

    def call(
        self,
        kernel: str,
        arguments: Sequence[Argument],
        output: Spec,
        allow: Sequence[str] = (),
        budget: Optional[int] = None,
    ) -> Outcome:
        """Calls an op. Ctrl-C stops it; other threads run meanwhile."""
        data, is_clean, report = _told(
            self._session.call, kernel, _plain(arguments), (output.dtype, list(output.shape)), list(allow), budget
        )
        return Outcome(None if data is None else Array(output, data), is_clean, report.json)

    def output(self, kernel: str, arguments: Sequence[Union[Argument, Spec]]) -> Spec:
        """What the op returns for such inputs: its shape function's answer, or the first tensor's type and shape."""
        specs = tuple(value.spec if isinstance(value, Array) else value for value in arguments)
        # 1 and 1.0 are one key of a dict
        key = (kernel, specs, tuple(map(type, specs)))
        if key not in self._outputs:
            dtype, shape = _told(self._session.output, kernel, _plain(specs))
            self._outputs[key] = Spec(dtype, tuple(shape))
        return self._outputs[key]


def _plain(arguments: Sequence[Union[Argument, Spec]]) -> List[Any]:
    def one(argument: Union[Argument, Spec]) -> Any:
        if isinstance(argument, Array):
            return (argument.spec.dtype, list(argument.spec.shape), bytes(argument.data))
        if isinstance(argument, Spec):
            return (argument.dtype, list(argument.shape), None)
        return argument

    return [one(argument) for argument in arguments]


def _told(function: Any, *arguments: Any) -> Any:
    """Calls into the extension, whose refusals are this package's errors."""
    try:
        return function(*arguments)
    except _native.Refusal as refusal:
        raise GpsimdBuildError.from_document(json.loads(str(refusal))) from None
