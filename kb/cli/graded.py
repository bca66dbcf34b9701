"""A graded run on a terminal and as JSON."""

from __future__ import annotations

import math
import platform
from typing import Any

import click

from kb.core.display import printable
from kb.core.grading import CUTS, DEPTH, Fraction, Grade, Totals
from kb.core.jsontext import dumps
from kb.core.measures import Declining, Paired
from kb.core.triad import Triad, averages
from kb.ops.evaluate import Comparison, Evaluation


def print_run(run: Evaluation, json_: bool) -> None:
    if json_:
        click.echo(dumps(as_object(run)))
        return
    sums = run.totals
    click.echo(f"gold:     {sums.questions} questions, {sums.answerable} answerable")
    click.echo(f"indexed:  {run.entries} entries across {run.agents} agents\n")
    click.echo("  file agent kw    score  marg verdict question")
    for grade in run.grades:
        _print_grade(grade)
    _print_files_and_agents(sums)
    _print_gate(sums, run.floor)
    _print_speed(run)
    _print_measures(sums)
    if any(grade.triad for grade in run.grades):
        _print_triad(run)


def _print_grade(grade: Grade) -> None:
    verdict = "none" if grade.verdict == "nothing" else grade.verdict
    if grade.declines:
        marks = ("BAD" if grade.verdict == "hit" else "ok", "-", "-")
    else:
        marks = (_mark(grade.file), _mark(grade.agent), _mark(grade.keyword))
    click.echo(f"  {marks[0]:<4} {marks[1]:<5} {marks[2]:<4} {grade.score:>6.1f} {grade.margin:>5.2f} {verdict:<6} "
               f"{printable(grade.question)}")


def _mark(right: bool | None) -> str:
    return "-" if right is None else "ok" if right else "MISS"


def _print_files_and_agents(sums: Totals) -> None:
    click.echo(f"\nFILE   fused   {sums.fused}\n       keyword {sums.keyword}")
    click.echo(f"\nAGENT  routes  {sums.routes}\n       keyword {sums.keyword_agent}\n       fused   {sums.fused_agent}")
    if sums.model is not None:
        click.echo(f"       model   {sums.model}")
    if sums.baseline:
        click.echo(f"       always-{printable(sums.baseline)}   {sums.baseline_hits}")
        click.echo(f"       routes minus that: {sums.routes.part - sums.baseline_hits.part:+d}")
    if sums.unowned:
        click.echo(f"       ({sums.unowned} questions are answered by no agent's base and are left out here)")


def _print_gate(sums: Totals, floor: float) -> None:
    click.echo(f"\nGATE   flagged {sums.flagged.part}/{sums.flagged.whole} of the keyword misses as less than a hit\n"
               f"       demoted {sums.demoted.part}/{sums.demoted.whole} of the keyword hits")
    declines = sums.questions - sums.answerable
    if declines:
        click.echo(f"       of {declines} to decline: refused {sums.refused}, hedged {sums.hedged}, answered {sums.answered}")
    if sums.model_abstained is not None and declines:
        click.echo(f"       the classifier abstained on {sums.model_abstained.part}/{sums.model_abstained.whole} of them")
    hits, misses = sums.hit_scores, sums.miss_scores
    if hits and misses:
        click.echo(f"       scores: hits {min(hits):.2f} to {max(hits):.2f}, misses {min(misses):.2f} to {max(misses):.2f}")
        told = ("SEPARATES: a floor between them tells them apart" if min(hits) > max(misses)
                else "OVERLAPS: no floor tells them apart")
        click.echo(f"       {told}; the floor is {floor:.2f}")


def _print_speed(run: Evaluation) -> None:
    fused, keyword, model = run.totals.micros
    click.echo(f"\nSPEED  {fused:.0f} us per question fused, {keyword:.0f} us keyword only")
    if model:
        click.echo(f"       {model:.0f} us per call of the classifier, {model / fused:.0f} times the fused question")
    click.echo(f"       {platform.python_implementation()} {platform.python_version()}, scorers {', '.join(run.scorers)}")


def _print_measures(sums: Totals) -> None:
    recalls = "  ".join(f"recall@{cut} {value:.3f}" for cut, value in zip(CUTS, sums.recalls, strict=True))
    click.echo(f"\nRANK   {recalls}  MRR@{DEPTH} {sums.mrr:.3f}  nDCG@{DEPTH} {sums.ndcg:.3f}")
    if sums.answerable < sums.questions:
        for name, said in (("no hit", sums.declined), ("nothing", sums.nothing)):
            click.echo(f"{'DECLINE' if name == 'no hit' else '       '} verdict {name:<8} precision {said.precision:.2f}  "
                       f"recall {said.recall:.2f}  F1 {said.f1:.2f}")
    click.echo("\nCALIBRATION  best score over the floor, and what became of the question")
    click.echo(f"       {'score/floor':<12} {'questions':>9} {'right':>6} {'to decline':>10}")
    for one in sums.bins:
        span = "0" if one.high == 0 else f"{one.low:g} to {one.high:g}" if math.isfinite(one.high) else f"{one.low:g} and up"
        click.echo(f"       {span:<12} {one.questions:>9} {one.right:>6} {one.should_decline:>10}")


