"""PyTorch judges the device's operators: every case of ``sdk/tests/kernels.json`` that PyTorch has an operator for, and more
values at the edges of the types. Each difference has one of the reasons below; ``docs/sdk.md`` counts them.
"""

import collections
import itertools
import json
import math
import pathlib
import re
from typing import Any, Callable, Counter, Dict, Iterator, List, Optional

import pytest
import torch

from gpsimd_build import build_custom_op
from gpsimd_build._device import Array, Session, Spec
from gpsimd_build._errors import GpsimdBuildError

DTYPES: Dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64")
}
#: Libraries whose kernels are one operator each.
LIBRARIES = ("factories", "unary", "unary_out", "pow_clamp", "add_sub", "mul_div", "bitwise", "bitwise_out")
ULPS = {"sin": 1, "cos": 1, "tan": 1, "log": 1, "log2": 1, "log10": 1, "exp": 1, "pow": 1}

#: What PyTorch refuses and the device computes.
REFUSALS = {
    "not implemented for '(Half|BFloat16)'": "no 16-bit floats there",
    "cannot be converted to type .* without overflow": "a Scalar outside the type",
}


def judge(kernel: str) -> Optional[Callable[..., torch.Tensor]]:
    """What PyTorch computes for a kernel's arguments."""
    name = re.sub(r"^t_|_out|_(ts|st|tt|two|default)\b", "", kernel)
    like: Dict[str, Callable[..., torch.Tensor]] = {
        "full": lambda x, value: torch.full(x.shape, value, dtype=x.dtype),
        "zeros": lambda x: torch.zeros(x.shape, dtype=x.dtype),
        "ones": lambda x: torch.ones(x.shape, dtype=x.dtype),
        "eye": lambda x: torch.eye(x.size(0), x.size(1), dtype=x.dtype),
        "zeros_like": torch.zeros_like,
        "fill": lambda x, value: torch.empty_like(x).fill_(value),
        "add": lambda x, y, alpha=1: torch.add(x, y, alpha=alpha),
        "sub": lambda x, y, alpha=1: torch.sub(x, y, alpha=alpha),
        "clamp": torch.clamp,
        "pow": torch.pow,
        "mul": torch.mul,
        "div": torch.div,
        "bitwise_and": torch.bitwise_and,
        "bitwise_or": torch.bitwise_or,
        "bitwise_not": torch.bitwise_not,
    }
    unary = ("abs", "ceil", "floor", "sin", "cos", "tan", "log", "log2", "log10", "exp")
    return getattr(torch, name) if name in unary else like.get(name)


def written(case: Dict[str, Any]) -> Iterator[Any]:
    """A case's arguments; the values of a tensor are repeated until it is full."""
    for given in case["inputs"]:
        if "scalar" in given:
            value = float(given["scalar"]) if given["dtype"].startswith("float") else int(given["scalar"])
            yield value
        else:
            yield tensor(given["dtype"], given["shape"], given["values"])


def tensor(dtype: str, shape: List[int], values: List[Any]) -> torch.Tensor:
    count = math.prod(shape)
    numbers = list(itertools.islice(itertools.cycle(values), count))
    if dtype.startswith(("float", "bfloat")):
        return torch.tensor([float(value) for value in numbers]).to(DTYPES[dtype]).reshape(shape)
    return torch.tensor([int(value) for value in numbers], dtype=DTYPES[dtype]).reshape(shape)


def edges(kernel: str) -> Iterator[List[Any]]:
    """More arguments: ends of types, alpha and bounds at and beyond them."""
    floats = [0.0, "-0", 1, -1, "inf", "-inf", "nan", 1e-40, -1e-45, 3.4e38, 65504, 0.1, -7.5, 88.7, 100.25]
    for dtype in ("float32", "bfloat16", "int8", "uint8", "int16", "int32"):
        is_float = "float" in dtype
        info = None if is_float else torch.iinfo(DTYPES[dtype])
        values = floats if is_float else [0, 1, 2, 3, 7, info.min, info.max, info.max - 1, info.min + 1]
        x = tensor(dtype, [len(values)], values)
        y = torch.flip(x, [0])
        if kernel.endswith("default"):
            yield [x, y]
        elif re.match(r"t_(add|sub)", kernel):
            for alpha in ([2, 0.5, -1.0] if is_float else [2, -3, 127]):
                yield [x, y if kernel.endswith("tt") else (1.5 if is_float else 5), alpha]
        elif re.match(r"t_clamp", kernel):
            for low, high in ([(-1.0, 1.0), (2.0, -2.0)] if is_float else [(-1, 5), (-1000, 1000), (5, 2)]):
                yield [x, low, high]
        elif re.match(r"t_mul", kernel):
            yield [x, y if kernel.endswith("tt") else (0.1 if is_float else 3)]
        elif re.match(r"t_(abs|ceil|floor)", kernel):
            yield [x]


def on_device(session: Session, kernel: str, arguments: List[Any], like: torch.Tensor) -> torch.Tensor:
    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        name = str(value.dtype).rpartition(".")[2]
        data = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return Array(Spec(name, tuple(value.shape)), data)

    spec = Spec(str(like.dtype).rpartition(".")[2], tuple(like.shape))
    outcome = session.call(kernel, [one(value) for value in arguments], spec, ["large_extent", "double_free"])
    assert outcome.output is not None, (kernel, arguments, [str(f) for f in outcome.findings])
    return torch.frombuffer(outcome.output.data, dtype=like.dtype).reshape(like.shape)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The same bits; every NaN is as good as another."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    nan = a.isnan()
    width = {2: torch.int16, 4: torch.int32}[a.element_size()]
    bits = [torch.where(nan, torch.zeros_like(t), t).view(width) for t in (a, b)]
    return bool(torch.equal(nan, b.isnan()) and torch.equal(*bits))


