"""Testing ops from Python: everything about an op in one call, and Hypothesis strategies for what ops take.

>>> from gpsimd_build.testing import check_op
>>> check_op("relu.cpp", shape_srcs="relu_shape.cpp")
>>> check_op("build/relu", "relu_forward", reference=numpy_relu)

Unaware of pytest; any test runner shows what :class:`OpFailures` says. Only :func:`tensors` needs Hypothesis.
"""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _run, _tool
from ._arguments import PathLike
from ._errors import GpsimdBuildError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["DTYPES", "OpFailures", "check_op", "tensors"]

#: Element types of tensors that numpy has, too.
DTYPES = ("float32", "float16", "int8", "uint8", "int16", "int32", "int64")
_SOURCES = (".cpp", ".cc", ".cxx", ".c")

#: What an op should compute: ``module:function``, or a function of a module.
Reference = Union[str, Callable[..., Any]]


class OpFailures(AssertionError):
    """Rules that ops break, each with the smallest case and the lines that repeat it."""

    #: What ``gpsimd-build --json test`` has of each failure; see ``docs/json/test.json``.
    failures: Sequence[Mapping[str, Any]]

    def __init__(self, failures: Sequence[Mapping[str, Any]]) -> None:
        self.failures = failures
        super().__init__("\n\n".join(_told(failure) for failure in failures))


def check_op(
    library: Union["_run.LibraryLike", Sequence[PathLike]],
    op: Optional[str] = None,
    *,
    shape_srcs: Union[PathLike, Sequence[PathLike]] = (),
    reference: Optional[Reference] = None,
    inputs: Sequence[Union[str, int, float]] = (),
    only: Sequence[str] = (),
    ulps: Mapping[str, int] = {},
    allow: Iterable[str] = (),
    seed: int = 0,
    build_directory: Optional[PathLike] = None,
) -> Sequence[str]:
    """Tests everything about an op, or all ops of a library, as ``gpsimd-build test`` does; gives what could not be tried.

    :param library: a library, see :data:`gpsimd_build.run`; or kernel sources, which are built every way
    :param op: only this one: its kernel function, its name or ``ns::op``
    :param shape_srcs: of sources: sources of shape functions
    :param reference: what the op should compute, a function of numpy arrays, or of tensors if its module imports torch
    :param inputs: one good call, a word for each parameter, if it cannot be found by trying: ``["rand:16x24", 1e-5]``
    :param only: kinds of cases: ``given``, ``calls``, ``extents``, ``blocks``, ``dtypes``, ``unusual``
    :param ulps: how far results may be from the reference's, by element type, in units in the last place
    :param allow: codes of checks whose findings do not count
    :param seed: of random numbers
    :param build_directory: of sources: where they are built
    :raises OpFailures: rules are broken
    :raises GpsimdBuildError: the test cannot begin
    """
    __tracebackhide__ = True
    line: List[str] = ["test", *_subject(library)]
    for source in [shape_srcs] if isinstance(shape_srcs, (str, os.PathLike)) else shape_srcs:
        line += ["--shape-src", os.fspath(source)]
    if op is not None:
        line += ["--op", op]
    if build_directory is not None:
        line += ["--out-dir", os.fspath(build_directory)]
    line += [f"--input={word}" for word in inputs]
    line += [f"--ulps={dtype}={bound}" for dtype, bound in ulps.items()]
    line += [f"--allow={code}" for code in allow]
    line += [f"--seed={seed}"] + ([f"--only={','.join(only)}"] if only else [])
    environment = {}
    if reference is not None:
        name, directory = _named(reference)
        line += [f"--reference={name}", f"--python={_python()}"]
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, [directory, os.environ.get("PYTHONPATH")]))}
    report = _tool.answer(line, environment=environment).document
    failures = [failure for tested in report["ops"] for failure in tested["failures"]]
    if failures:
        raise OpFailures(failures)
    return [note for tested in report["ops"] for note in tested["notes"]]


