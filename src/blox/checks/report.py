"""Report: what the conformance suite found, as values and as text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One rule of the contract: kept (True), broken (False), or not applicable or not tried (None)."""

    rule: str
    claim: str
    ok: bool | None
    what: str = ""
    where: str = ""
    fix: str = ""

    @property
    def mark(self) -> str:
        return {True: "✓", False: "✗", None: "–"}[self.ok]


# What parts are called that are no policies.
_NOUNS = {
    "workload": "workload",
    "performance": "performance model",
    "reports": "source of reports",
    "backend": "backend",
    "failures": "source of failures",
}


@dataclass(frozen=True)
class Report:
    """The findings about one part, one per rule. `str(report)` is for people."""

    policy: str
    kind: str
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """`scheduling policy las`, `workload philly`."""
        return f"{_NOUNS.get(self.kind, f'{self.kind} policy')} {self.policy}"

    @property
    def ok(self) -> bool:
        """Whether no rule is broken."""
        return not self.faults

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The rules that are broken."""
        return tuple(finding for finding in self.findings if finding.ok is False)

    def finding(self, rule: str) -> Finding:
        """The finding about one rule."""
        return next(finding for finding in self.findings if finding.rule == rule)

    def verdict(self) -> str:
        count = len(self.faults)
        if not count:
            return "conforms"
        return f"does not conform: {count} {'rule is' if count == 1 else 'rules are'} broken"

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.verdict()}"]
        for finding in self.findings:
            lines.append(f"  {finding.mark} {finding.claim}{aside(finding)}")
            lines += [f"      {text}" for text in explanation(finding)]
        return "\n".join(lines)


def aside(finding: Finding) -> str:
    """Why a rule is neither kept nor broken, to stand behind its claim."""
    return f" ({finding.what})" if finding.ok is None and finding.what else ""


def explanation(finding: Finding) -> list[str]:
    """What is wrong, where, and how to mend it, line by line; nothing if nothing is."""
    if finding.ok is not False:
        return []
    lines = [finding.what]
    if finding.where:
        lines.append(finding.where if finding.where.startswith("at ") else f"at {finding.where}")
    if finding.fix:
        lines.append(f"fix: {finding.fix}")
    return lines
