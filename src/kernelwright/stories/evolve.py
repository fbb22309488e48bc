"""Evolution: faster kernels by search over edits of their LLVM-IR (paper 000), on one screen.

until the strategy has no question left:
    ask        a batch of candidates: genomes, tuples of genes
    evaluate   look each up in the journal, or build, run, compare and time it in the pool; record
    tell       in the order asked, so that neither workers nor crashes change what is found
measure again  where times are measured: whatever is on the front, until nobody is there by luck
minimise       the best, down to the genes that matter
prove          what the result rests on
finish         if asked for: explain it, export it, write the page (``stories/finish.py``)
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.edits.gene import Gene
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.judging.variant import Candidate
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.answers import Answer, Answers
from kernelwright.evaluate.run.run import Found, Run, new_folder
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.subject import Given, PythonFile, Recordings, Subject, subject_of
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.prove.labels import Label
from kernelwright.search import Budget, Default, Gevo, Hooks, Minimise, Result, Strategy, is_gain, preferred
from kernelwright.stories.finish import Finished, finish
from kernelwright.stories.proposals import Proposals
from kernelwright.stories.proving import Proofs, meets

OTHERS = 4
"""Variants that are proven in the place of a best that fell short."""

MOST_AGAIN = 100
"""Variants that are measured once more."""

Watch = Callable[["Standing"], None]


@dataclass
class Standing:
    """Where a run stands, for whoever watches: changed in place with every answer."""

    run: Run
    phase: str = "start"
    generation: int = 0
    evaluations: int = 0
    accepted: int = 0
    seen: int = 0
    """Candidates that came to a program evaluated before."""
    fresh: int = 0
    """Evaluated in this session, since ``began``."""
    rejected: Counter[str] = field(default_factory=Counter)
    original_us: float = 0.0
    best: Found | None = None
    """The fastest accepted one."""
    speedup_any: float = 1.0
    """Of the fastest that is right on the training cases, accepted or not."""
    front: Sequence[Found] = ()
    notes: Sequence[str] = ()
    jobs: int = 1
    began: float = field(default_factory=time.monotonic)
    searched: float = 0.0
    """When the search had its last answer."""
    is_over: bool = False
    """Whether it has come to its end; what follows is about what it found."""

    @property
    def rate(self) -> float:
        """Variants per second, this session."""
        return self.fresh / max(self.searched - self.began, 1e-9)


def evolve(
    workload: Workload | Subject | Path | str,
    *,
    device: str = "auto",
    objectives: Sequence[str] = ("time",),
    folder: Path | str | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch = lambda standing: None,
    **settings: Any,
) -> Run:
    """Searches for faster kernels; returns the finished run, open for reading.

    ``workload``: a workload, its description, or the path of a Python file that defines one. ``device``: a virtual GPU, or
    ``cuda:0`` to take times on a real one. ``settings``: those of
    ``RunSettings`` (evaluations, seed, accept, ...). ``folder``: of the run; else a fresh one below ``kw-runs``. ``report``:
    also explain and export the best, and write the page, into that folder, as the command does. ``cluster``: the address of a
    Ray cluster that evaluates, as ``auto``. Raises ``Misuse`` for a
    workload that judges nothing, and whatever else the user can mend.
    """
    subject = _subject(workload)
    chosen = RunSettings.on(device, objectives=tuple(objectives), **settings)
    made = Path(folder) if folder is not None else new_folder(_stem(subject))
    is_ours = folder is None or not made.exists()
    made.mkdir(parents=True, exist_ok=True)
    with Run.create(made, subject, chosen) as run, gone_if_refused(run, is_ours):
        proceed(run, jobs=jobs, cluster=cluster, report=report, watch=watch)
    return Run.open(made, given=subject)


def resume(
    path: Path | str,
    *,
    given: Workload | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch = lambda standing: None,
) -> Run:
    """Goes on with a run that was interrupted: it ends as if it had not been. ``given``: the workload, if it has no file."""
    subject = Given(given) if given is not None else None
    with Run.open(path, write=True, given=subject) as run:
        proceed(run, jobs=jobs, cluster=cluster, report=report, watch=watch)
    return Run.open(run.folder, given=subject)


def proceed(
    run: Run,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch = lambda standing: None,
) -> Finished | None:
    """Searches from the beginning, in an open run; what its journal knows already is not evaluated again. In a run that has
    come to its end, nothing is searched.

    ``report``: also makes what a run leaves behind for people; what that is, is returned.
    """
    if run.ended is not None:
        return _ended(run, jobs, report, watch)
    with Answers(run, jobs, cluster, from_start=True) as answers:
        story = _Story(run, answers, watch)
        story.begin()
        best = story.search(_strategy(run.settings, story.proposals))
        story.minimise(story.measure_again(best))
        story.prove()
        story.end()
    finished = finish(run, jobs=jobs, say=story.say) if report else None
    story.say("finished")
    return finished


def _ended(run: Run, jobs: int | None, report: bool, watch: Watch) -> Finished | None:
    """What is left to do for a run that has come to its end, and where it stands."""
    rejected, original_us = Counter(run.rejected), run.original_us or 0.0
    standing = Standing(
        run, "finished", evaluations=run.evaluations, accepted=len(run.accepted), rejected=rejected,
        original_us=original_us, best=run.best, speedup_any=run.fastest_trained[1], front=run.front, notes=run.notes,
        is_over=True,
    )  # fmt: skip
    standing.searched = standing.began

    def say(phase: str) -> None:
        standing.phase = phase
        watch(standing)

    finished = finish(run, jobs=jobs, say=say) if report else None
    say("finished")
    return finished


@contextmanager
def gone_if_refused(run: Run, is_ours: bool = True) -> Iterator[None]:
    """Closes a new run that is refused before its first evaluation, and removes its folder if it was made for it: there is
    nothing to resume."""
    try:
        yield
    except KernelwrightError:
        if is_ours and not len(run.journal):
            run.close()
            shutil.rmtree(run.folder, ignore_errors=True)
        raise


class _Story:
    """One pass over a run's journal, from the first question to the end."""

    def __init__(self, run: Run, answers: Answers, watch: Watch) -> None:
        self.run = run
        self.answers = answers
        self.watch = watch
        self.standing = Standing(run, jobs=answers.jobs)
        self._told_of: dict[Candidate, Found | None] = {}
        self._spent_before = run.spent_seconds
        self._batches = 0
        self._concluded_at = next((e.data["batch"] for e in run.journal.events("conclude")), None)
        self._already = {
            (event.kind, str(event.data.get("name", event.data.get("n")))) for event in run.journal.events()
        }

    def begin(self) -> None:
        """The original first: what is wrong with the workload is said before anything is searched."""
        reference = self.answers.reference()
        if not self.answers.is_measured:  # What is, has figures besides.
            reference.original.objectives(self.run.settings.objectives)
        workload = self.run.workload()
        self.standing.began = self.standing.searched = time.monotonic()
        self.proposals = Proposals(workload, self.run.builder().originals, self.run.settings)
        self.standing.original_us = reference.time_us
        self.standing.notes = list(dict.fromkeys([*self.run.notes, *reference.notes]))
        self._note("notes", {"name": "notes", "notes": list(reference.notes)})
        self.watch(self.standing)

    def search(self, strategy: Strategy[Candidate]) -> Result[Candidate] | None:
        """Asks, evaluates, tells until there is no question left; what came out best."""
        while batch := strategy.ask():
            self._follow(strategy)
            self._batches += 1
            strategy.tell(self._results(batch))
            if self._is_time_up():
                strategy.conclude()
        self._follow(strategy)
        return strategy.progress.best

    def measure_again(self, best: Result[Candidate] | None) -> Result[Candidate] | None:
        """What is best when everything on the front has been measured with more patience: a search keeps what was lucky.
        Where times are estimated there is no luck."""
        if not self.answers.is_measured:
            return best
        self.say("measure again")
        self.answers.settle()
        again: dict[Candidate, Result[Candidate]] = {}
        for event in self.run.journal.events("settled"):
            waiting = [self.run.variant(event.data["variant"]).candidate] if event.data["variant"] else []
            return self._again(waiting)[0] if waiting else None
        while len(again) < MOST_AGAIN:
            waiting = [candidate for candidate in self._leading() if candidate not in again]
            if not waiting:
                break
            again |= dict(zip(waiting, self._again(waiting), strict=True))
        lasting = [result for result in again.values() if result.objectives is not None]
        best = preferred(lasting) if lasting else None
        found = self._told_of[best.candidate] if best else None
        self._note("settled", {"name": "settled", "variant": found.name if found else None})
        return best

    def _leading(self) -> list[Candidate]:
        """What beats the original and no other beats, equals too: in an order that does not hang on who was recorded first."""
        names = self.run.settings.objectives
        front = {found.outcome.objectives(names) for found in self.run.front}
        leading = [f.candidate for f in self.run.accepted if f.is_gain and f.outcome.objectives(names) in front]
        return sorted(leading, key=lambda candidate: (len(candidate), [str(gene) for gene in candidate]))[:MOST_AGAIN]

    def _again(self, batch: Sequence[Candidate]) -> list[Result[Candidate]]:
        answers = self.answers.again(batch)
        self._told_of |= {answer.candidate: self._found(answer) for answer in answers}
        self.standing.front = self.run.front
        self.standing.best = max((f for f in self.standing.front if f.candidate), key=lambda f: f.speedup, default=None)
        self.watch(self.standing)
        return [_result(answer, self.run.settings.objectives) for answer in answers]

    def minimise(self, best: Result[Candidate] | None) -> None:
        """Down to the edits that matter, of a best that beats the original."""
        if best is None or best.objectives is None or not is_gain(best.objectives[0], self.standing.original_us):
            return
        strategy: Minimise[Any] = Minimise(best.candidate)
        self.search(strategy)
        if strategy.result is not None and strategy.result.candidate:
            self._results([strategy.result.candidate])
            found = self._told_of[strategy.result.candidate]
            assert found is not None
            self._note("minimised", {"name": found.name, "variant": found.name, "of": len(best.candidate)})

    def prove(self) -> None:
        """What the best rests on. Where that is less than was demanded: the fastest that can be had without the edits at fault."""
        self.standing.is_over = True
        best, accept = self.run.best, self.run.settings.accept
        if best is None:
            return
        self.standing.best = best
        with Proofs(self.run) as proofs:
            label = self._label_of_best(proofs, best)
            # Right on the training cases, run in order, is all that --accept any asks for.
            if accept == "any" if label is None else meets(label, accept):
                return
            self._note("fallen", {"name": "best", "variant": best.name})
            self.standing.best = None
            if label is None:
                return
            kept, at_fault = self._without_faults(proofs, best)
            for other in self._others(kept, at_fault):
                if meets(self._proof(proofs, other), accept):
                    kept = other
                    break
        if kept is not None and kept.is_gain:
            self._note("salvaged", {"name": "best", "variant": kept.name, "of": best.name})

    def _label_of_best(self, proofs: Proofs, best: Found) -> Label | None:
        """None, and a note that says why, for an original that proves nothing of any variant."""
        try:
            return self._proof(proofs, best)
        except Misuse as error:
            note = f"nothing can be proven: {error.message}; {error.hint}"
            self._note("notes", {"name": "proof", "notes": [note]})
            self.standing.notes = list(dict.fromkeys([*self.standing.notes, note]))
            return None

    def _without_faults(self, proofs: Proofs, best: Found) -> tuple[Found | None, set[Gene]]:
        """The edits of a variant put together again one by one, each kept as long as what they make is proven as demanded
        and no slower; and those for which it was not proven."""
        self.standing.phase = "salvage"
        kept: Found | None = None
        at_fault: set[Gene] = set()
        left = list(best.candidate)
        while left:
            before = len(left)
            for gene in list(left):
                candidate = (*(kept.candidate if kept else ()), gene)
                self._results([candidate])
                found = self._told_of[candidate]
                if found is None or _slower(found.speedup, kept.speedup if kept else 1.0):
                    continue  # it may need another one, which is yet to come
                left.remove(gene)
                if meets(self._proof(proofs, found), self.run.settings.accept):
                    kept = self.standing.best = found
                else:
                    at_fault.add(gene)
            if len(left) == before:
                break
        return kept, at_fault

    def _others(self, kept: Found | None, at_fault: set[Gene]) -> list[Found]:
        """The fastest accepted variants, beyond what is kept, that have none of the edits at fault; a program once."""
        least = kept.speedup if kept else 1.0
        programs: dict[str, Found] = {}
        for found in sorted(self.run.accepted, key=lambda f: (-f.speedup, len(f.candidate))):
            if _slower(least, found.speedup) and not at_fault.intersection(found.candidate):
                programs.setdefault(found.key, found)
        return list(programs.values())[:OTHERS]

    def _proof(self, proofs: Proofs, found: Found) -> Label:
        known = self.run.proof(found.name)
        if known is None:
            self.say(f"prove {found.name}")
            known = proofs.of(found.candidate, found.speedup).as_json()
            self._note("proof", {"name": found.name, "variant": found.name, **known})
        label: Label = known["label"]
        return label

    def end(self) -> None:
        events = self.run.journal.events
        best = None if events("fallen") and not events("salvaged") else self.run.best
        self.standing.best, self.standing.front = best, self.run.front
        self._note(
            "end", {"name": "end", "best": best.name if best else None, "evaluations": self.standing.evaluations}
        )

    def say(self, phase: str) -> None:
        """What is being done now, for whoever watches."""
        self.standing.phase = phase
        self.watch(self.standing)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _results(self, batch: Sequence[Candidate]) -> list[Result[Candidate]]:
        answers = self.answers.of(batch, self.standing.phase, self.standing.generation, self._told)
        for answer in answers:
            self.proposals.learn(answer.candidate, answer.outcome)
        return [_result(answer, self.run.settings.objectives) for answer in answers]

    def _told(self, answer: Answer) -> None:
        standing = self.standing
        if answer.candidate in self._told_of:
            return
        found = self._told_of[answer.candidate] = self._found(answer)
        standing.evaluations += 1
        standing.searched = time.monotonic()
        if answer.candidate and answer.trained_us:
            standing.speedup_any = max(standing.speedup_any, standing.original_us / answer.trained_us)
        standing.fresh += answer.fresh
        standing.seen += answer.seen
        if found is not None:
            standing.accepted += 1
            # Of what is asked for a proof, the best is what stands it.
            if (
                found.candidate
                and not standing.is_over
                and (standing.best is None or found.speedup > standing.best.speedup)
            ):
                standing.best = found
        elif isinstance(answer.outcome, Rejected):
            standing.rejected[answer.outcome.stage] += 1
        self.watch(standing)

    def _found(self, answer: Answer) -> Found | None:
        if not isinstance(answer.outcome, Ok):
            return None
        time_us = answer.outcome.time_us
        speedup = self.standing.original_us / time_us if time_us else 1.0
        return Found(f"v{answer.row}", answer.candidate, answer.outcome, speedup, answer.key)

    def _follow(self, strategy: Strategy[Candidate]) -> None:
        """Phases and generations as they come, for the journal and whoever watches."""
        progress = strategy.progress
        self.standing.phase, self.standing.generation = progress.phase, progress.generation
        found = [self._told_of.get(result.candidate) for result in progress.front]
        self.standing.front = [each for each in found if each is not None]
        self._note("phase", {"name": progress.phase, "evaluations": self.standing.evaluations})
        front = [list(result.objectives or ()) for result in progress.front]
        facts = {
            "n": progress.generation,
            "front": front,
            "credit": dict(progress.credit),
            "accepted": progress.accepted,
        }
        if progress.generation:
            self._note("generation", facts)

    def _note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Notes an event once, however often the run is resumed."""
        mark = (kind, str(data.get("name", data.get("n"))))
        if mark not in self._already:
            self._already.add(mark)
            self.run.journal.note(kind, dict(data))

    def _is_time_up(self) -> bool:
        """Whether the search has had its time. On resuming it ends where it ended before."""
        if self._concluded_at is not None:
            return bool(self._batches >= self._concluded_at)
        limit = self.run.settings.seconds
        if limit is None or self._spent_before + time.monotonic() - self.standing.began < limit:
            return False
        self._concluded_at = self._batches
        self._note("conclude", {"name": "time", "batch": self._batches})
        return True


def _strategy(settings: RunSettings, proposals: Proposals) -> Strategy[Candidate]:
    hooks = Hooks(proposals.draw, proposals.scan, proposals.kind)
    budget = Budget(settings.evaluations, settings.generations)
    size = {} if settings.population is None else {"population": settings.population}
    kind = Gevo if settings.preset == "gevo" else Default
    return kind(hooks, seed=settings.seed, budget=budget, **size)


def _slower(speedup: float, than: float) -> bool:
    """By more than a tie."""
    return is_gain(1 / than, 1 / speedup)


def _result(answer: Answer, objectives: Sequence[str]) -> Result[Candidate]:
    outcome = answer.outcome
    if not isinstance(outcome, Ok):
        return Result(answer.candidate, None, cause=outcome.stage)
    instructions = outcome.metrics.get("instructions", 0.0)
    return Result(answer.candidate, outcome.objectives(objectives), instructions, key=answer.key)


def _subject(workload: Workload | Subject | Path | str) -> Subject:
    if isinstance(workload, Workload):
        return subject_of(workload)
    if isinstance(workload, Path | str):
        path = Path(workload)
        if path.suffix != ".py":
            raise Misuse(
                f"{path} is no Python file that defines a workload", hint=f"kw evolve {path} takes programs too"
            )
        return PythonFile(str(path.resolve()))
    return workload


def _stem(subject: Subject) -> str:
    if isinstance(subject, PythonFile):
        return Path(subject.path).stem
    return Path(subject.paths[0]).stem if isinstance(subject, Recordings) else "workload"
