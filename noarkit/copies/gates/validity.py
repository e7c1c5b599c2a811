"""Is a product valid PDF/A? Our validator must approve it; that of a site may not refuse it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.children import child_environment
from noarkit.safe.pdfa import judge_pdfa

_PREFIX = "pdfa-"
_PATIENCE_S = 600.0
_MOST_OUTPUT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PdfaGate:
    """Our validator has checked everything in the product, and nothing breaks the standard."""

    name: str = "pdfa"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where the validator refuses the product, or does not know something in it."""
        if not task.target.startswith(_PREFIX):
            return ()
        verdict = judge_pdfa(product.path, task.target.removeprefix(_PREFIX))
        if verdict.passed:
            return ()
        return Failure(Reason.NOT_VALID, {"rules": list(verdict.rules), "state": verdict.state})


@dataclass(frozen=True, slots=True)
class SecondOpinionGate:
    """The validator that a site names (`"verapdf"`) approves the product too."""

    program: str
    name: str = "second-opinion"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where that validator refuses it; one that gives no verdict is told."""
        if not task.target.startswith(_PREFIX):
            return ()
        flavour = task.target.removeprefix(_PREFIX)
        try:
            completed = subprocess.run(  # noqa: S603  # the site's own validator, without a shell
                [self.program, "--format", "json", "--flavour", flavour, str(product.path)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env=child_environment(),
                timeout=_PATIENCE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return (Finding("no-second-opinion", {"why": type(error).__name__}),)
        compliant = _compliant(completed.stdout[:_MOST_OUTPUT])
        if compliant is None:
            return (Finding("no-second-opinion", {"why": f"exit {completed.returncode}"}),)
        if not compliant:
            return Failure(Reason.NOT_VALID, {"rules": [], "state": "fail", "by": "second opinion"})
        return (Finding("second-opinion-agrees", {}),)


def _compliant(output: bytes) -> bool | None:
    """The verdict in a report of veraPDF; None where there is none."""
    try:
        job = orjson.loads(output)["report"]["jobs"][0]
        results = job["validationResult"]
        result = results[0] if isinstance(results, list) else results
        return bool(result["compliant"])
    except (ValueError, KeyError, IndexError, TypeError):
        return None
