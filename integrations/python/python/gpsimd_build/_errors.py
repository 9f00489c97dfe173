"""What can go wrong, with the tool's codes and words. Unaware of how the tool is started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

__all__ = ["CompilerWarning", "Finding", "GpsimdBuildError", "LibraryWarning", "RunFindings"]


class CompilerWarning(UserWarning):
    """What a compiler said although it succeeded."""


class LibraryWarning(UserWarning):
    """A library is not what it may be taken for: its sources changed since it was built."""


class GpsimdBuildError(Exception):
    """The tool refused or failed.

    ``str()`` of it is the whole story: message, what each part of it found, and what to do next.
    """

    #: Stable name such as ``schema::optional``; ``python::…`` for refusals of this package itself.
    code: str
    #: One sentence.
    message: str
    #: What to do next, if there is something.
    help: Optional[str]
    #: The parts of a report that has several: every problem of a request, not the first only.
    related: Sequence["GpsimdBuildError"]
    #: Exit status of the tool; 3 means that this machine lacks something.
    exit_status: int

    def __init__(
        self,
        code: str,
        message: str,
        help: Optional[str] = None,
        related: Sequence["GpsimdBuildError"] = (),
        exit_status: int = 1,
    ) -> None:
        self.code = code
        self.message = message
        self.help = help
        self.related = tuple(related)
        self.exit_status = exit_status
        super().__init__(self._text())

    @property
    def codes(self) -> list[str]:
        """Its code and those of its parts, in order."""
        return [self.code] + [code for part in self.related for code in part.codes]

    def _text(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        lines += [indent for part in self.related for indent in _indented(str(part))]
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        return (type(self), (self.code, self.message, self.help, self.related, self.exit_status))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], exit_status: int = 1) -> "GpsimdBuildError":
        """From the ``error`` of a ``--json`` answer."""
        headline = document.get("headline") or "the tool failed"
        detail = document.get("detail")
        return cls(
            document.get("code") or "tool::failed",
            f"{headline}\n{detail}" if detail else headline,
            document.get("remedy"),
            [cls.from_document(part, exit_status) for part in document.get("related", [])],
            exit_status,
        )


def _indented(text: str) -> list[str]:
    return ["  " + line for line in text.splitlines()]


@dataclass(frozen=True)
class Finding:
    """Something a check found in a file or in a run."""

    code: str
    #: ``error``, ``warning`` or ``note``.
    severity: str
    message: str
    help: str
    #: The check's own document: place, cores, counts.
    document: Mapping[str, Any]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Finding":
        """From an entry of the ``findings`` of a ``--json`` answer."""
        text = {key: str(document.get(key, "")) for key in ("code", "severity", "message", "help")}
        return cls(text["code"], text["severity"].lower(), text["message"], text["help"], document)

    def __str__(self) -> str:
        site = self.document.get("site") or {}
        place = f" at {site['file']}:{site.get('line')}" if site.get("file") else ""
        return f"{self.severity}[{self.code}]: {self.message}{place}\n  help: {self.help}"


class RunFindings(GpsimdBuildError):
    """An op did not run to its end, or the checks found something in what it did."""

    #: Everything found, in the order of the report.
    findings: Sequence[Finding]
    #: The report that the call would have given; ``report.output`` is what the op wrote, however wrong.
    report: Any

    def __init__(self, findings: Sequence[Finding], report: Any) -> None:
        self.findings = tuple(findings)
        self.report = report
        worst = next((f for f in self.findings if f.severity == "error"), None)
        first = worst or next(iter(self.findings), None)
        super().__init__(
            first.code if first else "run::incomplete",
            "\n".join(str(finding) for finding in self.findings) or "a core did not complete",
        )

    def __reduce__(self) -> Any:
        return (type(self), (self.findings, self.report))
