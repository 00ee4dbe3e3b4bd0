"""The words of the game review in three languages, the same keys in each."""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "review": "Game review",
    "review_wait": "Looking for better moves …",
    "review_asking": "Asking {name} about other prices: {done} of at most {all} replies …",
    "review_missed": "You left {amount} on the table; the costliest was move {number}: {said}.",
    "review_none": "You left nothing on the table: no better line was found.",
    "review_few_tried": "No better line is known: only {count} other prices were tried.",
    "review_none_tried": "No better line is known: no other price was tried.",
    "review_one_tried": "No better line is known: only one other price was tried.",
    "review_tried": "At {price} its reply: {said}.",
    "review_grade": "{grade:.2f} of the grade",
    "review_at": "At {price} it would have accepted.",
    "review_hold": "Holding out at {price} would have brought the deal in round {round}.",
    "review_take": "Taking its {price} here was better.",
    "review_leave": "Leaving here was better.",
    "review_later": "With {first} here, a deal at {price} in round {round} was possible.",
    "review_other": "With {first} here, the game would have ended better.",
    "review_best": "Best line found, from your move {number}",
    "review_you": "You: {said}",
    "review_they": "Reply: {said}",
    "review_accepts": "accepts",
    "review_walks": "walks away",
    "review_whatif": "What if?",
    "review_whatif_at": "What if you had made another move {number}?",
    "review_bar": "Still to win after each move, as a share of the most that could be won",
    "review_start": "start",
    "review_bar_end": "After your last move {left:.0%} of the most that could be won was left.",
    "review_table": "What taking the buyer’s price before each move would have won, as a share of "
    "what could be won",
    "review_table_best": "The most, {share:.0%}, was on the table before your move {number}.",
    "review_searched": "Found by playing this seed again with other moves, in whole rupees, "
    "never beyond your limit and without taking a price back. What a line earns is certain; a "
    "better line may have been missed.",
    "review_asked": "Other prices that {name} was asked about: {count}. What it would concede "
    "after its reply is unknown, so a better line may exist.",
    "review_time": "Amounts count what each round costs.",
    "review_deals": "Each deal is reviewed by itself, after the earlier deals as you played them.",
    "review_stopped": "Not all replies came: {reason}",
}
IN_HINGLISH: Mapping[str, str] = {
    "review": "Game ka review",
    "review_wait": "Behtar chaalein dhoondh rahe hain …",
    "review_asking": "{name} se doosre daam pooch rahe hain: zyada se zyada {all} mein se {done} "
    "reply aaye …",
    "review_missed": "Aapne {amount} chhod diye; sabse mehngi chaal {number} thi: {said}.",
    "review_none": "Aapne kuch nahi chhoda: isse achha raasta nahi mila.",
    "review_few_tried": "Isse achha raasta pata nahi: sirf {count} aur daam pooche gaye.",
    "review_none_tried": "Isse achha raasta pata nahi: koi aur daam nahi poocha gaya.",
    "review_one_tried": "Isse achha raasta pata nahi: sirf ek aur daam poocha gaya.",
    "review_tried": "{price} pe uska jawab: {said}.",
    "review_grade": "grade ka {grade:.2f}",
    "review_at": "{price} pe wo maan jaata.",
    "review_hold": "{price} pe ade rehte to round {round} mein deal ho jaati.",
    "review_take": "Yahan uska {price} maan lena behtar tha.",
    "review_leave": "Yahan chal dena behtar tha.",
    "review_later": "Yahan {first} bolte to round {round} mein {price} pe deal ho sakti thi.",
    "review_other": "Yahan {first} bolte to end behtar hota.",
    "review_best": "Sabse achha raasta jo mila, aapki chaal {number} se",
    "review_you": "Aap: {said}",
    "review_they": "Jawab: {said}",
    "review_accepts": "manzoor",
    "review_walks": "chal diya",
    "review_whatif": "Aisa hota to?",
    "review_whatif_at": "Agar aapki chaal {number} kuch aur hoti?",
    "review_bar": "Har chaal ke baad kitna jeetna baaki tha: jo zyada se zyada jeeta ja sakta "
    "tha, uska hissa",
    "review_start": "shuru",
    "review_bar_end": "Jo zyada se zyada jeeta ja sakta tha, uska {left:.0%} aapki aakhri chaal "
    "ke baad bacha.",
    "review_table": "Har chaal se pehle buyer ka daam maan lete to kitna milta: jo jeeta ja sakta "
    "tha, uska hissa",
    "review_table_best": "Sabse zyada, {share:.0%}, aapki chaal {number} se pehle mil sakta tha.",
    "review_searched": "Yahi seed doosri chaalon se, poore rupayon mein, phir khelkar nikala "
    "gaya: na aapki limit ke paar, na apne daam se peeche hatkar. Raaste ki kamai pakki hai; "
    "isse achha raasta chhoot gaya ho sakta hai.",
    "review_asked": "{name} se aur {count} daam pe pucha gaya. Us reply ke baad wo kitna jhukta, "
    "ye pata nahi; isse achha raasta ho sakta hai.",
    "review_time": "Rakam mein har round ki keemat gini gayi hai.",
    "review_deals": "Har deal alag se dekhi gayi hai, pehle ki deals jaise aapne kheli waise hi.",
    "review_stopped": "Sab reply nahi aaye: {reason}",
}
IN_HINDI: Mapping[str, str] = {
    "review": "खेल की समीक्षा",
    "review_wait": "बेहतर चालें खोजी जा रही हैं …",
    "review_asking": "{name} से दूसरे दामों के बारे में पूछा जा रहा है: ज़्यादा से ज़्यादा {all} में से {done} "
    "जवाब आए …",
    "review_missed": "आपने {amount} छोड़ दिए; सबसे महँगी चाल {number} थी: {said}।",
    "review_none": "आपने कुछ नहीं छोड़ा: इससे अच्छा रास्ता नहीं मिला।",
    "review_few_tried": "इससे अच्छा रास्ता पता नहीं: सिर्फ़ {count} और दाम पूछे गए।",
    "review_none_tried": "इससे अच्छा रास्ता पता नहीं: कोई और दाम नहीं पूछा गया।",
    "review_one_tried": "इससे अच्छा रास्ता पता नहीं: सिर्फ़ एक और दाम पूछा गया।",
    "review_tried": "{price} पर उसका जवाब: {said}।",
    "review_grade": "{grade:.2f} अंक",
    "review_at": "{price} पर वह मान जाता।",
    "review_hold": "{price} पर अड़े रहते, तो दौर {round} में सौदा हो जाता।",
    "review_take": "यहाँ उसका {price} मान लेना बेहतर था।",
    "review_leave": "यहाँ चल देना बेहतर था।",
    "review_later": "यहाँ {first} बोलते, तो दौर {round} में {price} पर सौदा हो सकता था।",
    "review_other": "यहाँ {first} बोलते, तो अंत बेहतर होता।",
    "review_best": "सबसे अच्छा रास्ता जो मिला, आपकी चाल {number} से",
    "review_you": "आप: {said}",
    "review_they": "जवाब: {said}",
    "review_accepts": "मंज़ूर",
    "review_walks": "चल दिया",
    "review_whatif": "ऐसा होता तो?",
    "review_whatif_at": "अगर आपकी चाल {number} कुछ और होती?",
    "review_bar": "हर चाल के बाद कितना जीतना बाक़ी था, जो सबसे ज़्यादा जीता जा सकता था उसका हिस्सा",
    "review_start": "शुरू",
    "review_bar_end": "जो सबसे ज़्यादा जीता जा सकता था, उसका {left:.0%} आपकी आख़िरी चाल के बाद रहा।",
    "review_table": "हर चाल से पहले ग्राहक का दाम मान लेते तो कितना मिलता: "
    "जो जीता जा सकता था, उसका हिस्सा",
    "review_table_best": "सबसे ज़्यादा, {share:.0%}, आपकी चाल {number} से पहले मिल सकता था।",
    "review_searched": "यही सीड दूसरी चालों से, पूरे रुपयों में, फिर खेलकर निकाला गया: न आपकी सीमा के पार, "
    "न अपने दाम से पीछे हटकर। रास्ते की कमाई पक्की है; इससे अच्छा रास्ता छूट गया हो सकता है।",
    "review_asked": "{name} से और {count} दामों पर पूछा गया। उस जवाब के बाद वह कितना "
    "झुकता, यह पता नहीं; इससे अच्छा रास्ता हो सकता है।",
    "review_time": "रक़म में हर दौर की क़ीमत गिनी गई है।",
    "review_deals": "हर सौदा अलग से देखा गया है, पहले के सौदे जैसे आपने खेले वैसे ही।",
    "review_stopped": "सब जवाब नहीं आए: {reason}",
}
