"""Calls MODULE:FUNCTION for gpsimd-build: arguments on standard input, results on standard output.

Each is a line of JSON, then the bytes of its tensors. Arrays are numpy's, or torch's if the module imports torch.
"""

import importlib
import json
import os
import sys


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the function prints is not an answer

    def answer(document: dict, data: bytes = b"") -> None:
        answers.write(json.dumps(document).encode() + b"\n" + data)
        answers.flush()

    sys.path.insert(0, os.getcwd())
    module, _, name = sys.argv[1].partition(":")
    try:
        import numpy

        function = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except Exception as error:
        return answer({"error": f"{type(error).__name__}: {error}"})
    answer({})
    torch = sys.modules.get("torch")

    def widened(data: bytes) -> "numpy.ndarray":
        return (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")

    def narrowed(array: "numpy.ndarray") -> bytes:
        bits = numpy.ascontiguousarray(array, "<f4").view("<u4")
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return numpy.where(numpy.isnan(array), 0x7FC0, rounded).astype("<u2").tobytes()

    def tensor(about: dict) -> object:
        data, dtype, shape = sys.stdin.buffer.read(about["bytes"]), about["dtype"], about["shape"]
        is_brain = dtype == "bfloat16"
        array = widened(data) if is_brain else numpy.frombuffer(data, numpy.dtype(dtype).newbyteorder("<"))
        array = array.reshape(shape).copy()
        if torch is None:
            return array
        return torch.from_numpy(array).to(torch.bfloat16) if is_brain else torch.from_numpy(array)

    for line in sys.stdin.buffer:
        call = json.loads(line)
        arguments = [tensor(about) if "shape" in about else about["number"] for about in call["arguments"]]
        wanted = call["dtype"]
        try:
            result = function(*arguments)
            if torch is not None and isinstance(result, torch.Tensor):
                result = result.detach()
                result = (result.float() if result.dtype == torch.bfloat16 else result).numpy()
            result = numpy.asarray(result)
            kind = "f" if wanted in ("bfloat16", "float16", "float32") else "i"
            if result.dtype.kind == "f" and kind == "f":
                data = narrowed(result) if wanted == "bfloat16" else result.astype(wanted).tobytes()
                dtype = wanted
            elif result.dtype.kind in "iub" and kind == "i":
                data, dtype = result.astype(wanted).tobytes(), wanted
            else:
                data, dtype = result.tobytes(), str(result.dtype)
            answer({"dtype": dtype, "shape": list(result.shape), "bytes": len(data)}, data)
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


main()
