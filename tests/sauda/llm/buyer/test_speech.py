"""A buyer's words: they fit the decided move, promise nothing that may change, do not repeat."""

import pytest

from env import Accept, Offer, WalkAway, get_task, rollout
from sauda.games.bazaar.behaviour import LAST
from sauda.games.bazaar.prompt import parse
from sauda.llm.buyer.speech import (
    REGISTERS,
    SILENCE,
    Decided,
    Line,
    faults,
    from_lines,
    spoken,
)
from sauda.llm.registry import get_policy

OPEN = get_task("bazaar/open")
MANNERS = [(persona, language) for language, some in REGISTERS.items() for persona in some]


def decisions(policy, seed):
    """The moves of a policy in one game, without words."""
    for turn in rollout(OPEN, get_policy(OPEN, policy), seed).trajectory("buyer"):
        yield turn.observation, turn.action


@pytest.mark.parametrize(("persona", "language"), MANNERS)
def test_each_move_has_a_line_that_is_the_same_move_and_keeps_its_word(persona, language):
    for seed in range(20):
        said: list[str] = []
        for obs, action in decisions("boulware" if seed % 2 else "pilot", seed):
            decided = Decided(obs, action, persona, language, said)
            line = spoken(decided, {"lines": from_lines}, seed)
            assert line.source == "lines"
            assert line == spoken(decided, {"lines": from_lines}, seed)
            assert faults(line.text, decided) == ()
            if isinstance(action, Offer) and obs.rounds_left > 1:
                assert not LAST.search(line.text)
            said.append(line.text)


def test_a_line_is_not_said_again_while_there_is_another():
    obs, action = next(decisions("boulware", 3))
    said: list[str] = []
    for number in range(4):
        said.append(spoken(Decided(obs, action, said=said), {"lines": from_lines}, number).text)
    assert len(set(said)) == 4


def test_the_price_stands_in_rupees_and_the_decided_move_is_kept():
    obs, action = next(decisions("boulware", 3))
    line = spoken(Decided(obs, action), {"canned": lambda decided, seed: "How about #?"}, 0)
    assert line == Line(f"How about ₹{action.price:,.0f}?", "canned")
    assert parse('{"offer":%g,"say":"How about #?"}' % (100 * action.price / obs.reservation), obs)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it says nothing"),
        ("₹1 or nothing", "names a price that is not the move's"),
        ("My final price is #.", "promises that no other bid follows"),
        ("Agreed, #.", "it agrees, and the move does not"),
        ("Goodbye, #.", "it leaves, and the move does not"),
        ("#\n#", "no single line"),
        ("so " * 60, "more than 160"),
    ],
)
def test_a_line_that_is_another_move_is_refused_and_the_next_speaker_asked(text, fault):
    obs, action = next(decisions("boulware", 3))
    decided = Decided(obs, action)
    assert any(fault in wrong for wrong in faults(text, decided))
    line = spoken(decided, {"rude": lambda *_: text, "lines": from_lines}, 0)
    assert line.source == "lines"
    assert [(each.source, each.text) for each in line.refused] == [("rude", text)]
    assert spoken(decided, {"rude": lambda *_: text}, 0).source == SILENCE


def test_to_agree_and_to_leave_are_said_with_those_moves():
    obs, _ = next(decisions("boulware", 3))
    assert faults("Agreed, #.", Decided(obs, Accept())) == ()
    assert faults("No deal today.", Decided(obs, WalkAway())) == ()
    assert faults("No deal at #.", Decided(obs, WalkAway())) != ()


def test_a_manner_without_lines_is_refused_with_those_that_there_are():
    obs, action = next(decisions("boulware", 3))
    with pytest.raises(ValueError, match="plain in en, warm in en, plain in hinglish"):
        from_lines(Decided(obs, action, "warm", "hinglish"), 0)
