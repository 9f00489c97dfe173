"""Native twins: the device's bits at the machine's speed, and faults that the machine's sanitizers see."""

import pathlib
import shutil
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import torch

import gpsimd_build
import gpsimd_build.torch
from gpsimd_build import GpsimdBuildError, RunFindings

HEAD = "#include <torch/torch.h>\n"
#: Works on every element type, takes every kind of number, and can be made to fail.
KERNELS = (
    HEAD
    + """\
#include <gpsimd/kit.hpp>
torch::Tensor doubled(const torch::Tensor& x) { return torch::add(x, x); }
torch::Tensor scaled(const torch::Tensor& x, float by, int64_t more, const torch::Scalar& shift) {
    TORCH_CHECK(more >= 0, "more is ", more);
    torch::Tensor y = torch::mul(x, torch::Scalar(by));
    return torch::add(y, shift, torch::Scalar(static_cast<int>(more)));
}
torch::Tensor streamed(const torch::Tensor& x) {
    torch::Tensor y = torch::empty({x.numel()}, torch::kFloat);
    auto in = x.read_stream_accessor<float>();
    auto out = y.write_stream_accessor<float>();
    for (size_t i = 0; i < x.numel(); ++i) out.write(-in.read());
    return y;
}
"""
)
SHAPES = (
    HEAD
    + """\
#include "torchneuron/register.h"
torch::Tensor same(torch::Tensor x) { return torch::zeros(x.sizes(), x.dtype()); }
torch::Tensor scaled_shape(torch::Tensor x, float, int, torch::Scalar) { return same(x); }
torch::Tensor flat(torch::Tensor x) { return torch::zeros({x.numel()}, torch::kFloat); }
NEURON_LIBRARY(twin, m) {
    m.def("doubled", &same, "doubled");
    m.def("scaled", &scaled_shape, "scaled");
    m.def("streamed", &flat, "streamed");
}
"""
)


@pytest.fixture(scope="module")
def one_core(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A library for one core with its twin."""
    at = tmp_path_factory.mktemp("twin")
    (at / "ops.cpp").write_text(KERNELS)
    (at / "shapes.cpp").write_text(SHAPES)
    gpsimd_build.custom_op.load("ops", at / "ops.cpp", at / "shapes.cpp", build_directory=at, native=True)
    return at / "libops"


@pytest.fixture(scope="module")
def eight_cores(examples: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Kernels of the gallery, in one library for eight cores with its twin."""
    at = tmp_path_factory.mktemp("gallery")
    names = ["softmax", "gelu", "layer_norm"]
    gallery = examples / "gallery"
    gpsimd_build.custom_op.load(
        "gallery",
        [gallery / f"{name}.cpp" for name in names],
        [gallery / "shape" / f"{name}_shape.cpp" for name in names],
        build_directory=at,
        multicore=True,
        native=True,
    )
    return at / "libgallery"


def both(path: pathlib.Path, kernel: str, *inputs: object) -> None:
    device, twin = (gpsimd_build.Library(str(path), native=native).op(kernel)(*inputs) for native in (False, True))
    assert device.dtype == twin.dtype and device.shape == twin.shape
    assert device.tobytes() == twin.tobytes(), (kernel, device, twin)


def test_a_twin_has_the_devices_bits(one_core: pathlib.Path) -> None:
    special = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, 3e38, 1e-45, 1e-39], np.float32)
    random = np.random.default_rng(3)
    for array in (special, random.standard_normal((7, 311)).astype(np.float32), np.ones(1, np.float32)):
        both(one_core, "doubled", array)
        both(one_core, "streamed", array)
        both(one_core, "scaled", array, 0.3, 3, 0.7)
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.float16):
        both(one_core, "doubled", (random.standard_normal(513) * 100).astype(dtype))
    both(one_core, "scaled", np.arange(5, dtype=np.int32).astype(np.float16), 2.0, 1, 5)


def test_eight_threads_are_eight_cores(eight_cores: pathlib.Path) -> None:
    random = np.random.default_rng(4)
    # the last is large enough for threads
    for shape in ((1, 5), (3, 64), (130, 257)):
        x = random.standard_normal(shape).astype(np.float32)
        weight, bias = (random.standard_normal(shape[1:]).astype(np.float32) for _ in range(2))
        both(eight_cores, "softmax", x)
        both(eight_cores, "gelu", x)
        both(eight_cores, "layer_norm", x, weight, bias, 1e-5)


