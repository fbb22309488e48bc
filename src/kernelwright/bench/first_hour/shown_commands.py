"""The commands that README and the pages it leads to show, as far as they can be typed as they stand.

``kw run examples/smooth.cu -- 512 32`` can; ``kw run app.cu -- ARGUMENTS`` cannot: there is no ``app.cu``, and capitals stand for
something of the reader's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

README, TUTORIAL = "README.md", "docs/tutorial.md"
BEGIN = (README, TUTORIAL)
"""What a new user follows first, to its end."""
NOT_FOLLOWED = ("bench",)
"""Commands that measure for hours, and not for a new user."""
SEARCHES = ("evolve", "breed", "explore", "tune")
"""Commands that leave a run, under the name of what they were given."""
_LINE = re.compile(r"^ {4}kw (.+)$", re.M)
_LINK = re.compile(r"\]\((docs/[\w-]+\.md)\)")
_REMARK = re.compile(r"\s{2,}|\s#")
_FILE = re.compile(r"[\w./-]+\.[a-z]\w*$")
_RUN = re.compile(r"(?:kw-runs/)?([\w-]+-\d+)(?:/[\w.]+)?$")
_STANDS_FOR = re.compile(r"[A-Z]{2,}[a-z]?(?::\d+)?(?:\.\.\.)?$|\.\.\.$|.*[,/=][A-Z]{3,}$")


@dataclass(frozen=True)
class Shown:
    """A command of a page: its words, without ``kw``."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(("kw", *self.words))


def pages(root: Path) -> list[str]:
    """README and the pages it links to, in the order in which it does. Raises ``Misuse`` where there is none."""
    readme = root / README
    if not readme.is_file():
        raise Misuse(
            f"there is no {README} in {root}, whose commands are followed",
            hint="run the benchmark from a checkout, installed by start.py or pip install -e .",
        )
    return [README, *(page for page in dict.fromkeys(_LINK.findall(readme.read_text())) if (root / page).is_file())]


def followed(root: Path, only: Sequence[str] = ()) -> list[Shown]:
    """In their order, each once; what one names must be in ``root``, or a run that one before it has made. ``only``: pages."""
    found: dict[tuple[str, ...], Shown] = {}
    made: set[str] = set()
    for page in only or pages(root):
        for words in _commands((root / page).read_text()):
            if words not in found and _can_be_typed(words, root, made):
                found[words] = Shown(page, words)
                if words[0] in SEARCHES:
                    made |= {f"{Path(word).stem.rpartition(':')[2]}-1" for word in words[1:]}
    return list(found.values())


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    """A line may show several, with semicolons between, and a remark behind two spaces."""
    for line in _LINE.findall(text):
        for each in _REMARK.split(line)[0].split(";"):
            try:
                words = shlex.split(each)
            except ValueError:
                continue
            yield tuple(words[1:] if words[:1] == ["kw"] else words)


def _can_be_typed(words: Sequence[str], root: Path, made: set[str]) -> bool:
    if not words or words[0] in NOT_FOLLOWED or any(map(_STANDS_FOR.match, words)):
        return False
    for word in words:
        file = word.partition(":")[0]
        if run := _RUN.match(word):
            if run[1] not in made:
                return False
        elif _FILE.match(file) and not (root / file).is_file():
            return False
    return True
