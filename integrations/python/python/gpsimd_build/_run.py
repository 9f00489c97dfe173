"""Calling an op of a built library on numpy arrays. Unaware of how a library was built."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _tool
from ._arguments import PathLike, library_stem
from ._device import Argument, Array, Outcome, Session, Spec
from ._errors import Finding, GpsimdBuildError, RunFindings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._library import Library, Op

__all__ = ["LibraryLike", "RunReport", "run", "run_op", "run_report", "verify"]

#: A library: an object of ``load``, ``<dir>/<stem>``, its manifest, one of its images, or what ``compile`` gave.
LibraryLike = Union["Library", PathLike, Sequence[PathLike]]


@dataclass(frozen=True)
class RunReport:
    """An op that ran."""

    #: What the op wrote; empty if it failed.
    output: "npt.NDArray[Any]"
    #: What the kernel printed, core by core, each line with its core: ``P0: …``.
    text: str
    #: What the checks found and did not count as a failure.
    findings: Sequence[Finding]
    #: Per core: outcome, instructions, estimated cycles, transfers, memory.
    cores: Sequence[Mapping[str, Any]]


def run(
    lib: LibraryLike,
    op: Optional[str],
    *inputs: Any,
    like: Optional[int] = None,
    shape: Optional[Sequence[int]] = None,
    dtype: Any = None,
    allow: Iterable[str] = (),
    budget: Optional[int] = None,
) -> "npt.NDArray[Any]":
    """Calls an op on the simulated device and gives its output.

    :param lib: a library, see :data:`LibraryLike`; one of ``load`` stays on the device between calls
    :param op: its name, its kernel function or ``ns::op``; ``None`` takes the library's only one
    :param inputs: arrays (anything ``numpy.asarray`` takes) and numbers, in the order of the schema
    :param like: the output has the shape and type of this input, counted from 0; default: what the library's shape
        function says, else the first array
    :param shape: the output's shape, if it is another one
    :param dtype: the output's element type; default: that of the input it is like, or ``float32`` with ``shape``
    :param allow: codes of checks whose findings are left out
    :param budget: most instructions per core before the run counts as endless
    :raises RunFindings: a core did not complete, or a check found something; the kernel's line is in the text
    :raises GpsimdBuildError: the call cannot begin
    """
    session = _session(lib)
    return _called(
        session, session.kernel(op), inputs, like=like, shape=shape, dtype=dtype, allow=allow, budget=budget
    )[0]


def run_report(
    lib: LibraryLike,
    op: Optional[str],
    *inputs: Any,
    like: Optional[int] = None,
    shape: Optional[Sequence[int]] = None,
    dtype: Any = None,
    allow: Iterable[str] = (),
    budget: Optional[int] = None,
) -> RunReport:
    """As :func:`run`, with everything that is known about the run."""
    session = _session(lib)
    called = _called(
        session, session.kernel(op), inputs, like=like, shape=shape, dtype=dtype, allow=allow, budget=budget
    )
    return _report(*called)


def run_op(op: "Op", *inputs: Any, **options: Any) -> "npt.NDArray[Any]":
    """As :func:`run`, of an op that is at hand."""
    return _called(op.session, op.kernel, inputs, **options)[0]


def _session(lib: LibraryLike) -> Session:
    return getattr(lib, "session", None) or Session(library_path(lib))


def _called(
    session: Session,
    kernel: str,
    inputs: Sequence[Any],
    like: Optional[int] = None,
    shape: Optional[Sequence[int]] = None,
    dtype: Any = None,
    allow: Iterable[str] = (),
    budget: Optional[int] = None,
) -> Tuple[npt.NDArray[Any], Outcome]:
    import numpy as np

    arguments = [_argument(index, value) for index, value in enumerate(inputs)]
    spec = _output(arguments, like, shape, dtype) or session.output(kernel, arguments)
    outcome = session.call(kernel, arguments, spec, list(allow), budget)
    output = np.zeros(0, np.float32) if outcome.output is None else _numpy(outcome.output)
    if not outcome.is_clean:
        report = _report(output, outcome)
        raise RunFindings(report.findings, report)
    return output, outcome


def _report(output: "npt.NDArray[Any]", outcome: Outcome) -> RunReport:
    cores = outcome.document["cores"]
    return RunReport(output, "".join(_prefixed(core) for core in cores), outcome.findings, cores)


def verify(lib: LibraryLike) -> List[Finding]:
    """Checks every file of a library; raises nothing for what it finds."""
    document = _tool.answer(["verify", "--", library_path(lib)]).document
    return [Finding.from_document(finding) for finding in document["findings"]]


def library_path(lib: LibraryLike) -> str:
    """The path by which the tool knows a library: with its manifest, if there is one, since that has the schemas."""
    path = getattr(lib, "path", lib)
    if not isinstance(path, (str, os.PathLike)):
        images = list(path)
        if not images:
            raise GpsimdBuildError("python::no_images", "the list of images is empty", "build the library first")
        path = images[0]
    text = os.fspath(path)
    return library_stem(text) or text


def _argument(index: int, value: Any) -> Argument:
    """A number as it is, everything else as an array."""
    import numpy as np

    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    array = np.asarray(value)
    if array.dtype.hasobject or array.dtype.kind in "USMmc":
        raise GpsimdBuildError(
            "python::input",
            f"input {index} is {type(value).__name__} of {array.dtype}; the device has no such elements",
            "give an array of int8, uint8, int16, int32, float16 or float32, or a number",
        )
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return Array(Spec(array.dtype.name, array.shape), little.tobytes())


def _output(
    arguments: Sequence[Argument], like: Optional[int], shape: Optional[Sequence[int]], dtype: Any
) -> Optional[Spec]:
    """What the caller says of the output; ``None`` if nothing."""
    specs = [argument.spec if isinstance(argument, Array) else None for argument in arguments]
    if like is not None and (shape is not None or dtype is not None):
        raise GpsimdBuildError(
            "python::output", "like excludes shape and dtype", "say one: like=0, or shape=(2, 3), dtype='float32'"
        )
    if like is not None:
        spec = specs[like] if 0 <= like < len(specs) else None
        if spec is None:
            raise GpsimdBuildError("run::like", f"like={like}: input {like} is no array", "name an array, from 0")
        return spec
    if shape is None and dtype is None:
        return None
    first = next((spec for spec in specs if spec is not None), None)
    if shape is None:
        if first is None:
            raise GpsimdBuildError("python::output", "dtype alone says no shape", "say shape=(2, 3) too")
        shape = first.shape
    return Spec("float32" if dtype is None else _dtype_name(dtype), tuple(int(extent) for extent in shape))


def _dtype_name(dtype: Any) -> str:
    import numpy as np

    if isinstance(dtype, str):
        return dtype
    with contextlib.suppress(TypeError):
        return str(np.dtype(dtype).name)
    return str(dtype).rsplit(".", 1)[-1]


def _numpy(array: Array) -> "npt.NDArray[Any]":
    """numpy itself has no bfloat16; where ``ml_dtypes`` is installed it is that one, else its raw 16 bits."""
    import numpy as np

    dtype: Any = array.spec.dtype
    if dtype == "bfloat16":
        try:
            import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            dtype = np.uint16
        else:
            dtype = ml_dtypes.bfloat16
    return np.frombuffer(array.data, np.dtype(dtype)).reshape(array.spec.shape)


def _prefixed(core: Mapping[str, Any]) -> str:
    text = core.get("text") or ""
    return "".join(f"P{core.get('core', 0)}: {line}\n" for line in text.splitlines())
