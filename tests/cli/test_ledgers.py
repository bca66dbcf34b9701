"""`kb misses`, `eval`, `misroute`, `misroutes`, `abstentions` and `rejections` as processes: words, exit codes, JSON."""

from __future__ import annotations

import pytest

from tests.conftest import Shell

GOLD = "pump\tada/knowledge/pump.md\nzeppelin\t-\n"


@pytest.fixture
def asked(fleet: Shell) -> Shell:
    """The fleet, indexed, with two questions that it could not answer, and a gold file."""
    fleet.kb("index", ".").ok()
    for question in ("cracked", "zeppelin \x1b[31m", "cracked"):
        fleet.kb("route", question, ".").ok()
    fleet.write("gold.tsv", GOLD)
    return fleet


def test_misses_prints_what_came_near_and_the_line_that_would_have_helped(asked: Shell) -> None:
    out = asked.kb("misses").ok().out
    assert "proposed: ada: cracked = pump\n" in out and "no key holds cracked" in out
    assert "neither scorer ranked a file" in out and "\x1b" not in out


def test_misses_json_is_one_line_and_carries_the_proposal(asked: Shell) -> None:
    run = asked.kb("misses", "--json").ok()
    found = run.json()
    assert isinstance(found, dict) and len(run.out.splitlines()) == 1
    assert list(found) == sorted(found) and [one["proposed"] and one["proposed"]["alias"] for one in found["misses"]] == [
        "cracked", None]


def test_applying_writes_the_line_that_the_question_then_finds(asked: Shell) -> None:
    out = asked.kb("misses", "--apply", "--gold", "gold.tsv").ok().out
    assert "ADMITTED  ada: cracked = pump" in out and "proposed 1, admitted 1, refused 0" in out and "proposer" not in out
    found = asked.kb("route", "cracked", "--json").ok().json()
    assert isinstance(found, dict) and found["verdict"] == "hit"


@pytest.mark.parametrize(("words", "told"), [
    (["--apply"], "--gold"), (["--gold", "gold.tsv"], "--apply"), (["--apply", "--gold", "none.tsv"], "none.tsv"),
    (["--apply", "--gold", "bad.tsv"], "bad.tsv:2"), (["--apply", "--gold", "stale.tsv"], "gone.md"),
    (["--top", "0"], "--top"), (["--apply", "--gold", "latin.tsv"], "UTF-8")], ids=" ".join)
def test_misses_refuses_what_it_cannot_measure_with(asked: Shell, words: list[str], told: str) -> None:
    asked.write("bad.tsv", GOLD[:28] + "\nno tab\n")
    asked.write("stale.tsv", "pump\tada/knowledge/gone.md\n")
    asked.write("latin.tsv", b"caf\xe9\t-\n")
    run = asked.kb("misses", *words)
    assert (run.code, run.out) == (2, "") and told in run.err
    assert not (asked.root / "fleet/ada/kb-aliases.txt").exists()


def test_a_promoter_that_nobody_approved_is_refused_and_not_run(asked: Shell) -> None:
    asked.write("fleet.txt", "promoter = tools/propose.sh\n")
    asked.script("tools/propose.sh", "touch ran; cat > /dev/null\n")
    run = asked.kb("misses", "--apply", "--gold", "gold.tsv")
    assert run.code == 2 and "kb trust" in run.err and not list(asked.root.rglob("ran"))


def test_a_log_that_is_no_text_is_an_error_and_stays(asked: Shell) -> None:
    asked.write("kb-misses.txt", b"\xff\xfe")
    run = asked.kb("misses")
    assert (run.code, run.out) == (1, "") and "UTF-8" in run.err
    assert asked.kb("route", "cracked").ok().err.count("could not be written") == 1
    assert (asked.root / "kb-misses.txt").read_bytes() == b"\xff\xfe"


def test_lines_that_are_no_rows_are_told_on_stderr(asked: Shell) -> None:
    asked.write("kb-misses.txt", "nonsense\n")
    asked.write("kb-misroutes.txt", "nonsense\n")
    assert "kb-misses.txt:1: this line is no row" in asked.kb("misses").ok().err
    assert "kb-misroutes.txt:1: this line is no row" in asked.kb("misroutes").ok().err


def test_eval_prints_a_calibration_table_and_a_comparison(asked: Shell) -> None:
    out = asked.kb("eval", "gold.tsv", ".").ok().out
    assert "CALIBRATION" in out and "recall@5 1.000" in out and "precision 1.00  recall 1.00" in out
    compared = asked.kb("eval", "gold.tsv", ".", "--compare", "classic", "default").ok().out
    assert "ndcg@10" in compared and "randomisation test" in compared


