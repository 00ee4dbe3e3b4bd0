"""The documents claim what the artifacts show, and what they tell a reader to type works."""

import re
import shlex
from dataclasses import replace

import pytest

from sauda.__main__ import parser
from sauda.commands.readme import DOCUMENTS, REPOSITORY, filled, results, speeds
from sauda.commands.readme.evaluations import market
from sauda.evaluation.speed import figure, ratio
from sauda.records.kinds import FILES, KINDS, entry
from sauda.records.schemas.bench import Bench
from sauda.records.store import load
from sauda.serve.leaderboard.storage import VARIABLE

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [REPOSITORY / "ARCHITECTURE.md", *sorted((REPOSITORY / "docs").glob("*.md")), *DOCUMENTS]
PAGES = list(dict.fromkeys(PAGES))


def read(*names: str) -> str:
    return (REPOSITORY.joinpath(*names)).read_text(encoding="utf-8")


README, RESULTS, LIST = (
    read("README.md"),
    read("docs", "results.md"),
    read("artifacts", "README.md"),
)
SERVING = read("docs", "serving.md")
COMMANDS = dict.fromkeys(
    command.strip()
    for page in PAGES
    for command in COMMAND.findall(page.read_text(encoding="utf-8").replace("\\\n", " "))
)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_table_is_what_the_artifacts_show(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text, "write it anew with `python -m sauda readme`"


def test_each_file_stands_in_the_list_with_its_check_in_the_words_of_the_checks():
    for known in FILES:
        (line,) = (line for line in LIST.splitlines() if line.startswith(f"| `{known.file}` |"))
        assert f"| {KINDS[known.kind].check} |" in line


def test_the_results_claim_a_replay_only_of_files_that_are_replayed():
    (sentence,) = (line for line in RESULTS.splitlines() if line.startswith("Each of the"))
    replayed, others = sentence.split("whole, to the last digit.")
    whole = [known for known in FILES if KINDS[known.kind].check.method == "replayed"]
    assert f"{len(FILES)} files" in replayed
    assert replayed.endswith(f"replays {len(whole)} ")
    for known in FILES:
        assert (f"`{known.file}`" in others) == (known not in whole)
    assert "last digit" not in RESULTS.replace(sentence, "")


def test_no_published_speed_stands_in_the_row_of_a_measured_one():
    measured, published = RESULTS.split("<!-- published_speeds -->")
    assert "published:" not in measured
    assert "| 531 |" in published
    assert "| 531 |" not in measured


def test_a_table_is_written_anew_between_its_marks_and_nothing_else_is_touched():
    text = "before\n<!-- market -->\nold\n<!-- /market -->\nafter\n"
    before, table, after = filled(text).partition(market() + "\n")
    assert (before, table) == ("before\n<!-- market -->\n", market() + "\n")
    assert after == "<!-- /market -->\nafter\n"


@pytest.mark.parametrize("text", ["<!-- nothing -->\n<!-- /nothing -->", "<!-- market -->\n"])
def test_a_mark_without_a_table_or_an_end_is_refused(text):
    with pytest.raises(ValueError, match=r"no table 'nothing'|never closed"):
        filled(text)


def test_no_script_is_said_to_be_near_the_oracle():
    for row in load("oracle.json").data.rows:
        assert not any(cell.flagged for cell in row.policies)
        assert not row.search.holdout.flagged


def test_the_three_headline_figures_bear_their_interval_n_and_file():
    table = README.split("<!-- headline -->")[1].split("<!-- /headline -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:]]
    assert len(rows) == 3
    for _, grade, n, _, file in rows:
        assert re.fullmatch(r"-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\]", grade)
        assert int(n) >= 100
        assert entry(file.strip("`"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_documents_is_one_the_command_line_takes(command):
    options = parser().parse_args(shlex.split(command))
    if getattr(options, "out", None):
        assert entry(options.out).kind == "evaluation/1"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_and_picture_of_the_documents_is_there(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("code", PYTHON.findall(README))
def test_the_python_of_the_readme_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert "agreement" in capsys.readouterr().out


def test_every_setting_of_the_page_stands_in_the_serving_document():
    served = REPOSITORY / "sauda" / "llm" / "serving" / "served.py"
    settings = set(re.findall(r"SAUDA_[A-Z]+_?[A-Z]+", served.read_text(encoding="utf-8")))
    settings.add(VARIABLE)
    assert settings == set(re.findall(r"SAUDA_[A-Z]+_?[A-Z]+", SERVING))


def test_the_front_matter_names_what_the_space_runs():
    matter = README.split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in matter.splitlines() if ": " in line)
    assert fields["sdk"] == "gradio"
    assert (REPOSITORY / fields["app_file"]).exists()
    assert re.search(
        rf"^gradio\S*=={re.escape(fields['sdk_version'])}$", read("requirements.txt"), re.M
    )


def test_every_speed_has_a_row_once_the_bench_holds_it(monkeypatch):
    names = [name for _, name, _ in speeds.SPEEDS]
    figures = [figure(name, "s", [1.25, 2.5, 1.5], p95=True) for name in names]
    ratios = [ratio(each, figures[0]) for each in figures]
    whole = Bench(machine={}, figures=figures, ratios=ratios, left_out=[])
    bench = replace(load("bench.json"), data=whole)
    monkeypatch.setattr(speeds, "load", lambda file: bench)
    rows = {claim: said for claim, said, _, _ in speeds.speeds()}
    assert len(rows) + 2 == len(names)  # two claims stand under each of two scripts
    assert rows["its whole move, median"] == "1.50 s"
    assert rows["what `/ws` adds to one step, median"] == "1.5 ms"
    assert rows["a scripted reply with 20 visitors playing, 95th percentile"] == "2400 ms"


def test_every_speed_that_the_bench_left_out_is_said_to_be(monkeypatch):
    bench = load("bench.json")
    there = {figure.name for figure in bench.data.figures}
    missing = [name for _, name, _ in speeds.SPEEDS if name not in there]
    assert bool(missing) <= bool(bench.data.left_out)
    kept = [figure for figure in bench.data.figures if figure.name != "import of app"]
    fewer = replace(bench, data=bench.data.model_copy(update={"figures": kept}))
    monkeypatch.setattr(speeds, "load", lambda file: fewer if file == bench.file else load(file))
    assert "importing the page" not in results()
