"""``kw prove``: what a variant depends on."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import Genes
from kernelwright.prove.labels import MEANING
from kernelwright.prove.proof import Proof, proof_from_json
from kernelwright.report.finding_words import evidence, for_people
from kernelwright.stories.candidate_words import obligations_in_words, valid_for
from kernelwright.stories.proving import Proofs, meets


def command(
    run: RunAndVariant,
    explain: Annotated[
        bool, typer.Option("--explain", help="What it owes: each obligation, how it is settled, and the solver's time.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Also when the run has a proof of it already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The checks a variant passes and fails, and its label. Exit code 1 when the label is worse than the run accepts."""
    found, name = opened(run)
    with found:
        variant, accept = found.variant(name), found.settings.accept
        known = None if again else found.proof(variant.name)
    proof = proof_from_json(known) if known is not None else _proven(run, variant)
    found, _ = opened(run)
    with found:
        owed = obligations_in_words(found, proof.obligations) if explain and not as_json else []
        valid = valid_for(found, variant)
    if as_json:
        print(json.dumps({"variant": variant.name, "speedup": variant.speedup, "valid_for": valid, **proof.as_json()}))
    else:
        print(f"{variant.name}: {proof.label} - {MEANING[proof.label]}")
        for check in proof.checks:
            print(f"  {check.name}: {check.status} - {for_people(check.detail)}")
            for sentence in evidence(check.as_json()):
                print(f"      {sentence}")
        open_ones = sum(not one.holds for one in proof.obligations)
        if proof.obligations:
            settled = len(proof.obligations) - open_ones
            print(f"  obligations: {settled} of {len(proof.obligations)} hold for all launches that its guards admit")
        for sentence in owed:
            print(f"      {for_people(sentence)}")
        for note in proof.notes:
            print(f"  note: {for_people(note)}")
        print(valid)
    if not meets(proof.label, accept):
        raise typer.Exit(1)


def _proven(run: str, variant: Found[Genes]) -> Proof:
    found, _ = opened(run, write=True)
    with found, Proofs(found, sanitizer=True) as proofs:
        proof = proofs.of(variant.candidate, variant.speedup)
        found.journal.note("proof", {"name": variant.name, "variant": variant.name, **proof.as_json()})
    return proof