def test_eval_json_is_one_line_with_the_grade_of_every_question(asked: Shell) -> None:
    run = asked.kb("eval", "gold.tsv", ".", "--json").ok()
    found = run.json()
    assert isinstance(found, dict) and len(run.out.splitlines()) == 1 and list(found) == sorted(found)
    assert [(one["question"], one["file"], one["verdict"]) for one in found["questions"]] == [
        ("pump", True, "hit"), ("zeppelin", None, "nothing")]
    assert found["measures"] == {"mrr@10": 1, "ndcg@10": 1, "recall@1": 1, "recall@5": 1, "recall@10": 1}


@pytest.mark.parametrize("words", [
    ["--classify"], ["--compare", "classic", "nonsense"], ["--compare", "classic", "default", "--triad"], ["--keys", "3"]],
    ids=" ".join)
def test_eval_refuses_what_it_cannot_grade(asked: Shell, words: list[str]) -> None:
    run = asked.kb("eval", "gold.tsv", ".", *words)
    assert run.code == 2 and run.out == "" and run.err


def test_a_classifier_that_nobody_approved_is_not_run_by_eval(asked: Shell) -> None:
    asked.write("fleet.txt", "classifier = tools/classify.sh\n")
    asked.script("tools/classify.sh", "touch ran\n")
    run = asked.kb("eval", "gold.tsv", ".", "--classify")
    assert run.code == 2 and "kb trust" in run.err and not list(asked.root.rglob("ran"))


def test_a_collection_is_graded_from_its_folder(sh: Shell) -> None:
    sh.write("birds/corpus.jsonl", '{"_id":"1","title":"Heron","text":"It waits."}\n{"_id":"2","title":"Owl","text":"It hoots."}\n')
    sh.write("birds/queries.jsonl", '{"_id":"q","text":"heron"}\n')
    sh.write("birds/qrels.tsv", "query-id\tcorpus-id\tscore\nq\t1\t1\n")
    found = sh.kb("eval", "birds", "--json").ok().json()
    assert isinstance(found, dict) and found["file"]["fused"] == {"of": 1, "right": 1} and found["indexed"]["entries"] == 2
    assert sorted(path.name for path in (sh.root / "birds").iterdir()) == ["corpus.jsonl", "qrels.tsv", "queries.jsonl"]
    assert sh.kb("eval", "birds", "birds").code == 2


def test_a_misroute_that_cannot_be_written_is_a_failure(fleet: Shell) -> None:
    (fleet.root / "kb-misroutes.txt").mkdir()
    run = fleet.kb("misroute", "book a bed", "--chose", "ben", "--owner", "ada")
    assert (run.code, run.out) == (1, "") and "kb-misroutes.txt" in run.err


def test_a_misroute_filed_from_inside_an_agent_is_the_fleets(fleet: Shell) -> None:
    inside = fleet.root / "fleet/ada"
    fleet.kb("misroute", "book a bed", "--chose", "ADA", "--owner", "Eva", cwd=inside).ok()
    fleet.kb("misroute", "book a bed", "--chose", "ada", "--owner", "none", cwd=inside).ok()
    assert "ada instead of eva" in fleet.kb("misroutes", cwd=inside).ok().out
    assert not (inside / "kb-misroutes.txt").exists()


@pytest.mark.parametrize("words", [["x", "--chose", "-", "--owner", "ada"], ["x", "--chose", "none", "--owner", "ada"],
                                   [" \n", "--chose", "ben", "--owner", "ada"]], ids=["dash", "none", "blank message"])
def test_nobody_cannot_have_been_chosen_and_a_blank_message_is_none(fleet: Shell, words: list[str]) -> None:
    assert fleet.kb("misroute", *words).code == 2 and not (fleet.root / "kb-misroutes.txt").exists()


def test_top_bounds_the_rows_that_are_shown_and_not_those_that_are_counted(fleet: Shell) -> None:
    fleet.write("kb-rejections.txt", "".join(f"1\t2026-09-01\t2026-09-01\tada\tslug-{n}\tscope\twhy\n" for n in range(9)))
    out = fleet.kb("rejections", "--top", "2").ok().out
    assert "refused:  9 distinct, 9 in total" in out and out.count("slug-") == 8
    found = fleet.kb("rejections", "--json").ok().json()
    assert isinstance(found, list) and len(found) == 9


def test_reading_the_logs_creates_nothing(fleet: Shell) -> None:
    before = sorted(str(path) for path in fleet.root.rglob("*") if "home" not in path.parts)
    for verb in ("misses", "misroutes", "abstentions", "rejections"):
        fleet.kb(verb).ok()
    assert sorted(str(path) for path in fleet.root.rglob("*") if "home" not in path.parts) == before
