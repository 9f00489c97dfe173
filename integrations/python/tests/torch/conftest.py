"""What the tests with PyTorch share: one library of relu and its gradient, registered once."""

import pathlib

import pytest

import gpsimd_build
import gpsimd_build.torch


@pytest.fixture(scope="session")
def relu(examples: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> gpsimd_build.Library:
    """``torch.ops.my.relu_forward``, differentiable by ``relu_backward``."""
    return gpsimd_build.torch.load(
        "relu",
        examples / "relu.cpp",
        examples / "shape" / "relu_shape.cpp",
        build_directory=tmp_path_factory.mktemp("relu"),
        gradient="relu_backward",
    )
