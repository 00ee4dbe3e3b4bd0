"""The words of the game review in English and Hindi, the same keys in both."""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "review": "Game review",
    "review_wait": "Looking for better moves …",
    "review_asking": "Asking {name} about other prices: {done} of at most {all} replies …",
    "review_missed": "You left {amount} on the table; the costliest was move {number}: {said}.",
    "review_none": "You left nothing on the table: no better line was found.",
    "review_none_asked": "No better line is known from the replies that were asked for.",
    "review_grade": "{grade:.2f} of the grade",
    "review_at": "At {price} it would have accepted.",
    "review_hold": "Holding out at {price} would have brought the deal in round {round}.",
    "review_take": "Taking its {price} here was better.",
    "review_leave": "Leaving here was better.",
    "review_later": "After {first} here, you could have closed at {price} in round {round}.",
    "review_other": "After {first} here, the game would have ended better.",
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
    "review_searched": "Found by playing this seed again with other moves, in whole rupees. What a "
    "line earns is certain; a better line may have been missed.",
    "review_asked": "Other prices that {name} was asked about: {count}. What it would concede "
    "after its reply is unknown, so a better line may exist.",
    "review_time": "Amounts count what each round costs.",
    "review_deals": "Each deal is reviewed by itself, after the earlier deals as you played them.",
    "review_stopped": "Not all replies came: {reason}",
}
IN_HINDI: Mapping[str, str] = {
    "review": "खेल की समीक्षा",
    "review_wait": "बेहतर चालें खोजी जा रही हैं …",
    "review_asking": "{name} से दूसरे दामों के बारे में पूछा जा रहा है: ज़्यादा से ज़्यादा {all} में से {done} "
    "जवाब आए …",
    "review_missed": "आपने {amount} छोड़ दिए; सबसे महँगी चाल {number} थी: {said}।",
    "review_none": "आपने कुछ नहीं छोड़ा: इससे अच्छा रास्ता नहीं मिला।",
    "review_none_asked": "जितने जवाब माँगे गए, उनसे इससे अच्छा रास्ता नहीं पता चला।",
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
    "review_whatif": "अगर?",
    "review_whatif_at": "अगर आपकी चाल {number} कुछ और होती?",
    "review_bar": "हर चाल के बाद कितना जीतना बाक़ी था, जो सबसे ज़्यादा जीता जा सकता था उसका हिस्सा",
    "review_start": "शुरू",
    "review_bar_end": "जो सबसे ज़्यादा जीता जा सकता था, उसका {left:.0%} आपकी आख़िरी चाल के बाद रहा।",
    "review_searched": "यही बीज दूसरी चालों से, पूरे रुपयों में, फिर खेलकर निकाला गया। रास्ते की कमाई पक्की है; "
    "इससे अच्छा रास्ता छूट गया हो सकता है।",
    "review_asked": "{name} से और {count} दामों पर पूछा गया। उस जवाब के बाद वह कितना "
    "झुकता, यह पता नहीं; इससे अच्छा रास्ता हो सकता है।",
    "review_time": "रक़म में हर दौर की क़ीमत गिनी गई है।",
    "review_deals": "हर सौदा अलग से देखा गया है, पहले के सौदे जैसे आपने खेले वैसे ही।",
    "review_stopped": "सब जवाब नहीं आए: {reason}",
}
