"""The figures that the seed documents report: well formed, and agreeing with each other."""

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from sauda.records.store import digest

PATH = Path(__file__).parents[3] / "artifacts" / "published.json"
TEXT = PATH.read_text(encoding="utf-8")
ARTIFACT = json.loads(TEXT)
FIGURES = {figure["id"]: figure for figure in ARTIFACT["data"]["figures"]}
ARENA_TASKS = ("single_trade", "market_round", "coalition_market")
BAZAAR_TASKS = ("single_deal", "asymmetric_pressure", "amazon_realistic")

every_figure = pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES.keys())


def rows(figure_id: str) -> list[dict]:
    """The rows of a figure, each as column -> cell."""
    figure = FIGURES[figure_id]
    return [dict(zip(figure["columns"], row, strict=True)) for row in figure["rows"]]


def row(figure_id: str, **where) -> dict:
    """The one row of a figure whose cells equal `where`."""
    (match,) = [r for r in rows(figure_id) if where.items() <= r.items()]
    return match


def column(figure_id: str, name: str) -> list:
    return [r[name] for r in rows(figure_id)]


# Form


def test_the_artifact_says_that_it_is_published_and_how_it_was_made():
    assert list(ARTIFACT) == ["kind", "origin", "made", "config", "data"]
    assert ARTIFACT["kind"] == "published/1"
    assert ARTIFACT["origin"] == "published"
    assert set(ARTIFACT["made"]) == {"command", "created", "digests", "seal"}
    assert set(ARTIFACT["data"]) == {"figures"}


def test_every_figure_is_the_one_that_was_sealed_under_its_id():
    assert ARTIFACT["made"]["digests"] == {name: digest(f) for name, f in FIGURES.items()}


def test_no_two_figures_share_an_id():
    ids = [figure["id"] for figure in ARTIFACT["data"]["figures"]]
    assert len(ids) == len(set(ids))


@every_figure
def test_a_figure_has_its_nine_keys_and_a_known_system(figure):
    keys = ["id", "system", "title", "source", "n", "n_of", "caveat", "columns", "rows"]
    assert list(figure) == keys
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", figure["id"])
    assert figure["system"] in {"bazaar", "arena", "agreemate"}


@every_figure
def test_a_figure_names_its_source_what_is_counted_and_a_caveat(figure):
    for key in ("title", "source", "n_of", "caveat"):
        assert figure[key]
        assert figure[key] == figure[key].strip()
    assert figure["caveat"].endswith(".")


@every_figure
def test_a_figure_without_an_n_says_so_in_its_caveat(figure):
    assert figure["n"] is None or (type(figure["n"]) is int and figure["n"] > 0)
    assert (figure["n"] is None) == ("No n is given" in figure["caveat"])


@every_figure
def test_every_row_is_as_wide_as_the_columns_and_holds_plain_cells(figure):
    assert len(set(figure["columns"])) == len(figure["columns"])
    assert figure["rows"]
    for cells in figure["rows"]:
        assert len(cells) == len(figure["columns"])
        assert all(c is None or isinstance(c, (str, bool, int, float)) for c in cells)
        assert all(math.isfinite(c) for c in cells if isinstance(c, float))


@every_figure
def test_rates_and_shares_are_fractions(figure):
    for name, cells in zip(figure["columns"], zip(*figure["rows"], strict=True), strict=True):
        if name.endswith(("_rate", "_agreement")) or name.startswith(("share", "deal_rate")):
            assert all(c is None or 0 <= c <= 1 for c in cells), name


def test_every_row_stands_on_one_line_of_the_file():
    lines = {line.strip().rstrip(",") for line in TEXT.splitlines()}
    for figure in FIGURES.values():
        assert all(json.dumps(cells, ensure_ascii=False) in lines for cells in figure["rows"])


def test_sources_are_named_as_documents_and_not_as_paths():
    assert not re.search(r"shared/|spec/|seeds/|/work|/tmp|/home|/root|\w\.md\b", TEXT)


# The haggling buyer


