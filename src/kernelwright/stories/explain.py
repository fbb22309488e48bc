"""Why a variant is faster: each edit in words, what it does alone and within the whole, and what it relies on.

    for each edit      alone, and the whole without it; the figures that change; whether the machine code does
    for each two       by themselves and together
    invariants         what each edit relies on, counted on the original
    guards, patches    when the variant may be used, and what the edits did to the IR

What is found is noted in the run's journal, for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kernelwright.codegen.machine.assemble import assemble
from kernelwright.codegen.machine.cubin_elf import read_elf
from kernelwright.cuda.names import readable
from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.edit_words import in_words
from kernelwright.edits.gene import edits_in_order
from kernelwright.edits.original import Original
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.workload.subject import Subject
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes, GenomeBuilder
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.prove.invariants import invariants
from kernelwright.report.explanation import ExplainedEdit, ExplainedPair, Explanation
from kernelwright.report.kernel_source import kernel_lines
from kernelwright.search import Pairs, Result, SingleEffects, Strategy
from kernelwright.stories.candidate_words import guard_names, guards_in_words
from kernelwright.stories.patch import by_name

MOST_PAIRS = 12
"""Genes up to which every pair is tried: 66 pairs."""
CONTEXT = 2
"""Source lines shown around those that are edited."""
TIMEOUT_S = 600.0

Say = Callable[[str], None]


def explain(run: EvolveRun, name: str, *, jobs: int | None = None, say: Say = lambda _: None) -> Explanation:
    """Explains a variant of a run that is open for writing. Raises ``Misuse`` for a variant that changes nothing, and what
    ``Run.workload`` raises when its recording is missing."""
    found, original = run.variant(name), run.original
    if not found.candidate or original is None:
        raise Misuse(f"{found.name} is the original: there is nothing to explain", hint=f"kw show {run.folder}")
    genes = found.candidate
    builder = GENOMES.of(run)
    singles: SingleEffects[Any] = SingleEffects(genes)
    pairs: Pairs[Any] = Pairs(genes)
    with VariantAnswers(run, jobs) as answers:
        answers.reference()
        say(f"what each of {len(genes)} edits does" if len(genes) > 1 else "what the edit does")
        outcomes = answered(singles, answers, run)
        if 1 < len(genes) <= MOST_PAIRS:
            say("what each two do together")
            answered(pairs, answers, run)
    say("what they rely on")
    relied, notes = _relied_on(run, genes, builder)
    whole = outcomes.get(genes)
    code = _machine_code(builder, genes)
    edits = []
    for index, (gene, effect) in enumerate(zip(genes, singles.effects, strict=True)):
        rest = genes[:index] + genes[index + 1 :]
        words = in_words(builder.originals[gene.kernel], gene.edit)
        before = outcomes.get(rest)
        edits.append(
            ExplainedEdit(
                index + 1, readable(gene.kernel), words.kind, words.sentence, words.place,
                _line_of(words.location.file, words.location.line) if words.location else "",
                effect.alone, effect.within, _changed(before, whole), _same(code, _machine_code(builder, rest)),
                relied.get(index, ()),
            )
        )  # fmt: skip
    explanation = Explanation(
        found.name, found.speedup, run.original_us or original.time_us, found.outcome.time_us, tuple(edits),
        tuple(_of_pairs(genes, pairs)), _changed(original, found.outcome, least=0.0),
        tuple(_source(builder.originals, found)), guards_in_words(builder, genes),
        guard_names(builder, genes), by_name(builder, genes),
        (*notes, *_remarks(run, found, code, len(genes))),
    )  # fmt: skip
    run.journal.note("explained", explanation.as_json())
    return explanation


def answered(
    strategy: Strategy[Genes], answers: VariantAnswers[Genes], run: EvolveRun, phase: str = "explain"
) -> dict[Genes, Ok | None]:
    """Carries a plan out; what came of each candidate it asked about, None for those that were rejected."""
    found: dict[Genes, Ok | None] = {}
    while batch := strategy.ask():
        results = []
        for answer in answers.of(batch, phase, 0):
            ok = answer.outcome if isinstance(answer.outcome, Ok) else None
            found[answer.candidate] = ok
            objectives = ok.objectives(run.settings.objectives) if ok else None
            results.append(Result(answer.candidate, objectives))
        strategy.tell(results)
    return found


def _of_pairs(genes: Genes, pairs: Pairs[Any]) -> Iterator[ExplainedPair]:
    numbers = {gene: number for number, gene in enumerate(genes, start=1)}
    for pair in pairs.pairs:
        if pair.relation != "independent":
            yield ExplainedPair(numbers[pair.a], numbers[pair.b], pair.relation, pair.together, pair.alone)


def _changed(before: Ok | None, after: Ok | None, least: float = 0.01) -> dict[str, tuple[float, float]]:
    """Figures by name, where they differ by more than ``least``."""
    if before is None or after is None:
        return {}
    first, second = ({"time_us": ok.time_us, **ok.metrics} for ok in (before, after))
    return {
        name: (first[name], second[name])
        for name in first
        if name in second and abs(first[name] - second[name]) >= least * max(abs(first[name]), abs(second[name]), 1e-12)
    }


# -- machine code ----------------------------------------------------------------------------------------------------------


def _machine_code(builder: GenomeBuilder, candidate: Genes) -> dict[str, bytes] | None:
    """By kernel, its instructions; None where no assembler makes any."""
    try:
        built = builder.build(candidate).kernels
        return {
            name: _instructions(assemble(each.ptx(builder.arch), builder.arch, isolate=True).data)
            for name, each in built.items()
        }
    except KernelwrightError:
        return None


def _instructions(cubin: bytes) -> bytes:
    return b"".join(section.data for section in read_elf(cubin).sections if section.name.startswith(".text"))


def _same(one: Mapping[str, bytes] | None, other: Mapping[str, bytes] | None) -> bool | None:
    return None if one is None or other is None else one == other


def _remarks(run: EvolveRun, found: Found[Genes], code: Mapping[str, bytes] | None, edits: int) -> Iterator[str]:
    row = next(row for row in run.rows() if f"v{row.id}" == found.name)
    if isinstance(row.outcome, Rejected):
        yield f"{found.name} was rejected ({row.outcome}): what its edits do within it is not known"
    if run.original is not None and run.original_us is not None and run.original_us < run.original.time_us:
        yield (
            f"gains are counted from the program as it is compiled ({run.original_us:.4g} us); counters and the shares of the "
            f"edits are about the original after the passes that variants get ({run.original.time_us:.4g} us)"
        )
    if code is None:
        yield "no assembler is installed: whether it would have made the same of the original is not known"
    if edits > MOST_PAIRS:
        yield f"pairs were not tried: there are {edits} edits; kw minimize leaves those that matter"


# -- source ----------------------------------------------------------------------------------------------------------------


def _source(originals: Mapping[str, Original], found: Found[Genes]) -> Iterator[tuple[str, int, str, tuple[int, ...]]]:
    """The source of the kernels that are changed, whole, and lines around edits elsewhere, in order."""
    marks: dict[tuple[str, int], list[int]] = {}
    for number, gene in enumerate(found.candidate, start=1):
        location = in_words(originals[gene.kernel], gene.edit).location
        if location is not None and location.line:
            marks.setdefault((location.file, location.line), []).append(number)
    shown: set[tuple[str, int]] = set()
    for gene in found.candidate:
        for file in {file for file, _ in marks}:
            shown |= {(file, near) for near in kernel_lines(_text_of(file), readable(gene.kernel))}
    for file, line in sorted(marks):  # in functions that the kernel calls
        if (file, line) not in shown:
            shown |= {(file, near) for near in range(max(1, line - CONTEXT), line + CONTEXT + 1)}
    for file, line in sorted(shown):
        text = _line_of(file, line)
        if text or (file, line) in marks or (file, line + 1) in shown:
            yield file, line, text, tuple(marks.get((file, line), ()))


def _line_of(file: str, line: int) -> str:
    lines = _text_of(file).split("\n")
    return lines[line - 1].rstrip() if 0 < line <= len(lines) else ""


def _text_of(file: str) -> str:
    """Empty where it cannot be read."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# -- invariants ------------------------------------------------------------------------------------------------------------


