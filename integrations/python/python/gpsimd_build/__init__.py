"""Build, check and run GPSIMD custom ops.

* :mod:`gpsimd_build.build_custom_op` is a drop-in for the vendor's module of that name.
* :mod:`gpsimd_build.custom_op` has ``load`` and ``load_library`` with the documented keywords.
* :func:`run` calls an op of a built library on numpy arrays, on the simulated device.
* :func:`verify` checks a library's files.

Every failure is a :class:`GpsimdBuildError` with the tool's stable code, its text and what to do next.
"""

from ._errors import CompilerWarning, Finding, GpsimdBuildError, LibraryWarning, RunFindings
from ._library import Library, Op
from ._run import RunReport, run, run_report, verify
from ._tool import executable, version

__all__ = [
    "CompilerWarning",
    "Finding",
    "GpsimdBuildError",
    "Library",
    "LibraryWarning",
    "Op",
    "RunFindings",
    "RunReport",
    "build_custom_op",
    "custom_op",
    "executable",
    "run",
    "run_report",
    "verify",
    "version",
]

from . import build_custom_op, custom_op