@pytest.mark.parametrize(
    ("figure_id", "run", "mean", "below", "first_10", "last_10", "no_loss"),
    [
        ("grpo-v2-log", "v2", 0.9362, 8, 0.9037, 0.9431, 3),
        ("grpo-v2-tells-log", "v2-tells", 0.5662, 24, 0.3522, 0.7806, 27),
    ],
)
def test_a_grpo_log_gives_the_figures_of_its_summary(
    figure_id, run, mean, below, first_10, last_10, no_loss
):
    reward = column(figure_id, "reward")
    summary = row("grpo-log-summary", run=run)
    assert column(figure_id, "step") == list(range(1, 31))
    assert round(fmean(reward), 4) == summary["mean_reward"] == mean
    assert sum(r < 0.93 for r in reward) == summary["steps_below_0.93"] == below
    assert round(fmean(reward[:10]), 4) == summary["first_10_mean"] == first_10
    assert round(fmean(reward[-10:]), 4) == summary["last_10_mean"] == last_10
    assert (min(reward), max(reward)) == (summary["min_reward"], summary["max_reward"])
    quiet = sum(abs(loss) < 5e-5 for loss in column(figure_id, "loss"))
    assert quiet == summary["steps_with_abs_loss_below_5e-5"] == no_loss
    minutes = sum(column(figure_id, "step_time_s")) / 60
    assert minutes == pytest.approx(summary["wall_min"], abs=0.06)


def test_the_opener_s_reward_is_the_mean_of_the_bell_curve_over_its_bids():
    shares = [0.25 + 0.15 * (i + 0.5) / 1000 for i in range(1000)]
    reward = fmean(math.exp(-((share - 0.25) ** 2) / 0.08) for share in shares)
    (published,) = column("reference-opener-reward", "reward")
    assert round(reward, 3) == published == 0.914


def test_a_ladder_mean_is_the_mean_of_its_three_tasks():
    for r in rows("scaling-ladder"):
        assert round(fmean(r[task] for task in BAZAAR_TASKS), 3) == r["mean"]


def test_the_ablation_repeats_two_rows_of_the_ladder():
    for r in rows("tells-ablation"):
        ladder = row("scaling-ladder", buyer="Sauda v2", tells_label=r["tells_label"])
        assert r.items() <= ladder.items()
    off, on = column("tells-ablation", "mean")
    assert round(off - on, 3) == 0.033


@pytest.mark.parametrize(
    ("figure_id", "buyer"),
    [("sauda-v3-per-task", "Sauda v3"), ("sauda-v2-tells-per-task", "Sauda v2-tells")],
)
def test_a_table_by_task_rounds_to_its_row_of_the_ladder(figure_id, buyer):
    ladder = row("scaling-ladder", buyer=buyer)
    for r in rows(figure_id):
        assert round(r["surplus"], 3) == ladder[r["task"]]
        assert r["n"] == ladder["n_a_task"]
    assert round(fmean(column(figure_id, "rounds")), 1) == ladder["rounds"]


def test_the_claimed_gains_follow_from_the_ladder():
    small, large = (
        row("scaling-ladder", buyer=f"Llama-3.{b} base")["mean"] for b in ("2-3B", "1-8B")
    )
    trained = row("scaling-ladder", buyer="Sauda v2", tells_label="OFF")["mean"]
    claims = dict(
        zip(*(column("bazaar-headline-claims", c) for c in ("claim", "value")), strict=True)
    )
    assert round(trained / large - 1, 3) == 0.074
    assert claims["mean surplus of Sauda v2 above the 8B base model, relative"] == 0.074
    assert round(large / small - 1, 2) == 0.19
    assert claims["mean surplus of the 8B base model above the 3B one, relative"] == 0.19


def test_the_website_divides_the_ladder_s_mean_by_the_deal_rate():
    for r in rows("website-variant"):
        ladder = next(x for x in rows("scaling-ladder") if x["buyer"] == r["buyer"])
        assert ladder["mean"] / ladder["deal_rate"] == pytest.approx(
            r["surplus_on_deals"], abs=0.005
        )
        assert r["no_deal_rate"] == pytest.approx(1 - ladder["deal_rate"])


