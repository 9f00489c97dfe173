"""What callers write to what the tool reads, refusing what would be silently misread. Unaware of the tool."""

from __future__ import annotations

import os
import re
import shlex
from typing import Iterable, List, Optional, Sequence, Union

from ._errors import GpsimdBuildError

__all__ = ["PathLike", "flags", "library_stem", "paths", "strings"]

PathLike = Union[str, "os.PathLike[str]"]


def _refuse(code: str, message: str, help: str) -> GpsimdBuildError:
    return GpsimdBuildError(f"python::{code}", message, help)


def strings(name: str, value: object) -> List[str]:
    """A list of texts. A lone string is refused: it would be taken for a list of its characters."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise _refuse("not_a_list", f"{name} is {value!r}, it must be a list", f"write {name}=[…]")
    found = list(value)
    for item in found:
        if not isinstance(item, (str, os.PathLike)):
            raise _refuse("not_text", f"{name} holds {item!r}, it must hold texts", "use str for every element")
    return [os.fspath(item) for item in found]


def paths(name: str, value: Union[PathLike, Sequence[PathLike], None]) -> List[str]:
    """A path or a list of paths, as the documented calls take them."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    return strings(name, value)


def flags(name: str, value: object) -> List[str]:
    """Words of a list of flags.

    The reference joins the list and hands it to a shell, so one element may hold several words (``"-O2 -DX=1"``) and
    quotes group (``'-DTEXT="a b"'``). The same here, but nothing is expanded or executed.
    """
    words: List[str] = []
    for item in strings(name, value):
        try:
            words += shlex.split(item)
        except ValueError as error:
            raise _refuse("quotes", f"{name} holds {item!r}: {error}", "close the quote, or escape it") from error
    return words


def library_stem(path: str) -> Optional[str]:
    """``<dir>/<stem>`` of the library that a path names: the stem, its manifest or one of its images; ``None`` if no
    manifest is there."""
    stems = [path]
    if path.endswith(".manifest.json"):
        stems = [path[: -len(".manifest.json")]]
    elif path.endswith(".so"):
        stem = re.sub(r"\.(stripped\.|packed\.|native\.)?so$", "", path)
        # `f_cpu3` may be core 3 of `f`, or a library of its own
        stems = [stem, re.sub(r"_cpu[0-7]$", "", stem)]
    return next((stem for stem in stems if os.path.isfile(stem + ".manifest.json")), None)
