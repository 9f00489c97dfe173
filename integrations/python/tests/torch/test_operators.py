"""Registered operators where models use them."""

import pathlib
import subprocess
import sys
import textwrap

import pytest
import torch

import gpsimd_build
import gpsimd_build.torch
from gpsimd_build import GpsimdBuildError, RunFindings


def test_an_operator_is_pytorchs(relu: gpsimd_build.Library) -> None:
    x = torch.linspace(-3, 3, 1003)
    assert torch.equal(torch.ops.my.relu_forward(x), torch.relu(x))
    assert torch.equal(torch.ops.my.relu_forward(x.reshape(17, 59).T), torch.relu(x).reshape(17, 59).T)
    assert str(torch.ops.my.relu_forward.default._schema).startswith("my::relu_forward(Tensor ")


def test_what_pytorch_would_refuse_is_refused_in_its_words(relu: gpsimd_build.Library) -> None:
    with pytest.raises(RuntimeError, match="\"relu_forward\" not implemented for 'Double'"):
        torch.ops.my.relu_forward(torch.zeros(3, dtype=torch.float64))
    with pytest.raises(GpsimdBuildError, match="grad and x must have one shape"):
        torch.ops.my.relu_backward(torch.zeros(3), torch.zeros(4))
    with pytest.raises(RuntimeError, match="relu_forward"):
        torch.ops.my.relu_forward(torch.zeros(3), torch.zeros(3))


def test_types_and_shapes_without_elements(relu: gpsimd_build.Library) -> None:
    out = torch.ops.my.relu_forward(torch.empty(7, 5, device="meta"))
    assert out.shape == (7, 5) and out.dtype == torch.float32 and out.device.type == "meta"
    with pytest.raises(GpsimdBuildError, match="grad and x must have one shape"):
        torch.ops.my.relu_backward(torch.empty(3, device="meta"), torch.empty(4, device="meta"))


def test_a_gradient_is_relus(relu: gpsimd_build.Library) -> None:
    ours, theirs = (torch.linspace(-2, 2, 41).requires_grad_() for _ in range(2))
    weights = torch.linspace(1, 3, 41)
    (torch.ops.my.relu_forward(ours) * weights).sum().backward()
    (torch.relu(theirs) * weights).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)


class Mlp(torch.nn.Module):
    """Two layers with an activation that can be exchanged."""

    def __init__(self, activation) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.first, self.second = torch.nn.Linear(20, 13), torch.nn.Linear(13, 3)
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.activation(self.first(x)))  # type: ignore[no-any-return]


def trained(activation) -> Mlp:  # type: ignore[no-untyped-def]
    torch.manual_seed(5)
    model = Mlp(activation)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, labels = torch.randn(64, 20), torch.randint(3, (64,))
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
    return model


def test_twenty_steps_of_training_give_the_same_bits(relu: gpsimd_build.Library) -> None:
    ours, theirs = trained(torch.ops.my.relu_forward), trained(torch.relu)
    for mine, its in zip(ours.parameters(), theirs.parameters()):
        assert torch.equal(mine, its)


def test_a_traced_module_calls_it(relu: gpsimd_build.Library) -> None:
    model = Mlp(torch.ops.my.relu_forward)
    traced = torch.jit.trace(model, torch.randn(2, 20))
    x = torch.randn(5, 20)
    assert torch.equal(traced(x), model(x)) and "my::relu_forward" in str(traced.inlined_graph)


def test_findings_are_exceptions(relu: gpsimd_build.Library, tmp_path: pathlib.Path) -> None:
    (tmp_path / "half.cpp").write_text(
        textwrap.dedent(
            """\
            #include <torch/torch.h>
            torch::Tensor half(const torch::Tensor& t) {
                torch::Tensor r = torch::empty({t.numel()}, torch::kFloat);
                auto from = t.accessor<float, 1>();
                auto to = r.accessor<float, 1>();
                for (int i = 0; i < t.numel() / 2; ++i) to[i] = from[i];
                return r;
            }
            """
        )
    )
    (tmp_path / "half_shape.cpp").write_text(
        textwrap.dedent(
            """\
            #include <torch/torch.h>
            #include "torchneuron/register.h"
            torch::Tensor shape(torch::Tensor t) { return torch::zeros({t.numel()}, torch::kFloat); }
            NEURON_LIBRARY(my, m) { m.def("halved", &shape, "half"); }
            """
        )
    )
    # another library of the same namespace, and an op that has another name than its kernel
    library = gpsimd_build.torch.load("half", tmp_path / "half.cpp", tmp_path / "half_shape.cpp")
    assert library.op("my::halved") is library.op("half") is library.op("my.halved")
    with pytest.raises(RunFindings, match="uninitialised_output"):
        torch.ops.my.halved(torch.ones(10))


def test_an_operator_can_be_loaded_again(relu: gpsimd_build.Library) -> None:
    again = gpsimd_build.torch.load_library(relu.path, gradient="relu_backward")
    assert torch.equal(torch.ops.my.relu_forward(torch.tensor([-1.0, 2.0])), torch.tensor([0.0, 2.0]))
    with pytest.raises(RuntimeError, match="with a gradient"):
        gpsimd_build.torch.load_library(relu.path)
    with pytest.raises(GpsimdBuildError, match="relu_forward"):
        gpsimd_build.torch.register_library(again, "no_such")


def test_a_device_image_is_not_for_this_machine(relu: gpsimd_build.Library) -> None:
    with pytest.raises(RuntimeError, match="gpsimd_build.torch.load_library"):
        torch.ops.load_library(relu.images[0])
    with pytest.raises(OSError):
        torch.ops.load_library("no_such.so")


def test_types_of_elements_pass_as_they_are(relu: gpsimd_build.Library, tmp_path: pathlib.Path) -> None:
    (tmp_path / "same.cpp").write_text(
        textwrap.dedent(
            """\
            #include <torch/torch.h>
            torch::Tensor same(const torch::Tensor& t) { return torch::add(t, t); }
            """
        )
    )
    (tmp_path / "same_shape.cpp").write_text(
        textwrap.dedent(
            """\
            #include <torch/torch.h>
            #include "torchneuron/register.h"
            torch::Tensor shape(torch::Tensor t) { return torch::zeros(t.sizes(), t.dtype()); }
            NEURON_LIBRARY(my, m) { m.def("same", &shape, "same"); }
            """
        )
    )
    gpsimd_build.torch.load("same", tmp_path / "same.cpp", tmp_path / "same_shape.cpp")
    for dtype in (torch.float32, torch.bfloat16, torch.int8, torch.int32):
        t = torch.tensor([[1, -2, 3]], dtype=dtype)
        out = torch.ops.my.same(t)
        assert out.dtype == dtype and torch.equal(out, t + t), dtype


def test_ctrl_c_stops_a_call(relu: gpsimd_build.Library, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        textwrap.dedent(
            f"""\
            import signal, torch, gpsimd_build.torch
            gpsimd_build.torch.load_library({relu.path!r})
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
            while True:
                torch.ops.my.relu_forward(torch.ones(60_000))
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert "KeyboardInterrupt" in done.stderr, done.stderr