def tensors(
    dtype: Union[str, Sequence[str]] = "float32",
    shape: Optional[Tuple[Optional[int], ...]] = None,
    *,
    max_rank: int = 3,
    max_extent: int = 300,
    unusual: bool = True,
) -> "SearchStrategy[Any]":
    """A Hypothesis strategy for numpy arrays that kernels must be right for.

    Extents are often just below, at and above multiples of eight cores and of blocks. Small failing arrays are preferred.

    :param dtype: element type, or several to choose from
    :param shape: extents, ``None`` for any; default: any shape of up to ``max_rank`` dimensions
    :param max_extent: of any dimension; a tensor has at most 16 times as many elements
    :param unusual: NaN, infinities, −0, subnormals and the ends of integers are among the elements
    """
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp

    edges = [n + d for n in (8, 16, 64, 128, 256, 1024, 4096) for d in (-1, 0, 1) if n + d <= max_extent]
    extents = st.one_of(st.integers(1, max_extent), st.sampled_from(edges or [1]))
    shapes: Any
    if shape is None:
        shapes = st.lists(extents, min_size=1, max_size=max_rank)
    else:
        shapes = st.tuples(*(extents if extent is None else st.just(extent) for extent in shape))
    limit = 16 * max_extent

    def array(choice: Tuple[str, Sequence[int]]) -> "SearchStrategy[Any]":
        name, found = choice
        return hnp.arrays(name, _within(found, limit, shape), elements=_elements(name, unusual))

    names = st.just(dtype) if isinstance(dtype, str) else st.sampled_from(list(dtype))
    return st.tuples(names, shapes).flatmap(array)


def _elements(dtype: str, unusual: bool) -> Optional["SearchStrategy[Any]"]:
    """For floats: anything, or what adds and multiplies without surprise."""
    from hypothesis import strategies as st

    if not dtype.startswith("float"):
        return None if unusual else st.integers(0, 100)
    width: Any = int(dtype[5:])
    if unusual:
        return st.floats(width=width)
    return st.floats(-100, 100, width=width, allow_subnormal=False)


def _within(shape: Sequence[int], limit: int, given: Optional[Tuple[Optional[int], ...]]) -> Tuple[int, ...]:
    """A shape of at most ``limit`` elements: free extents are cut, the first ones last."""
    extents = list(shape)
    for at in reversed(range(len(extents))):
        rest = 1
        for other, extent in enumerate(extents):
            rest *= 1 if other == at else extent
        if given is None or given[at] is None:
            extents[at] = max(1, min(extents[at], limit // rest))
    return tuple(extents)


def _subject(library: Any) -> List[str]:
    """Sources as they are, a library by its stem."""
    several = [library] if isinstance(library, (str, os.PathLike)) else library
    if isinstance(several, Sequence):
        paths = [os.fspath(path) for path in several]
        if paths and all(path.endswith(_SOURCES) for path in paths):
            return paths
    return [_run.library_path(library)]


def _named(reference: Reference) -> Tuple[str, Optional[str]]:
    """``module:function``, and where Python finds the module."""
    if isinstance(reference, str):
        return reference, os.getcwd()
    module = inspect.getmodule(reference)
    name = getattr(reference, "__qualname__", "")
    if module is None or not name.isidentifier() or module.__name__ == "__main__":
        raise GpsimdBuildError(
            "python::reference",
            f"{reference!r} cannot be found from another process",
            "give a function that stands in a module by itself, or 'module:function'",
        )
    file = getattr(module, "__file__", None)
    up = module.__name__.count(".") + 1
    directory = os.path.abspath(file) if file else None
    for _ in range(up if directory else 0):
        directory = os.path.dirname(str(directory))
    return f"{module.__name__}:{name}", directory


def _python() -> str:
    import sys

    return sys.executable


def _told(failure: Mapping[str, Any]) -> str:
    lines = [failure["message"], *(f"  {line}" for line in failure["lines"])]
    if failure["cases"] > 1:
        lines.append(f"  ({failure['cases']} cases fail like this)")
    return "\n".join(lines)
