"""The words of the game review in three languages, the same keys in each."""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "review": "Game review",
    "review_wait": "Looking for better moves …",
    "review_none": "You left nothing on the table: no better line was found.",
    "kind_best": "Best",
    "kind_good": "Good",
    "kind_inaccuracy": "Inaccuracy",
    "kind_mistake": "Mistake",
    "kind_blunder": "Blunder",
    "kind_loss": "Beyond your limit",
    "review_grade": "{grade:.2f} of the grade",
    "review_at": "At {price} it would have accepted.",
    "review_take": "Taking its {price} here was better.",
    "review_leave": "Leaving here was better.",
    "review_other": "With {first} here, the game would have ended better.",
    "review_whatif": "What if?",
    "review_whatif_at": "What if you had made another move {number}?",
    "review_table": "What taking the buyer’s price before each move would have won, as a share of "
    "what could be won",
    "review_table_best": "The most, {share:.0%}, was on the table before your move {number}.",
    "review_deals": "Each deal is reviewed by itself, after the earlier deals as you played them.",
    "review_missed_cost": "You left {amount} on the table; the costliest was move {number}: "
    "{said}.",
    "review_planned_cost": "The planner expected {amount} more than your moves could give; the "
    "costliest was move {number}: {said}.",
    "review_none_planned": "The planner would have made the same moves, or as good ones.",
    "review_bid": "Better: {price}.",
    "review_bid_saying": "Better: {price} with “{said}”",
    "review_later": "After {first} here, a deal at {price} was possible.",
    "review_gap": "Against a buyer that knows this seller: {inference} lost in reading it, "
    "{control} in bidding, {unknown} nobody could know.",
    "review_difficulty": "Difficulty: {place} of 5.",
    "review_planned": "Weighed by the planner, which hears what you could hear and knows nothing "
    "hidden: a cost is the grade that it expects to lose by a move. It advises no price beyond "
    "your limit and none below your best bid.",
    "review_searched": "Found by playing this seed again with one other move from before each of "
    "yours, in whole rupees, never beyond your limit and without taking a price back. What a move "
    "earns is certain; a better one may have been missed.",
    "review_recorded": "What {name} would have paid otherwise is unknown: only the prices that it "
    "named are counted.",
}
IN_HINGLISH: Mapping[str, str] = {
    "review": "Game ka review",
    "review_wait": "Behtar chaalein dhoondh rahe hain …",
    "review_none": "Aapne kuch nahi chhoda: isse achha raasta nahi mila.",
    "kind_best": "Sabse achhi",
    "kind_good": "Achhi",
    "kind_inaccuracy": "Thodi chook",
    "kind_mistake": "Galti",
    "kind_blunder": "Badi galti",
    "kind_loss": "Limit ke paar",
    "review_grade": "grade ka {grade:.2f}",
    "review_at": "{price} pe wo maan jaata.",
    "review_take": "Yahan uska {price} maan lena behtar tha.",
    "review_leave": "Yahan chal dena behtar tha.",
    "review_other": "Yahan {first} bolte to end behtar hota.",
    "review_whatif": "Aisa hota to?",
    "review_whatif_at": "Agar aapki chaal {number} kuch aur hoti?",
    "review_table": "Har chaal se pehle buyer ka daam maan lete to kitna milta: jo jeeta ja sakta "
    "tha, uska hissa",
    "review_table_best": "Sabse zyada, {share:.0%}, aapki chaal {number} se pehle mil sakta tha.",
    "review_deals": "Har deal alag se dekhi gayi hai, pehle ki deals jaise aapne kheli waise hi.",
    "review_missed_cost": "Aapne {amount} chhod diye; sabse mehngi chaal {number} thi: {said}.",
    "review_planned_cost": "Planner ko aapki chaalon se {amount} zyada ki ummeed thi; sabse mehngi "
    "chaal {number} thi: {said}.",
    "review_none_planned": "Planner bhi yahi chaalein chalta, ya itni hi achhi.",
    "review_bid": "Behtar: {price}.",
    "review_bid_saying": "Behtar: {price}, ye kehkar: “{said}”",
    "review_later": "Yahan {first} ke baad {price} pe deal ho sakti thi.",
    "review_gap": "Is seller ko jaanne wale buyer ke mukable: {inference} use samajhne mein gaya, "
    "{control} boli mein, {unknown} koi nahi jaan sakta tha.",
    "review_difficulty": "Mushkil: 5 mein se {place}.",
    "review_planned": "Planner ne taula, jo wahi sunta hai jo aap sun sakte the aur chhupi baat "
    "nahi jaanta: keemat wo grade hai jo wo us chaal se khone ki ummeed karta hai. Na limit ke "
    "paar ka daam, na aapki sabse achhi boli se neeche.",
    "review_searched": "Yahi seed aapki har chaal se pehle ek doosri chaal ke saath phir khelkar "
    "nikala gaya, poore rupayon mein: na aapki limit ke paar, na apne daam se peeche hatkar. Chaal "
    "ki kamai pakki hai; isse achhi chaal chhoot gayi ho sakti hai.",
    "review_recorded": "{name} aur kitna deta, ye pata nahi: sirf uske bole daam gine gaye hain.",
}
IN_HINDI: Mapping[str, str] = {
    "review": "खेल की समीक्षा",
    "review_wait": "बेहतर चालें खोजी जा रही हैं …",
    "review_none": "आपने कुछ नहीं छोड़ा: इससे अच्छा रास्ता नहीं मिला।",
    "kind_best": "सबसे अच्छी",
    "kind_good": "अच्छी",
    "kind_inaccuracy": "थोड़ी चूक",
    "kind_mistake": "ग़लती",
    "kind_blunder": "बड़ी ग़लती",
    "kind_loss": "सीमा के पार",
    "review_grade": "{grade:.2f} अंक",
    "review_at": "{price} पर वह मान जाता।",
    "review_take": "यहाँ उसका {price} मान लेना बेहतर था।",
    "review_leave": "यहाँ चल देना बेहतर था।",
    "review_other": "यहाँ {first} बोलते, तो अंत बेहतर होता।",
    "review_whatif": "ऐसा होता तो?",
    "review_whatif_at": "अगर आपकी चाल {number} कुछ और होती?",
    "review_table": "हर चाल से पहले ग्राहक का दाम मान लेते तो कितना मिलता: "
    "जो जीता जा सकता था, उसका हिस्सा",
    "review_table_best": "सबसे ज़्यादा, {share:.0%}, आपकी चाल {number} से पहले मिल सकता था।",
    "review_deals": "हर सौदा अलग से देखा गया है, पहले के सौदे जैसे आपने खेले वैसे ही।",
    "review_missed_cost": "आपने {amount} छोड़ दिए; सबसे महँगी चाल {number} थी: {said}।",
    "review_planned_cost": "योजनाकार को आपकी चालों से {amount} ज़्यादा की उम्मीद थी; "
    "सबसे महँगी चाल {number} थी: {said}।",
    "review_none_planned": "योजनाकार भी यही चालें चलता, या इतनी ही अच्छी।",
    "review_bid": "बेहतर: {price}।",
    "review_bid_saying": "बेहतर: {price}, यह कहकर: “{said}”",
    "review_later": "यहाँ {first} के बाद {price} पर सौदा हो सकता था।",
    "review_gap": "इस दुकानदार को जानने वाले ग्राहक के मुक़ाबले: {inference} उसे समझने में गया, "
    "{control} बोली में, {unknown} कोई नहीं जान सकता था।",
    "review_difficulty": "मुश्किल: 5 में से {place}।",
    "review_planned": "योजनाकार ने तौला, जो वही सुनता है जो आप सुन सकते थे और छिपी बात नहीं जानता: "
    "क़ीमत वह अंक है जिसे वह उस चाल से खोने की उम्मीद करता है। "
    "न सीमा के पार का दाम, न आपकी सबसे अच्छी बोली से नीचे का।",
    "review_searched": "यही सीड आपकी हर चाल से पहले एक दूसरी चाल के साथ फिर खेलकर निकाला गया, "
    "पूरे रुपयों में: न आपकी सीमा के पार, न अपने दाम से पीछे हटकर। "
    "चाल की कमाई पक्की है; इससे अच्छी चाल छूट गई हो सकती है।",
    "review_recorded": "{name} और कितना देता, यह पता नहीं: सिर्फ़ उसके कहे दाम गिने गए हैं।",
}