def test_the_journal_s_pair_rounds_the_snapshot_and_the_ladder():
    v1, v2 = column("amazon-v1-to-v2", "surplus")
    snapshot = row("v1-snapshot", run="first", policy="Sauda v1", task="amazon_realistic")
    assert round(snapshot["surplus"], 3) == v1 == 0.913
    assert (
        row("scaling-ladder", buyer="Sauda v2", tells_label="OFF")["amazon_realistic"]
        == v2
        == 0.521
    )


def test_sauda_v1_s_figures_come_out_without_a_model():
    for r in rows("reference-v1-without-a-model"):
        assert (
            r.items() <= row("v1-snapshot", run="first", policy="Sauda v1", task=r["task"]).items()
        )


def test_five_of_six_seller_criteria_are_met():
    holds = {">=": float.__ge__, "<=": float.__le__, "==": float.__eq__}
    for r in rows("seller-quality"):
        met = holds[r["relation"]](float(r["published"]), float(r["target"]))
        assert met == r["passed"], r["criterion"]
    assert sum(column("seller-quality", "passed")) == 5


def test_the_dpo_run_ended_at_the_loss_of_having_learned_nothing():
    values = dict(FIGURES["dpo-summary"]["rows"])
    assert values["train_loss"] == pytest.approx(math.log(2), abs=1e-5)
    pairs = values["train_samples_per_second"] * values["train_runtime_s"]
    assert round(pairs) == FIGURES["dpo-summary"]["n"] == 6


def test_the_policy_table_holds_four_policies_on_seven_tasks():
    table = rows("reference-policy-table")
    assert len(table) == 28
    assert len({(r["task"], r["policy"]) for r in table}) == 28
    assert len({r["task"] for r in table}) == 7
    special = {"career_10": 10_000, "read_the_tells": 5_000}
    for r in table:
        assert r["episodes"] == special.get(r["task"], 1_000)
    nothing = row("reference-policy-table", task="read_the_tells", policy="aggressive")
    assert (nothing["surplus"], nothing["surplus_se"], nothing["deal_rate"]) == (0, None, 0)
    assert row("reference-policy-table", task="single_deal", policy="naive")["surplus_se"] == 0


def test_the_time_discount_is_the_published_formula():
    for r in rows("reference-time-discount"):
        assert r["time_discount"] == round(math.exp(-0.3 * math.exp(2.5 * r["round"] / 8)), 4)


def test_waiting_ends_at_the_floor_of_the_seller_s_schedule():
    asks = column("reference-seller-schedule", "ask")
    assert asks == [54, 48, 42, 36, 31.5, 31.5, 31.5, 31.5]
    surplus = (100 - asks[-1]) / (100 - 30)
    assert round(surplus, 4) == row("reference-wait", task="single_deal")["surplus"]


def test_the_wrapper_s_share_of_the_moves_adds_up():
    assert sum(column("reference-wrapper-decisions", "moves")) == 346
    assert FIGURES["reference-wrapper-decisions"]["n"] == 346


def test_the_steering_table_repeats_the_published_rows_of_the_ladder():
    for name, buyer in (
        ("v2", "Sauda v2"),
        ("v2-tells", "Sauda v2-tells"),
        ("Sauda v3", "Sauda v3"),
    ):
        steered = row("reference-steering", proposal=f"published {name}")
        ladder = next(x for x in rows("scaling-ladder") if x["buyer"] == buyer)
        assert [steered[t] for t in BAZAAR_TASKS] == [ladder[t] for t in BAZAAR_TASKS]


# The GPU arena


def test_one_function_stands_under_two_names():
    for figure_id in ("arena-training-seeds", "arena-holdout"):
        for task in ARENA_TASKS:
            hoarder, allocator = (
                row(figure_id, task=task, policy=policy)
                for policy in ("greedy_hoarder", "no_negotiation_allocator")
            )
            assert hoarder | {"policy": ""} == allocator | {"policy": ""}


def test_the_selector_s_reference_lines_are_means_of_the_training_table():
    for r in rows("arena-selector-lines"):
        means = [
            row("arena-training-seeds", policy=r["line"], task=task)["mean_reward"]
            for task in ARENA_TASKS
        ]
        assert fmean(means) == pytest.approx(r["mean_reward"], abs=6e-5)


