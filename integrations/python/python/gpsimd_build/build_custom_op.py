"""Drop-in for the vendor's module of this name: kernel sources and schemas to images that ship.

Where the reference's behaviour is known, this is it; where it is not, these are the choices:

* The images are returned as paths below ``build_directory``, in core order: ``.stripped.so``, which is what ships, or
  ``.so`` when ``"-g"`` is an element of ``cflags`` (then nothing is stripped or packed, as in the reference).
* ``build_directory`` is created.
* ``fn_names`` and ``schema`` must be of one length.
* An element of ``cflags``, or one of ``includes`` that starts with ``-``, may hold several words, as it may in the
  reference, where a shell splits it; nothing in it is expanded or executed. Other elements of ``includes`` are
  directories, whatever characters are in their names.
* Everything wrong with the arguments is in one exception, before the first compiler starts.
* No variable of this process's environment is changed.
"""

from __future__ import annotations

import os
import warnings
from typing import List, Mapping, Sequence

from . import _tool
from ._arguments import PathLike, flags, strings
from ._errors import GpsimdBuildError

__all__ = ["__version__", "compile", "versions"]

#: Version of the reference driver whose behaviour this module has.
__version__ = "0.21.2.0"

#: What the host half registers a library with.
versions: Mapping[str, str] = {
    "ulib_to_ucode_version": "1.21.1.0",
    "ulib_to_isa_version": "1.0.2520.0",
}


def compile(
    name: str,
    fn_names: Sequence[str],
    src_files: Sequence[PathLike],
    schema: Sequence[str],
    build_directory: PathLike,
    includes: Sequence[PathLike] = [],
    cflags: Sequence[str] = [],
    multicore: bool = False,
    verbose: bool = False,
) -> List[str]:
    """Builds a library.

    :param name: output file name; its extension is replaced by ``.so``
    :param fn_names: kernel functions, one per op
    :param src_files: kernel sources
    :param schema: one schema per entry of ``fn_names``
    :param build_directory: gets the images and the manifest
    :param includes: directories, or flags such as ``-Idir``
    :param cflags: compiler flags, after the built-in ones
    :param multicore: eight images instead of one
    :param verbose: show the commands on standard error; compiler warnings are Python's, whatever it is
    :returns: paths of the images, in core order
    :raises GpsimdBuildError: with everything that is wrong
    """
    kernels, schemas = strings("fn_names", fn_names), strings("schema", schema)
    if len(kernels) != len(schemas):
        raise GpsimdBuildError(
            "python::op_count",
            f"{len(kernels)} fn_names and {len(schemas)} schemas; they belong together by position",
            "give one schema per kernel function",
        )
    stem, extension = os.path.splitext(name)
    if extension not in ("", ".so"):
        warnings.warn(f"the extension of {name!r} is replaced: outputs are {stem}*.so", stacklevel=2)
    gate = strings("cflags", cflags)
    words = flags("cflags", cflags)
    line: List[str] = ["compile", "--name", stem + ".so", "--out-dir", os.fspath(build_directory)]
    for kernel, text in zip(kernels, schemas):
        line += ["--op", f"{kernel}={text}"]
    for include in strings("includes", includes):
        if include.startswith("-"):
            words += flags("includes", [include])
        else:
            line += ["--include", include]
    if multicore:
        line.append("--multicore")
    # the reference looks for the element "-g", not for the flag
    line.append("--no-strip" if "-g" in gate else "--strip")
    if verbose:
        line.append("--verbose")
    line += [_not_an_option(source) for source in strings("src_files", src_files)]
    if words:
        line += ["--", *words]
    manifest = _tool.build(line, show=verbose)["manifest"]
    wanted = "linked" if "-g" in gate else "stripped"
    files = [file for image in manifest["images"] for file in image["files"] if file["kind"] == wanted]
    return [os.path.join(os.fspath(build_directory), file["file"]) for file in files]


def _not_an_option(path: str) -> str:
    return os.path.join(".", path) if path.startswith("-") else path
