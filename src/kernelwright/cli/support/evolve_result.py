"""What a run of evolution found, as JSON and as lines for a terminal."""

from __future__ import annotations

from typing import Any

from kernelwright.device.describe_access import plural
from kernelwright.evaluate.run.variant_run import SetGain
from kernelwright.evolution.genomes import EvolveRun
from kernelwright.report.by_generation import by_generation, transfer_in_words
from kernelwright.report.trust import trust_of
from kernelwright.stories.candidate_words import valid_for
from kernelwright.stories.finish import Finished
from kernelwright.stories.proving import WORST


def result_of(run: EvolveRun, seconds: float, finished: Finished | None) -> dict[str, Any]:
    """What ``--json`` prints: ``docs/json.md`` has the keys. ``seconds``: of this session."""
    best, flags = run.best, run.flags
    trained, speedup_any = run.fastest_trained
    proof = (run.proof(best.name) if best else None) or {}
    free = run.for_any_size
    return {
        "run": str(run.folder),
        "best": best.name if best else None,
        "fallen": fallen_of(run),
        "speedup": round(best.speedup, 4) if best else 1.0,
        "sets": [gain.as_json() for gain in run.gains(best)] if best else [],
        "flags": None
        if flags is None
        else {"add": flags.spelled, "speedup": round(flags.speedup, 4), "tried": flags.tried},
        "speedup_with_flags": round((best.speedup if best else 1.0) * (flags.speedup if flags else 1.0), 4),
        "speedup_any": round(max(speedup_any, best.speedup if best else 1.0), 4),
        "best_any": trained or None,
        "best_proven": run.proven.name if run.proven else None,
        "speedup_proven": round(run.proven.speedup, 4) if run.proven else 1.0,
        "best_for_any_size": free.name if free else None,
        "speedup_for_any_size": round(free.speedup, 4) if free else None,
        "label_for_any_size": (run.proof(free.name) or {}).get("label") if free else None,
        "speedup_with_both": round(run.together(best, free), 4) if best and free else None,
        "measured_on": run.settings.gpu or None,
        "interval": [round(end, 4) for end in best.interval] if best and best.interval else None,
        "label": proof.get("label"),
        "error": best.outcome.error if best else 0.0,
        "transfer": _transfer(run, best.name) if best else None,
        "generations": [each.as_json() for each in by_generation(run)],
        "trust": list(trust_of(run, best)),
        "valid_for": valid_for(run, best) if best else None,
        "evaluations": run.evaluations,
        "seconds": round(seconds, 1),
        "proven": {check["name"]: check["status"] for check in proof.get("checks", ())} or None,
        "edits": best.written if best else [],
        "report": str(finished.report) if finished and finished.report else None,
        "export": str(finished.exported) if finished and finished.exported else None,
    }


def _transfer(run: EvolveRun, name: str) -> dict[str, Any] | None:
    """What came of the best on a larger set of data; None where there is none, or it was not run there."""
    found = run.transfer(name)
    return None if found is None else {key: value for key, value in found.items() if key != "name"}


def fallen_of(run: EvolveRun) -> dict[str, Any] | None:
    """The variant that was the best until its proof said less than was demanded; None when there is none."""
    found = run.fallen
    if found is None:
        return None
    proof = run.proof(found.name)
    return {"variant": found.name, "speedup": round(found.speedup, 4), "label": proof["label"] if proof else None}


def lines_of(result: dict[str, Any]) -> str:
    """The same for a person; the last line says for which launches the best is."""
    tried = f"{plural(result['evaluations'], 'candidate')} in {result['seconds']:g} s"
    if not result["best"]:
        fallen = result["fallen"]
        less = (
            f": {fallen['variant']} is {fallen['speedup']:.3f}x, but {fallen['label'] or 'not proven'}"
            if fallen
            else ""
        )
        if fallen and (accept := next((name for name, worst in WORST.items() if worst == fallen["label"]), None)):
            less += f", which --accept {accept} takes"
        return "\n".join(
            [
                f"nothing faster whose proof holds among {tried}{less}; run {result['run']}",
                *_of_flags(result),
                *_left(result),
            ]
        )
    label = f", {result['label']}" if result["label"] else ", not proven"
    measured = (
        " [{:.3f}, {:.3f}] measured on {}".format(*result["interval"], result["measured_on"])
        if result["interval"]
        else ""
    )
    said = [
        f"{result['best']}: {result['speedup']:.3f}x{measured}{label}, error {result['error']:g}, "
        f"{plural(len(result['edits']), 'edit')}; {tried}"
    ]
    said += _of_sets(result)
    said += [f"  {transfer_in_words(result['transfer'])}"] if result["transfer"] else []
    said += _of_flags(result)
    if result["best_proven"] not in (None, result["best"]):
        said.append(
            f"proven for all launches that its guards admit: {result['speedup_proven']:.3f}x ({result['best_proven']})"
        )
    if result["best_for_any_size"]:
        said.append(
            f"without the checks that fix a value: {result['speedup_for_any_size']:.3f}x, {result['label_for_any_size']} "
            f"({result['best_for_any_size']}); with both in the program at least {result['speedup_with_both']:.3f}x"
        )
    if result["speedup_any"] > result["speedup"] * 1.005:
        said.append(
            f"right on the training cases alone, and rejected: {result['speedup_any']:.3f}x ({result['best_any']})"
        )
    said += [f"the estimates: {sentence}" for sentence in result["trust"]]
    return "\n".join([*said, f"kw show {result['run']} lists the front", *_left(result), result["valid_for"]])


def _of_sets(result: dict[str, Any]) -> list[str]:
    """The speed-up on each data set, where there are several."""
    gains = [
        SetGain(each["set"], each["arguments"], each["speedup"], each["held_out"], "not right there")
        for each in result["sets"]
    ]
    return [f"  {gain}" for gain in gains] if len(gains) > 1 else []


def _of_flags(result: dict[str, Any]) -> list[str]:
    """What compile flags gain without any edit, where they do; gains of edits come on top of it."""
    flags = result["flags"]
    if not flags or not flags["add"]:
        return []
    edits = f", with the edits {result['speedup_with_flags']:.3f}x" if result["best"] else ""
    return [f"besides, compile flags alone: {flags['speedup']:.3f}x ({flags['add']}){edits}"]


def _left(result: dict[str, Any]) -> list[str]:
    """Where there is more, a line each."""
    lines = (
        ("report", "{}: the page of the run"),
        ("export", "{}: the best to take along; README.md says what is in it"),
    )
    return [text.format(result[name]) for name, text in lines if result[name]]