def ulps(a: torch.Tensor, b: torch.Tensor) -> int:
    """Largest distance in units of the last place; huge where only one is a NaN."""
    if not torch.equal(a.isnan(), b.isnan()):
        return 1 << 40
    width, sign = {2: (torch.int16, 1 << 15), 4: (torch.int32, 1 << 31)}[a.element_size()]
    order = []
    for t in (a, b):
        bits = torch.where(t.isnan(), torch.zeros_like(t), t).contiguous().view(width).to(torch.int64)
        order.append(torch.where(bits < 0, -sign - bits, bits))
    return int((order[0] - order[1]).abs().max())


def reason(name: str, arguments: List[Any], ours: torch.Tensor, theirs: torch.Tensor) -> Optional[str]:
    """Why two results differ; ``None`` if nothing explains it."""
    x = next(value for value in arguments if isinstance(value, torch.Tensor))
    # on the device a number is of the tensor's type first
    typed = [value if isinstance(value, torch.Tensor) else torch.tensor(value).to(x.dtype) for value in arguments]
    if name == "div" and not x.is_floating_point():
        # wide enough for the lowest integer by -1, at which PyTorch's process dies
        wide = [value.long() for value in typed]
        truncated = torch.div(*wide, rounding_mode="trunc").to(x.dtype)
        return "integer division" if same(ours, truncated) else None
    if name == "clamp" and not x.is_floating_point():
        info = torch.iinfo(x.dtype)
        if any(not info.min <= bound <= info.max for bound in arguments[1:]):
            return "clamp outside the type"
    if name in ("add", "sub") and x.is_floating_point() and len(arguments) == 3:
        # 16-bit floats are rounded once, at the end
        one, other, alpha = [value.float() for value in typed]
        rounded = getattr(torch, name)(one, other * alpha).to(x.dtype)
        return "alpha rounding" if same(ours, rounded) else None
    if name == "pow" and arguments[1:] == [0.5]:
        odd = (x == -math.inf) | ((x == 0) & torch.signbit(x))
        rest = [torch.where(odd, torch.zeros_like(t), t) for t in (ours, theirs)]
        return "pow(x, 0.5)" if ulps(*rest) <= 1 else None
    if name in ULPS and ours.dtype == theirs.dtype and ours.is_floating_point() and ulps(ours, theirs) <= ULPS[name]:
        return "libm ulp"
    return None


@pytest.fixture(scope="module")
def repository(examples: pathlib.Path) -> pathlib.Path:
    return examples.parent


def test_every_difference_has_a_reason(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    document = json.loads((repository / "sdk/tests/kernels.json").read_text())
    differ: Counter[str] = collections.Counter()
    equal, wrong = 0, []
    for library in document["libraries"]:
        if library["name"] not in LIBRARIES:
            continue
        images = build_custom_op.compile(
            library["name"],
            [op["kernel"] for op in library["ops"]],
            [repository / "sdk/tests" / library["source"]],
            [op["schema"] for op in library["ops"]],
            tmp_path,
        )
        session = Session(images[0].replace(".stripped.so", ""))
        for op in library["ops"]:
            kernel, call = op["kernel"], judge(op["kernel"])
            if call is None:
                continue
            name = re.sub(r"^t_|_out|_(ts|st|tt|two|default)\b", "", kernel)
            cases = [list(written(case)) for case in op["cases"] if not case.get("multicore")]
            for arguments in itertools.chain(cases, edges(kernel)):
                x = next(value for value in arguments if isinstance(value, torch.Tensor))
                ours = on_device(session, kernel, arguments, x)
                try:
                    theirs = call(*arguments)
                except RuntimeError as error:
                    why = next((why for said, why in REFUSALS.items() if re.search(said, str(error))), None)
                    if why is None:
                        raise
                    differ[why] += 1
                    continue
                if same(ours, theirs):
                    equal += 1
                    continue
                why = reason(name, arguments, ours, theirs)
                if why is None:
                    wrong.append(f"{kernel}{tuple(arguments)}: here {ours}, PyTorch {theirs}")
                else:
                    differ[why] += 1
    total = equal + sum(differ.values()) + len(wrong)
    print(f"{total} cases, {equal} equal, {dict(differ)}")
    assert not wrong, "\n".join(wrong[:20]) + f"\n{len(wrong)} without a reason"
    rows = dict(re.findall(r"^\| (.+?) \| (\d+) \|", section(repository, "## Judged by PyTorch"), re.M))
    assert {**rows} == {"the same bits": str(equal), **{key: str(count) for key, count in differ.items()}}


def section(repository: pathlib.Path, heading: str) -> str:
    text = (repository / "docs/sdk.md").read_text()
    return text.partition(heading + "\n")[2].partition("\n## ")[0]


def test_what_pytorch_refuses_is_refused(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = repository / "sdk/tests/kernels/unary.cpp"
    images = build_custom_op.compile("sine", ["t_sin"], [source], ["t::sin(Tensor x) -> (Tensor r)"], tmp_path)
    session = Session(images[0].replace(".stripped.so", ""))
    with pytest.raises(GpsimdBuildError):
        session.call("t_sin", [Array(Spec("float64", (1,)), bytes(8))], Spec("float32", (1,)))
