"""The words for opponents and what was measured of them, in three languages.

Hinglish has those that it does not share with English.
"""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "untrained": "Untrained base",
    "planner": "the planner",
    "how_bare": "{stage}, guard rails off",
    "how_honest": "{stage}, guard rails on",
    "how_constrained": "{stage}, held to legal moves",
    "how_steering": "{stage}, published steering",
    "measured_buyer": "wins {grade} of what can be won {interval} on the open market, n = {n}.",
    "measured_loser": "loses {grade} of what can be won {interval} on the open market, n = {n}.",
    "row_link": "Its row in Results",
    "again_link": "Reproduce",
    "not_again": "The texts are recorded, and this page does not write them again.",
    "measured_seller": "It words moves that code decides, and was not measured as a player: "
    "{share} of {n} lines were its own words and matched the move, the others scripted.",
    "words_link": "Its words in Results",
    "unmeasured": "No table in Results has a row of this model.",
    "loading": "loading, {seconds} s so far; meanwhile {name} plays under its own name",
    "failed": "cannot play: {reason} Meanwhile {name} plays under its own name",
    "ready": "ready after {seconds} s",
    "own_seller": "the market’s own seller",
}
IN_HINGLISH: Mapping[str, str] = {
    "untrained": "Bina training wala model",
    "planner": "planner",
    "how_bare": "{stage}, guard rails band",
    "how_honest": "{stage}, guard rails chalu",
    "how_constrained": "{stage}, sirf legal chaalein",
    "how_steering": "{stage}, published steering ke saath",
    "measured_buyer": "jitna jeeta ja sakta hai uska {grade} jeeta {interval}, open market mein, "
    "n = {n}.",
    "measured_loser": "jitna jeeta ja sakta hai uska {grade} gawaya {interval}, open market mein, "
    "n = {n}.",
    "row_link": "Results mein iski row",
    "again_link": "Dobara khilao",
    "not_again": "Ye lines record ki hui hain, ye page unhe dobara nahi likhta.",
    "measured_seller": "Ye code ki tay ki hui chaal ko words deta hai; player ke roop mein naapa "
    "nahi gaya: {n} lines mein se {share} iske apne words the aur chaal se mile, baaki scripted.",
    "words_link": "Results mein iske words",
    "unmeasured": "Results ki kisi table mein is model ki row nahi hai.",
    "loading": "load ho raha hai, {seconds} s ho gaye; tab tak {name} apne naam se khel raha hai",
    "failed": "nahi khel sakta: {reason} Tab tak {name} apne naam se khelta hai",
    "ready": "{seconds} s mein ready",
    "own_seller": "market ka apna seller",
}
IN_HINDI: Mapping[str, str] = {
    "untrained": "बिना सीखा मॉडल",
    "planner": "योजनाकार",
    "how_bare": "{stage}, रोक-टोक बंद",
    "how_honest": "{stage}, रोक-टोक चालू",
    "how_constrained": "{stage}, सिर्फ़ सही चालें",
    "how_steering": "{stage}, प्रकाशित रोक-टोक",
    "measured_buyer": "खुले बाज़ार में जितना जीता जा सकता था उसका {grade} जीता {interval}, n = {n}।",
    "measured_loser": "खुले बाज़ार में जितना जीता जा सकता था उसका {grade} गँवाया {interval}, n = {n}।",
    "row_link": "नतीजों में इसकी पंक्ति",
    "again_link": "फिर खिलाइए",
    "not_again": "ये वाक्य दर्ज किए हुए हैं, यह पन्ना इन्हें दोबारा नहीं लिखता।",
    "measured_seller": "यह तय की हुई चाल को शब्द देता है; खिलाड़ी के रूप में मापा नहीं गया: {n} वाक्यों में से "
    "{share} इसके अपने शब्द थे और चाल से मिले, बाक़ी लिखे-लिखाए।",
    "words_link": "नतीजों में इसके शब्द",
    "unmeasured": "Results की किसी तालिका में इस मॉडल की पंक्ति नहीं है।",
    "loading": "आ रहा है, {seconds} सेकंड हुए; तब तक {name} अपने नाम से खेलता है",
    "failed": "खेल नहीं सकता: {reason} तब तक {name} अपने नाम से खेलता है",
    "ready": "{seconds} सेकंड में तैयार",
    "own_seller": "बाज़ार का अपना दुकानदार",
}
