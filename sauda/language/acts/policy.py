"""A policy that plays another one through language: its move becomes an act, words, and a move."""

from dataclasses import dataclass

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from sauda.language.acts.parser import parse
from sauda.language.acts.realise import act_of, context_of, move_of, realised
from sauda.language.lines import ENGLISH
from sauda.language.speech.spoken import Decided


@dataclass(frozen=True)
class Acts:
    """Says each move of `strategy` in words, and makes the move that is read from the words.

    It plays exactly as the strategy does: words from which another act is read are never said. An
    action that cannot be said raises IllegalAction, which forfeits.
    """

    strategy: Policy
    language: str = ENGLISH

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        action = self.strategy(obs, rng)
        moves = obs.table.moves
        heard = moves[-1].action.message if moves and moves[-1].agent != obs.agent else ""
        said = [move.action.message for move in moves if move.agent == obs.agent]
        context = context_of(obs.table, obs.agent)
        decided = Decided(obs.table, obs.agent, action, self.language, heard, said)
        seed = int(rng.integers(2**32))  # after the strategy's own draws
        text = realised(act_of(action, context), context, decided, seed)
        played = move_of(parse(text, context), text)
        return Offer(obs.priced(played.price), text) if isinstance(played, Offer) else played
