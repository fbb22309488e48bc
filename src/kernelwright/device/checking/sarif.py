"""A check as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format, 2020): ``kw check --sarif FILE``.

Classes of findings are rules, findings are results with their place and the other end, suppressed ones say why. Files below the
working folder are named relative to it, so that a log fits another checkout; the section numbers below are those of the standard.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import Any
from urllib.parse import quote

from kernelwright.device.checking.check_report import CheckReport
from kernelwright.device.checking.findings import HINTS, KINDS, CheckFinding, FindingKind, source_line
from kernelwright.device.checking.suppressions import Suppression

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_RULES = {kind: number for number, kind in enumerate(KINDS)}


def sarif(report: CheckReport, version: str, folder: str) -> str:
    """The text of a log. ``version``: Kernelwright's; ``folder``: the absolute path that files are named relative to."""
    found: list[tuple[CheckFinding, Suppression | None]] = [(one, None) for one in (*report.defects, *report.notes)]
    found += report.suppressed
    results = [_result(one, by, report.has_suppressions, folder) for one, by in found]
    _number_equal_fingerprints(results)
    run = {
        "tool": {"driver": {"name": "Kernelwright", "semanticVersion": version, "rules": _rules()}},
        "invocations": [
            {
                "executionSuccessful": report.is_whole,
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning" if report.is_whole else "error", "message": {"text": remark}}
                    for remark in report.remarks()
                ],
            }
        ],
        "originalUriBaseIds": {_ROOT: {"uri": _uri(os.path.join(folder, ""))}},
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rules() -> list[dict[str, Any]]:
    return [
        {
            "id": kind,
            "shortDescription": {"text": about.what},
            "help": {"text": f"What helps: {'; or '.join(_hints(kind))}."},
            "defaultConfiguration": {"level": about.level},
        }
        for kind, about in KINDS.items()
    ]


def _hints(kind: FindingKind) -> list[str]:
    """Of a class: hints are named after it, with what tells them apart behind."""
    return [text for name, text in HINTS.items() if name.partition(" ")[0] == kind]


def _result(one: CheckFinding, by: Suppression | None, has_suppressions: bool, folder: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "ruleId": one.kind,
        "ruleIndex": _RULES[one.kind],
        "level": one.level,
        "message": {"text": f"{one.message}; {HINTS[one.hint]}"},
        "occurrenceCount": one.count,
        "partialFingerprints": {"finding/v1": _fingerprint(one, folder)},
    }
    location = _location(one.file, one.line, folder)
    if one.kernel:
        location["logicalLocations"] = [{"fullyQualifiedName": one.kernel, "kind": "function"}]
    # Findings about host code have neither: the location would be empty, and viewers then show the log itself.
    if location:
        row["locations"] = [location]
    if one.also is not None and one.also.file:
        other = _location(one.also.file, one.also.line, folder)
        row["relatedLocations"] = [{"id": 1, "message": {"text": f"the other end: {one.also.described()}"}, **other}]
    who = {"thread": one.thread, "block": one.block, "memory": one.buffer, "address": one.address and hex(one.address)}
    told = {name: value for name, value in who.items() if value}
    if told:
        row["properties"] = told
    # Section 3.27.23: of a run either all results say whether they are suppressed, or none.
    if has_suppressions:
        accepted = {"kind": "external", "status": "accepted"}
        row["suppressions"] = [{**accepted, "justification": by.reason}] if by else []
    return row


def _location(file: str, line: int, folder: str) -> dict[str, Any]:
    if not file:
        return {}
    path = os.path.normpath(os.path.join(folder, file))
    relative = os.path.relpath(path, folder)
    is_below = relative.split(os.sep)[0] != os.pardir
    artifact = {"uri": _quoted(relative), "uriBaseId": _ROOT} if is_below else {"uri": _uri(path)}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if line:
        text = source_line(path, line).partition("| ")[2]
        physical["region"] = {"startLine": line, **({"snippet": {"text": text}} if text else {})}
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    return f"file://{_quoted(path)}"


def _quoted(path: str) -> str:
    # A colon in the first part of a relative reference would be read as the end of a scheme.
    return quote(os.fsencode(path), safe="/")


def _fingerprint(one: CheckFinding, folder: str) -> str:
    """Of what stays when lines are inserted above: the class, the kernel, the text of both lines, the memory's name."""
    ends = sorted(
        source_line(os.path.join(folder, file), line).partition("| ")[2]
        for file, line in ((one.file, one.line), *([(one.also.file, one.also.line)] if one.also else []))
    )
    about = one.message if one.kind == "launch" else one.buffer
    said = "\0".join([one.kind, one.kernel, os.path.basename(one.file), *ends, about])
    return hashlib.sha256(said.encode(errors="surrogateescape")).hexdigest()[:32]


def _number_equal_fingerprints(results: list[dict[str, Any]]) -> None:
    """Equal lines have equal fingerprints: the second of them gets ``:2``, so that a viewer does not take them for one."""
    met: Counter[str] = Counter()
    for row in results:
        prints = row["partialFingerprints"]
        (name,) = prints
        met[prints[name]] += 1
        prints[name] += f":{met[prints[name]]}"
