"""The names that a visitor chooses from, in the visitor's language."""

from collections.abc import Mapping

from sauda.language.lines import HINDI

MARKETS_HINDI: Mapping[str, str] = {  # by task
    "classic/amazon_realistic": "हमारी सूची की चीज़ों की दुकान",
    "classic/single_deal": "सीधा-सादा दुकानदार",
    "classic/deceptive_seller": "झाँसा देने वाला दुकानदार",
    "classic/impatient_seller": "बेसब्र दुकानदार",
    "classic/collaborative_seller": "भला दुकानदार",
    "classic/asymmetric_pressure": "आपके पास समय कम है",
    "classic/read_the_tells": "बस दो दौर, पाँच बार",
    "classic/career_10": "एक दुकानदार से दस सौदे",
    "classic/marketplace_arena": "दो और ग्राहकों के ख़िलाफ़",
    "bazaar/open": "खुला बाज़ार: एक अजनबी",
    "bazaar/rushed": "खुला बाज़ार: आप जल्दी में हैं",
}


def market_in(language: str, task_name: str, english: str) -> str:
    """The name of a market; `english` where the language has none of its own."""
    return MARKETS_HINDI.get(task_name, english) if language == HINDI else english
