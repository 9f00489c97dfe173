"""Calling an op of a built library on numpy arrays. Unaware of how a library was built."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Union

from . import _tool
from ._arguments import PathLike, library_stem
from ._errors import Finding, GpsimdBuildError, LibraryWarning, RunFindings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._library import Library

__all__ = ["LibraryLike", "RunReport", "run", "run_report", "verify"]

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

    :param lib: a library, see :data:`LibraryLike`
    :param op: its kernel function; ``None`` takes the library's only one
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
    return run_report(
        lib, op, *inputs, like=like, shape=shape, dtype=dtype, allow=allow, budget=budget
    ).output


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
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="gpsimd-run-") as scratch:
        texts: List[str] = []
        arrays: List[int] = []
        for index, value in enumerate(inputs):
            number = _number(value)
            if number is not None:
                texts.append(number)
                continue
            array = _array(index, value)
            path = os.path.join(scratch, f"input{index}.npy")
            np.save(path, np.ascontiguousarray(array), allow_pickle=False)
            texts.append(path)
            arrays.append(index)
        result = os.path.join(scratch, "output.npy")
        line = ["run", "--output", result]
        library = library_path(lib)
        is_open = like is None and shape is None and dtype is None
        if not (is_open and os.path.isfile(library + ".shapes.so")):
            line += _output_options(inputs, arrays, like, shape, dtype)
        if op is not None:
            line += ["--op", op]
        for code in allow:
            line += ["--allow", code]
        if budget is not None:
            line += ["--budget", str(budget)]
        # what follows `--` is a source's compiler flags
        library = os.path.join(".", library) if library.startswith("-") else library
        done = _tool.answer([*line, library, *texts])
        for text in done.warnings:
            warnings.warn(text, LibraryWarning, stacklevel=3)
        document = done.document
        failed = document["output"]["file"] is None
        output = np.zeros(0, np.float32) if failed else np.load(result, allow_pickle=False)
    report = RunReport(
        output=_bfloat16(output) if document["output"]["dtype"] == "bfloat16" and not failed else output,
        text="".join(_prefixed(core) for core in document["cores"]),
        findings=[Finding.from_document(finding) for finding in document["findings"]],
        cores=document["cores"],
    )
    if done.exit_status != 0:
        raise RunFindings(report.findings, report)
    return report


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


def _number(value: Any) -> Optional[str]:
    """A Python or numpy number as the tool reads it; ``None`` for everything else."""
    import numpy as np

    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return None


def _array(index: int, value: Any) -> "npt.NDArray[Any]":
    import numpy as np

    array = np.asarray(value)
    if array.dtype.hasobject or array.dtype.kind in "USMmc":
        raise GpsimdBuildError(
            "python::input",
            f"input {index} is {type(value).__name__} of {array.dtype}; the device has no such elements",
            "give an array of int8, uint8, int16, int32, float16 or float32, or a number",
        )
    return array


def _output_options(
    inputs: Sequence[Any],
    arrays: Sequence[int],
    like: Optional[int],
    shape: Optional[Sequence[int]],
    dtype: Any,
) -> List[str]:
    """``--like`` or ``--shape`` with ``--dtype``."""
    import numpy as np

    if like is not None and (shape is not None or dtype is not None):
        raise GpsimdBuildError(
            "python::output", "like excludes shape and dtype", "say one: like=0, or shape=(2, 3), dtype='float32'"
        )
    if shape is None and dtype is None:
        if like is None and not arrays:
            raise GpsimdBuildError(
                "python::output", "no input is an array, so the output's shape is not known", "say shape=(2, 3)"
            )
        return ["--like", str(arrays[0] if like is None else like)]
    if shape is None:
        if not arrays:
            raise GpsimdBuildError("python::output", "dtype alone says no shape", "say shape=(2, 3) too")
        shape = np.shape(inputs[arrays[0]])
    name = "float32" if dtype is None else _dtype_name(dtype)
    return ["--shape", "x".join(str(int(extent)) for extent in shape), "--dtype", name]


def _dtype_name(dtype: Any) -> str:
    import numpy as np

    if isinstance(dtype, str):
        return dtype
    with contextlib.suppress(TypeError):
        return str(np.dtype(dtype).name)
    return str(dtype).rsplit(".", 1)[-1]


def _bfloat16(array: "npt.NDArray[Any]") -> "npt.NDArray[Any]":
    """numpy itself has no such type; where ``ml_dtypes`` is installed it is that one, else its raw 16 bits."""
    import numpy as np

    try:
        import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return array.view(np.uint16)
    return array.view(np.dtype(ml_dtypes.bfloat16))


def _prefixed(core: Mapping[str, Any]) -> str:
    text = core.get("text") or ""
    return "".join(f"P{core.get('core', 0)}: {line}\n" for line in text.splitlines())
