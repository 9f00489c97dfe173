"""Runs a script that was written for the accelerator on this machine: ``python -m gpsimd_build.neuronx script.py``.

The script gets stand-ins for ``torch_neuronx.xla_impl.custom_op`` and for the calls of ``torch_xla.core.xla_model`` that
scripts of custom ops make. The device ``xla`` is the CPU, with custom ops on the simulated device. Nothing is changed outside
this process. Unaware of how ops run and of what the script does.
"""

from __future__ import annotations

import runpy
import sys
import types
from typing import Any, Callable, Dict, List, Mapping, Optional

import torch
from torch.overrides import TorchFunctionMode

from . import torch as operators

__all__ = ["install", "main"]


class _XlaIsCpu(TorchFunctionMode):
    """Whatever is asked to be on the device ``xla`` is on the CPU."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None
    ) -> Any:
        named = {key: _cpu(value) for key, value in (kwargs or {}).items()}
        return function(*(_cpu(value) for value in args), **named)


def _cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "xla":
        return torch.device("cpu")
    if isinstance(value, str) and (value == "xla" or value.startswith("xla:")):
        return "cpu"
    return value


def _optimizer_step(optimizer: Any, barrier: bool = False, optimizer_args: Optional[Dict[str, Any]] = None) -> Any:
    return optimizer.step(**(optimizer_args or {}))


#: ``torch_xla.core.xla_model`` as far as single-process scripts use it.
_XLA_MODEL: Mapping[str, Any] = {
    "xla_device": lambda n=None, devkind=None: torch.device("cpu"),
    "xla_device_hw": lambda device: "CPU",
    "mark_step": lambda wait=False: None,
    "wait_device_ops": lambda devices=(): None,
    "optimizer_step": _optimizer_step,
    "get_ordinal": lambda defval=0: 0,
    "get_local_ordinal": lambda defval=0: 0,
    "xrt_world_size": lambda defval=1: 1,
    "is_master_ordinal": lambda local=True: True,
    "master_print": print,
    "rendezvous": lambda tag, payload=b"", replicas=(): [payload],
    "save": lambda data, path, master_only=True, global_master=False: torch.save(data, path),
    "add_step_closure": lambda closure, args=(), run_async=False: closure(*args),
}


def install() -> None:
    """Puts the stand-ins where ``import`` finds them, also in place of the real ones."""
    custom_op = _module(
        "torch_neuronx.xla_impl.custom_op", load=operators.load, load_library=operators.load_library
    )
    xla_impl = _module("torch_neuronx.xla_impl", custom_op=custom_op)
    _module("torch_neuronx", xla_impl=xla_impl)
    xla_model = _module("torch_xla.core.xla_model", **_XLA_MODEL)
    core = _module("torch_xla.core", xla_model=xla_model)
    _module("torch_xla", core=core, device=lambda *_: torch.device("cpu"), sync=lambda *_, **__: None)


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(name, "A stand-in by gpsimd_build.neuronx.")
    module.__dict__.update(members)
    module.__path__ = []  # a package, so that `import a.b` finds what is below it
    sys.modules[name] = module
    return module


def main(arguments: List[str]) -> None:
    """Runs ``script.py ARGUMENT…`` as Python itself would."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: python -m gpsimd_build.neuronx script.py [ARGUMENT…]\n\n{__doc__}")
        raise SystemExit(0 if arguments else 2)
    install()
    script = arguments[0]
    sys.argv = list(arguments)
    import os

    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    with _XlaIsCpu():
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
