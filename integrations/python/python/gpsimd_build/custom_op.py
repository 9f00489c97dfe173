"""``load`` and ``load_library`` with the keywords of ``torch_neuronx.xla_impl.custom_op``.

What is loaded is a :class:`gpsimd_build.Library`: its ops run on the simulated device, with numpy arrays. No torch is
imported, and no operator is registered with it; on a machine with the accelerator that is the vendor's extension's part.
"""

from __future__ import annotations

import os
import tempfile
from typing import List, Optional, Sequence, Union

from . import _tool
from ._arguments import PathLike, flags, library_stem, paths
from ._errors import GpsimdBuildError
from ._library import Library

__all__ = ["load", "load_library"]


def load(
    name: str,
    compute_srcs: Union[PathLike, Sequence[PathLike]],
    shape_srcs: Union[PathLike, Sequence[PathLike]],
    extra_cflags: Sequence[str] = [],
    extra_include_paths: Sequence[PathLike] = [],
    build_directory: Optional[PathLike] = None,
    multicore: bool = False,
    verbose: bool = False,
    native: bool = False,
) -> Library:
    """Builds a library and loads it.

    :param name: the library is ``lib<name>``; ``builtin`` is reserved
    :param compute_srcs: device sources: a path or a list of paths
    :param shape_srcs: host sources with the shape functions and ``NEURON_LIBRARY`` registrations, which name the ops
    :param extra_cflags: compiler options of the device sources, such as ``-DSTACK_SIZE=20000``
    :param extra_include_paths: include directories
    :param build_directory: where the library is written; without it, it is gone when the result is
    :param multicore: build for all eight cores
    :param verbose: show the build on standard error
    :param native: make a native twin, too, and run that: kernels as code of this process, fast and unchecked
    :raises GpsimdBuildError: with everything that is wrong
    """
    if not name or "builtin" == name or os.sep in name:
        raise GpsimdBuildError(
            "python::name", f"{name!r} cannot be a library's name", "use a plain stem other than builtin"
        )
    scratch = None
    if build_directory is None:
        scratch = tempfile.TemporaryDirectory(prefix="gpsimd-build-")
        build_directory = scratch.name
    line: List[str] = ["compile", "--name", f"lib{name}.so", "--out-dir", os.fspath(build_directory)]
    for source in paths("shape_srcs", shape_srcs):
        line += ["--shape-src", source]
    for include in paths("extra_include_paths", extra_include_paths):
        line += ["--include", include]
    if multicore:
        line.append("--multicore")
    if native:
        line.append("--native")
    if verbose:
        line.append("--verbose")
    line += [os.path.join(".", path) if path.startswith("-") else path for path in paths("compute_srcs", compute_srcs)]
    words = flags("extra_cflags", extra_cflags)
    if words:
        line += ["--", *words]
    _tool.build(line, show=verbose)
    return Library(os.path.join(os.fspath(build_directory), f"lib{name}"), keep=scratch, native=native)


def load_library(libname: PathLike, verbose: bool = False, native: bool = False) -> Library:
    """Loads a library that an earlier build wrote, possibly of another process.

    :param libname: ``<dir>/lib<name>`` with or without ``.so``, one of the library's images, or its manifest
    :param verbose: print what was loaded
    :param native: run its native twin
    """
    path = os.fspath(libname)
    library = Library(library_stem(path) or path, native=native)
    if verbose:
        print(repr(library))
    return library
