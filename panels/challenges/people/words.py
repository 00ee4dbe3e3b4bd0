"""The words of “For the record” in three languages."""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "tab_people": "For the record",
    "people_lead": "Five bargains at hidden seeds, one after the other. Sauda plays the same ones, "
    "and your row stands on the leaderboard.",
    "people_name": "Your name on the leaderboard",
    "people_consent": "Keep my name, my prices and the kind of my words (such as “tea”) on this "
    "server and show them. They may be published without the name. Nothing else that I type is "
    "kept.",
    "people_start": "Start my five bargains",
    "people_head": "Bargain {number} of {all}. Nothing can be taken back; one that is left open "
    "for {hours} hours counts as lost.",
    "people_next": "Next bargain",
    "people_over": "This bargain is over.",
    "people_done": "All {all} are over: mean grade {grade}. Your row stands on the leaderboard.",
    "people_agree": "Tick the box first: without your consent nothing is kept.",
    "people_often": "Too many people have started from this network within the hour; come back "
    "later.",
    "people_not_now": "This is not possible now; open the page again.",
    "people_bad_name": "This name is taken, looks like one of ours, or is too long; choose another "
    "one.",
    "people_nobody": "Nobody has finished five bargains yet, so people and Sauda cannot be "
    "compared.",
    "people_people": "people, of the best outcome",
    "people_sauda": "Sauda at the same seeds",
    "people_less": "people less Sauda, percentage points",
    "people_oracle": "an oracle that knows the seller",
    "people_n": "n = {n} games, people: {people}; 95 % intervals.",
    "people_export": "All games without names (JSON)",
    "people_board": "Leaderboard",
    "people_beside": "Bargain {number}, you and Sauda:",
}
IN_HINGLISH: Mapping[str, str] = {
    "tab_people": "Record ke liye",
    "people_lead": "Paanch sauda, chhupe hue seeds pe, ek ke baad ek. Sauda bhi wahi khelta hai, "
    "aur aapki row leaderboard pe aati hai.",
    "people_name": "Leaderboard pe aapka naam",
    "people_consent": "Mera naam, mere daam aur meri baaton ki kism (jaise “chai”) is server pe "
    "rakho aur dikhao. Bina naam ke ye publish ho sakte hain. Baaki jo main type karun, wo nahi "
    "rakha jaata.",
    "people_start": "Mere paanch sauda shuru karo",
    "people_head": "Sauda {number}, kul {all}. Kuch wapas nahi hota; jo {hours} ghante khula rahe "
    "wo haara gina jaata hai.",
    "people_next": "Agla sauda",
    "people_over": "Ye sauda khatam hua.",
    "people_done": "Saare {all} khatam: average ank {grade}. Aapki row leaderboard pe hai.",
    "people_agree": "Pehle box pe tick karo: aapki haan ke bina kuch nahi rakha jaata.",
    "people_often": "Is network se ek ghante mein bahut log shuru kar chuke hain; baad mein aao.",
    "people_not_now": "Ye abhi nahi ho sakta; page dobara kholo.",
    "people_bad_name": "Ye naam liya hua hai, hamare kisi naam jaisa hai, ya bahut lamba hai; "
    "doosra chuno.",
    "people_nobody": "Abhi kisi ne paanch sauda poore nahi kiye, isliye logon aur Sauda ka "
    "muqabla nahi dikh sakta.",
    "people_people": "log, best nateeje ka hissa",
    "people_sauda": "Sauda, wahi seeds",
    "people_less": "logon aur Sauda ka farq, percentage points",
    "people_oracle": "oracle, jo seller ko jaanta hai",
    "people_n": "n = {n} games, log: {people}; 95 % intervals.",
    "people_export": "Saare games bina naam ke (JSON)",
    "people_beside": "Sauda {number}, aap aur Sauda:",
}
IN_HINDI: Mapping[str, str] = {
    "tab_people": "रिकॉर्ड के लिए",
    "people_lead": "छिपे हुए सीडों पर पाँच सौदे, एक के बाद एक। सौदा भी वही खेलता है, और आपकी पंक्ति "
    "लीडरबोर्ड पर आती है।",
    "people_name": "लीडरबोर्ड पर आपका नाम",
    "people_consent": "मेरा नाम, मेरे दाम और मेरी बात का प्रकार (जैसे “चाय”) इस सर्वर पर रखिए और दिखाइए। "
    "बिना नाम के ये छप सकते हैं। और जो मैं लिखूँ, वह नहीं रखा जाता।",
    "people_start": "मेरे पाँच सौदे शुरू कीजिए",
    "people_head": "सौदा {number}, कुल {all}। कुछ वापस नहीं होता; जो {hours} घंटे खुला रहे वह "
    "हारा हुआ गिना जाता है।",
    "people_next": "अगला सौदा",
    "people_over": "यह सौदा ख़त्म हुआ।",
    "people_done": "सभी {all} ख़त्म: औसत अंक {grade}। आपकी पंक्ति लीडरबोर्ड पर है।",
    "people_agree": "पहले बॉक्स पर निशान लगाइए: आपकी सहमति के बिना कुछ नहीं रखा जाता।",
    "people_often": "इस नेटवर्क से एक घंटे में बहुत लोग शुरू कर चुके हैं; बाद में आइए।",
    "people_not_now": "यह अभी नहीं हो सकता; पन्ना फिर से खोलिए।",
    "people_bad_name": "यह नाम लिया हुआ है, हमारे किसी नाम जैसा है, या बहुत लंबा है; दूसरा चुनिए।",
    "people_nobody": "अभी किसी ने पाँच सौदे पूरे नहीं किए, इसलिए लोगों और सौदा की तुलना नहीं हो सकती।",
    "people_people": "लोग, सबसे अच्छे नतीजे का हिस्सा",
    "people_sauda": "सौदा, वही सीड",
    "people_less": "लोगों और सौदा का अंतर, प्रतिशत अंक",
    "people_oracle": "ऑरेकल, जो दुकानदार को जानता है",
    "people_n": "n = {n} खेल, लोग: {people}; 95 % अंतराल।",
    "people_export": "सभी खेल बिना नाम के (JSON)",
    "people_board": "लीडरबोर्ड",
    "people_beside": "सौदा {number}, आप और सौदा:",
}
