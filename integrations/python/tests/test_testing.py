"""``gpsimd_build.testing`` and the pytest plugin."""

import os
import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpsimd_build
from gpsimd_build.testing import DTYPES, OpFailures, check_op, tensors

pytest_plugins = ["pytester"]

HOME = os.path.expanduser("~")

#: Forgets the remainder where the length is no multiple of eight.
FORGETS = """\
#include <torch/torch.h>
torch::Tensor twice(const torch::Tensor &x) {
  torch::Tensor out = torch::zeros(x.sizes(), torch::kFloat);
  auto from = x.accessor<float, 1>();
  auto to = out.accessor<float, 1>();
  for (int i = 0; i < x.numel() / 8 * 8; ++i) to[i] = 2 * from[i];
  return out;
}
"""
RIGHT = FORGETS.replace("x.numel() / 8 * 8", "x.numel()")
CHECK = """
import numpy as np

def doubled(x):
    return 2 * x

def test_it(gpsimd):
    notes = gpsimd.check_op("twice.cpp", reference=doubled, only=["extents"])
"""


def test_a_planted_fault_is_found(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    # pytester has a home of its own, in which no toolchain is
    monkeypatch.setenv("HOME", HOME)
    pytester.makepyfile(CHECK)
    (pytester.path / "twice.cpp").write_text(FORGETS)
    found = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*OpFailures*", "*gpsimd-build run *"])

    (pytester.path / "twice.cpp").write_text(RIGHT)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_failure_has_its_parts(tmp_path: pathlib.Path) -> None:
    (tmp_path / "twice.cpp").write_text(FORGETS)
    with pytest.raises(OpFailures) as caught:
        check_op(tmp_path / "twice.cpp", "twice", only=["extents"], reference="numpy:negative", build_directory=tmp_path)
    assert caught.value.failures and "gpsimd-build run" in str(caught.value)


def test_a_reference_must_be_importable() -> None:
    with pytest.raises(gpsimd_build.GpsimdBuildError, match="python::reference"):
        check_op("build/relu", reference=lambda x: x)


@given(x=tensors(DTYPES, max_rank=4))
def test_tensors_are_within_their_bounds(x: np.ndarray) -> None:
    assert x.dtype.name in DTYPES and 1 <= x.ndim <= 4 and 0 < x.size <= 16 * 300


@given(x=tensors("float32", (2, None), unusual=False))
def test_given_extents_stay(x: np.ndarray) -> None:
    assert x.shape[0] == 2 and np.abs(x).max() <= 100


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_op_over_what_hypothesis_makes(vector_add: "list[str]", data: st.DataObject) -> None:
    a = data.draw(tensors("float32", (None,)))
    b = data.draw(tensors("float32", a.shape))
    total = gpsimd_build.run(vector_add, "vector_add", a, b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(total, a + b)
