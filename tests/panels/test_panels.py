"""What the tabs draw from values: no browser, no files but the committed artifacts."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from app import build_app
from env import EndReason, WalkAway, get_task, rollout, rupees
from panels.artifacts import tab as artifacts
from panels.haggle import game_view, voices, words
from panels.haggle import tab as haggle
from panels.results import language as language_view
from panels.results import model_comparison, open_market
from panels.results import published as published_panel
from panels.results import tab as results
from panels.tour import tab as tour
from panels.transcripts import tab as transcripts
from panels.ui import offers, provenance
from panels.ui.look import trouble
from panels.ui.offers import Offers, nice_ticks, offer_chart, offers_of
from sauda.policies import BUYERS, policy
from sauda.records.store import FILES, Artifact, ArtifactError, load
from sauda.sessions.bazaar import answer, quick_moves, start

VIEW = results.View("classic/single_deal")


# Results


def test_a_bar_is_the_mean_of_its_row_and_its_whisker_the_interval(evaluation):
    bar = results.bars(evaluation, VIEW).data[0]
    row = next(r for r in evaluation.data["rows"] if r["policy"] == "rule_based")
    at = list(bar.y).index("rule_based")
    assert bar.x[at] == row["share"]["mean"]
    assert bar.x[at] + bar.error_x.array[at] == pytest.approx(row["share"]["high"])
    assert bar.x[at] - bar.error_x.arrayminus[at] == pytest.approx(row["share"]["low"])


def test_the_standard_deviation_is_a_choice_of_whisker(evaluation):
    view = results.View("classic/single_deal", whisker=results.DEVIATION)
    bar = results.bars(evaluation, view).data[0]
    row = next(r for r in evaluation.data["rows"] if r["policy"] == "rule_based")
    assert bar.error_x.array[list(bar.y).index("rule_based")] == row["share"]["sd"]


def test_bars_are_sorted_best_first_or_by_name(evaluation):
    best = [row["share"]["mean"] for row in results.rows_of(evaluation, VIEW)]
    assert best == sorted(best, reverse=True)
    by_name = results.View("classic/single_deal", order="By name")
    named = [row["policy"] for row in results.rows_of(evaluation, by_name)]
    assert named == ["naive", "rule_based", "wait"]


def test_bars_start_at_zero(evaluation):
    assert results.bars(evaluation, VIEW).layout.xaxis.range[0] == 0


def test_the_table_holds_the_numbers_of_the_bars(evaluation):
    shown = str(results.figures_table(evaluation, VIEW))
    for row in results.rows_of(evaluation, VIEW):
        assert f"{row['share']['mean']:.4f}" in shown
        assert f"{row['share']['low']:.4f} to {row['share']['high']:.4f}" in shown


def test_the_csv_holds_every_row_in_full_precision_and_opens_in_a_spreadsheet(evaluation):
    text = results.to_csv(evaluation, VIEW)
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:])))
    assert {row["policy"] for row in rows} == {"wait", "rule_based", "naive"}
    assert rows[0]["policy"] == "wait"
    mean = next(r for r in evaluation.data["rows"] if r["policy"] == "wait")["share"]["mean"]
    assert float(rows[0]["share_mean"]) == mean


def test_the_caption_says_the_best_policy_n_and_what_the_whiskers_are(evaluation):
    said = results.caption(evaluation, VIEW)
    assert said.startswith("wait leads with 0.979; n = 8 episodes")
    assert "95 %" in said


def test_a_policy_outside_the_baseline_has_no_difference_to_show():
    assert results.difference({"mean": 0.5}) == ("–", "–")


def test_every_published_figure_can_be_shown_with_its_caveat_and_n():
    published = load("published.json")
    for _, figure_id in published_panel.published_names(published):
        shown = str(published_panel.published_figure(published, figure_id))
        assert "published" in shown
        assert "Source: " in shown


def test_the_listings_task_says_that_its_published_figures_do_not_compare():
    assert "cannot be compared" in results.about("classic/amazon_realistic")
    assert "cannot be compared" not in results.about("classic/single_deal")


# Offers, transcripts


@pytest.fixture(scope="module")
def naive():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    return rollout(task, policy(task, "naive"), 0)


def test_a_charts_sentence_tells_the_whole_deal(naive):
    said = offers.summary(offers_of(naive))
    assert said == (
        "Offers over 8 rounds: asks from ₹60 to ₹54, bids from ₹48 to ₹51; "
        "closed at ₹51 in round 2."
    )


def test_a_chart_of_a_running_deal_holds_no_limit():
    running = str(offer_chart(Offers((60.0, 54.0), (48.0,), 8)))
    assert "limit" not in running
    assert "still open" in running


def test_the_limits_of_a_narrow_zopa_have_labels_apart_the_higher_above():
    drawn = str(offer_chart(Offers((100.0,), (), 8, None, (52, 56))))
    seats = dict(re.findall(r'class="limit" x="\d+" y="([\d.]+)">(\w+)', drawn))
    (upper, buyer), (lower, seller) = sorted((float(y), who) for y, who in seats.items())
    assert (buyer, seller) == ("buyer", "seller")
    assert lower - upper == pytest.approx(offers.LINE, abs=0.1)


def test_a_step_shows_that_many_moves(naive):
    assert offers_of(naive, 3) == Offers((60.0, 54.0), (48.0,), 8, None, (30, 100))
    assert str(transcripts.talk(naive, 3)).count("<li") == 3


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0, 100, [0, 50, 100]), (0, 60, [0, 20, 40, 60]), (0, 8, [0, 2, 4, 6, 8])],
)
def test_ticks_are_round_and_cover_the_prices(low, high, ticks):
    assert nice_ticks(low, high) == ticks


def test_a_strip_is_as_long_as_the_rounds_and_says_who_gave_in(naive):
    shown = str(transcripts.strips(naive, len(naive.turns)))
    assert "2 of 8 rounds" in shown
    assert "✓ seller accepted ₹51" in shown


@pytest.mark.parametrize(
    ("end", "mark"),
    [(EndReason.AGREEMENT, "✓"), (EndReason.WALKAWAY, "✕"), (EndReason.DEADLINE, "⧗")],
)
def test_each_end_has_a_mark_of_its_own(end, mark):
    assert transcripts.MARKS[str(end)][0] == mark


def test_a_career_has_a_strip_a_deal():
    task = get_task("classic/career_10")
    played = rollout(task, policy(task, "naive"), 0)
    assert str(transcripts.strips(played, len(played.turns))).count("sauda-strip-row") == 10


@pytest.mark.parametrize("seed", [-1, 1.5, None, "abc", "NaN", True, 10**41])
def test_a_bad_seed_is_answered_with_what_was_expected(seed):
    with pytest.raises(ValueError, match="whole number"):
        transcripts.play("classic/single_deal", seed, ["naive"])


@pytest.mark.parametrize("names", [[], ["naive"] * 5])
def test_none_or_five_policies_are_refused(names):
    with pytest.raises(ValueError, match="one to 4 policies"):
        transcripts.play("classic/single_deal", 0, names)


def test_the_download_of_transcripts_is_the_episodes_that_were_shown():
    episodes = transcripts.play("classic/single_deal", 3, ["naive", "wait"])
    with open(transcripts.episodes_file(episodes), encoding="utf-8") as file:
        rows = json.load(file)
    assert [row["policy"] for row in rows] == ["naive", "wait"]
    assert [len(row["moves"]) for row in rows] == [len(e.turns) for e in episodes.values()]


# Haggle


def test_a_visitors_words_are_the_message_and_their_price_the_bid():
    game = haggle.say(start("classic/single_deal", "", 5), "20 mein de do")
    turn = next(t for t in game.play.turns if t.agent == "buyer")
    assert (turn.action.price, turn.action.message) == (20, "20 mein de do")


def test_saying_deal_takes_the_price_that_stands():
    game = haggle.say(start("classic/single_deal", "", 5), "Deal!")
    assert game.over
    assert game.play.state.table.past[0].price == 60


@pytest.mark.parametrize("seat", [haggle.BUY, haggle.SELL])
def test_nothing_hidden_is_shown_before_the_end(seat):
    sell = seat == haggle.SELL
    for seed in range(2_000_000, 2_000_020):
        game = start(haggle.SELLING if sell else "classic/amazon_realistic", "", seed)
        seller, buyer = game_view.limits(game)
        secret = buyer if sell else round(seller, 2)
        assert secret != game.observation.table.item.list_price  # or it would be public
        shown = "".join(
            map(str, (game_view.brief(game), game_view.chart(game), game_view.result(game)))
        )
        assert str(game.play.seed) not in shown
        assert rupees(secret) not in shown


def test_after_the_end_both_limits_the_seed_and_every_policy_show():
    game = answer(start("classic/single_deal", "", 5), quick_moves_of(5)[0].action)
    shown = str(game_view.result(game))
    assert "The seller’s limit was ₹30, the buyer’s ₹100." in shown
    assert "57% to the buyer" in shown
    assert "--seed 5" in shown
    assert all(name in shown for name in ("expert", "wait", "you"))


def quick_moves_of(seed):
    return quick_moves(start("classic/single_deal", "", seed).observation)


@pytest.mark.parametrize("said", ["हाँ", "I accept", "deal?", "Theek hai!", "DONE"])
def test_a_yes_in_many_forms_takes_the_ask(said):
    assert (
        haggle.say(start("classic/single_deal", "", 5), said).play.state.table.past[0].price == 60
    )


def test_goodbye_walks_away():
    game = haggle.say(start("classic/single_deal", "", 5), "walk away")
    assert game.play.state.table.past[0].by == "buyer"


def test_a_bid_above_the_ask_is_asked_about_and_not_taken():
    with pytest.raises(ValueError, match="the seller asks ₹60: say “deal”"):
        haggle.say(start("classic/single_deal", "", 5), "95")


@pytest.mark.parametrize("again", ["haan", "Yes!", "₹1", "हाँ"])
def test_a_far_off_price_waits_until_it_is_confirmed(again):
    asked_back = haggle.say(start(haggle.SELLING, "naive", 5), "1 rupee only")
    assert not asked_back.play.turns
    for language in (words.ENGLISH, words.HINDI):
        assert "₹1" in haggle.question(asked_back, words.speaking(language))
    assert "Did you mean ₹1?" in haggle.question(asked_back, words.speaking(words.ENGLISH))
    confirmed = haggle.say(asked_back, again)
    assert confirmed.play.turns[0].action.price == 1
    assert haggle.question(confirmed, words.speaking(words.ENGLISH)) == ""


def test_yes_takes_the_standing_price_where_no_question_waits():
    game = haggle.say(start("classic/single_deal", "", 5), "haan")
    assert game.play.state.table.past[0].price == 60


def test_results_show_how_well_a_blind_writers_sentences_are_read():
    artifact = load("language.json")
    shown = str(language_view.reading(artifact))
    (row,) = (
        row
        for row in artifact.data["blind"]["rows"]
        if (row["reader"], row["split"], row["language"], row["signal"])
        == ("sauda", "held_out", "all", "all")
    )
    assert f"{row['precision']['mean']:.2f} [{row['precision']['low']:.2f}" in shown
    assert all(name in shown for name in language_view.KIND_NAMES.values())


def test_a_seat_and_a_choice_must_go_together():
    with pytest.raises(ValueError, match="choose a market"):
        haggle.new_game(haggle.SELL, "A plain seller", "firm")
    with pytest.raises(ValueError, match="choose a market"):
        haggle.new_game(haggle.BUY, "A plain seller", "firm")
    with pytest.raises(ValueError, match="choose a market"):
        haggle.new_game(haggle.BUY, "no such market", haggle.HIDDEN)


@pytest.mark.parametrize("kind", ["firm", "fair", "hasty", "bluffer"])
def test_a_visitor_may_choose_whom_to_buy_from_and_learns_it_at_the_end(kind: str):
    game = haggle.new_game(haggle.BUY, "Open market: a stranger", kind)
    assert game.play.state.private["nature"][0].seller["stance"].type.name == kind
    assert kind not in str(game_view.result(game)) + str(game_view.brief(game))
    assert f"of the type <b>{kind}</b>" in str(game_view.result(answer(game, WalkAway())))


def test_a_hidden_buyer_is_one_of_the_scripts_and_named_at_the_end():
    game = haggle.new_game(haggle.SELL, haggle.ANYTHING, haggle.HIDDEN)
    assert game.opponent in BUYERS
    assert "The buyer was" not in str(game_view.result(game))
    assert f"The buyer was {game.opponent}" in str(
        game_view.result(answer(game, WalkAway()))
    ).replace("rule based", "rule_based").replace("tit for tat", "tit_for_tat")


def test_a_chosen_ware_is_the_one_sold_and_a_model_that_is_not_ready_is_stood_in_for_by_name():
    mine = "sauda-mini+honest"
    for ready, plays, wanted in ((True, mine, ""), (False, haggle.STAND_IN, mine)):
        game = haggle.new_game(haggle.SELL, "hybrid city bicycle", "Sauda", ready)
        assert game.observation.table.item.name == "hybrid city bicycle"
        assert (game.opponent, game.stands_in_for) == (plays, wanted)


def test_who_stands_in_is_said_but_a_hidden_buyer_of_that_kind_is_not():
    stand_in = haggle.new_game(haggle.SELL, haggle.ANYTHING, "Sauda", ready=False)
    hidden = replace(stand_in, stands_in_for="")
    assert voices.who(stand_in, words.speaking(words.ENGLISH)) == "tit for tat"
    assert voices.who(hidden, words.speaking(words.ENGLISH)) == ""


def test_a_model_seller_that_is_not_ready_is_stood_in_for_by_the_markets_own():
    game = haggle.new_game(haggle.BUY, "Open market: a stranger", "SmolLM2, firm", ready=False)
    assert (game.opponent, game.stands_in_for) == ("", "mini:firm")
    assert voices.who(game, words.speaking(words.ENGLISH)) == "the market’s own seller"


def test_a_value_of_former_choices_meets_the_events_own_sentence():
    """Gradio answers it with a bare 500 unless the event leaves the value unchecked."""
    changing = {"haggle-market", "haggle-other", "haggle-move", "arena-kind", "arena-choice"}
    seen = set()
    for event in build_app().fns.values():
        pickers = {part.elem_id for part in event.inputs} & changing
        assert not (pickers and event.preprocess)
        seen |= pickers
    assert seen == changing


def test_both_languages_say_the_same_keys_with_the_same_places():
    english, hindi = (words.WORDS[name] for name in (words.ENGLISH, words.HINDI))
    assert english.keys() == hindi.keys()
    for key in english:
        assert set(re.findall(r"{(\w+)}", english[key])) == set(re.findall(r"{(\w+)}", hindi[key]))


def test_a_games_seed_is_too_long_to_be_searched_for():
    seeds = {
        haggle.new_game(haggle.BUY, "A plain seller", haggle.HIDDEN).play.seed for _ in range(5)
    }
    assert len(seeds) == 5
    assert max(seeds) >= 2**120  # of 128 bits: all five are smaller once in 10**12 runs


def play_out(game, *moves):
    for said in moves:
        game = haggle.say(game, said)
    return game


def test_a_rival_that_bought_is_named_and_nothing_is_said_to_be_won():
    game = play_out(start("classic/marketplace_arena", "", 3), "₹31", "₹33", "₹35")
    assert game.over
    assert any("bought it" in m["content"] for m in game_view.messages(game))
    shown = str(game_view.result(game))
    assert "bought it in round" in shown
    assert "you won nothing" in shown
    assert "to the buyer" not in shown


def test_a_career_tells_each_deals_end_and_lists_them_all():
    game = play_out(start("classic/read_the_tells", "", 3), "deal", "walk away", "deal", "deal")
    told = [m["content"] for m in game_view.messages(game) if m["content"].startswith("(Deal")]
    assert told[0].startswith("(Deal 1: closed at ₹75.90 in round 1. Next: ")
    assert told[1].startswith("(Deal 2: the buyer walked away in round 1. Next: ")
    game = play_out(game, "walk away")
    shown = str(game_view.result(game))
    assert shown.count("closed at ₹75.90") == 3
    assert "won nothing" not in shown


def test_a_sale_below_the_limit_is_called_a_loss():
    game = start("bazaar/seller_brief", "expert", 3)
    limit = game.observation.reservation
    game = play_out(game, str(limit // 2), "deal")
    price = game.play.state.table.past[0].price
    assert price < limit
    assert f"a loss of {rupees(limit - price)} to the seller" in game_view.result(game)


def test_a_tie_is_not_called_a_lead(evaluation):
    view = results.View("classic/career_10")
    rows = [{**row, "policy": name} for name in ("a", "b") for row in evaluation.data["rows"][:1]]
    tied = Artifact(
        evaluation.file, evaluation.kind, "measured", evaluation.made, evaluation.config,
        {**evaluation.data, "rows": [{**row, "task": view.task} for row in rows]},
    )  # fmt: skip
    assert results.caption(tied, view).startswith("a and b share the lead")


def test_the_bonus_is_paid_in_full_at_the_list_price():
    game = start(haggle.SELLING, "linear", 1)
    item = game.observation.table.item
    assert f"all {rupees((item.list_price - round(0.78 * item.list_price)) // 10)} at" in str(
        game_view.brief(game)
    )


def test_a_sentence_for_a_visitor_runs_from_capital_to_full_stop():
    assert ">This is wrong.<" in trouble(ValueError("this is wrong"))


# Tour, artifacts


def test_the_tours_figures_are_those_of_the_artifacts():
    ladder, holdout = load("evaluation/ladder.json"), load("evaluation/classic-holdout.json")
    shown = str(tour.glance(ladder, holdout, load("evaluation/reproduction.json")))
    share = tour.cell(holdout, "classic/single_deal", "wait")["share"]["mean"]
    grades = {
        r["policy"]: r["grade"]["mean"] for r in model_comparison.rows_of(ladder, tour.MARKET)
    }
    last = model_comparison.OURS
    assert f"{share:.1%}" in shown
    assert f">{grades[last]:.3f}" in shown
    closed = (grades[last] - grades["mini"]) / (grades["belief"] - grades["mini"])
    assert f"{closed:.0%}" in shown
    (way,) = [
        way for way in ladder.data["ways"] if (way["task"], way["policy"]) == (tour.MARKET, last)
    ]
    assert way["part"] == pytest.approx(closed, abs=1e-4)
    assert way["low"] < way["part"] < way["high"]
    assert f"[{way['low']:.0%}, {way['high']:.0%}]" in shown


def test_a_ladder_without_a_trained_model_is_said_to_lack_it():
    ladder = load("evaluation/ladder.json")
    rows = [row for row in ladder.data["rows"] if row["policy"] in ("mini", "linear", "belief")]
    with pytest.raises(ArtifactError, match="lacks a trained model on bazaar/open"):
        tour.trained(replace(ladder, data=ladder.data | {"rows": rows}))


def test_every_file_is_listed_with_a_download_and_its_hash():
    shown = str(artifacts.listing())
    for entry in FILES:
        assert entry.file in shown
    assert shown.count("download") == len(FILES)


def test_a_missing_file_shows_the_command_that_makes_it(tmp_path):
    shown = str(artifacts.listing(tmp_path))
    for entry in FILES:
        assert entry.command in shown
    assert "is not there" in shown


def test_a_panel_without_its_artifact_shows_a_sentence_and_the_command(monkeypatch):
    def nothing(file):
        raise ArtifactError(f"artifacts/{file} is not there", "python -m sauda record")

    monkeypatch.setattr(provenance, "load", nothing)
    found, said = provenance.load_or_say("episodes/showcase.json")
    assert found is None
    assert "python -m sauda record" in said


def test_the_python_snippet_of_the_page_runs(capsys):
    exec(artifacts.PYTHON, {})
    assert capsys.readouterr().out.startswith("agreement")


# The open market


@pytest.fixture(scope="module")
def sellers() -> tuple[Artifact, Artifact, Artifact]:
    return tuple(map(load, ("oracle.json", "market.json", "evaluation/market-holdout.json")))


def test_a_figure_of_yields_shows_the_best_reply_ahead_of_every_script(sellers):
    oracle, *_ = sellers
    for row in oracle.data["rows"]:
        figure = open_market.yields(oracle, row["task"])
        best, *others = (np.array(trace.x) for trace in figure.data)
        assert list(figure.data[0].y) == [kind["type"] for kind in row["types"]]
        assert all((best >= other).all() for other in others)
        assert row["types"][0]["type"] in str(open_market.yields_table(oracle, row["task"]))
        assert "nan" not in open_market.yields_sentence(oracle, row["task"])


def test_the_types_of_a_task_are_all_its_episodes(sellers):
    oracle, *_ = sellers
    for row in oracle.data["rows"]:
        assert sum(kind["n"] for kind in row["types"]) == row["n"]
        mean = sum(kind["n"] * kind["informed"]["mean"] for kind in row["types"]) / row["n"]
        assert mean == pytest.approx(row["informed"]["mean"], abs=1e-5)


def test_a_figure_of_manner_has_a_bar_for_each_signal_with_a_cause(sellers):
    _, market, _ = sellers
    for row in market.data["manner"]:
        (bar,) = open_market.manner_figure(market, row["task"]).data
        assert len(bar.x) == 10
        assert min(bar.x) > 0
        assert "eye contact" in str(open_market.manner_table(market, row["task"]))


def test_a_career_is_drawn_over_ten_deals_firm_above_soft(sellers):
    _, market, evaluation = sellers
    for row in market.data["careers"]:
        firm, soft, own = open_market.career_figure(market, row["then"], evaluation).data
        assert list(firm.x) == list(soft.x) == [6, 7, 8, 9, 10]
        assert list(own.x) == list(range(1, 11))
        assert np.mean(firm.y) > np.mean(soft.y)
        assert f"{row['lost']['mean']:.3f}" in open_market.career_sentence(market, row["then"])


@pytest.mark.parametrize(
    ("adds", "verdict"),
    [(0.1, "the model adds to it"), (-0.1, "takes away"), (0.0, "cannot be told from nothing")],
)
def test_what_a_wrapper_wins_is_told_beside_what_it_wins_around_no_model(adds, verdict):
    none = [0.1, 0.3, 0.2, 0.4]
    steered = [round(grade + adds, 3) for grade in none[:3]]  # fewer games than no model's
    episodes = {
        "mini": {"grade": none},
        "null+steering": {"grade": none},
        "mini+steering": {"grade": steered},
    }
    ladder = Artifact("", "ladder/1", "measured", {}, {}, {"episodes": {"bazaar/open": episodes}})
    (said,) = model_comparison._wrapped(ladder, "bazaar/open")
    assert f"{np.mean(steered):.3f} around the untrained base and 0.200 around no model" in said
    assert f"{adds:+.3f} [{adds:+.3f}, {adds:+.3f}] on n = 3" in said
    assert verdict in said
