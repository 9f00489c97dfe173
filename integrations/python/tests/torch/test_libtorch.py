"""Operators made in C++ against an installed libtorch, where one is: ``cargo xtask soak pytorch`` has one."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

import gpsimd_build

HOME = pathlib.Path("/usr")
pytestmark = pytest.mark.skipif(not (HOME / "include/torch/library.h").exists(), reason="no libtorch-dev")


def _compiled(at: pathlib.Path, *line: object) -> None:
    words = [gpsimd_build.executable(), "compile", *map(str, line), "--multicore", "--native", "--libtorch", str(HOME)]
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _python(at: pathlib.Path, script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=at, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_library_loads_without_this_package(examples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    _compiled(tmp_path, examples / "relu.cpp", "--shape-src", examples / "shape/relu_shape.cpp")
    _python(
        tmp_path,
        """
        import torch
        torch.ops.load_library("build/relu.torch.so")
        x = torch.randn(17, 5)
        assert torch.equal(torch.ops.my.relu_forward(x), torch.relu(x))
        assert torch.equal(torch.ops.my.relu_forward(x.t()), torch.relu(x.t()))
        assert torch.ops.my.relu_forward(x.to("meta")).shape == x.shape
        try:
            torch.ops.my.relu_forward(x.to(torch.float64))
        except RuntimeError as error:
            print(error)
        else:
            raise AssertionError("float64 is taken")
        """,
    )


KERNEL = """
#include <torch/torch.h>
torch::Tensor rows(const torch::Tensor& a, const torch::Tensor& b, int n) {
  torch::Tensor y = torch::zeros({a.size(0), b.size(1)}, torch::kFloat);
  return y;
}
"""

SHAPE = """
#include <torch/torch.h>
#include <sstream>
#include "torchneuron/register.h"
torch::Tensor rows_shape(const torch::Tensor& a, const torch::Tensor& b, int64_t n) {
  std::ostringstream text;
  text << a.sizes();
  TORCH_CHECK(n > 0, "n is ", n, ", a is ", text.str());
  return torch::matmul(a, b).contiguous();
}
NEURON_LIBRARY(mine, m) { m.def("rows", &rows_shape, "rows"); }
"""


def test_a_shape_source_may_use_all_of_pytorch(tmp_path: pathlib.Path) -> None:
    (tmp_path / "rows.cpp").write_text(KERNEL)
    (tmp_path / "shape.cpp").write_text(SHAPE)
    op = "rows=mine::rows(Tensor a, Tensor b, int n) -> Tensor"
    _compiled(tmp_path, "rows.cpp", "--shape-src", "shape.cpp", "--op", op)
    assert not (tmp_path / "build/rows.shapes.so").exists()
    _python(
        tmp_path,
        """
        import torch
        torch.ops.load_library("build/rows.torch.so")
        a, b = torch.ones(4, 3), torch.ones(3, 7)
        assert torch.equal(torch.ops.mine.rows(a, b, 1), torch.zeros(4, 7))
        for wrong in [(a, b, 0), (a, a, 1)]:
            try:
                torch.ops.mine.rows(*wrong)
            except RuntimeError as error:
                print(error)
            else:
                raise AssertionError(wrong)
        """,
    )
