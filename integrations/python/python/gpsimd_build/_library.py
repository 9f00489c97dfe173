"""A built library as an object: its ops can be called. Unaware of how it was built."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _run
from ._errors import GpsimdBuildError

__all__ = ["Library", "Op"]


class Op:
    """One op of a library; calling it runs it on the simulated device."""

    def __init__(self, library: str, kernel: str, schema: str, keep: Any = None) -> None:
        #: Path of the library it is in.
        self.library = library
        # no reference back to the library: a scratch directory must go with the last name for it, not with a collection
        self._keep = keep
        #: The kernel function, the name it is registered under.
        self.kernel = kernel
        #: PyTorch schema text.
        self.schema = schema

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """As :func:`gpsimd_build.run`, which lists the options."""
        return _run.run(self.library, self.kernel, *inputs, **options)

    def __repr__(self) -> str:
        return f"<gpsimd op {self.schema!r}, kernel {self.kernel}>"


class Library(Mapping[str, Op]):
    """The ops of a built library by kernel function; ``library.relu(x)`` is ``library["relu"](x)``."""

    def __init__(self, path: str, keep: Any = None) -> None:
        """The library at ``<path>.manifest.json``; ``keep`` stays alive as long as it does (a scratch directory)."""
        #: ``<dir>/<stem>``: what every function and command takes as a library.
        self.path = path
        #: The manifest, see ``docs/outputs.md``.
        self.manifest: Mapping[str, Any] = _manifest(path)
        self._keep = keep
        ops = (Op(path, op["kernel"], op["schema"], keep) for op in self.manifest["ops"])
        self._ops: Dict[str, Op] = {op.kernel: op for op in ops}

    @property
    def name(self) -> str:
        """Stem of its files."""
        return str(self.manifest["name"])

    @property
    def total_cpus(self) -> int:
        """1 or 8."""
        return int(self.manifest["total_cpus"])

    @property
    def images(self) -> List[str]:
        """Paths of the images that ship, in core order."""
        directory = os.path.dirname(self.path)
        return [os.path.join(directory, _shipped(image["files"])) for image in self.manifest["images"]]

    def __getitem__(self, kernel: str) -> Op:
        return self._ops[kernel]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)

    def __getattr__(self, kernel: str) -> Op:
        ops: Optional[Dict[str, Op]] = self.__dict__.get("_ops")
        if ops is not None and kernel in ops:
            return ops[kernel]
        raise AttributeError(f"no op {kernel!r} in this library; it has {', '.join(ops or {})}")

    def __repr__(self) -> str:
        return f"<gpsimd library {self.path!r}, {self.total_cpus} cores, ops {', '.join(self)}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _shipped(files: Sequence[Mapping[str, Any]]) -> str:
    by_kind = {str(file["kind"]): str(file["file"]) for file in files}
    return by_kind.get("stripped") or by_kind["linked"]


def _manifest(path: str) -> Mapping[str, Any]:
    file = path + ".manifest.json"
    try:
        with open(file, encoding="utf-8") as text:
            document: Mapping[str, Any] = json.load(text)
    except (OSError, ValueError) as error:
        raise GpsimdBuildError(
            "library::missing", f"{path} is no library: {error}", "name what was built: DIR/NAME, or one of its files"
        ) from error
    return document
