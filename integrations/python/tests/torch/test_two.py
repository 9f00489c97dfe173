"""What only PyTorch 2 has: its own check of operators, and its compiler. ``cargo xtask soak pytorch`` runs these."""

import pytest
import torch

import gpsimd_build

pytestmark = pytest.mark.skipif(int(torch.__version__.split(".")[0]) < 2, reason="PyTorch 2 has it")


def test_opcheck_passes(relu: gpsimd_build.Library) -> None:
    x = torch.randn(5, 3)
    forward, backward = torch.ops.my.relu_forward.default, torch.ops.my.relu_backward.default
    calls = [(forward, (x,)), (forward, (x.clone().requires_grad_(),)), (backward, (torch.randn(5, 3), x))]
    for op, arguments in calls:
        assert set(torch.library.opcheck(op, arguments).values()) == {"SUCCESS"}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_compiled_function_calls_it(relu: gpsimd_build.Library, backend: str) -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        return (torch.ops.my.relu_forward(x * 2) + 1).sum()

    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    ours, theirs = (torch.linspace(-2, 2, 15).reshape(5, 3).requires_grad_() for _ in range(2))
    value, want = compiled(ours), (torch.relu(theirs * 2) + 1).sum()
    assert torch.equal(value, want)
    value.backward()
    want.backward()
    assert ours.grad is not None and theirs.grad is not None and torch.equal(ours.grad, theirs.grad)


def test_types_and_shapes_alone(relu: gpsimd_build.Library) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        y = torch.ops.my.relu_forward(torch.empty(1 << 20, 1 << 20))
    assert (y.shape, y.dtype) == ((1 << 20, 1 << 20), torch.float32)
