"""The rules of SARIF 2.1.0 that a log of ours could break, by the sections of the standard."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

RUN = {"tool", "invocations", "originalUriBaseIds", "results"}
RESULT = {
    "ruleId", "ruleIndex", "level", "message", "occurrenceCount", "partialFingerprints", "locations", "relatedLocations",
    "properties", "suppressions",
}  # fmt: skip
RULE = {"id", "shortDescription", "help", "defaultConfiguration"}
LEVELS = {"none", "note", "warning", "error"}


def broken_rules(log: Any) -> list[str]:
    """A sentence for each rule that a log breaks."""
    broken = []

    def must(holds: object, rule: str) -> None:
        if not holds:
            broken.append(rule)

    must(log.get("version") == "2.1.0" and "2.1.0" in log.get("$schema", ""), "3.13.2 the version is 2.1.0")
    must(len(log["runs"]) == 1, "one run")
    run = log["runs"][0]
    must(set(run) <= RUN, "3.14 properties of a run")
    driver = run["tool"]["driver"]
    rules = driver["rules"]
    must(driver["name"], "3.19.8 the driver has a name")
    must(len({rule["id"] for rule in rules}) == len(rules), "3.19.23 rules are unique")
    for rule in rules:
        must(set(rule) <= RULE, "3.49 properties of a rule")
        must(rule["shortDescription"]["text"].endswith("."), "3.49.9 a sentence")
        must(rule["defaultConfiguration"]["level"] in LEVELS, "3.50.3 a level")
    for one in run["invocations"]:
        must(isinstance(one["executionSuccessful"], bool), "3.20.14 whether it was successful")
        for said in one["toolExecutionNotifications"]:
            must(said["message"]["text"] and said["level"] in LEVELS, "3.58 notifications")
    bases = run["originalUriBaseIds"]
    for base in bases.values():
        must(urlsplit(base["uri"]).scheme == "file" and base["uri"].endswith("/"), "3.14.14 a folder ends with /")
    results = run["results"]
    for result in results:
        must(set(result) <= RESULT, "3.27 properties of a result")
        must(rules[result["ruleIndex"]]["id"] == result["ruleId"], "3.27.6 the index is the rule's")
        must(result["level"] in LEVELS, "3.27.10 a level")
        must(result["message"]["text"], "3.27.11 a message")
        must(result["occurrenceCount"] >= 1, "3.27.17 met at least once")
        related = result.get("relatedLocations", [])
        must(len({one["id"] for one in related}) == len(related), "3.28.2 ids are unique in a result")
        for location in [*result.get("locations", []), *related]:
            for problem in _broken_by(location, bases):
                must(False, problem)
        for one in result.get("suppressions", []):
            must(one["kind"] in ("inSource", "external"), "3.35.2 kind of a suppression")
            must(one["justification"] and one["status"] == "accepted", "3.35.3 a suppression says why")
    must(len({"suppressions" in result for result in results}) <= 1, "3.27.23 all results have suppressions, or none")
    prints = [str(result["partialFingerprints"]) for result in results]
    must(len(set(prints)) == len(prints), "3.27.16 fingerprints tell results apart")
    return broken


def _broken_by(location: dict[str, Any], bases: dict[str, Any]) -> list[str]:
    broken = []
    physical = location.get("physicalLocation")
    if physical is None:
        return [] if location.get("logicalLocations") else ["3.28 a location is somewhere"]
    artifact = physical["artifactLocation"]
    is_absolute = urlsplit(artifact["uri"]).scheme == "file"
    if any(letter in artifact["uri"] for letter in ' "<>\\^`{|}') or not artifact["uri"].isascii():
        broken.append("3.10.1 URIs are encoded")
    if is_absolute == ("uriBaseId" in artifact):
        broken.append("3.4.4 relative references have a base")
    if not is_absolute and artifact["uriBaseId"] not in bases:
        broken.append("3.4.4 the base is known")
    if ".." in Path(unquote(artifact["uri"])).parts:
        broken.append("3.10.2 URIs are normal")
    if physical.get("region", {"startLine": 1})["startLine"] < 1:
        broken.append("3.30.5 lines count from 1")
    return broken
