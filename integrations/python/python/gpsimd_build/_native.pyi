"""The compiled part: ``crates/gpsimd-python``."""

from typing import Any, List, Optional, Sequence, Tuple

class Refusal(Exception):
    """Its text is the ``error`` of a ``--json`` answer."""

class Report:
    """What a call came to."""

    def json(self) -> str:
        """``op``, ``cores`` and ``findings`` as ``run --json`` has them."""

class Session:
    def __init__(self, library: str) -> None: ...
    def warnings(self) -> List[str]: ...
    def kernel(self, name: Optional[str]) -> str: ...
    def types(self, kernel: str) -> List[str]: ...
    def output(self, kernel: str, arguments: Sequence[Any]) -> Tuple[str, List[int]]: ...
    def call(
        self,
        kernel: str,
        arguments: Sequence[Any],
        output: Tuple[str, List[int]],
        allow: Sequence[str],
        budget: Optional[int],
    ) -> Tuple[Optional[bytearray], bool, Report]: ...
