"""What the best depends on, what is left of it where that is less than was demanded, and what of it holds for any size."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from kernelwright.errors import Misuse
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.prove.labels import Label
from kernelwright.search import is_gain
from kernelwright.stories.proving import Proofs, meets
from kernelwright.stories.variant_search.search import Search

G = TypeVar("G", bound=Hashable)

OTHERS = 4
"""Variants that are proven in the place of a best that fell short."""


PROVABLE = 8
"""Variants that are looked at for one that can be proven whole, where the best cannot be."""


def prove_best(search: Search[tuple[G, ...]]) -> None:
    """What the best depends on. Where that is less than was demanded: the fastest that can be had without the edits at fault.
    And what of it is faster whatever the size, where it fixes one."""
    search.standing.is_over = True
    best, accept = search.run.best, search.run.settings.accept
    if best is None:
        return
    search.standing.best = best
    with Proofs(search.run, jobs=search.answers.jobs) as proofs:
        proving = _Proving(search, proofs)
        label = proving.label_of_best(best)
        # Right on the training cases, run in order, is all that --accept any asks for.
        if accept == "any" if label is None else meets(label, accept):
            proving.keep_proven(best, label)
            kept: Found[tuple[G, ...]] | None = best
        else:
            search.note("fallen", {"name": "best", "variant": best.name})
            search.standing.best = None
            kept = proving.salvaged(best, label) if label is not None else None
            if kept is not None:
                proving.keep_proven(kept, proving.label(kept))
                search.note("salvaged", {"name": "best", "variant": kept.name, "of": best.name})
        if kept is not None and label is not None and accept != "any":
            proving.keep_for_any_size(search.run.best or kept)


class _Proving(Generic[G]):
    def __init__(self, search: Search[tuple[G, ...]], proofs: Proofs[tuple[G, ...]]) -> None:
        self._search = search
        self._proofs = proofs
        self._known: dict[tuple[G, ...], tuple[G, ...] | None] = {}

    def holds(self, found: Found[tuple[G, ...]]) -> bool:
        """Whether it is proven as was demanded."""
        return self._meets(found, self._search.run.settings.accept)

    def _meets(self, found: Found[tuple[G, ...]], accept: str) -> bool:
        """Whether it is proven as ``accept`` says. Of one that is not no more is found out than that: it has no proof, and no label."""
        run = self._search.run
        if run.proof(found.name) is None:
            name = {"name": f"{found.name} {accept}", "variant": found.name}
            if any(event.data["name"] == name["name"] for event in run.journal.events("fell short")):
                return False
            self._search.say(f"prove {found.name}")
            proof = self._proofs.of(found.candidate, found.speedup, accept=accept)
            if not proof.is_whole:
                self._search.note("fell short", name)
                return False
            self._search.note("proof", {"name": found.name, "variant": found.name, **proof.as_json()})
        return meets(self.label(found), accept)

    def label_of_best(self, best: Found[tuple[G, ...]]) -> Label | None:
        """None, and a note that says why, for an original that proves nothing of any variant."""
        try:
            return self.label(best)
        except Misuse as error:
            self._search.remark("proof", [f"nothing can be proven: {error.message}; {error.hint}"])
            return None

    def keep_proven(self, best: Found[tuple[G, ...]], label: Label | None) -> None:
        """What of the best is proven, and noted as such: all of it, or what is left without the edits that are not. Where that
        is as fast, it becomes the best."""
        search = self._search
        if label not in ("proven", "clean"):
            return
        kept = self.proven_part(best, label)
        if kept is None or _slower(kept.speedup, best.speedup):
            kept = self.proven_of_others(best, kept)
        if kept is None:
            return
        search.note("proven", {"name": "best", "variant": kept.name, "best": not _slower(kept.speedup, best.speedup)})

    def keep_for_any_size(self, best: Found[tuple[G, ...]]) -> None:
        """Notes the fastest that fixes no size, where the best does: the best without the edits that do, or another variant; or
        what either is when it relies on less. It is a gain, and proven as was demanded."""
        fixes = self._proofs.fixes_launch
        if not fixes(best.candidate):
            return
        left = tuple(gene for gene in best.candidate if not fixes((gene,)))
        found = self._search.try_one(left) if left else None
        general = [each for each in self.others(None, set(), many=True) if not fixes(each.candidate)][:OTHERS]
        if found is not None and found.is_gain:
            general = sorted([found, *general], key=lambda each: -each.speedup)
        kept: Found[tuple[G, ...]] | None = None
        for each in general:
            if kept is None or _slower(kept.speedup, each.speedup):
                kept = _faster(kept, self._held_for_any_size(each))
        if kept is not None:
            is_best = not _slower(kept.speedup, best.speedup)  # what asks less of a launch, and is as fast
            self._search.note("any size", {"name": "best", "variant": kept.name, "best": is_best})

    def _held_for_any_size(self, found: Found[tuple[G, ...]]) -> Found[tuple[G, ...]] | None:
        """The variant, or the fastest of what is left of it when it relies on less, that is as was demanded and fixes no size."""
        kept = found if self.holds(found) else self.relying_on_less(found)
        label = self.label(kept) if kept is not None else None
        if label in ("clean", None):
            part = self.proven_part(kept or found, label)
            if part is not None and not self._proofs.fixes_launch(part.candidate):
                kept = part if kept is None or not _slower(part.speedup, kept.speedup) else kept
        return kept if kept is not None and kept.is_gain and not self._proofs.fixes_launch(kept.candidate) else None

    def salvaged(self, best: Found[tuple[G, ...]], label: Label) -> Found[tuple[G, ...]] | None:
        """The fastest gain that can be had of a best that is less than was demanded; None where there is none."""
        accept = self._search.run.settings.accept
        less = self.relying_on_less(best) if label == "data-specific" else None
        if less is not None and not _slower(less.speedup, best.speedup):
            return less
        kept = part = self.proven_part(best, label) if label in ("clean", "data-specific") else None
        if part is None and label == "data-specific":
            less = _faster(less, self._provable_relying_on_less(best))
        if accept == "proven":
            kept = self.fastest_proven(_faster(part, less))
        elif part is None or _slower(part.speedup, best.speedup):
            # Guards do not save it, or cost what it gains.
            kept, at_fault = self.without_faults(best, part, less)
            kept = next(filter(self.holds, self.others(_faster(kept, less), at_fault)), kept)
            kept = _faster(_faster(kept, less), part)
        return kept if kept is not None and kept.is_gain else None

    def relying_on_less(self, found: Found[tuple[G, ...]]) -> Found[tuple[G, ...]] | None:
        """The variant when it relies on less, if it is what was demanded then: the one that changes least of those that lose nothing by
        that, else the fastest. What relies on least is proven first: where that falls short, all others do."""
        candidates = self._proofs.relying_on_less(found.candidate)
        least = self._search.try_one(candidates[-1]) if candidates else None
        if least is None or not self.holds(least):
            return None
        best = least if least.is_gain else None
        for candidate in candidates[:-1]:
            less = self._search.try_one(candidate)
            if less is None or not less.is_gain or (best is not None and _slower(less.speedup, best.speedup)):
                continue
            if self.holds(less):
                if not _slower(less.speedup, found.speedup):
                    return less
                best = _faster(best, less)
        return best

    def proven_part(self, found: Found[tuple[G, ...]], label: Label | None) -> Found[tuple[G, ...]] | None:
        """A variant, or what is left of it without the edits that cannot be proven, with the guards that the others need; None where
        that gains nothing, or is not proven after all. ``found`` is the one that was proven last: guards are made from the launches that
        its proof has seen."""
        if label == "proven":
            return found
        self._search.say("prove for all launches")
        candidate = self._provable(found.candidate)
        part = self._search.try_one(candidate) if candidate else None
        return part if part is not None and part.is_gain and self._meets(part, "proven") else None

    def _provable(self, candidate: tuple[G, ...]) -> tuple[G, ...] | None:
        """What of a candidate can be proven, asked once."""
        if candidate not in self._known:
            self._known[candidate] = self._proofs.provable(candidate)
        return self._known[candidate]

    def _provable_relying_on_less(self, best: Found[tuple[G, ...]]) -> Found[tuple[G, ...]] | None:
        """What of a best can be proven, where tests found something in that, too, when it relies on less."""
        candidate = self._provable(best.candidate)
        found = self._search.try_one(candidate) if candidate else None
        return self.relying_on_less(found) if found is not None and found.is_gain else None

    def proven_of_others(
        self, best: Found[tuple[G, ...]], kept: Found[tuple[G, ...]] | None
    ) -> Found[tuple[G, ...]] | None:
        """``kept``, which is proven of the best, or a faster variant all edits of which can be proven, with the guards they need: an
        edit that cannot be, and gains next to nothing, may have taken the place of one that can. Looked at: the fastest that have none
        of the edits that could not be proven so far."""
        candidate = kept.candidate if kept is not None else self._provable(best.candidate) or ()
        unproven = set(best.candidate).difference(candidate)
        seen: set[str] = set()
        for _ in range(PROVABLE):
            left = self.others(kept, unproven, many=True)
            found = next((each for each in left if each.key not in seen and each.key != best.key), None)
            if found is None:
                break
            seen.add(found.key)
            candidate = self._provable(found.candidate) or ()
            unproven.update(set(found.candidate).difference(candidate))
            part = self._search.try_one(candidate) if candidate else None
            if part is None or not part.is_gain or (kept is not None and not _slower(kept.speedup, part.speedup)):
                continue
            if self._meets(part, "proven"):
                kept = part
        return kept

    def fastest_proven(self, kept: Found[tuple[G, ...]] | None) -> Found[tuple[G, ...]] | None:
        """``kept``, or what can be proven of the fastest variants that are faster."""
        self._search.standing.phase = "salvage"
        for found in self.others(kept, set()):
            if kept is None or _slower(kept.speedup, found.speedup):
                part = self.proven_part(found, self.label(found))
                if part is not None and (kept is None or _slower(kept.speedup, part.speedup)):
                    kept = self._search.standing.best = part
        return kept

    def without_faults(
        self,
        best: Found[tuple[G, ...]],
        proven: Found[tuple[G, ...]] | None = None,
        less: Found[tuple[G, ...]] | None = None,
    ) -> tuple[Found[tuple[G, ...]] | None, set[G]]:
        """The edits of a variant, which is not proven as demanded, put together again: each kept as long as what they make is proven and
        no slower; and those for which it was not proven. Tried in halves, for a few edits of many are at fault and a proof takes longer
        than all else. Those of it that stand in ``proven`` are begun with, all at once. Ends early where what is not at fault so far is no
        faster than ``less``, which is proven as demanded."""
        self._search.standing.phase = "salvage"
        kept = self._held_at_once(tuple(gene for gene in best.candidate if proven and gene in proven.candidate))
        at_fault: set[G] = set()
        left = [gene for gene in best.candidate if kept is None or gene not in kept.candidate]

        def is_beaten() -> bool:
            if less is None or not at_fault:
                return False
            most = self._search.try_one(tuple(gene for gene in best.candidate if gene not in at_fault))
            return most is not None and not _slower(less.speedup, most.speedup)

        while left and not is_beaten():
            before = len(left)
            kept, left = self._put_together(kept, left, at_fault, frozenset(best.candidate), is_beaten)
            if len(left) == before:
                break
        return kept, at_fault

    def _put_together(
        self,
        kept: Found[tuple[G, ...]] | None,
        group: list[G],
        at_fault: set[G],
        failed: frozenset[G],
        is_beaten: Callable[[], bool],
    ) -> tuple[Found[tuple[G, ...]] | None, list[G]]:
        """What is kept with those edits of a group that hold on top of it; and those that make it slower, which may need others that are
        yet to come. Notes those at fault. ``failed``: edits that are known to fall short together. ``is_beaten``: whether it is worth no
        further proof."""
        if is_beaten():
            return kept, []
        candidate = (*(kept.candidate if kept else ()), *group)
        if len(group) == 1 or failed != frozenset(candidate):
            found = self._search.try_one(candidate)
            slower = found is None or _slower(found.speedup, kept.speedup if kept else 1.0)
            if found is not None and not slower and self.holds(found):
                self._search.standing.best = found
                return found, []
            if len(group) == 1:
                if slower:
                    return kept, group
                at_fault.update(group)
                kept = self._search.standing.best = self._with_masked(kept, group[0])
                return kept, []
        half = (len(group) + 1) // 2
        kept, waiting = self._put_together(kept, group[:half], at_fault, failed, is_beaten)
        kept, others = self._put_together(kept, group[half:], at_fault, failed, is_beaten)
        return kept, waiting + others

    def _held_at_once(self, candidate: tuple[G, ...]) -> Found[tuple[G, ...]] | None:
        """The candidate, where it is a gain and proven as demanded."""
        found = self._search.try_one(candidate) if candidate else None
        return found if found is not None and found.is_gain and self.holds(found) else None

    def _with_masked(self, kept: Found[tuple[G, ...]] | None, gene: G) -> Found[tuple[G, ...]] | None:
        """What is kept, with a gene that is at fault where it holds with masked loads and is faster so."""
        careful = self._proofs.masked((gene,))
        found = self._search.try_one((*(kept.candidate if kept else ()), *careful)) if careful else None
        faster = found is not None and found.is_gain and (kept is None or _slower(kept.speedup, found.speedup))
        return found if found is not None and faster and self.holds(found) else kept

    def others(
        self, kept: Found[tuple[G, ...]] | None, at_fault: set[G], *, many: bool = False
    ) -> list[Found[tuple[G, ...]]]:
        """The fastest accepted variants, beyond what is kept, that have none of the edits at fault; a program once. ``many``: all."""
        least = kept.speedup if kept else 1.0
        programs: dict[str, Found[tuple[G, ...]]] = {}
        for found in sorted(self._search.run.accepted, key=lambda f: (-f.speedup, f.size)):
            if _slower(least, found.speedup) and not at_fault.intersection(found.candidate):
                programs.setdefault(found.key, found)
        return list(programs.values())[: None if many else OTHERS]

    def _remark_on_program(self, checks: Sequence[Mapping[str, Any]]) -> None:
        """Says why the whole program was not compared, where there is one."""
        subject = self._search.run.subject
        said = not_compared(checks) if isinstance(subject, Recordings) and subject.program is not None else ""
        if said:
            self._search.remark("whole program", [said])

    def label(self, found: Found[tuple[G, ...]]) -> Label:
        known = self._search.run.proof(found.name)
        if known is None:
            self._search.say(f"prove {found.name}")
            known = self._proofs.of(found.candidate, found.speedup).as_json()
            self._search.note("proof", {"name": found.name, "variant": found.name, **known})
        self._remark_on_program(known["checks"])
        label: Label = known["label"]
        return label


def not_compared(checks: Sequence[Mapping[str, Any]]) -> str:
    """Why the whole program was not compared, in a sentence; empty where it was, or where the variant is not even right in training."""
    status = {each["name"]: each["status"] for each in checks}
    whole = next((each for each in checks if each["name"] == "whole program"), None)
    if whole is None or whole["status"] != "not run" or status.get("training") != "passed":
        return ""
    return f"the whole program was not compared: {whole['detail']}"


def _faster(one: Found[G] | None, other: Found[G] | None) -> Found[G] | None:
    """The faster of two, the first where they tie; either may be None."""
    if one is None or other is None:
        return one if other is None else other
    return other if _slower(one.speedup, other.speedup) else one


def _slower(speedup: float, than: float) -> bool:
    """By more than a tie."""
    return is_gain(1 / than, 1 / speedup)
