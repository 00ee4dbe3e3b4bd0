"""Answers a text that makes no move, in character and from public facts alone.

Plain rules say what kind of talk it is: a word list each, in an order that puts the rude and the
specific before the general. No answer is told a limit or a seed, so none can give it away.
"""

import re
from collections.abc import Sequence

import numpy as np

from env import Table, rupees
from sauda.language.markup import without_code
from sauda.language.money import HIGHEST_PRICE, find_price, prices
from sauda.language.speech.items import condition_in, name_in
from sauda.language.speech.lines import ANSWERS
from sauda.language.speech.phrases import kind_of, table
from sauda.language.speech.situations import ARGUMENTS, prices_of
from sauda.language.speech.spoken import shape

KINDS = table(
    {
        "insult": "idiot; stupid; fool; thief; cheat; cheater; crook; scam; scammer; liar; fraud; "
        "rubbish; shut up; moron; fuck; shit; bastard; pagal; bewakoof; bewkuf; chor; gadha; "
        "gadhe; "
        "ullu; kamina; kamine; saala; saale; nalayak; jhootha; thag; पागल; बेवकूफ़; चोर; गधा; गधे; "
        "उल्लू; कमीना; ठग; झूठा",
        "limit": "your limit; your max; your maximum; your minimum; your budget; lowest price; "
        "highest price; best price; max price; minimum price; reservation; final price; last "
        "price; "
        "how high go; how low go; sabse kam; kam se kam kitna; aakhri daam; akhri daam; zyada se "
        "zyada; aapki limit; आपकी सीमा; कम से कम कितना; आख़िरी दाम; ज़्यादा से ज़्यादा",
        "identity": "who are you; are you human; are you robot; are you real; are you bot; you "
        "ai; "
        "chatgpt; kaun ho; aap kaun; tum kaun; your name; naam kya; robot; आप कौन; "
        "तुम कौन; नाम क्या; रोबोट",
        "warranty": "warranty ?; any warranty; guarantee ?; warranty hai kya; warranty kya; "
        "is there warranty; with warranty; return policy; वारंटी क्या; गारंटी क्या",
        "why": "why; kyu; kyun; kyon; क्यों",
        "too_far": "too much; too high; too low; too expensive; too little; too cheap; expensive; "
        "costly; mehnga; mehanga; bahut zyada; bahut kam; itna kam; itna zyada; so low; "
        "lower please; go lower; go higher; come down; reduce; kam karo; thoda kam; kam kijiye; "
        "aur badhao; thoda badhao; महँगा; महंगा; बहुत ज़्यादा; बहुत कम; कम करो; कम कीजिए; थोड़ा कम; "
        "इतना कम; थोड़ा बढ़ाओ",
        "price": "how much; what price; your price; your offer; what offer; price ?; kitna; "
        "kitne; "
        "kitne ka; kya daam; kya bhav; daam kya; rate; make offer; कितना; कितने; क्या दाम; दाम क्या; "
        "भाव",
        "item": "what is this; what is it; what item; condition; describe; tell about; what sell; "
        "selling what; quality; size; colour; color; new ?; used ?; old ?; brand; genuine; "
        "ye kya; kya hai ye; kaisa hai; haalat; naya hai; purana hai; यह क्या; क्या है; कैसा है; "
        "हालत; नया है; पुराना है; कैसी है",
        "begging": "beg; mercy; poor; my children; my kids; hungry; help me; "
        "have pity; sick; hospital; gareeb; garib; raham; majboori; bachche; bachchon; हाथ जोड़; "
        "ग़रीब; गरीब; रहम; मजबूरी; बच्चे; बीमार; =please; =plz; =कृपया",
        "thanks": "thanks; thank; thx; shukriya; dhanyavaad; dhanyawad; शुक्रिया; धन्यवाद",
        "compliment": "nice; great; wonderful; beautiful; lovely; good shop; amazing; awesome; "
        "smart; clever; love it; badhiya; kamaal; sundar; mast; accha laga; बढ़िया; कमाल; सुंदर; "
        "ख़ूबसूरत; मस्त; अच्छा लगा; अच्छी है",
        "greeting": "hello; =hi; hi there; hi friend; hi bhaiya; hey; hola; namaste; namaskar; "
        "salaam; salam; pranam; ram ram; "
        "good morning; good evening; good afternoon; good day; how are you; whats up; kaise ho; "
        "kaise hain; kya haal; sat sri akal; नमस्ते; नमस्कार; सलाम; प्रणाम; राम राम; कैसे हो; "
        "कैसे हैं; क्या हाल",
        "refusal": "=no; =nope; =never; =nahi; =nahin; =na; =no way; =no thanks; =not ok; =नहीं; "
        "=ना; =जी नहीं; =nahi ji",
    }
)
SIGNS = "$€£¥"  # of currencies that are not taken
FOREIGN = table(
    {"foreign": "dollar; dollars; usd; euro; euros; eur; pound; pounds; yen; डॉलर; यूरो; पाउंड"}
)