def _relied_on(
    run: EvolveRun, genes: Genes, builder: GenomeBuilder
) -> tuple[dict[int, tuple[str, ...]], tuple[str, ...]]:
    """By number of the gene, in words; and what could not be observed. Edited code runs, so it runs in another process: all
    genes together, which shares the runs of the original, and one by one when that fails."""
    names = guard_names(builder, genes)
    relied: dict[int, dict[str, None]] = {}
    notes: list[str] = []
    with Pool(_setup, (run.subject, run.settings.virtual), workers=1, timeout_s=TIMEOUT_S) as pool:
        ((_, together),) = list(pool.map([(0, genes)]))
        apart = [(number, (gene,)) for number, gene in enumerate(genes)] if len(genes) > 1 else []
        answers = pool.map(apart) if isinstance(together, Lost | Raised) and apart else [(0, together)]
        for item, found in answers:
            if isinstance(found, Lost | Raised):
                notes.append(f"what edit {item + 1} relies on was not observed: {found.reason}")
                continue
            for number, sentence in found:
                for guard, words in names.items():
                    sentence = sentence.replace(guard, words)
                relied.setdefault(number, {})[sentence] = None
    return {number: tuple(sentences) for number, sentences in relied.items()}, tuple(notes)


def _setup(subject: Subject, device: str) -> Callable[[tuple[int, Genes]], list[tuple[int, str]]]:
    workload = subject.workload()
    builder = GENOMES.builder(workload.modules(), virtual_gpu(device).arch)

    def work(asked: tuple[int, Genes]) -> list[tuple[int, str]]:
        first, genes = asked
        edits = edits_in_order(genes)
        return [(first + each.gene, each.sentence) for each in invariants(workload, builder.originals, edits)]

    return work
