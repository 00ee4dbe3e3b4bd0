"""A served game of the bazaar for TRL's `environment_factory`: its moves are a model's tools.

The trainer makes one environment a rollout. Each holds a session of the page over `/ws`, which has
64 of them. The model reads what its seat sees.
"""

from typing import Any

from openenv.core import GenericEnvClient

WORST = -1.0  # the reward of a game that was left unfinished
OWN = {  # what a seat may know beside its limit
    "purse": "You can pay {:g} at most.",
    "discount": "Each round after the first multiplies what you gain by {:.3g}.",
    "deadline": "Your own deadline is round {}: a later deal counts less, or nothing.",
    "quote": "Another shop asks {:g} for it, which you know.",
}


class ServedBazaar:
    """A buyer's or seller's seat at a bazaar task of the page at `address`.

    The trainer offers every public method but `reset` and `get_reward` to the model as a tool.
    """

    def __init__(self, address: str, task: str = "bazaar/people") -> None:
        self._address, self._task = address, task
        self._client: Any = None
        self._seen: dict[str, Any] = {}
        self._reward = WORST

    def reset(self, seed: int | None = None, **row: Any) -> str:
        """Begin the game of `seed`, a column of the dataset; what the seat sees, as text.

        The rollouts of a group share a row, and so play one game. Without a seed it is any game.
        """
        if self._client is not None:  # a session that waits for an optimizer may have timed out
            self._client.close()
        self._client = GenericEnvClient(base_url=self._address).sync()
        self._client.connect()
        self._take(self._client.reset(task=self._task, seed=seed))
        item, brief = self._seen["bazaar"]["item"], self._seen["bazaar"]["own"]
        known = [text.format(brief[name]) for name, text in OWN.items() if brief[name] is not None]
        limit = (
            f"You are the {self._seen['seat']} of {item['name']} ({item['condition']}, list price"
            f" {item['list_price']:g}). It is worth {brief['reservation']:g} rupees to you, which"
            " the other side does not know."
        )
        if brief["values"]:
            worth = ", ".join(f"{name} {value:g}" for name, value in brief["values"].items())
            known.append(f"A bid may ask for extras, which are worth to you: {worth}.")
        return " ".join([limit, *known, self._table()])

    def offer(self, price: int, message: str = "", extras: list[str] | None = None) -> str:
        """Name a price; the other side answers at once.

        Args:
            price: Rupees: your bid as the buyer, your ask as the seller.
            message: What you say with it, at most one question or reason.
            extras: What your bid asks for at its price, where the table has extras.

        Returns:
            The answer of the other side.
        """
        move = {"action_type": "offer", "price": price, "message": message}
        return self._move(move | ({"extras": extras} if extras else {}))

    def accept(self) -> str:
        """Accept the last price of the other side.

        Returns:
            How the deal ended.
        """
        return self._move({"action_type": "accept"})

    def walk_away(self) -> str:
        """Leave without an agreement, which is best where no price is good for both sides.

        Returns:
            How the deal ended.
        """
        return self._move({"action_type": "walk"})

    def get_reward(self) -> float:
        """The grade of the game, in [-1, 1]; -1 where the model did not play it to its end."""
        return self._reward

    def _move(self, action: dict[str, Any]) -> str:
        if self._seen["done"]:
            return "The game is over."
        self._take(self._client.step(action))
        if self._seen["error"]:
            return f"Refused: {self._seen['error']}. {self._table()}"
        if self._seen["done"]:
            return f"The game is over: {self._seen['outcome']['end']}."
        return self._table()

    def _take(self, result: Any) -> None:
        self._seen = result.observation | {"done": result.done}
        self._reward = self._seen["outcome"]["grade"] if result.done else WORST

    def _table(self) -> str:
        table = self._seen["bazaar"]
        prices = table["asks" if self._seen["seat"] == "buyer" else "bids"]
        named = f"The other side's price is {prices[-1]:g}." if prices else "No price is named yet."
        words = table["moves"][-1]["message"] if prices else ""
        quoted = f' It says: "{words}"' if words else ""
        deal = f"Deal {table['deal']} of {table['deals']}, {table['item']['name']}. "
        rivals = f" Rivals: {sum(rival['active'] for rival in table['rivals'])}."
        return (
            f"{deal if table['deals'] > 1 else ''}{named}{quoted}"
            f"{' You were outbid.' if table['outbid'] else ''}{rivals if table['rivals'] else ''}"
            f" Rounds left: {table['rounds'] - table['round']}."
        )