UNCLEAR = re.compile(r"\d[oO]+(?![A-Za-z])")  # "5oo"
_RUPEES = r"(?:rupees?|rs\.?|rupaye|rupay|रुपये|रुपए|रु\.?)"
_AMOUNT = rf"(?:₹|{_RUPEES})?\s*(\d[\d,]*)\s*{_RUPEES}?"
CHANGES = tuple(  # of a price, such as "10 rupees more": no price by itself
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_AMOUNT}\s+(?:more|extra|aur|zyada|jyada|और|ज़्यादा|ज़्यादा)"
        r"(?=\s*(?:[.,!?।]|$|than\b|please\b|plz\b|ok\b|dunga\b|denge\b|ji\b))",
        rf"\b(?:add|by)\s+{_AMOUNT}",
    )
)


def slip(text: str) -> str:
    """The kind of talk of a text whose one price is none: "unclear", "change"; "" elsewhere.

    "Rs.5oo" is not ₹5, and "10 rupees more" is not ₹10.
    """
    text = without_code(text)
    amount = find_price(text)
    if amount is None:
        return ""
    if UNCLEAR.search(text):
        return "unclear"
    changes = (found[1] for pattern in CHANGES for found in pattern.finditer(text))
    return "change" if any(int(each.replace(",", "")) == amount for each in changes) else ""


def small_talk(text: str, seen: Table, agent: str) -> str:
    """The kind of answer that `agent` gives at `seen` to a `text` that names no acceptable price.

    It is a key of ANSWERS.
    """
    if trouble := slip(text) or _price_trouble(text):
        return trouble
    kind = kind_of(text, KINDS)
    if kind in ("", "item") and kind_of(text, ARGUMENTS):
        kind = "argument"
    own, _ = prices_of(seen, agent)
    return "price_first" if kind == "price" and not own else kind or "nonsense"


def answer_to(
    kind: str, seen: Table, agent: str, language: str, said: Sequence[str], seed: int
) -> str:
    """What `agent` says to talk of this `kind`: an answer that was not said yet.

    Where all were said, the one that was said longest ago. `said` are the agent's answers before
    it in this game. The facts of an answer are the item's name, condition and list price, and the
    agent's own last price.
    """
    answers = ANSWERS[language]
    own, _ = prices_of(seen, agent)
    texts = [
        text.format(
            item=name_in(language, seen.item.name),
            condition=condition_in(language, seen.item.condition),
            list=rupees(seen.item.list_price),
            own=rupees(own[-1]) if own else "",
        )
        for text in answers[agent].get(kind) or answers["both"][kind]
    ]
    last_said = {shape(text): place for place, text in enumerate(said)}
    places = [last_said.get(shape(text), -1) for text in texts]
    oldest = [text for text, place in zip(texts, places, strict=True) if place == min(places)]
    return oldest[np.random.default_rng(seed).integers(len(oldest))]


def _price_trouble(text: str) -> str:
    """What is wrong with the prices in a text; empty where it has none."""
    text = without_code(text)
    if any(c.isdigit() for c in text) and (set(text) & set(SIGNS) or kind_of(text, FOREIGN)):
        return "foreign"
    amounts = {mention.amount for mention in prices(text)}
    if any(abs(amount) > HIGHEST_PRICE for amount in amounts):
        return "high"
    if len(amounts) > 1:
        return "several"
    if amounts:
        return "zero" if min(amounts) <= 0 else "each"
    return ""