def test_overall_is_the_mean_of_the_three_tasks():
    for figure_id in (
        "arena-trained-llm",
        "arena-reference-matched",
        "arena-reference-holdout-100",
    ):
        for r in rows(figure_id):
            assert fmean(r[task] for task in ARENA_TASKS) == pytest.approx(r["overall"], abs=1.1e-4)


def test_scripted_rows_beside_the_llm_are_those_of_the_hold_out_table():
    for r in rows("arena-holdout"):
        beside = row("arena-trained-llm", policy=r["policy"])
        assert beside[r["task"]] == r["mean_reward"]
        assert beside[r["task"] + "_std"] == r["std_reward"]


@pytest.mark.parametrize("task", ARENA_TASKS)
def test_the_five_seeds_give_the_llm_s_mean_and_standard_deviation(task):
    rewards = column("arena-llm-per-seed", task)
    published = row("arena-trained-llm", policy="trained_llm_sft")
    assert round(fmean(rewards), 4) == published[task]
    assert pstdev(rewards) == pytest.approx(published[task + "_std"], abs=1e-4)


def test_the_parse_failure_rate_counts_every_wait_of_both_models():
    actions = rows("arena-llm-actions")
    waits = sum(r["count"] for r in actions if r["action"] == "wait")
    steps = sum(r["count"] for r in actions)
    assert (waits, steps) == (86, 170)
    assert row("arena-llm-evaluation", measure="parse_failure_rate")["value"] == round(86 / 170, 4)


@pytest.mark.parametrize("kind", ["action", "task"])
def test_the_sft_rows_add_up_by_action_and_by_task(kind):
    assert sum(r["rows"] for r in rows("arena-sft-data") if r["kind"] == kind) == 160


def test_the_training_curves_have_all_their_points():
    assert column("arena-selector-curve", "episode") == [1, *range(10, 181, 10)]
    assert column("arena-sft-curve", "step") == list(range(10, 501, 10))
    assert column("arena-grpo-curve", "step") == [1, *range(5, 301, 5)]


def test_the_sft_loss_fell_by_the_share_that_is_quoted():
    values = dict(FIGURES["arena-sft-summary"]["rows"])
    assert round(1 - values["final_loss"] / values["first_loss"], 4) == values["loss_drop_fraction"]
    losses = column("arena-sft-curve", "loss")
    assert losses[0] == round(values["first_loss"], 4)
    assert losses[-1] == round(values["final_loss"], 4)


def test_the_grpo_headlines_are_single_points_of_a_flat_curve():
    curve = column("arena-grpo-curve", "mean_reward")
    values = {r["measure"]: r["value"] for r in rows("arena-grpo-headlines")}
    assert curve[0] == values["first_step_mean_reward"]
    assert curve[-1] == pytest.approx(values["last_step_mean_reward"], abs=6e-4)
    assert max(curve) < values["best_step_mean_reward"]
    assert fmean(curve) == pytest.approx(values["mean_of_points"], abs=6e-5)
    assert round(fmean(curve[:30]), 3) == values["mean_of_first_30_points"]
    assert round(fmean(curve[-30:]), 3) == values["mean_of_last_30_points"]


def test_the_demo_game_adds_up_to_the_reward_after_training():
    steps = rows("arena-demo-steps")
    for earlier, later in pairwise(steps[:-1]):
        total = earlier["cumulative_reward"] + later["reward_shown"]
        assert total == pytest.approx(later["cumulative_reward"], abs=1e-9)
    hidden = steps[-1]["cumulative_reward"] - steps[-2]["cumulative_reward"]
    assert hidden - steps[-1]["reward_shown"] == pytest.approx(0.1910)
    after = row("arena-before-after", shown_as="after")
    assert steps[-1]["cumulative_reward"] == after["episode_reward"] == 1.3412


