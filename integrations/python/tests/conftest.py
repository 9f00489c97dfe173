"""What the tests need: the repository's examples and an installed open toolchain."""

import os
import pathlib

import pytest

import gpsimd_build


@pytest.fixture(scope="session")
def examples() -> pathlib.Path:
    named = os.environ.get("GPSIMD_EXAMPLES")
    return pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="session")
def vector_add(examples: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Images of examples/vector_add for one core."""
    return gpsimd_build.build_custom_op.compile(
        "vector_add.so",
        ["vector_add"],
        [examples / "vector_add.cpp"],
        ["my::vector_add(Tensor a, Tensor b) -> (Tensor out)"],
        tmp_path_factory.mktemp("build"),
    )
