"""The words around what Sauda reads in a message and believes of a limit.

Signals and explanations of the lexicon, and types of sellers, are keys themselves.
"""

from collections.abc import Mapping

IN_HINDI: Mapping[str, str] = {
    "urgency": "जल्दी",
    "deception": "झाँसा",
    "confidence": "भरोसा",
    "sympathy": "हमदर्दी",
    "condition": "हालत",
    "Says that the matter is urgent.": "कहता है कि मामला ज़रूरी है।",
    "Says that it has to be at once.": "कहता है कि अभी के अभी चाहिए।",
    "Presses for a quick answer.": "जल्दी जवाब माँगता है।",
    "Says that there is no time to wait.": "कहता है कि रुकने का समय नहीं है।",
    "Says that the offer ends soon.": "कहता है कि यह दाम थोड़ी देर का है।",
    "Names a day or an hour by which it has to be done.": "दिन या घंटा बताता है जब तक काम होना है।",
    "Names an event or a departure of their own that will not wait.": "अपना कोई मौक़ा या सफ़र बताता "
    "है जो रुकेगा नहीं।",
    "Offers to close on the spot.": "यहीं सौदा पूरा करने को कहता है।",
    "Claims that others want it too; nobody can check that.": "कहता है कि औरों को भी चाहिए; इसे कोई "
    "जाँच नहीं सकता।",
    "Claims to have refused a better offer.": "कहता है कि इससे अच्छा दाम ठुकरा चुका है।",
    "Claims that supply is short or demand is high.": "कहता है कि माल कम है या माँग ज़्यादा।",
    "Claims that it is cheaper or sold for another price elsewhere.": "कहता है कि कहीं और दाम दूसरा "
    "है।",
    "Swears or flatters instead of giving a reason.": "वजह के बदले क़सम या तारीफ़ देता है।",
    "Says that the price is final or fixed.": "कहता है कि दाम आख़िरी या तय है।",
    "Refuses to move any further.": "और हिलने से मना करता है।",
    "Names a limit of their own.": "अपनी सीमा बताता है।",
    "Claims to know what it is worth.": "कहता है कि उसे असली दाम पता है।",
    "Speaks of illness or trouble in the family.": "घर की बीमारी या परेशानी बताता है।",
    "Says that they have little money.": "कहता है कि पैसे कम हैं।",
    "Says that they lose by this price.": "कहता है कि इस दाम में नुक़सान है।",
    "Speaks of those they must provide for.": "उनकी बात करता है जिनका ख़र्च उठाना है।",
    "Speaks of hardship or bad business.": "तंगी या मंदे धंधे की बात करता है।",
    "Asks for kindness or help.": "दया या मदद माँगता है।",
    "Says that the item is new or as good as new.": "कहता है कि चीज़ नई है या नई जैसी।",
    "Says that the item is in good order.": "कहता है कि चीज़ अच्छी हालत में है।",
    "Says that it has its original parts or papers or a warranty.": "कहता है कि असली पुर्ज़े, काग़ज़ या "
    "वारंटी है।",
    "Says that the item is not new or not original.": "कहता है कि चीज़ नई या असली नहीं है।",
    "Says that the item is marked or worn.": "कहता है कि चीज़ पर निशान हैं या घिसी है।",
    "Says that something is broken or missing or does not work.": "कहता है कि कुछ टूटा है, नहीं है या "
    "चलता नहीं।",
    "Denies that the item is new or as good as new.": "कहता है कि चीज़ नई या नई जैसी नहीं है।",
    "Denies that the item is in good order.": "कहता है कि चीज़ अच्छी हालत में नहीं है।",
    "Denies that it has its original parts or papers or a warranty.": "कहता है कि असली पुर्ज़े, काग़ज़ या "
    "वारंटी नहीं है।",
    "Denies that the item is not new or not original.": "कहता है कि चीज़ पुरानी या नक़ली नहीं है।",
    "Denies that the item is marked or worn.": "कहता है कि चीज़ पर निशान नहीं हैं और घिसी नहीं है।",
    "Denies that something is broken or missing or does not work.": "कहता है कि कुछ टूटा नहीं है और सब "
    "चलता है।",
    "friendly": "मिलनसार",
    "firm": "सख़्त",
    "fair": "सीधा",
    "hasty": "जल्दबाज़",
    "bluffer": "झाँसेबाज़",
    "belief_axis": "विक्रेता कम से कम इतना लेगा",
    "belief_dashed": "; टूटी रेखा: पहले",
    "belief_sentence": "सौदा मानता है कि विक्रेता लगभग {middle} से कम नहीं लेगा, पाँच में चार बार "
    "{low} और {high} के बीच; सबसे ज़्यादा संभव {likely} विक्रेता ({share})।",
}
IN_HINGLISH: Mapping[str, str] = {
    "urgency": "jaldi",
    "deception": "jhaansa",
    "confidence": "bharosa",
    "sympathy": "hamdardi",
    "condition": "haalat",
    "Says that the matter is urgent.": "Kehta hai ki maamla zaroori hai.",
    "Says that it has to be at once.": "Kehta hai ki abhi ke abhi chahiye.",
    "Presses for a quick answer.": "Jaldi jawab maangta hai.",
    "Says that there is no time to wait.": "Kehta hai ki rukne ka time nahi hai.",
    "Says that the offer ends soon.": "Kehta hai ki ye offer thodi der ka hai.",
    "Names a day or an hour by which it has to be done.": "Din ya ghanta batata hai jab tak kaam "
    "hona hai.",
    "Names an event or a departure of their own that will not wait.": "Apna koi mauka ya safar "
    "batata hai jo rukega nahi.",
    "Offers to close on the spot.": "Yahin deal pakki karne ko kehta hai.",
    "Claims that others want it too; nobody can check that.": "Kehta hai ki auron ko bhi "
    "chahiye; ise koi check nahi kar sakta.",
    "Claims to have refused a better offer.": "Kehta hai ki isse achha offer thukra chuka hai.",
    "Claims that supply is short or demand is high.": "Kehta hai ki maal kam hai ya demand zyada.",
    "Claims that it is cheaper or sold for another price elsewhere.": "Kehta hai ki kahin aur "
    "daam doosra hai.",
    "Swears or flatters instead of giving a reason.": "Wajah ke badle kasam ya taareef deta hai.",
    "Says that the price is final or fixed.": "Kehta hai ki daam final ya fixed hai.",
    "Refuses to move any further.": "Aur hilne se mana karta hai.",
    "Names a limit of their own.": "Apni limit batata hai.",
    "Claims to know what it is worth.": "Kehta hai ki use asli daam pata hai.",
    "Speaks of illness or trouble in the family.": "Ghar ki bimaari ya pareshaani batata hai.",
    "Says that they have little money.": "Kehta hai ki paise kam hain.",
    "Says that they lose by this price.": "Kehta hai ki is daam mein nuksaan hai.",
    "Speaks of those they must provide for.": "Unki baat karta hai jinka kharch uthana hai.",
    "Speaks of hardship or bad business.": "Tangi ya mande dhande ki baat karta hai.",
    "Asks for kindness or help.": "Daya ya madad maangta hai.",
    "Says that the item is new or as good as new.": "Kehta hai ki cheez nayi hai ya nayi jaisi.",
    "Says that the item is in good order.": "Kehta hai ki cheez achhi haalat mein hai.",
    "Says that it has its original parts or papers or a warranty.": "Kehta hai ki original "
    "parts, papers ya warranty hai.",
    "Says that the item is not new or not original.": "Kehta hai ki cheez nayi ya original nahi "
    "hai.",
    "Says that the item is marked or worn.": "Kehta hai ki cheez pe nishaan hain ya ghisi hui hai.",
    "Says that something is broken or missing or does not work.": "Kehta hai ki kuch toota hai, "
    "nahi hai ya chalta nahi.",
    "Denies that the item is new or as good as new.": "Kehta hai ki cheez nayi ya nayi jaisi "
    "nahi hai.",
    "Denies that the item is in good order.": "Kehta hai ki cheez achhi haalat mein nahi hai.",
    "Denies that it has its original parts or papers or a warranty.": "Kehta hai ki original "
    "parts, papers ya warranty nahi hai.",
    "Denies that the item is not new or not original.": "Kehta hai ki cheez puraani ya nakli "
    "nahi hai.",
    "Denies that the item is marked or worn.": "Kehta hai ki cheez pe nishaan nahi hain aur "
    "ghisi nahi hai.",
    "Denies that something is broken or missing or does not work.": "Kehta hai ki kuch toota "
    "nahi hai aur sab chalta hai.",
    "friendly": "milansaar",
    "firm": "sakht",
    "fair": "seedha",
    "hasty": "jaldbaaz",
    "bluffer": "jhaansebaaz",
    "belief_axis": "seller kam se kam itna lega",
    "belief_dashed": "; tooti line: pehle",
    "belief_sentence": "Sauda maanta hai ki seller lagbhag {middle} se kam nahi lega, paanch "
    "mein chaar baar {low} aur {high} ke beech; sabse zyada mumkin {likely} seller ({share}).",
}
IN_ENGLISH: Mapping[str, str] = {key: key for key in IN_HINDI} | {
    "belief_axis": "the least the seller takes",
    "belief_dashed": "; dashed: before",
    "belief_sentence": "Sauda believes the seller takes no less than about {middle}, with four "
    "chances in five between {low} and {high}; most likely a {likely} seller ({share}).",
}
