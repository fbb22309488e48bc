"""Where times are measured: whatever is on the front once more, until none is there by luck."""

from __future__ import annotations

from kernelwright.evaluate.candidate import C
from kernelwright.search import Result, preferred
from kernelwright.stories.variant_search.search import Search

MOST_AGAIN = 100
"""Variants that are measured once more."""


def measure_again(search: Search[C], best: Result[C] | None) -> Result[C] | None:
    """What is best when everything on the front has been measured with more patience: a search keeps what was lucky.
    Where times are estimated there is no luck."""
    if not search.answers.is_measured:
        return best
    search.say("measure again")
    search.answers.settle()
    again: dict[C, Result[C]] = {}
    for event in search.run.journal.events("settled"):
        waiting = [search.run.variant(event.data["variant"]).candidate] if event.data["variant"] else []
        return search.again(waiting)[0] if waiting else None
    while len(again) < MOST_AGAIN:
        waiting = [candidate for candidate in _leading(search) if candidate not in again]
        if not waiting:
            break
        again |= dict(zip(waiting, search.again(waiting), strict=True))
    lasting = [result for result in again.values() if result.objectives is not None]
    best = preferred(lasting) if lasting else None
    found = search.found(best.candidate) if best else None
    search.note("settled", {"name": "settled", "variant": found.name if found else None})
    return best


def _leading(search: Search[C]) -> list[C]:
    """What beats the original and no other beats, equals too: in an order that does not depend on who was recorded first."""
    run = search.run
    front = {found.outcome.objectives(run.settings.objectives) for found in run.front}
    leading = [f for f in run.accepted if f.is_gain and f.outcome.objectives(run.settings.objectives) in front]
    leading.sort(key=lambda found: (found.size, str(found.candidate)))
    return [found.candidate for found in leading][:MOST_AGAIN]
