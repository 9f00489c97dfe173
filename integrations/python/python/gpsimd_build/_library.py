"""A built library as an object: its ops can be called. Unaware of how it was built."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _device, _run, _twin
from ._errors import GpsimdBuildError

__all__ = ["Library", "Op"]


class Op:
    """One op of a library; calling it runs it on the simulated device, or its native twin."""

    def __init__(self, loaded: "_Loaded", kernel: str, schema: str) -> None:
        # no reference back to the library: a scratch directory must go with the last name for it, not with a collection
        self._loaded = loaded
        #: The kernel function, the name it is registered under.
        self.kernel = kernel
        #: PyTorch schema text.
        self.schema = schema

    @property
    def library(self) -> str:
        """Path of the library it is in."""
        return self._loaded.path

    @property
    def qualified(self) -> str:
        """``ns::op``, as the schema says."""
        return self.schema.partition("(")[0].strip()

    @property
    def name(self) -> str:
        """The op's name without its namespace; often the kernel's."""
        return self.qualified.rpartition("::")[2]

    @property
    def session(self) -> _device.Session:
        """The library on the device; loaded when it is first asked for."""
        return self._loaded.session()

    def call(self, arguments: Sequence[_device.Argument]) -> _device.Outcome:
        """Runs it; the output's type and shape are what :meth:`output` says."""
        return self.session.call(self.kernel, arguments, self.output(arguments))

    def output(self, arguments: Sequence["_device.Argument | _device.Spec"]) -> _device.Spec:
        """Type and shape of what it returns for such arguments."""
        return self.session.output(self.kernel, arguments)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """As :func:`gpsimd_build.run`, which lists the options."""
        return _run.run_op(self, *inputs, **options)

    def __repr__(self) -> str:
        return f"<gpsimd op {self.schema!r}, kernel {self.kernel}>"


class _Loaded:
    """What the ops of a library share: its path and, from the first call on, a device or a twin that has it."""

    def __init__(self, path: str, keep: Any, cores: int, native: bool) -> None:
        self.path = path
        self._keep = keep
        self._cores = cores
        self._native = native
        self._session: Optional[_device.Session] = None

    def session(self) -> _device.Session:
        if self._session is None:
            if self._native:
                self._session = _twin.TwinSession(self.path, self._cores)
            else:
                self._session = _device.Session(self.path)
        return self._session


class Library(Mapping[str, Op]):
    """The ops of a built library by kernel function; ``library.relu(x)`` is ``library["relu"](x)``."""

    def __init__(self, path: str, keep: Any = None, native: bool = False) -> None:
        """The library at ``<path>.manifest.json``; ``keep`` stays alive as long as it does (a scratch directory).

        With ``native`` its ops run as code of this machine: load only what you would run.
        """
        #: ``<dir>/<stem>``: what every function and command takes as a library.
        self.path = path
        #: The manifest, see ``docs/outputs.md``.
        self.manifest: Mapping[str, Any] = _manifest(path)
        self._loaded = loaded = _Loaded(path, keep, self.total_cpus, native)
        ops = (Op(loaded, op["kernel"], op["schema"]) for op in self.manifest["ops"])
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

    @property
    def session(self) -> _device.Session:
        """The library on the device; loaded when it is first asked for."""
        return self._loaded.session()

    def op(self, name: str) -> Op:
        """By kernel function, by op, by ``ns::op`` or by ``ns.op``.

        :raises GpsimdBuildError: there is none, or there are several
        """
        if name in self._ops:
            return self._ops[name]
        found = [op for op in self._ops.values() if name.replace(".", "::") in (op.name, op.qualified)]
        if len(found) == 1:
            return found[0]
        raise GpsimdBuildError(
            "python::op",
            f"{name!r} is {'several ops' if found else 'no op'} of {self.path}",
            "it has " + ", ".join(f"{op.qualified} (kernel {op.kernel})" for op in self._ops.values()),
        )

    def __getitem__(self, kernel: str) -> Op:
        try:
            return self.op(kernel)
        except GpsimdBuildError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)

    def __getattr__(self, kernel: str) -> Op:
        if "_ops" not in self.__dict__:
            raise AttributeError(kernel)
        try:
            return self.op(kernel)
        except GpsimdBuildError as error:
            raise AttributeError(str(error)) from None

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
