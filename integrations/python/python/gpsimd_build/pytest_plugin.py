"""What pytest gets with this package: the fixture ``gpsimd``, which builds and tests ops in the test's own directory.

>>> def test_relu(gpsimd):
...     gpsimd.check_op("relu.cpp", shape_srcs="relu_shape.cpp", reference=expected)

Paths are those of the test's file. Unaware of what is tested and how.
"""

from __future__ import annotations

import os
import pathlib
from typing import Any, List, Sequence

import pytest

from ._library import Library

__all__ = ["Gpsimd", "gpsimd"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--gpsimd-seed``: other random numbers in every test."""
    group = parser.getgroup("gpsimd", "custom ops (gpsimd-build)")
    group.addoption("--gpsimd-seed", type=int, default=0, metavar="N", help="seed of the random inputs of check_op")


class Gpsimd:
    """:func:`gpsimd_build.testing.check_op` and :func:`gpsimd_build.custom_op.load`, at home in a test."""

    def __init__(self, sources: pathlib.Path, scratch: pathlib.Path, seed: int) -> None:
        self._sources = sources
        self._scratch = scratch
        self._seed = seed

    def check_op(self, library: Any, *arguments: Any, **options: Any) -> Sequence[str]:
        """As :func:`gpsimd_build.testing.check_op`; what it builds is gone after the test."""
        __tracebackhide__ = True
        from . import testing

        options.setdefault("seed", self._seed)
        options.setdefault("build_directory", self._scratch)
        if "shape_srcs" in options:
            options["shape_srcs"] = self._here(options["shape_srcs"])
        is_files = isinstance(library, (str, os.PathLike, list, tuple))
        return testing.check_op(self._here(library) if is_files else library, *arguments, **options)

    def load(self, name: str, compute_srcs: Any, shape_srcs: Any, **options: Any) -> Library:
        """As :func:`gpsimd_build.custom_op.load`; what it builds is gone after the test."""
        from . import custom_op

        options.setdefault("build_directory", self._scratch)
        return custom_op.load(name, self._here(compute_srcs), self._here(shape_srcs), **options)

    def _here(self, paths: Any) -> Any:
        several: List[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        return [os.fspath(self._sources / path) for path in several]


@pytest.fixture
def gpsimd(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Gpsimd:
    """Builds and tests custom ops; see :class:`Gpsimd`."""
    return Gpsimd(request.path.parent, tmp_path, request.config.getoption("--gpsimd-seed"))
