"""Finding the gpsimd-build program and talking to it. Unaware of what it is asked to do."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from typing import Any, Mapping, Optional, Sequence

from ._errors import CompilerWarning, GpsimdBuildError

__all__ = ["answer", "build", "executable", "version"]

_NAME = "gpsimd-build"


def executable() -> str:
    """The program that does the work: ``$GPSIMD_BUILD``, else the one this package brought, else the one in ``PATH``."""
    chosen = os.environ.get("GPSIMD_BUILD")
    if chosen:
        return chosen
    schemes = [None, f"{os.name}_user"] if f"{os.name}_user" in sysconfig.get_scheme_names() else [None]
    for scheme in schemes:
        directory = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        candidate = os.path.join(directory, _NAME)
        if os.access(candidate, os.X_OK):
            return candidate
    # a zipped or --target install keeps its scripts beside the package
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", _NAME)
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which(_NAME)
    if found:
        return found
    raise GpsimdBuildError(
        "python::no_tool",
        f"the program {_NAME} is neither beside this Python nor in PATH",
        "install the wheel again, or set GPSIMD_BUILD to where the program is",
        exit_status=3,
    )


@functools.lru_cache(maxsize=None)
def _version(program: str) -> str:
    text = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return text.split()[-1]


def version() -> str:
    """Version of the tool in force."""
    return _version(executable())


#: The form of answers that this package reads.
_ANSWER_VERSION = 1


class Answer:
    """What the tool said: its result, its warnings, and the exit status, 0 or 1."""

    def __init__(self, document: Any, said: Sequence[Mapping[str, Any]], exit_status: int) -> None:
        self.document = document
        self.warnings = [_words(warning) for warning in said]
        self.exit_status = exit_status


def _words(warning: Mapping[str, Any]) -> str:
    code = f"{warning['code']}: " if warning.get("code") else ""
    remedy = f"help: {warning['remedy']}" if warning.get("remedy") else None
    return "\n".join(part for part in (f"{code}{warning['headline']}", warning.get("detail"), remedy) if part)


def answer(
    arguments: Sequence["str | os.PathLike[str]"],
    show: bool = False,
    cwd: Optional[str] = None,
    environment: Mapping[str, str] = {},
) -> Answer:
    """Runs the tool with ``--json`` and gives its result; raises the tool's error where it has none.

    With ``show``, what the tool says on standard error goes to this process's ``sys.stderr``. ``environment`` is beside
    this process's own.
    """
    command = [executable(), "--json", *(os.fspath(argument) for argument in arguments)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, env={**os.environ, **environment}
        )
    except OSError as error:
        raise GpsimdBuildError(
            "python::no_tool", f"cannot start {command[0]}: {error}", "see GPSIMD_BUILD", exit_status=3
        ) from error
    said = done.stderr.decode("utf-8", "replace")
    if show and said:
        print(said, end="", file=sys.stderr)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("version") != _ANSWER_VERSION:
        what = said.strip() or f"{command} ended with {done.returncode}"
        raise GpsimdBuildError("tool::failed", what, exit_status=done.returncode)
    if "result" not in document:
        raise GpsimdBuildError.from_document(document["error"], done.returncode)
    return Answer(document["result"], document["warnings"], done.returncode)


def build(arguments: Sequence["str | os.PathLike[str]"], show: bool) -> Any:
    """Runs ``compile`` for a caller of this package's caller; its warnings become Python's."""
    done = answer(arguments, show=show)
    for text in done.warnings:
        warnings.warn(text, CompilerWarning, stacklevel=3)
    return done.document
