"""The page's words around the talk of a game, the same keys in each language."""

from collections.abc import Mapping

from sauda.language.lines import ENGLISH, HINDI, HINGLISH

WORDS: Mapping[str, dict[str, str]] = {
    ENGLISH: {
        "title": "Haggle",
        "language": "Language",
        "any_item": "Anything",
        "hidden_opponent": "Hidden till the end",
        "any_seller": "SmolLM2, type hidden till the end",
        "say_price": "Name a price, in digits or in words.",
        "kept_words": "The other side is thinking. Your words stay in the box: send them after "
        "its "
        "reply.",
        "unanswered": "Press “Ask again”, or say something else in place of your last move.",
        "loss_seller": "{price} is below your own limit of {limit}: you would lose {loss}. Say "
        "“yes” "
        "or send it again to ask it all the same, or name another price.",
        "loss_buyer": "{price} is above your own limit of {limit}: you would lose {loss}. Say "
        "“yes” "
        "or send it again to bid it all the same, or name another price.",
        "loss_accept": "Your limit is {limit}: at {price} you would lose {loss}. Say “yes” or "
        "accept "
        "again to do it all the same, or name another price.",
        "backwards_seller": "{price} is more than your own last ask of {own}: you would take it "
        "back. Say “yes” or send it again to ask it all the same, or name another price.",
        "backwards_buyer": "{price} is less than your own last bid of {own}: you would take it "
        "back. Say “yes” or send it again to bid it all the same, or name another price.",
        "backwards_bid": "Your bid of {own} stands, and {price} is below it: it would only use "
        "up a round. Say “yes” or send it again to bid it all the same, or name a higher one.",
        "asked_again": "{price}: the same doubt as before. “Yes” goes ahead, another price "
        "replaces it.",
        "asked_once_more": "Is {price} what you want? Then say “yes”, or name another price.",
        "last_chance": "Last chance: accept {price} or walk away. A new price would end the game "
        "without a deal.",
        "last_ask": "Last round: name your final price, accept {price}, or walk away.",
        "last_bid": "Last round: accept {price}, make your last bid, or walk away.",
        "same_item": "The same item and seed again, against another opponent. “New game” draws "
        "another.",
        "deal_ended": "Deal {number}: {ending}. Next: {item}.",
        "rival_bought": "{name} bought it.",
        "words_wait": "Words reach this seller with a price. Name one, and these go with it.",
        "rule_bid": "The buyer already bids {standing}: say “deal” to take it, or ask for more.",
        "rule_ask": "The seller asks {standing}: say “deal” to take it, or name less than that.",
        "rule_budget": "You may pay {most} at most, and {price} is more. Name a lower price.",
        "mean_middle": "You mean {price}, halfway between the two prices? "
        "Say “yes” to offer it, or name another price.",
        "mean_half": "You mean {price}, one half? Say “yes” to offer it, or name another price.",
        "mean_less": "You mean {price}, with that taken off? "
        "Say “yes” to offer it, or name another price.",
        "mean_more": "You mean {price}, with that added? "
        "Say “yes” to offer it, or name another price.",
        "mean_same": "You mean {price}, as before? "
        "Say “yes” to offer it again, or name another price.",
        "take_it": "Do you take {price}? Say “yes” to close the deal, or name another price.",
        "take_it_plain": "Only the price can be agreed here, no condition. Do you take {price} "
        "without it? Say “yes” to close the deal, or name another price.",
        "rule_whole": "{price} is too fine: prices here are in whole rupees. Name another one.",
        "too_long": "Write at most {most} characters; this message has {length}.",
        "old_button": "That button was for the move before; here is the new one.",
        "no_such_move": "That move cannot be made now.",
        "pick_move": "Pick the move to go back to.",
        "nothing_to_undo": "You have made no move that could be taken back.",
        "bad_choice": "Choose a market to buy in, or a ware and a buyer to sell it to.",
        "reply_refused": "The model is busy with other visitors. Ask again in a while.",
        "reply_late": "The model did not answer in time. Ask again.",
        "reply_failed": "The model could not answer. Ask again.",
        "not_possible": "That is not possible now. Press “New game” to begin anew.",
        "rival": "rival {number}",
    },
    HINGLISH: {
        "title": "Haggle",
        "language": "Bhasha",
        "any_item": "Kuch bhi",
        "hidden_opponent": "End tak chhupa hua",
        "any_seller": "SmolLM2, type end tak chhupa hua",
        "say_price": "Daam bolo, number mein ya words mein.",
        "kept_words": "Saamne wala soch raha hai. Aapke words box mein hain: uske reply ke baad "
        "bhejna.",
        "unanswered": "“Phir poochho” dabao, ya pichhli chaal ke badle kuch aur bolo.",
        "loss_seller": "{price} aapki limit {limit} se kam hai: {loss} ka nuksaan hoga. Phir bhi "
        "bolna hai to “haan” bolo ya dobara bhejo, nahi to doosra daam bolo.",
        "loss_buyer": "{price} aapki limit {limit} se zyada hai: {loss} ka nuksaan hoga. Phir bhi "
        "bolna hai to “haan” bolo ya dobara bhejo, nahi to doosra daam bolo.",
        "loss_accept": "Aapki limit {limit} hai: {price} mein {loss} ka nuksaan hoga. Phir bhi "
        "lena "
        "hai to “haan” bolo ya dobara accept karo, nahi to doosra daam bolo.",
        "backwards_seller": "{price} aapke apne pichhle daam {own} se zyada hai: aap peeche hat "
        "rahe ho. Phir bhi bolna hai to “haan” bolo ya dobara bhejo, nahi to doosra daam bolo.",
        "backwards_buyer": "{price} aapki apni pichhli boli {own} se kam hai: aap peeche hat rahe "
        "ho. Phir bhi bolna hai to “haan” bolo ya dobara bhejo, nahi to doosra daam bolo.",
        "backwards_bid": "Aapki {own} ki boli khadi hai aur {price} usse kam hai: bas ek "
        "round jayega. Phir bhi bolna hai to “haan” bolo ya dobara bhejo, nahi to zyada bolo.",
        "asked_again": "{price}: wahi shak phir se. “Haan” bolo to chalega, nahi to doosra daam "
        "bolo.",
        "asked_once_more": "{price} hi bolna hai? To “haan” bolo, nahi to doosra daam.",
        "last_chance": "Last chance: {price} accept karo ya chale jao. Naya daam bola to game "
        "bina "
        "deal ke khatam.",
        "last_ask": "Last round: apna final daam bolo, {price} accept karo, ya chale jao.",
        "last_bid": "Last round: {price} accept karo, last boli lagao, ya chale jao.",
        "same_item": "Wahi item aur wahi seed, opponent naya. “New game” se naya milega.",
        "deal_ended": "Deal {number}: {ending}. Agli cheez: {item}.",
        "rival_bought": "{name} ne khareed liya.",
        "words_wait": "Is seller tak baat daam ke saath pahunchti hai. Daam bolo, ye baat saath "
        "jayegi.",
        "rule_bid": "Buyer {standing} to bol hi chuka hai: lena ho to “deal” bolo, nahi to zyada "
        "maango.",
        "rule_ask": "Seller {standing} maang raha hai: lena ho to “deal” bolo, nahi to usse kam "
        "bolo.",
        "rule_budget": "Aap zyada se zyada {most} de sakte ho, {price} usse upar hai. Kam bolo.",
        "mean_middle": "Yaani {price}, dono ke beech ka? "
        "Bolna hai to “haan” bolo, nahi to doosra daam bolo.",
        "mean_half": "Yaani {price}, aadha? Bolna hai to “haan” bolo, nahi to doosra daam bolo.",
        "mean_less": "Yaani {price}, utna kam karke? "
        "Bolna hai to “haan” bolo, nahi to doosra daam bolo.",
        "mean_more": "Yaani {price}, utna jod ke? "
        "Bolna hai to “haan” bolo, nahi to doosra daam bolo.",
        "mean_same": "Yaani {price}, pehle jaisa? "
        "Phir se bolna hai to “haan” bolo, nahi to doosra daam bolo.",
        "take_it": "{price} pe sauda pakka karein? “Haan” bolo, ya doosra daam bolo.",
        "take_it_plain": "Yahan sirf daam tay hota hai, shart nahi. Bina shart {price} pe sauda "
        "pakka karein? “Haan” bolo, ya doosra daam bolo.",
        "rule_whole": "{price} nahi chalega: yahan poore rupaye chalte hain. Doosra daam bolo.",
        "too_long": "Zyada se zyada {most} characters likho; isme {length} hain.",
        "old_button": "Wo button pichhli chaal ka tha; naya ye raha.",
        "no_such_move": "Ye chaal abhi nahi chal sakte.",
        "pick_move": "Kis chaal pe lautna hai, wo chuno.",
        "nothing_to_undo": "Abhi koi chaal nahi chali, to wapas kya lein.",
        "bad_choice": "Market chuno, ya item aur buyer chuno.",
        "reply_refused": "Model abhi auron ke saath busy hai. Thodi der mein phir poochho.",
        "reply_late": "Model ne time pe jawab nahi diya. Phir poochho.",
        "reply_failed": "Model jawab nahi de paya. Phir poochho.",
        "not_possible": "Ye abhi nahi ho sakta. “New game” dabao.",
        "rival": "rival {number}",
    },
    HINDI: {
        "title": "मोल-भाव",
        "language": "भाषा",
        "any_item": "कुछ भी",
        "hidden_opponent": "अंत तक छिपा हुआ",
        "any_seller": "SmolLM2, क़िस्म अंत तक छिपी",
        "say_price": "दाम बताइए, अंकों में या शब्दों में।",
        "kept_words": "सामने वाला सोच रहा है। आपके शब्द बक्से में ही हैं: उसके जवाब के बाद भेजिए।",
        "unanswered": "“फिर पूछिए” दबाइए, या अपनी पिछली चाल के बदले कुछ और कहिए।",
        "loss_seller": "{price} आपकी सीमा {limit} से कम है: {loss} का घाटा होगा। फिर भी यही कहना है "
        "तो “हाँ” "
        "बोलिए या फिर भेजिए; नहीं तो दूसरा दाम बताइए।",
        "loss_buyer": "{price} आपकी सीमा {limit} से ज़्यादा है: {loss} का घाटा होगा। फिर भी यही कहना "
        "है तो “हाँ” "
        "बोलिए या फिर भेजिए; नहीं तो दूसरा दाम बताइए।",
        "loss_accept": "आपकी सीमा {limit} है: {price} पर {loss} का घाटा होगा। फिर भी मंज़ूर है तो "
        "“हाँ” बोलिए या "
        "फिर मंज़ूर कीजिए; नहीं तो दूसरा दाम बताइए।",
        "backwards_seller": "{price} आपके अपने पिछले दाम {own} से ज़्यादा है: आप पीछे हट रहे हैं। फिर भी यही "
        "कहना है तो “हाँ” बोलिए या फिर भेजिए; नहीं तो दूसरा दाम बताइए।",
        "backwards_buyer": "{price} आपकी अपनी पिछली बोली {own} से कम है: आप पीछे हट रहे हैं। फिर भी यही "
        "कहना है तो “हाँ” बोलिए या फिर भेजिए; नहीं तो दूसरा दाम बताइए।",
        "backwards_bid": "आपकी {own} की बोली क़ायम है और {price} उससे कम है: सिर्फ़ एक "
        "दौर जाएगा। फिर भी यही कहना है तो “हाँ” बोलिए या फिर भेजिए; नहीं तो ज़्यादा दाम बताइए।",
        "asked_again": "{price}: वही शक फिर से। “हाँ” कहेंगे तो चलेगा, नहीं तो दूसरा दाम बताइए।",
        "asked_once_more": "{price} ही कहना है? तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "last_chance": "आख़िरी मौक़ा: {price} मंज़ूर कीजिए या चल दीजिए। नया दाम कहा तो खेल बिना सौदे के "
        "ख़त्म।",
        "last_ask": "आख़िरी दौर: अपना आख़िरी दाम बताइए, {price} मंज़ूर कीजिए, या चल दीजिए।",
        "last_bid": "आख़िरी दौर: {price} मंज़ूर कीजिए, अपनी आख़िरी बोली लगाइए, या चल दीजिए।",
        "same_item": "वही चीज़ और वही सीड, सामने वाला नया। “नया खेल” दबाने से दूसरी चीज़ मिलेगी।",
        "deal_ended": "सौदा {number}: {ending}। अगली चीज़: {item}।",
        "rival_bought": "{name} ने ख़रीद लिया।",
        "words_wait": "इस दुकानदार तक बात दाम के साथ पहुँचती है। दाम बोलिए, यह बात साथ जाएगी।",
        "rule_bid": "ग्राहक {standing} तो कह ही चुका है: लेना हो तो “मंज़ूर” बोलिए, नहीं तो ज़्यादा माँगिए।",
        "rule_ask": "दुकानदार {standing} माँग रहा है: लेना हो तो “मंज़ूर” बोलिए, नहीं तो उससे कम कहिए।",
        "rule_budget": "आप ज़्यादा से ज़्यादा {most} दे सकते हैं, {price} उससे ऊपर है। कम दाम कहिए।",
        "mean_middle": "यानी {price}, दोनों के बीच का? "
        "यही कहना है तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "mean_half": "यानी {price}, आधा? यही कहना है तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "mean_less": "यानी {price}, उतना घटाकर? यही कहना है तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "mean_more": "यानी {price}, उतना जोड़कर? यही कहना है तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "mean_same": "यानी {price}, पहले जैसा? फिर वही कहना है तो “हाँ” बोलिए, नहीं तो दूसरा दाम बताइए।",
        "take_it": "{price} पर सौदा पक्का करें? “हाँ” कहिए, या दूसरा दाम बताइए।",
        "take_it_plain": "यहाँ सिर्फ़ दाम तय होता है, शर्त नहीं। बिना शर्त {price} पर सौदा पक्का करें? “हाँ” "
        "कहिए, या दूसरा दाम बताइए।",
        "rule_whole": "{price} नहीं चलेगा: यहाँ पूरे रुपये चलते हैं। दूसरा दाम बताइए।",
        "too_long": "ज़्यादा से ज़्यादा {most} अक्षर लिखिए; इसमें {length} हैं।",
        "old_button": "वह बटन पिछली चाल का था; नया यह रहा।",
        "no_such_move": "यह चाल अभी नहीं चली जा सकती।",
        "pick_move": "किस चाल पर लौटना है, वह चुनिए।",
        "nothing_to_undo": "अभी ऐसी कोई चाल नहीं जो वापस ली जाए।",
        "bad_choice": "ख़रीदने का बाज़ार चुनिए, या बेचने की चीज़ और ग्राहक।",
        "reply_refused": "मॉडल अभी औरों के साथ व्यस्त है। थोड़ी देर में फिर पूछिए।",
        "reply_late": "मॉडल ने समय पर जवाब नहीं दिया। फिर पूछिए।",
        "reply_failed": "मॉडल जवाब नहीं दे पाया। फिर पूछिए।",
        "not_possible": "यह अभी नहीं हो सकता। “नया खेल” दबाइए।",
        "rival": "प्रतिद्वंद्वी {number}",
    },
}
CHART_HINDI: Mapping[str, str] = {  # of `panels.ui.offers.CHART_WORDS`
    "none": "अभी कोई दाम नहीं कहा गया।",
    "asks": "माँग",
    "bids": "बोली",
    "round": "दौर",
    "seller_limit": "दुकानदार की सीमा",
    "buyer_limit": "ग्राहक की सीमा",
    "summary": "{rounds} दौर के दाम: {parts}; {ending}।",
    "asks_span": "माँग {first} से {last} तक",
    "bids_span": "बोली {first} से {last} तक",
    "open": "अभी चल रहा है",
    "bought": "{name} ने दौर {round} में ख़रीद लिया",
    "closed": "दौर {round} में {price} पर तय हुआ",
    "walked": "{name} दौर {round} में चला गया",
    "seller": "दुकानदार",
    "buyer": "ग्राहक",
    "ran_out": "दौर {round} के बाद समय ख़त्म",
}
