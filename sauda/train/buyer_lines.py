"""A buyer's lines by register and situation; # stands for the price.

SFT learns them beside the price, so they are short. They hold no digit and no other price, because
the parser refuses a move whose words contradict it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from env import Accept, Observation, Offer, WalkAway
from sauda.games.bazaar_prompt import percent_of

LINES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "plain": {
            "first": ("I can offer #.", "Would you take #?", "I would start at #.", "My bid is #."),
            "more": ("I can go to #.", "Let me raise it to #.", "# then.", "Say #, all right?"),
            "hold": ("I stay at #.", "My bid is still #.", "# is what I can do."),
            "less": ("Then I go back to #.", "Now it is #.", "I only give # now."),
            "last": ("# is my last bid.", "I cannot pass #.", "#, and I must go."),
            "accept": ("Agreed, #.", "I take it at #.", "# is fine.", "Deal at #."),
            "walk": ("Too much for me.", "I will leave it.", "No deal today."),
        },
        "warm": {
            "first": ("Nice piece! Could it be #?", "I like it. # from me?", "Shall we say #?"),
            "more": ("Let us meet at #?", "For you I make it #.", "Come, # is fair.",
                     "How about #, friend?"),
            "hold": ("Please, # is fair.", "I hope # will do.", "Honestly, # it is."),
            "less": ("On second thought, #.", "Sorry, now only #.", "I was too quick, #."),
            "last": ("# is all I have, really.", "My best is #, friend.", "Please take #, I go."),
            "accept": ("Lovely, # it is.", "Happy with #, thank you.", "#, done, friend."),
            "walk": ("Thank you, not this time.", "Sorry, beyond my means.", "Next time, friend."),
        },
        "hinglish": {
            "first": ("Bhaiya, # mein doge?", "# theek rahega?", "Hum # denge.",
                      "Bhaiya, # lagao na."),
            "more": ("Chalo, # le lo.", "Theek hai, # kar lo.", "# de dunga, bas.",
                     "Thoda kam karo, #."),
            "hold": ("Bhaiya, # hi dunga.", "# se upar nahi.", "Mera to # hi hai."),
            "less": ("Ab sirf # dunga.", "Nahi bhaiya, ab #.", "Soch ke bola, ab #."),
            "last": ("Aakhri baat, #.", "Bas #, phir jaata hoon.", "# final, bhaiya."),
            "accept": ("Theek hai, #.", "Chalo, # pakka.", "# mein done, pack karo.",
                       "Manzoor hai, #."),
            "walk": ("Rehne do, bhaiya.", "Bahut mehnga hai.", "Phir kabhi aayenge."),
        },
        "street": {
            "first": ("# cash, abhi.", "#, bolo?", "Quick, #?"),
            "more": ("#, chalo.", "Ok, #.", "#, now pack it.", "Arre, # lo."),
            "hold": ("# bola na.", "Still #.", "#, no more."),
            "less": ("Ab # bas.", "Now just #.", "Arre, # now."),
            "last": ("#, warna bye.", "# last, bolo.", "Final #."),
            "accept": ("Ok, # done.", "#, pakka.", "Haan, #, de do."),
            "walk": ("Nahi yaar, bye.", "Chhodo, jaane do.", "No way, bye."),
        },
    }
)  # fmt: skip


def situation(obs: Observation, action: Offer | Accept | WalkAway) -> str:
    """The key of the lines that fit the buyer's `action` at `obs`."""
    if not isinstance(action, Offer):
        return "accept" if isinstance(action, Accept) else "walk"
    if obs.rounds_left <= 1:
        return "last"
    if obs.bid is None:
        return "first"
    now, before = percent_of(obs, action.price), percent_of(obs, obs.bid)
    return "hold" if now == before else "more" if now > before else "less"
