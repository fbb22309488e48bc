"""What ``kw check`` writes for machines: SARIF, JUnit XML, and findings that are suppressed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from kernelwright.device.checking.check_report import CheckReport
from kernelwright.device.checking.findings import HINTS, KINDS, CheckFinding, End, FindingKind, Findings
from kernelwright.device.checking.junit import junit
from kernelwright.device.checking.sarif import sarif
from kernelwright.device.checking.suppressions import Suppression, read_suppressions
from kernelwright.errors import Misuse
from tests.check.conftest import HERE, kw
from tests.check.sarif_rules import broken_rules

DOCS = Path(__file__).parents[2] / "docs" / "check.md"
RACE = CheckFinding(
    "race", "read and write of the same 4 bytes", "race block", "scan<int>", "src/my scan.cu", 3,
    End("src/my scan.cu", 4, (1, 0, 0), (0, 0, 0)), (33, 0, 0), (0, 0, 0), 0x4000_0001_0000, "sums (device allocation 1)", count=7,
)  # fmt: skip
REFUSED = CheckFinding("launch", 'cudaMalloc: out of memory <&"\x01>', "launch")
BENIGN = replace(RACE, hint="benign", line=1, also=None, benign=True)
ORDER = CheckFinding("order-dependent", "1 of 4 elements depends", "order-dependent", "last", "/usr/include/other.h", 9)
ALL = (RACE, REFUSED, BENIGN, ORDER)
ENTRY = Suppression("race", "looked at", "my scan.cu", 3, 3)


def report(*found: CheckFinding, suppressions: tuple[Suppression, ...] = (), **rest: Any) -> CheckReport:
    return CheckReport.of("app.cu", Findings(found), suppressions, **{"launches": 2, **rest})


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "my scan.cu").write_text("first\nsecond\n  third;\nfourth;\n")
    return str(tmp_path)


def log_of(given: CheckReport, folder: str) -> Any:
    log = json.loads(sarif(given, "0.1.0", folder))
    assert broken_rules(log) == []
    return log["runs"][0]


# -- classes ---------------------------------------------------------------------------------------------------------


def test_what_is_said_of_several_equal_ones_is_of_the_widest_race() -> None:
    """Whether the narrow one was met first, or last."""
    warp, block, grid = (
        CheckFinding("race", hint, hint, "k", "a.cu", 7, scope=scope)
        for hint, scope in (("race warp", "warp"), ("race block", "block"), ("race grid", "grid"))
    )
    for order in ([warp, block, grid], [grid, warp, block], [block, grid, replace(warp, count=1)]):
        (found,) = Findings(order)
        assert (found.hint, found.message, found.count) == ("race grid", "race grid", 3)
    update = replace(warp, hint="race update")
    (found,) = Findings([update, update])
    assert (found.hint, found.count) == ("race update", 2)
    update, wider = (replace(each, hint="race update") for each in (warp, grid))
    for order in ([update, wider], [wider, update]):
        (found,) = Findings(order)
        assert (found.hint, found.message, found.count) == ("race update", "race grid", 2)


def test_every_class_has_its_row() -> None:
    """In the table, in the documents, and among the hints, which are named after classes."""
    assert tuple(KINDS) == get_args(FindingKind)
    assert re.findall(r"^\| `([a-z-]+)` \|", DOCS.read_text(), re.M)[: len(KINDS)] == list(KINDS)
    assert {name.partition(" ")[0] for name in HINTS} - {"benign"} == set(KINDS)


# -- SARIF -----------------------------------------------------------------------------------------------------------


def test_a_finding_is_a_result_with_its_place_and_the_other_end(folder: str) -> None:
    run = log_of(report(*ALL), folder)
    race, refused, order, benign = run["results"]
    assert (race["ruleId"], race["level"], race["occurrenceCount"]) == ("race", "error", 7)
    (location,) = race["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/my%20scan.cu", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "snippet": {"text": "third;"}},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "scan<int>", "kind": "function"}]
    (other,) = race["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 4 and "the other end" in other["message"]["text"]
    assert race["properties"]["thread"] == [33, 0, 0] and "sums" in race["properties"]["memory"]
    assert "locations" not in refused, "nobody knows a line of host code"
    assert order["level"] == "warning" and benign["level"] == "note"
    assert order["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///usr/include/other.h"}
    assert all("suppressions" not in result for result in run["results"])


def test_nothing_found_is_a_log_without_results(folder: str) -> None:
    run = log_of(report(), folder)
    assert run["results"] == [] and run["invocations"][0]["executionSuccessful"] is True
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(KINDS)


def test_a_check_that_broke_off_says_so(folder: str) -> None:
    (invocation,) = log_of(report(incomplete=("scan",), is_whole=False), folder)["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 3)
    said = [row["message"]["text"] for row in invocation["toolExecutionNotifications"]]
    assert "scan does more than is followed" in said[0] and "ended early" in said[1]


def test_suppressions_stand_in_the_log(folder: str) -> None:
    run = log_of(report(*ALL, suppressions=(ENTRY,)), folder)
    told = {row["ruleId"] + row["level"]: row["suppressions"] for row in run["results"]}
    assert told.pop("raceerror") == [{"kind": "external", "status": "accepted", "justification": "looked at"}]
    assert set(map(str, told.values())) == {"[]"}


def test_fingerprints_stay_when_lines_are_inserted_and_tell_equal_lines_apart(folder: str) -> None:
    def prints(*found: CheckFinding) -> list[str]:
        return [row["partialFingerprints"]["finding/v1"] for row in log_of(report(*found), folder)["results"]]

    (before,) = prints(RACE)
    path = Path(folder) / "src" / "my scan.cu"
    path.write_text("new\n" + path.read_text())
    moved = replace(RACE, line=4, also=replace(RACE.also, line=5))  # type: ignore[type-var]
    assert prints(moved) == [before] != prints(RACE)
    path.write_text("same\n" * 8)
    assert len(set(prints(replace(RACE, also=None), replace(RACE, line=5, also=None)))) == 2


def test_a_broken_rule_is_seen(folder: str) -> None:
    log = json.loads(sarif(report(RACE, suppressions=(ENTRY,)), "0.1.0", folder))
    (result,) = log["runs"][0]["results"]
    result["ruleIndex"] = 0
    result["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    result["suppressions"][0]["justification"] = ""
    assert [rule.split()[0] for rule in broken_rules(log)] == ["3.27.6", "3.30.5", "3.35.3"]


# -- JUnit -----------------------------------------------------------------------------------------------------------


def suite_of(given: CheckReport) -> dict[str, ET.Element]:
    """The test cases by name; counts are looked at here."""
    root = ET.fromstring(junit(given).encode())
    (suite,) = root
    cases = list(suite)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
    assert int(suite.attrib["tests"]) == len(cases) and suite.attrib.items() - {("name", "kw check app.cu")} == set(
        root.attrib.items()
    )
    return {case.attrib["name"]: case for case in cases}


def test_a_class_is_a_test_case() -> None:
    cases = suite_of(report(*ALL, schedules=4))
    assert list(cases) == [*KINDS, "complete"]
    assert {name for name, case in cases.items() if case.find("failure") is not None} == {
        "race",
        "launch",
        "order-dependent",
    }
    race = cases["race"].find("failure")
    assert race is not None and race.attrib["message"] == "1 finding: src/my scan.cu:3"
    assert race.text is not None and "the other end: src/my scan.cu:4" in race.text
    refused = cases["launch"].find("failure")
    assert refused is not None and 'out of memory <&"?>' in (refused.text or ""), "letters that XML cannot hold"
    assert "note: " in (cases["race"].findtext("system-out") or "")


def test_nothing_found_passes_and_orders_nobody_asked_for_are_skipped() -> None:
    cases = suite_of(report())
    assert {name for name, case in cases.items() if len(case)} == {"order-dependent"}
    assert len(suite_of(report(schedules=1))["order-dependent"]) == 0


def test_a_suppressed_class_passes_and_a_check_that_broke_off_is_an_error() -> None:
    cases = suite_of(report(RACE, suppressions=(ENTRY,), is_whole=False))
    assert cases["race"].find("failure") is None
    assert "suppressed (looked at): src/my scan.cu:3: race" in (cases["race"].findtext("system-out") or "")
    error = cases["complete"].find("error")
    assert error is not None and "ended early" in error.attrib["message"]


# -- suppressions ----------------------------------------------------------------------------------------------------


def test_suppressed_findings_are_told_apart_and_counted() -> None:
    unused = Suppression("barrier", "old", "scan.cu", 8, 9)
    given = report(*ALL, suppressions=(ENTRY, unused))
    assert given.suppressed == ((RACE, ENTRY),) and given.unmatched == (unused,)
    assert given.defects == (REFUSED, ORDER) and given.notes == (BENIGN,) and given.exit_code == 1
    assert given.summary() == "2 findings, 1 suppressed (1 benign) in 2 launches"
    assert given.remarks() == ["the suppression of scan.cu:8-9: barrier matches nothing that was found"]
    rows = given.as_json()
    assert rows["suppressed"] == [{**RACE.as_json(), "reason": "looked at"}]
    assert rows["unmatched"] == [{"kind": "barrier", "file": "scan.cu", "lines": [8, 9], "says": "", "reason": "old"}]
    assert report(RACE, suppressions=(ENTRY,)).exit_code == 0
    assert report(RACE, suppressions=(ENTRY,), is_whole=False).exit_code == 3


@pytest.mark.parametrize(
    ("entry", "matches"),
    [
        (ENTRY, True),
        (replace(ENTRY, file="src/my scan.cu"), True),
        (replace(ENTRY, file="./src/../src/my scan.cu"), True),
        (replace(ENTRY, file="can.cu"), False),
        (replace(ENTRY, file="lib/my scan.cu"), False),
        (replace(ENTRY, first=4, last=4), True),  # the other end
        (replace(ENTRY, first=1, last=9), True),
        (replace(ENTRY, first=5, last=9), False),
        (replace(ENTRY, kind="uninitialised"), False),
        (replace(ENTRY, says="same 4 bytes"), True),
        (replace(ENTRY, says="same 8 bytes"), False),
        (Suppression("race", "anywhere", says="read and write"), True),
    ],
)
def test_an_entry_matches_by_class_place_and_message(entry: Suppression, matches: bool) -> None:
    assert entry.matches(RACE) is matches


def test_a_file_of_entries_is_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(
        '[[suppress]]\nkind = "race"\nfile = "a.cu"\nline = [2, 4]\nreason = " equal values "\n\n'
        '[[suppress]]\nkind = "launch"\nsays = "cudaMalloc"\nreason = "asks"\n'
    )
    assert read_suppressions(path) == (
        Suppression("race", "equal values", "a.cu", 2, 4),
        Suppression("launch", "asks", says="cudaMalloc"),
    )
    path.write_text("# none yet\n")
    assert read_suppressions(path) == ()


WHOLE = {"kind": '"race"', "file": '"a.cu"', "line": "3", "reason": '"why"'}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"reason": None}, ":3: a suppression without a reason"),
        ({"reason": '"  "'}, ":3: a suppression without a reason"),
        ({"reason": "7"}, "reason = 7 is no text"),
        ({"kind": '"races"'}, "'races' is no class of findings"),
        ({"kind": None}, "is no class of findings"),
        ({"line": None}, "names a file and a line in it"),
        ({"file": None}, "names a file and a line in it"),
        ({"file": None, "line": None}, "or what the message says"),
        ({"line": "0"}, "line = 0 is no line"),
        ({"line": "true"}, "is no line"),
        ({"line": "[5, 3]"}, "line = [5, 3] is no line and no range"),
        ({"line": "[1, 2, 3]"}, "no range of lines"),
        ({"lines": "[1, 2]"}, "unknown key 'lines'"),
    ],
)
def test_entries_that_are_none(tmp_path: Path, changed: dict[str, str | None], says: str) -> None:
    row = {key: value for key, value in {**WHOLE, **changed}.items() if value is not None}
    path = tmp_path / "known.toml"
    path.write_text("\n\n[[suppress]]\n" + "".join(f"{key} = {value}\n" for key, value in row.items()))
    with pytest.raises(Misuse) as refused:
        read_suppressions(path)
    assert says in str(refused.value) and str(path) in str(refused.value) and "next: " in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[[suppress]\n", "is not TOML"),
        (b"race a.cu:12\n", "is not TOML"),
        (b"\xff\xfe", "is not TOML"),
        (b"[suppress]\nkind = 'race'\n", "is no list of suppressions"),
        (b"suppress = [3]\n", "is no list of suppressions"),
        (b"[[supress]]\nkind = 'race'\n", "'supress' is no list of suppressions"),
    ],
)
def test_files_that_hold_no_entries(tmp_path: Path, text: bytes, says: str) -> None:
    path = tmp_path / "known.toml"
    path.write_bytes(text)
    with pytest.raises(Misuse, match=re.escape(says)):
        read_suppressions(path)


# -- the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_both_and_passes_with_all_suppressed(tmp_path: Path) -> None:
    (tmp_path / "race.cu").write_text((HERE / "planted" / "race_shared_inter_warp.cu").read_text())
    entries = [
        f'[[suppress]]\nkind = "{kind}"\nfile = "race.cu"\nline = 6\nreason = "known"\n'
        for kind in ("race", "uninitialised")
    ]
    (tmp_path / "all.toml").write_text("".join(entries))
    (tmp_path / "one.toml").write_text(entries[0] + entries[0].replace("6", "7"))
    files = ["--sarif", "log.sarif", "--junit", "log.xml"]
    done = kw("check", *files, "--suppressions", "all.toml", "race.cu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing found, 2 suppressed in 1 launch" in done.stderr and done.stderr.count("suppressed: ") == 2
    log = json.loads((tmp_path / "log.sarif").read_text())
    assert broken_rules(log) == [] and [len(row["suppressions"]) for row in log["runs"][0]["results"]] == [1, 1]
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "race.cu"
    assert ET.parse(tmp_path / "log.xml").getroot().attrib["failures"] == "0"
    done = kw("check", *files, "--json", "--suppressions", "one.toml", "race.cu", cwd=tmp_path)
    assert done.returncode == 1 and "race.cu:7: race matches nothing" in done.stderr
    told = json.loads(done.stdout)
    assert [row["kind"] for row in told["findings"]] == ["uninitialised"] and told["suppressed"][0]["reason"] == "known"
    assert told["unmatched"][0]["lines"] == [7, 7]
    assert ET.parse(tmp_path / "log.xml").getroot().attrib["failures"] == "1"


def test_bad_requests_end_before_the_program_runs(tmp_path: Path) -> None:
    """The program does not even compile, which nobody gets to see."""
    (tmp_path / "broken.cu").write_text("int main() { return }\n")
    (tmp_path / "known.toml").write_text("[[suppress]]\nkind = 'race'\nfile = 'a.cu'\nline = 1\n")
    (tmp_path / "folder").mkdir()
    for arguments, code, says in (
        (["--sarif", "nowhere/log.sarif"], 3, "nowhere/log.sarif cannot be written: No such file"),
        (["--junit", "folder"], 3, "cannot be written: Is a directory"),
        (["--junit", "log", "--sarif", "./log"], 2, "both name ./log"),
        (["--suppressions", "none.toml"], 2, "none.toml cannot be read: No such file"),
        (["--suppressions", "known.toml"], 2, "known.toml:1: a suppression without a reason"),
    ):
        done = kw("check", *arguments, "broken.cu", cwd=tmp_path)
        assert done.returncode == code and says in done.stderr, done.stderr
        assert "Traceback" not in done.stderr and "error:" not in done.stderr


def test_a_check_that_does_not_come_to_its_end_leaves_no_older_result(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text("int main() { return }\n")
    (tmp_path / "log.sarif").write_text("{}")
    done = kw("check", "--sarif", "log.sarif", "broken.cu", cwd=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "log.sarif").exists()
