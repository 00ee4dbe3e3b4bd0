"""The tournament's players in words."""

from env import SELLER_TYPES
from panels.results.model_labels import policy_label
from panels.results.questions.verdict import buyer_name
from sauda.llm.models import NULL
from sauda.llm.registry import is_model

SCRIPTS, MARKET, MODELS = "scripts", "the market’s sellers", "language models"


def seller_group(seller: str) -> str:
    """The group that a seller belongs to: scripts, the market's sellers, personas, models."""
    model, worded, _ = seller.partition(":")
    if worded:
        words = "scripted words" if model == NULL else f"words of {policy_label(model)}"
        return f"personas, {words}"
    if seller in SELLER_TYPES:
        return MARKET
    return MODELS if is_model(seller) else SCRIPTS


def seller_short(seller: str) -> str:
    """A seller within its group: "firm" of "null:firm"."""
    return policy_label(seller.rpartition(":")[2])


def seller_name(seller: str) -> str:
    """A seller in a sentence."""
    model, worded, persona = seller.partition(":")
    if worded:
        words = "" if model == NULL else f" in the words of {policy_label(model)}"
        return f"the {persona} persona{words}"
    if seller in SELLER_TYPES:
        return f"the market’s {seller} seller"
    return policy_label(seller)


def player_name(seat: str, player: str) -> str:
    """A player in a sentence: a seller by its group, any other as a buyer."""
    return seller_name(player) if seat == "seller" else buyer_name(player)
