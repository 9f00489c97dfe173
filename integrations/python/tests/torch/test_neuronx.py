"""A script for the accelerator, unedited, on this machine."""

import os
import pathlib
import subprocess
import sys
import textwrap

import gpsimd_build

SCRIPT = """\
import os, sys
import torch
import torch.nn as nn
import torch_xla.core.xla_model as xm
from torch_neuronx.xla_impl import custom_op

custom_op.load(
    name="relu",
    compute_srcs=[os.path.join(sys.argv[1], "relu.cpp")],
    shape_srcs=[os.path.join(sys.argv[1], "shape", "relu_shape.cpp")],
    build_directory=os.getcwd(),
)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.ops.my.relu_forward(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.ops.my.relu_backward(grad, x)


class Mlp(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.first, self.second, self.activation = nn.Linear(12, 9), nn.Linear(9, 4), activation

    def forward(self, x):
        return torch.log_softmax(self.second(self.activation(self.first(x))), dim=1)


def train(activation, device):
    torch.manual_seed(0)
    model = Mlp(activation).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data, target = torch.randn(32, 12), torch.randint(4, (32,))
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(data.to(device)), target.to(device))
        loss.backward()
        xm.optimizer_step(optimizer)
        xm.mark_step()
    return list(model.parameters())


ours = train(Relu.apply, "xla")
theirs = train(torch.relu, xm.xla_device())
assert __name__ == "__main__"
print("bit-equal:", all(torch.equal(a, b) for a, b in zip(ours, theirs)))
"""


def test_a_training_script_runs_unedited(examples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    line = [sys.executable, "-m", "gpsimd_build.neuronx", "train.py", str(examples)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env={**os.environ})
    assert done.stdout.strip() == "bit-equal: True", done.stderr


def test_without_a_script_it_says_how(tmp_path: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-m", "gpsimd_build.neuronx"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and textwrap.shorten(done.stdout, 40).startswith("usage: python -m")
    assert gpsimd_build.__name__ == "gpsimd_build"