def _print_triad(run: Evaluation) -> None:
    click.echo("\nTRIAD  by words alone, over the passages that kb answer would serve; nothing was understood")
    click.echo("   faith    rel    ctx   comp question")
    for grade in run.grades:
        if grade.triad:
            click.echo("  " + " ".join(f"{value:>6.2f}" for value in grade.triad) + f" {printable(grade.question)}")
    rows = [grade.triad for grade in run.grades if grade.triad]
    found = averages(rows)
    click.echo(f"TRIAD  averages ({len(rows)} questions): Faithfulness {found.faithfulness:.2f} | Relevance "
               f"{found.relevance:.2f} | Context {found.context:.2f} | Composite {found.composite:.2f}")


def as_object(run: Evaluation) -> dict[str, Any]:
    """The run as JSON has it, keys in alphabetical order."""
    sums = run.totals
    rows = [grade.triad for grade in run.grades if grade.triad]
    found = {
        "agent": {"baseline": {"agent": sums.baseline or None, **_fraction(sums.baseline_hits)},
                  "fused": _fraction(sums.fused_agent), "keyword": _fraction(sums.keyword_agent),
                  "model": None if sums.model is None else _fraction(sums.model), "routes": _fraction(sums.routes),
                  "unowned": sums.unowned},
        "calibration": [{"high": one.high, "low": one.low, "questions": one.questions, "right": one.right,
                         "to_decline": one.should_decline} for one in sums.bins],
        "decline": {"answered": sums.answered, "hedged": sums.hedged, "no_hit": _sorted(sums.declined),
                    "nothing": _sorted(sums.nothing), "refused": sums.refused},
        "file": {"fused": _fraction(sums.fused), "keyword": _fraction(sums.keyword)},
        "floor": run.floor,
        "gate": {"demoted": _fraction(sums.demoted), "flagged": _fraction(sums.flagged)},
        "gold": {"answerable": sums.answerable, "questions": sums.questions},
        "indexed": {"agents": run.agents, "entries": run.entries},
        "measures": {f"mrr@{DEPTH}": sums.mrr, f"ndcg@{DEPTH}": sums.ndcg,
                     **{f"recall@{cut}": value for cut, value in sorted(zip(map(str, CUTS), sums.recalls, strict=True))}},
        "questions": [_grade_object(grade) for grade in run.grades],
        "scorers": run.scorers,
        "skipped": run.skipped,
        "speed_us": {"classifier": sums.micros[2], "fused": sums.micros[0], "keyword": sums.micros[1]},
    }
    return {**found, "triad": _sorted(averages(rows))} if rows else found


def _grade_object(grade: Grade) -> dict[str, Any]:
    found = {"agent": grade.agent, "declines": grade.declines, "file": grade.file, "keyword": grade.keyword,
             "margin": grade.margin, "model": grade.model, "question": grade.question,
             "ranked": [str(place) for place in grade.ranked], "routes": grade.routes, "score": grade.score,
             "verdict": grade.verdict}
    return {**found, "triad": _sorted(grade.triad)} if grade.triad else found


def _sorted(one: Declining | Paired | Triad) -> dict[str, float]:
    return dict(sorted(one._asdict().items()))


def _fraction(one: Fraction) -> dict[str, int]:
    return {"of": one.whole, "right": one.part}


def print_comparison(made: Comparison, runs: tuple[Evaluation, Evaluation], json_: bool) -> None:
    """Two runs side by side: difference, its 95 % interval, and how likely chance alone makes as large a one."""
    if json_:
        click.echo(dumps({"compare": {"first": made.first, "measures": {name: _sorted(one) for name, one in sorted(made.measures.items())},
                                      "questions": made.questions, "second": made.second},
                          "speed_us": {"first": runs[0].totals.micros[0], "second": runs[1].totals.micros[0]}}))
        return
    click.echo(f"compare:  {printable(made.first)} with {printable(made.second)}, {made.questions} questions\n")
    click.echo(f"  {'measure':<16} {printable(made.first)[:10]:>10} {printable(made.second)[:10]:>10} {'difference':>10}  "
               f"{'95 % interval':<18}  p")
    for name, one in made.measures.items():
        star = " *" if one.p < 0.05 else ""
        click.echo(f"  {name:<16} {one.first:>10.3f} {one.second:>10.3f} {one.difference:>+10.3f}  "
                   f"{f'{one.low:+.3f} to {one.high:+.3f}':<18}  {one.p:.4f}{star}")
    click.echo(f"\n  speed: {runs[0].totals.micros[0]:.0f} and {runs[1].totals.micros[0]:.0f} us per question fused\n"
               "  p: randomisation test on the paired differences, two-sided, fixed seed; * marks p < 0.05, uncorrected\n"
               "  interval: percentile bootstrap of the mean difference")
