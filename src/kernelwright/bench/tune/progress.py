"""What ``kw bench tune`` found, program by program, in a file as long as it has not come to its end: who starts it again goes on there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernelwright.bench.result import Row, Say
from kernelwright.bench.tune.black_box import Effort, Searched
from kernelwright.bench.tune.dataset_rows import Worst
from kernelwright.cache import cache_folder, content_key
from kernelwright.evaluate.run.machine_facts import machine, tool_versions
from kernelwright.lazy_dataclasses import dataclass

_SOURCES = (".py", ".c", ".h", ".cu", ".cuh", ".toml")


@dataclass(frozen=True)
class ProgramResult:
    """One program, tuned by both."""

    name: str
    rows: list[Row]
    """Of its datasets."""
    black_box: list[Row]
    """Of the black box: one, or none where it is not installed."""
    notes: list[str]
    worst: Worst
    others: int
    """Thresholds that differ from those of the quickest pass."""
    ours: Effort
    """Of the quickest pass."""
    slowest_s: float
    """Tuning time of the slowest pass."""
    searches: list[Searched]
    """Of the black box, one for each seed."""

    def as_json(self) -> dict[str, Any]:
        """Its fields by name, as ``from_json`` reads them."""
        return {**asdict(self)}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> ProgramResult:
        """Raises ``TypeError`` or ``KeyError`` for what ``as_json`` did not write."""
        searches = [
            Searched(**{**s, "at_end": Effort(**s["at_end"]), "at_equal": s["at_equal"] and Effort(**s["at_equal"])})
            for s in value["searches"]
        ]
        made = {"worst": Worst(**value["worst"]), "ours": Effort(**value["ours"]), "searches": searches}
        return ProgramResult(**{**value, **made})


class Progress:
    """The programs that are measured. Other sources, another machine, or other versions of what we stand on start anew.

    Times are of the process that measured them, and comparable on one machine: they count processor time."""

    def __init__(self, quick: bool, has_black_box: bool, say: Say) -> None:
        package = Path(__file__).parents[2]
        sources = sorted(path for path in package.rglob("*") if path.suffix in _SOURCES)
        facts = [str(quick), str(has_black_box), str(machine()), str(tool_versions())]
        key = content_key([*facts, *(path.read_bytes() for path in sources)])
        self.path = cache_folder() / "bench" / f"tune-{key[:16]}.jsonl"
        self.found: dict[str, ProgramResult] = {}
        self._say = say

    def __enter__(self) -> Progress:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                result = ProgramResult.from_json(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue  # the line that was being written
            self.found[result.name] = result
        if self.found:
            self._say(f"measured before: {', '.join(self.found)}")
        self._file = self.path.open("a")
        return self

    def note(self, result: ProgramResult) -> None:
        """Keeps a program's result, and appends it to the file."""
        self.found[result.name] = result
        self._file.write("\n" + json.dumps(result.as_json()))
        self._file.flush()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self.path.unlink(missing_ok=True)
        else:
            self._say(f"ended ({kind.__name__}) with {len(self.found)} programs measured; run it again to go on")
