"""The words of the bargain of the day in three languages, and the names of Haggle's sub-tabs.

Hinglish has those that it does not share with English.
"""

from collections.abc import Mapping

IN_ENGLISH: Mapping[str, str] = {
    "tab_any": "Any bargain",
    "tab_daily": "Bargain of the day",
    "tab_spot": "Spot the trained one",
    "daily_lead": "One item and one seller for everybody, a new one each day at midnight UTC. You "
    "buy, once; then you see your share, and your place among the scripts and Sauda.",
    "daily_months": "January February March April May June July August September October November "
    "December",
    "daily_full_stop": ".",
    "daily_seed": "The seed is a digest of the date, among seeds that no training and no "
    "evaluation uses; at least three scripts gain in its game.",
    "daily_before": "The day before",
    "daily_watch": "Watch it first",
    "daily_ask_sauda": "Ask Sauda again",
    "daily_play_first": "A friend has sent you this bargain. Play it yourself first: the replay "
    "shows how low the seller went.",
    "daily_still_hidden": "The seller’s limit, your friend’s share and place stay hidden until you "
    "have played this bargain yourself.",
    "daily_you": "You",
    "daily_friend": "Your friend",
    "daily_the_seller": "The seller",
    "daily_won": "{share} of what could be won",
    "daily_won_above": "of what could be won",
    "daily_place": "place among the scripts: {place}",
    "daily_item": "{item}, list price {price}",
    "daily_of": "Bargain of {day}",
    "daily_play_same": "Play the same bargain: {address}",
    "daily_title": "Sauda, bargain of {day}: {item}",
    "daily_own_link": "The link holds the very moves of your own game.",
    "daily_waits": "Sauda plays this seed now, which takes some seconds …",
    "daily_sauda": "Sauda",
    "daily_played": "Played this seed in this page’s own process: {model}. {versus}",
    "daily_better": "You did better.",
    "daily_worse": "You did worse.",
    "daily_level": "You did as well.",
    "daily_failed": "Sauda has no row: {reason}",
    "daily_cannot": "it cannot play in this page. {reason}",
    "daily_loading": "it is still loading in this page’s process.",
    "daily_share": "Share it",
    "daily_share_lead": "The link holds your moves and no result: it is played again.",
    "daily_text": "Text to paste",
    "daily_picture": "Download the picture",
    "daily_over": "Today’s bargain is over; the next one comes at midnight UTC.",
    "daily_over_before": "This bargain is over: a day’s bargain is played once.",
    "daily_bad_link": "The link names no bargain that can be played here.",
    "daily_kept_broken": "Your game of this day begins anew: what this browser kept of it was "
    "cut, or another version of the page made it.",
}
IN_HINGLISH: Mapping[str, str] = {
    "tab_any": "Koi bhi sauda",
    "tab_daily": "Aaj ka sauda",
    "tab_spot": "Trained wale ko pehchano",
    "daily_lead": "Sabke liye ek item aur ek seller, roz midnight UTC pe naya. Aap khareedte ho, "
    "ek baar; phir apna hissa dekho, aur scripts aur Sauda ke beech apni jagah.",
    "daily_seed": "Seed us din ki date se banta hai; training ya evaluation mein kabhi nahi aaya, "
    "aur is game mein kam se kam teen scripts ko faayda hota hai.",
    "daily_before": "Ek din pehle",
    "daily_watch": "Pehle dekho",
    "daily_ask_sauda": "Sauda se phir poochho",
    "daily_play_first": "Ek dost ne ye sauda bheja hai. Pehle khud khelo: replay se pata chal "
    "jaata hai ki seller kitna neeche aaya.",
    "daily_still_hidden": "Seller ki limit, dost ka hissa aur jagah tab dikhenge jab aap ye sauda "
    "khud khel loge.",
    "daily_you": "Aap",
    "daily_friend": "Aapka dost",
    "daily_the_seller": "Seller",
    "daily_won": "jitna mil sakta tha uska {share}",
    "daily_won_above": "jitna mil sakta tha, uska itna hissa",
    "daily_place": "scripts ke beech: {place}",
    "daily_item": "{item}, likha daam {price}",
    "daily_of": "{day} ka sauda",
    "daily_play_same": "Yahi sauda khelo: {address}",
    "daily_title": "Sauda, {day} ka sauda: {item}",
    "daily_own_link": "Is link mein aapke apne game ki hi chaalein hain.",
    "daily_waits": "Sauda ab ye seed khel raha hai, kuch second lagenge …",
    "daily_played": "Isi page mein ye seed khela: {model}. {versus}",
    "daily_better": "Aapne better kiya.",
    "daily_worse": "Aapne usse kam kiya.",
    "daily_level": "Dono barabar rahe.",
    "daily_failed": "Sauda ki row nahi hai: {reason}",
    "daily_cannot": "wo is page mein nahi khel sakta. {reason}",
    "daily_loading": "wo abhi load ho raha hai.",
    "daily_share": "Share karo",
    "daily_share_lead": "Link mein aapki chaalein hain, result nahi: game dobara khela jaata hai.",
    "daily_text": "Paste karne ka text",
    "daily_picture": "Picture download karo",
    "daily_over": "Aaj ka sauda khatam; agla midnight UTC pe aayega.",
    "daily_over_before": "Ye sauda khatam: ek din ka sauda ek hi baar khelte hain.",
    "daily_bad_link": "Link mein aisa koi sauda nahi jo yahan khela ja sake.",
    "daily_kept_broken": "Is din ka aapka game naye sire se shuru hota hai: browser mein rakhi "
    "chaalein adhoori hain, ya page ke kisi aur version ki hain.",
}
IN_HINDI: Mapping[str, str] = {
    "tab_any": "कोई भी सौदा",
    "tab_daily": "आज का सौदा",
    "tab_spot": "सीखे हुए को पहचानिए",
    "daily_lead": "सबके लिए एक चीज़ और एक दुकानदार, रोज़ आधी रात (यूटीसी) को नया। आप ख़रीदते हैं, एक "
    "बार; फिर अपना हिस्सा देखिए, और स्क्रिप्टों और सौदा के बीच अपनी जगह।",
    "daily_months": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "daily_full_stop": "।",
    "daily_seed": "सीड उस दिन की तारीख़ से बनता है; वह किसी प्रशिक्षण या मापन में नहीं आया, और इस खेल "
    "में कम से कम तीन स्क्रिप्ट को फ़ायदा होता है।",
    "daily_before": "एक दिन पहले",
    "daily_watch": "पहले देखिए",
    "daily_ask_sauda": "सौदा से फिर पूछिए",
    "daily_play_first": "एक दोस्त ने यह सौदा भेजा है। पहले ख़ुद खेलिए: देख लेने पर पता चल जाता है कि दुकानदार "
    "कितना नीचे आया।",
    "daily_still_hidden": "दुकानदार की सीमा, दोस्त का हिस्सा और उसकी जगह तब दिखेंगे जब आप यह सौदा ख़ुद खेल "
    "लेंगे।",
    "daily_you": "आप",
    "daily_friend": "आपका दोस्त",
    "daily_the_seller": "दुकानदार",
    "daily_won": "जितना मिल सकता था उसका {share}",
    "daily_won_above": "जितना मिल सकता था, उसका इतना हिस्सा",
    "daily_place": "स्क्रिप्टों के बीच जगह: {place}",
    "daily_item": "{item}, लिखा दाम {price}",
    "daily_of": "{day} का मोल-भाव",
    "daily_play_same": "यही सौदा खेलिए: {address}",
    "daily_title": "सौदा, {day} का मोल-भाव: {item}",
    "daily_own_link": "इस लिंक में आपके अपने खेल की ही चालें हैं।",
    "daily_waits": "सौदा अब यही सीड खेल रहा है, कुछ सेकंड लगेंगे …",
    "daily_sauda": "सौदा",
    "daily_played": "इसी पन्ने में यह सीड खेला: {model}। {versus}",
    "daily_better": "आपने उससे अच्छा खेला।",
    "daily_worse": "उसने आपसे अच्छा खेला।",
    "daily_level": "दोनों बराबर रहे।",
    "daily_failed": "सौदा की पंक्ति नहीं है: {reason}",
    "daily_cannot": "वह इस पन्ने में नहीं खेल सकता। {reason}",
    "daily_loading": "वह अभी आ रहा है।",
    "daily_share": "साझा कीजिए",
    "daily_share_lead": "लिंक में आपकी चालें हैं, नतीजा नहीं: खेल फिर से खेला जाता है।",
    "daily_text": "चिपकाने के लिए",
    "daily_picture": "तस्वीर डाउनलोड कीजिए",
    "daily_over": "आज का सौदा ख़त्म हुआ; अगला आधी रात (यूटीसी) को आएगा।",
    "daily_over_before": "यह सौदा ख़त्म हुआ: एक दिन का सौदा एक ही बार खेला जाता है।",
    "daily_bad_link": "लिंक में ऐसा कोई सौदा नहीं जो यहाँ खेला जा सके।",
    "daily_kept_broken": "इस दिन का आपका खेल नए सिरे से शुरू होता है: ब्राउज़र में रखी चालें अधूरी हैं, या पन्ने के "
    "किसी और संस्करण की हैं।",
}