def test_pytorch_calls_it_with_a_gradient_and_fast(
    relu: gpsimd_build.Library, examples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    sources = examples / "relu.cpp", examples / "shape" / "relu_shape.cpp"
    gpsimd_build.torch.load("relu", *sources, build_directory=tmp_path, gradient="relu_backward", native=True)
    try:
        for shape in ((3,), (17, 59), (1 << 17,)):
            ours, theirs = (torch.linspace(-2, 2, 1 << 17)[: torch.Size(shape).numel()].reshape(shape) for _ in range(2))
            ours, theirs = ours.clone().requires_grad_(), theirs.clone().requires_grad_()
            torch.ops.my.relu_forward(ours).sum().backward()
            torch.relu(theirs).sum().backward()
            assert torch.equal(torch.ops.my.relu_forward(ours), torch.relu(theirs))
            assert torch.equal(ours.grad, theirs.grad)
        x = torch.randn(17, 59).T
        assert torch.equal(torch.ops.my.relu_forward(x), torch.relu(x))
        with pytest.raises(RuntimeError, match="not implemented for 'Double'"):
            torch.ops.my.relu_forward(torch.zeros(3, dtype=torch.float64))
        fast = seconds_of_a_call()
    finally:
        gpsimd_build.torch.register_library(relu, "relu_backward")
    assert seconds_of_a_call() > 2 * fast


def seconds_of_a_call() -> float:
    x = torch.randn(2, 3)
    torch.ops.my.relu_forward(x)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        torch.ops.my.relu_forward(x)
        best = min(best, time.perf_counter() - start)
    return best


def test_a_kernel_that_stops_does_not_stop_python(one_core: pathlib.Path) -> None:
    twin = gpsimd_build.Library(str(one_core), native=True)
    x = np.ones(3, np.float32)
    for _ in range(2):
        with pytest.raises(RunFindings, match="scaled stopped on core 0: more is -1"):
            twin.scaled(x, 1.0, -1, 0)
    with pytest.raises(RunFindings, match="floating-point Scalar"):
        twin.scaled(x.astype(np.int32), 1.5, 1, 0)
    with pytest.raises(GpsimdBuildError, match="4 inputs|takes 4"):
        twin.scaled(x)
    assert (twin.scaled(x, 2.0, 1, 1) == 3).all()


def test_a_twin_is_no_file_of_the_library(one_core: pathlib.Path) -> None:
    library = gpsimd_build.Library(str(one_core))
    assert "native" not in (one_core.parent / "libops.manifest.json").read_text()
    assert not any("native" in path for path in library.images)
    tool = gpsimd_build.executable()
    assert subprocess.run([tool, "verify", one_core]).returncode == 0
    refused = subprocess.run([tool, "verify", f"{one_core}.native.so"], capture_output=True, text=True)
    assert refused.returncode == 1 and "native twin" in refused.stdout + refused.stderr
    alone = one_core.parent / "alone"
    alone.mkdir()
    for file in one_core.parent.glob("libops*"):
        if not file.name.endswith(".native.so"):
            shutil.copy(file, alone / file.name)
    with pytest.raises(GpsimdBuildError, match="--native"):
        gpsimd_build.Library(str(alone / "libops"), native=True).doubled(np.ones(3, np.float32))


FAULTS = """\
#include <torch/torch.h>
torch::Tensor past_the_block(const torch::Tensor& x) {
    float* block = static_cast<float*>(torch::neuron::tcm_malloc(4 * sizeof(float)));
    x.tcm_accessor().tensor_to_tcm<float>(block, 0, 4);
    block[x.numel()] = 1.0f;  // one past the end
    torch::neuron::tcm_free(block);
    return torch::add(x, x);
}
torch::Tensor shifted(const torch::Tensor& x, int by) {
    return torch::add(x, torch::Scalar(1 << by));
}
"""


def test_the_machines_sanitizers_see_a_fault(tmp_path: pathlib.Path) -> None:
    (tmp_path / "faults.cpp").write_text(FAULTS)
    line = ["compile", "faults.cpp", "--op", "past_the_block", "--op", "shifted", "--native"]
    tool = gpsimd_build.executable()
    subprocess.run([tool, *line, "--sanitize", "address,undefined"], cwd=tmp_path, check=True)
    call = textwrap.dedent(
        """\
        import sys, numpy, gpsimd_build
        library = gpsimd_build.Library("build/faults.checked", native=True)
        x = numpy.ones(4, numpy.float32)
        print(library.shifted(x, 40) if sys.argv[1] == "shifted" else library.past_the_block(x))
        """
    )
    compiler = shutil.which("c++") or "c++"
    asan = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()

    def said(op: str, **environment: str) -> str:
        done = subprocess.run(
            ["/usr/bin/env", *(f"{name}={value}" for name, value in environment.items()), sys.executable, "-c", call, op],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    checked = {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0"}
    found = said("past_the_block", **checked)
    assert "heap-buffer-overflow" in found and "faults.cpp:5" in found, found
    found = said("shifted", **checked)
    assert "faults.cpp:10" in found and "shift exponent 40" in found, found
    assert "python::sanitizer" in said("past_the_block")
