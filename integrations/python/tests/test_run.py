"""``run`` on numpy arrays, and libraries as objects."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import gpsimd_build
from gpsimd_build import GpsimdBuildError, RunFindings, build_custom_op, custom_op


def test_a_sum_is_a_sum(vector_add: list) -> None:
    a = np.linspace(-3, 8, 1003, dtype=np.float32)
    b = np.float32(0.1) * a[::-1]
    out = gpsimd_build.run(vector_add, "vector_add", a, b)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, a + b)
    assert all(finding.severity != "error" for finding in gpsimd_build.verify(vector_add))
    report = gpsimd_build.run_report(vector_add, None, a, b)
    assert report.cores[0]["outcome"] == "completed" and report.text == ""


def test_a_library_has_many_names(vector_add: list) -> None:
    a = np.arange(4, dtype=np.float32)
    stem = vector_add[0].replace(".stripped.so", "")
    for name in (stem, pathlib.Path(stem), stem + ".so", stem + ".packed.so", stem + ".manifest.json"):
        np.testing.assert_array_equal(gpsimd_build.run(name, None, a, a), a + a)
        library = custom_op.load_library(name)
        assert library.images == vector_add
        np.testing.assert_array_equal(library.vector_add(a, a), a + a)
        assert list(library) == ["vector_add"] and len(library) == 1
    with pytest.raises(AttributeError, match="vector_add"):
        library.vector_sub


def test_numbers_and_shapes(examples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    images = build_custom_op.compile(
        "scale_clip",
        ["scale_clip"],
        [examples / "scale_clip.cpp"],
        ["my::scale_clip(Tensor x, float scale, int limit, Scalar offset) -> (Tensor y)"],
        tmp_path,
    )
    # a view that is neither C-contiguous nor at the start of its block
    x = np.arange(12 * 6, dtype=np.float32).reshape(6, 12).T[2:6] - 30
    want = np.minimum(np.maximum(np.float32(-0.5) * x + np.float32(-1.25), np.float32(-3)), np.float32(3))
    for scale, limit, offset in [(-0.5, 3, -1.25), (np.float64(-0.5), np.int64(3), np.float32(-1.25))]:
        out = gpsimd_build.run(images, None, x, scale, limit, offset, shape=x.shape, dtype=np.float32)
        np.testing.assert_array_equal(out, want)


def test_findings_are_an_exception_with_everything(vector_add: list, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "beyond.cpp"
    source.write_text(
        "#include <torch/torch.h>\n"
        "torch::Tensor beyond(const torch::Tensor& t) {\n"
        '  printf("hello\\n");\n'
        "  volatile int on = 1;\n"
        "  while (on) {}\n"
        "  return t;\n"
        "}\n"
    )
    images = build_custom_op.compile("beyond", ["beyond"], [source], ["my::beyond(Tensor t) -> Tensor"], tmp_path)
    with pytest.raises(RunFindings, match=r"beyond\.cpp:5") as caught:
        gpsimd_build.run(images, "beyond", np.zeros(3, np.float32), budget=1_000_000)
    assert caught.value.code == "run::runaway"
    assert [finding.code for finding in caught.value.findings].count("run::runaway") == 1
    assert "P0: hello" in caught.value.report.text


@pytest.mark.parametrize(
    ("inputs", "options", "code"),
    [
        ([np.zeros(3, np.float32)], {}, "run::input_count"),
        ([np.zeros(3, np.float32), 2.0], {}, "run::input_type"),
        ([np.zeros(3), np.zeros(3)], {}, "run::dtype"),
        ([np.zeros(3, np.complex64), np.zeros(3)], {}, "python::input"),
        ([["text"], np.zeros(3)], {}, "python::input"),
        ([np.zeros(3, np.float32)] * 2, {"like": 2}, "run::like"),
        ([np.zeros(3, np.float32)] * 2, {"like": 0, "shape": (3,)}, "python::output"),
        ([1, 2], {}, "python::output"),
        ([np.zeros(3, np.float32)] * 2, {"dtype": np.float64}, "run::dtype"),
    ],
)
def test_what_cannot_be_run_is_refused(vector_add: list, inputs: list, options: dict, code: str) -> None:
    with pytest.raises(GpsimdBuildError) as caught:
        gpsimd_build.run(vector_add, "vector_add", *inputs, **options)
    assert code in caught.value.codes


def test_a_library_that_is_not_there(tmp_path: pathlib.Path) -> None:
    for call in (lambda: custom_op.load_library(tmp_path / "no.so"), lambda: gpsimd_build.run(tmp_path / "no", None)):
        with pytest.raises(GpsimdBuildError):
            call()


def test_load_takes_ops_from_the_shape_source(examples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    library = custom_op.load(
        name="relu",
        compute_srcs=[examples / "relu.cpp"],
        shape_srcs=examples / "shape" / "relu_shape.cpp",
        build_directory=tmp_path,
    )
    assert sorted(library) == ["relu_backward", "relu_forward"]
    assert library.name == "librelu" and library.total_cpus == 1
    x = np.array([[-1.0, 2.0], [0.5, -0.0]], dtype=np.float32)
    np.testing.assert_array_equal(library.relu_forward(x), np.where(x < 0, 0, x))
    assert list(custom_op.load_library(tmp_path / "librelu.so")) == list(library)


def test_a_shape_function_says_what_comes_out(tmp_path: pathlib.Path) -> None:
    (tmp_path / "rows.cpp").write_text(
        "#include <torch/torch.h>\n"
        "torch::Tensor rows(const torch::Tensor& x) {\n"
        "  torch::Tensor out = torch::zeros({x.size(0)}, torch::kFloat);\n"
        "  auto from = x.accessor<float, 2>();\n"
        "  auto to = out.accessor<float, 1>();\n"
        "  for (int i = 0; i < x.size(0); ++i)\n"
        "    for (int j = 0; j < x.size(1); ++j) to[i] += from[i][j];\n"
        "  return out;\n"
        "}\n"
    )
    (tmp_path / "shape.cpp").write_text(
        "#include <torch/torch.h>\n"
        '#include "torchneuron/register.h"\n'
        "torch::Tensor rows_shape(torch::Tensor x) { return torch::zeros({x.size(0)}, torch::kFloat); }\n"
        'NEURON_LIBRARY(my, m) { m.def("rows", &rows_shape, "rows"); }\n'
    )
    library = custom_op.load("rows", tmp_path / "rows.cpp", tmp_path / "shape.cpp", build_directory=tmp_path)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(library.rows(x), x.sum(axis=1))


def test_load_without_a_directory_keeps_nothing(examples: pathlib.Path) -> None:
    library = custom_op.load(
        "vector_add", examples / "vector_add.cpp", [examples / "shape" / "vector_add_shape.cpp"], verbose=False
    )
    a = np.ones(5, np.float32)
    np.testing.assert_array_equal(library.vector_add(a, a), a + a)
    directory = os.path.dirname(library.path)
    assert os.path.isdir(directory)
    del library
    assert not os.path.exists(directory)
    with pytest.raises(GpsimdBuildError, match="builtin"):
        custom_op.load("builtin", [], [])


def test_importing_brings_no_framework() -> None:
    code = "import sys, gpsimd_build; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_tool_can_be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpsimd_build.version().count(".") == 2
    monkeypatch.setenv("GPSIMD_BUILD", "/nowhere/gpsimd-build")
    with pytest.raises(GpsimdBuildError, match="nowhere") as caught:
        gpsimd_build.verify("x")
    assert caught.value.code == "python::no_tool" and caught.value.exit_status == 3
