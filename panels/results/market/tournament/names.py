"""The tournament's players in words."""

from env import SELLER_TYPES
from panels.results.model_labels import ROLE, policy_label
from panels.results.questions.verdict import buyer_name
from sauda.experiments.role_play import is_off_role
from sauda.llm.model import NULL
from sauda.llm.registry import is_model

OFF_ROLE = " (off role)"
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


def off_role(seat: str, player: str) -> str:
    """The mark of a model that was trained for the other role; "" for all others."""
    return OFF_ROLE if is_off_role(player, seat) else ""


def seller_short(seller: str) -> str:
    """A seller within its group: "firm" of "null:firm", "generalist" of the role models."""
    name = policy_label(seller.rpartition(":")[2]).removeprefix(ROLE)
    return name + off_role("seller", seller)


def seller_name(seller: str) -> str:
    """A seller in a sentence."""
    model, worded, persona = seller.partition(":")
    if worded:
        words = "" if model == NULL else f" in the words of {policy_label(model)}"
        return f"the {persona} persona{words}"
    if seller in SELLER_TYPES:
        return f"the market’s {seller} seller"
    return policy_label(seller) + off_role("seller", seller)


def player_name(seat: str, player: str) -> str:
    """A player in a sentence: a seller by its group, any other as a buyer."""
    if seat == "seller":
        return seller_name(player)
    return buyer_name(player) + (off_role(seat, player) if seat == "buyer" else "")


def pair_name(buyer: str, seller: str) -> str:
    """A pair in a sentence: "linear buys from the market’s firm seller"."""
    return f"{player_name('buyer', buyer)} buys from {seller_name(seller)}"
