"""How the wheel is built: cargo makes the tool, which goes along as a script, then maturin makes the extension and the wheel.

Unaware of what is in either. Used by pip through ``pyproject.toml``.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from typing import Any

import maturin

# hooks that need nothing of this
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

HERE = pathlib.Path(__file__).resolve().parent
#: What pyproject.toml names as the wheel's data.
SCRIPTS = HERE / "gpsimd_build.data" / "scripts"


def prepare_metadata_for_build_wheel(directory: str, settings: Any = None) -> str:
    """PEP 517's hook. maturin wants the data's directory even to say what the wheel will be called."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return str(maturin.prepare_metadata_for_build_wheel(directory, settings))


def build_wheel(directory: str, settings: Any = None, metadata: Any = None) -> str:
    """PEP 517's hook."""
    place_tool()
    return str(maturin.build_wheel(directory, settings, metadata))


def place_tool() -> None:
    """Puts the program where the wheel takes scripts from: ``$GPSIMD_BUILD_TOOL``, else one built here, stripped."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(os.environ.get("GPSIMD_BUILD_TOOL") or built_tool(), SCRIPTS / "gpsimd-build")


def built_tool() -> str:
    """The program, by cargo."""
    line = [os.environ.get("CARGO", "cargo"), "build", "--release", "--package", "gpsimd-build"]
    line += ["--config", "profile.release.strip=true", "--message-format", "json-render-diagnostics"]
    done = subprocess.run(line, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(text) for text in done.stdout.splitlines()]
    [built] = [message["executable"] for message in messages if message.get("executable")]
    return str(built)