@pytest.mark.parametrize(
    ("figure_id", "rival", "rounds", "wins"),
    [
        ("arena-judged-negotiation", "best_bot_score", 20, 14),
        ("arena-judged-committed-file", "lab_2_score", 3, 0),
    ],
)
def test_a_judge_bonus_is_a_fifth_of_the_margin(figure_id, rival, rounds, wins):
    table = rows(figure_id)
    assert [r["round"] for r in table] == list(range(rounds))
    assert sum(r["winner"] == "lab_0" for r in table) == wins
    for r in table:
        margin = r["lab_0_score"] - r[rival]
        assert r["judge_bonus"] == pytest.approx(min(0.18, max(-0.08, margin / 5)), abs=6e-5)


def test_the_page_s_headlines_round_its_own_table():
    sft = row("arena-trained-llm", policy="trained_llm_sft")
    base = row("arena-trained-llm", policy="base_instruct_llm")
    for name in ("market_round", "coalition_market", "overall"):
        headline = row("arena-page-headlines", what=f"{name} mean reward, untrained to SFT")
        assert headline["from"] == pytest.approx(base[name], abs=6e-4)
        assert headline["to"] == pytest.approx(sft[name], abs=6e-4)


# AgreeMate


@pytest.mark.parametrize("role", ["buyer", "seller", "generalist"])
def test_a_curve_ends_at_the_loss_and_the_moving_average_of_the_summary(role):
    summary = row("agreemate-training-summary", role=role)
    last = rows(f"agreemate-curve-{role}")[-1]
    assert last["step"] == summary["best_eval_step"]
    assert last["eval_loss"] == summary["best_eval_loss"]
    assert summary["final_ema_published"] < last["ema_loss"]
    assert row("agreemate-readme-roles", role=role)["final_ema"] == summary["final_ema_published"]


@pytest.mark.parametrize("role", ["buyer", "seller"])
def test_the_final_moving_average_is_one_update_past_the_curve(role):
    summary = row("agreemate-training-summary", role=role)
    last = rows(f"agreemate-curve-{role}")[-1]
    ema = 0.98 * last["ema_loss"] + 0.02 * summary["last_window_loss"]
    assert ema == pytest.approx(summary["final_ema_published"], abs=1e-4)


@pytest.mark.parametrize("role", ["buyer", "seller", "generalist"])
def test_the_published_perplexity_is_not_the_exponential_of_the_loss(role):
    summary = row("agreemate-training-summary", role=role)
    perplexity = row("agreemate-training-recomputed", role=role)["perplexity_from_eval_loss"]
    assert round(math.exp(summary["best_eval_loss"]), 1) == perplexity
    assert perplexity > 10 * summary["perplexity_published"]


@pytest.mark.parametrize("role", ["buyer", "seller", "generalist"])
def test_the_speeds_follow_from_rows_updates_and_run_time(role):
    r = row("agreemate-training-summary", role=role)
    assert round(r["updates"] / r["runtime_s"], 3) == pytest.approx(r["updates_per_s"], abs=1e-3)
    assert round(2 * r["train_rows"] / r["runtime_s"], 3) == r["samples_per_s"]


def test_every_pair_of_models_and_of_personalities_is_there():
    for figure_id, kinds in (("agreemate-scale-and-cot", 6), ("agreemate-personality", 4)):
        pairs = {(r["buyer"], r["seller"]) for r in rows(figure_id)}
        assert len(pairs) == len(rows(figure_id)) == kinds**2


def test_an_agreement_rate_is_a_whole_number_of_thirty_runs():
    for figure_id in ("agreemate-scale-and-cot", "agreemate-personality"):
        for rate in column(figure_id, "agreement_rate"):
            assert round(round(rate * 30) / 30, 2) == rate
    for r in rows("agreemate-finetuned-pairs"):
        assert r["agreement_rate"] == round(r["agreements"] / 30, 4)


def test_the_audited_agreements_add_up():
    assert sum(column("agreemate-agreements-audit", "agreements")) == 1316


def test_published_craigslist_fairness_is_minus_twice_the_mean_utility():
    for r in rows("he-2018-results"):
        assert r["craigslist_fairness"] == pytest.approx(-2 * abs(r["craigslist_utility"]))
