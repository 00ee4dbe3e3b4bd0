"""What the line of a move reacts to, from the public table and the other side's last words."""

from functools import lru_cache

from env import Accept, Offer, Table, WalkAway
from sauda.language.speech.phrases import kind_of, table

Action = Offer | Accept | WalkAway
ARGUMENTS = table(
    {
        "warranty": "warranty; waranty; guarantee; garanti; bill; receipt; वारंटी; गारंटी; बिल",
        "scratch": "scratch; scratches; scratched; dent; dents; damage; damaged; defect; defects; "
        "crack; cracked; broken; kharoch; kharonch; toota; tuta; daag; nishan; खरोंच; खरोच; टूटा; "
        "टूटी; दाग; निशान; स्क्रैच",
        "tea": "tea; chai; coffee; lassi; चाय; कॉफ़ी; लस्सी",
        "cash": "cash; nakad; naqad; nagad; upi; pay now; नकद; कैश",
        "student": "student; college; hostel; students; vidyarthi; छात्र; छात्रा; विद्यार्थी; कॉलेज",
        "loyal": "loyal; regular; hamesha; purana grahak; purane grahak; old customer; always "
        "buy; "
        "हमेशा; पुराना ग्राहक; पुराने ग्राहक",
        "shop": "other shop; another shop; next shop; amazon; flipkart; online; elsewhere; "
        "cheaper; "
        "dusri dukan; dusri dukaan; doosri dukaan; अमेज़न; ऑनलाइन; दूसरी दुकान",
    }
)
# The other side's first price as a share of the list price: from here on it is far or absurd, up
# to here it is near. A seller's ask counts upwards, a buyer's bid downwards.
FAR = {"seller": 1.2, "buyer": 0.45}
ABSURD = {"seller": 3.0, "buyer": 0.1}
NEAR = {"seller": 0.85, "buyer": 0.8}
STEP = 0.08  # share of the list price from which a move of the other side is a "rise"


def situations(seen: Table, agent: str, action: Action, heard: str) -> tuple[str, ...]:
    """The keys of the lines that fit the `action` of `agent` at `seen`, the most fitting first."""
    if not isinstance(action, Offer):
        return ("accept",) if isinstance(action, Accept) else ("walk",)
    if is_last(seen):
        return ("last",)
    own, theirs = prices_of(seen, agent)
    reacting = []
    anchor = _anchor(seen, agent, theirs)
    if anchor == "absurd":
        reacting.append(anchor)
    if argument := kind_of(heard, ARGUMENTS):
        reacting.append(argument)
    if anchor in ("far", "near") and len(theirs) == 1:
        reacting.append(anchor)
    if not own:
        return (*reacting, "first")
    nearer = action.price - own[-1] if agent == "buyer" else own[-1] - action.price
    return (*reacting, "more" if nearer > 0 else "less" if nearer < 0 else "hold")


def chat_situations(seen: Table, agent: str, action: Action, heard: str) -> tuple[str, ...]:
    """The keys of CHAT_LINES that fit an action: more than `situations` has.

    Every argument has a key, not the first alone, and so have "rise", "stuck" and "over". All but
    the last key react to what happened. An argument is reacted to in the last round too.
    """
    *anchors, plain = situations(seen, agent, action, heard="")
    if not isinstance(action, Offer):
        return (plain,)
    if seen.round >= seen.rounds:
        return ("over", plain)
    absurd = [key for key in anchors if key == "absurd"]
    others = [key for key in anchors if key != "absurd"]
    return (*absurd, *arguments_in(heard), *others, *_step(seen, agent, plain), plain)


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def arguments_in(heard: str) -> tuple[str, ...]:
    """Every kind of argument in the other side's words."""
    return tuple(kind for kind, listed in ARGUMENTS.items() if kind_of(heard, {kind: listed}))


def _step(seen: Table, agent: str, plain: str) -> tuple[str, ...]:
    """ "rise" or "stuck" where the other side came a long way or named its last price again."""
    _, theirs = prices_of(seen, agent)
    if len(theirs) < 2 or plain == "last":
        return ()
    nearer = theirs[-1] - theirs[-2] if agent == "seller" else theirs[-2] - theirs[-1]
    if nearer >= STEP * seen.item.list_price:
        return ("rise",)
    return ("stuck",) if nearer == 0 else ()


def is_last(seen: Table) -> bool:
    """Whether no other price of the agent that moves at `seen` can be taken after this one."""
    return seen.rounds - seen.round <= 1


def prices_of(seen: Table, agent: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The prices that `agent` named so far, and those of the other side."""
    return (seen.asks, seen.bids) if agent == "seller" else (seen.bids, seen.asks)


def _anchor(seen: Table, agent: str, theirs: tuple[float, ...]) -> str:
    """How far the other side's last price is from the list price; empty where it is usual."""
    if not theirs:
        return ""
    other = "buyer" if agent == "seller" else "seller"
    share, sign = theirs[-1] / seen.item.list_price, 1 if other == "seller" else -1
    if sign * share >= sign * ABSURD[other]:
        return "absurd"
    if sign * share >= sign * FAR[other]:
        return "far"
    return "near" if sign * share <= sign * NEAR[other] else ""
