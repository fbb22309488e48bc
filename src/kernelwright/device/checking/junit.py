"""A check as JUnit XML, which continuous integration shows as tests: ``kw check --junit FILE``.

One suite for the program; a test case for each class of findings, which fails with all findings of the class, and one, ``complete``,
that is an error when a device worker died. A class that nothing asked for (orders without ``--schedules``) is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from kernelwright.device.checking.check_report import CheckReport
from kernelwright.device.checking.findings import KINDS, CheckFinding, FindingKind
from kernelwright.device.describe_access import plural

# XML 1.0 has no way to write these; a program's message may hold them.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: CheckReport) -> str:
    """The text of a file, its encoding UTF-8."""
    cases = [_case(kind, report) for kind in KINDS]
    cases.append(_complete(report))
    failures = len({one.kind for one in report.defects})
    skipped = sum("<skipped" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{int(not report.is_whole)}" skipped="{skipped}"'
    suite = f"<testsuite name={_attribute('kw check ' + report.program)} {counts}>"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        suite,
        *cases,
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(kind: FindingKind, report: CheckReport) -> str:
    failed = [one for one in report.defects if one.kind == kind]
    passed = [f"suppressed ({by.reason}): {one.described()}" for one, by in report.suppressed if one.kind == kind]
    passed += [f"note: {one.described()}" for one in report.notes if one.kind == kind]
    inside = []
    if failed:
        said = f"{plural(len(failed), 'finding')}: {_places(failed)}"
        text = _text("\n\n".join(one.described() for one in failed))
        inside.append(f'<failure type="{kind}" message={_attribute(said)}>{text}</failure>')
    elif kind == "order-dependent" and not report.schedules:
        inside.append('<skipped message="other orders are tried with --schedules"/>')
    if passed:
        inside.append(f"<system-out>{_text(chr(10).join(passed))}</system-out>")
    return _test_case(kind, report, inside)


def _complete(report: CheckReport) -> str:
    remarks = report.remarks()
    inside = []
    if not report.is_whole:
        inside.append(f'<error type="incomplete" message={_attribute(remarks[-1])}/>')
    if remarks:
        inside.append(f"<system-out>{_text(chr(10).join(remarks))}</system-out>")
    return _test_case("complete", report, inside)


def _test_case(name: str, report: CheckReport, inside: Sequence[str]) -> str:
    head = f"<testcase classname={_attribute('kw check ' + report.program)} name={_attribute(name)}"
    return "\n".join([f"{head}>", *inside, "</testcase>"]) if inside else f"{head}/>"


def _places(found: Sequence[CheckFinding]) -> str:
    return ", ".join(dict.fromkeys(one.place or one.message for one in found))


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("?", text))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("?", text))
