"""The page's words that Hinglish does not share with English; the others are the English ones."""

from collections.abc import Mapping

OWN_WORDS: Mapping[str, str] = {
    "lead": "Daam bolo, number mein ya words mein. Saamne wala turant jawab deta hai.",
    "choose": "Item, opponent, bhasha",
    "seat": "Aapki seat",
    "buy": "Khareedna hai",
    "sell": "Bechna hai",
    "ware": "Aap kya bechoge",
    "price": "Aapka daam",
    "placeholder": "₹450, ya “450 mein de do”",
    "unpacking": "Seller saamaan khol raha hai.",
    "did_you_mean": "Kya aapka matlab {price} tha? Ye ab tak ke daam se bahut door hai. Pakka ho "
    "to "
    "“haan” bolo ya dobara bhejo, nahi to doosra daam bolo.",
    "you_open": "Shuru aap karo: apna daam bolo, aur cheez ki khoobi bhi.",
    "send": "Bolo",
    "stop": "Roko",
    "retry": "Phir poochho",
    "undo": "Chaal wapas",
    "quick_loss": "Loss mein accept",
    "quick_halfway": "Beech ka daam",
    "quick_limit": "Aapki limit",
    "quick_little": "Thoda sa",
    "quick_open": "Shuruaat",
    "quick_bolder": "Oonchi shuruaat",
    "quick_walk": "Chal do",
    "you_sell": "Aap bech rahe ho",
    "you_buy": "Aap khareed rahe ho",
    "limit": "Aapki limit",
    "sell_above": "{price} se upar becho",
    "pay_at_most": "zyada se zyada {price} do",
    "rounds_used": "{all} mein se {used} ho gaye",
    "bonus_rule": "limit se upar har ₹10 pe ₹1, zyada se zyada {most}",
    "hidden_limit": "Saamne wale ki limit game ke baad dikhegi.",
    "thinking": "{name} soch raha hai …",
    "stopped": "Rok diya. Game waisa hi hai jaisa reply se pehle tha.",
    "no_move": "{name} ne koi sahi chaal nahi likhi, isliye wo haara; measured games mein bhi yahi "
    "rule hai. Usne likha: “{wrote}”",
    "whatif_lead": "Apni kisi chaal pe lauto aur kuch aur bolo: dono game yahan dikhenge.",
    "whatif_go": "Wahan lauto",
    "undone": "Wapas li gayi chaalein: {count}.",
}
