"""The words by which a text that makes no move is recognised, a list for each kind of talk.

`phrases.py` says how a list is read. The first kind that has a phrase in a text counts, so the rude
and the specific stand before the general.
"""

from sauda.language.lexicon import keys
from sauda.language.speech.phrases import table

NO = keys("no nope nah never nahi/nahin/nhi na नहीं ना")  # begins a refusal
KINDS = table(
    {
        "insult": "idiot; stupid; fool; thief; cheat; cheater; crook; scam; scammer; liar; fraud; "
        "rubbish; shut up; moron; fuck; shit; bastard; pagal; bewakoof; bewkuf; chor; gadha; "
        "gadhe; go to hell; damn you; get lost; hate you; bhaad mein; bhad mein; bhaad me; dafa "
        "ho; भाड़ में; दफ़ा हो; ullu; kamina; kamine; saala; saale; nalayak; jhootha; thag; पागल; "
        "बेवकूफ़; चोर; गधा; गधे; उल्लू; कमीना; ठग; झूठा",
        "limit": "your limit; your max; your maximum; your minimum; your budget; lowest price; "
        "highest price; best price; max price; minimum price; reservation; final price; last "
        "price; how high go; how low go; sabse kam; kam se kam kitna; aakhri daam; akhri daam; "
        "zyada se zyada; aapki limit; आपकी सीमा; कम से कम कितना; आख़िरी दाम; ज़्यादा से ज़्यादा",
        "identity": "who are you; are you human; are you robot; are you real; are you bot; you "
        "ai; chatgpt; kaun ho; aap kaun; tum kaun; your name; naam kya; robot; आप कौन; तुम कौन; "
        "नाम क्या; रोबोट",
        "warranty": "warranty ?; any warranty; guarantee ?; warranty hai kya; warranty kya; is "
        "there warranty; with warranty; return policy; वारंटी क्या; गारंटी क्या",
        "help": "=help; help please; rules; how to play; how do i play; how does this work; what "
        "can i do; what should i do; what do i do; what now; kya karu; kya karna; kaise khele; "
        "kaise khelte; =madad; क्या करना; क्या करूँ; कैसे खेलते; कैसे खेलें; =मदद; नियम",
        "joke": "tell joke; tell me joke; another joke; make me laugh; know joke; chutkula; "
        "chutkule; hasao; चुटकुला; चुटकुले; हँसाओ; हँसाइए; haha; =lol; =ha; funny; हाहा; =हा",
        "wait": "let me think; let us think; lets think; think about it; thinking about; need "
        "think; have to think; =let me see; no wait; =wait; =wait please; please wait; wait a "
        "minute; wait a moment; wait a second; =hold on; one moment; one minute; one second; "
        "=just a moment; give me time; =hmm; =hm; =hmmm; =umm; =um; sochne do; sochne dijiye; "
        "soch ke batata; soch ke batati; soch raha; soch rahi; sochta; sochti; ek minute; =ruko; "
        "=rukiye; =ruko zara; zara ruko; सोचने दो; सोचने दीजिए; सोच रहा; सोच रही; सोचकर बताता; "
        "सोचकर बताती; एक मिनट; =रुको; =रुकिए; ज़रा रुको; ज़रा रुकिए; =हम्म; =maybe; maybe later; "
        "dont know; not sure; =idk; pata nahi; dekhte hain; sochenge; शायद; पता नहीं; देखते हैं; "
        "सोचेंगे",
        "refusal": "=no; =nope; =never; =nahi; =nahin; =na; =no way; =no thanks; =no thank you; "
        "=not ok; =sorry no; =sorry no deal; =sorry nahi; =sorry; =no sir; =no madam; =no bhai; "
        "=no friend; =no my friend; =no brother; no deal; dont accept; do not accept; cant "
        "accept; cannot accept; can not accept; wont accept; will not accept; not acceptable; "
        "dont agree; do not agree; dont want; not interested; never ever; =not really; =i refuse; "
        "=nahi bhai; =nahi bhaiya; =nahi ji; =na bhai; =sorry bhai; nahi manzoor; manzoor nahi; "
        "nahi chalega; nahi chalegi; nahi karna; =नहीं; =ना; =जी नहीं; =नहीं जी; =नहीं भाई; =नहीं "
        "भैया; =माफ़ कीजिए; मंज़ूर नहीं; नहीं चलेगा; नहीं चलेगी; cant give; cant offer; cant go; "
        "cannot give; cannot offer; cannot go; dont like; pasand nahi; पसंद नहीं; nahi yaar; arre "
        "nahi; bilkul nahi; not today; =no more; nahi dunga; nahi dungi; nahi doonga; nahi lunga; "
        "nahi lungi; =bye bye; =ok bye; give up; who cares; बिल्कुल नहीं; अरे नहीं; नहीं दूँगा; "
        "नहीं दूँगी; नहीं लूँगा; नहीं लूँगी; आज नहीं",
        "opinion": "what do you think; what you think; your opinion; do you like it; you like it "
        "?; like what you see; kaisa laga; kaisi lagi; pasand aaya; pasand aayi; pasand hai; "
        "aapko kya lagta; कैसा लगा; कैसी लगी; पसंद आया; पसंद आई; पसंद है; आपको क्या लगता",
        "press": "do better; be better; =come on; come on friend; come on brother; come on man; "
        "come on bhai; come on yaar; be serious; are you serious; seriously ?; really ?; be "
        "reasonable; be fair; kidding; you joking; are joking; must be joking; is this joke; is "
        "that joke; try harder; not enough; give more; offer more; mazak kar; mazaak kar; =mazak; "
        "=sach; sach mein ?; =are yaar; =arre yaar; =arre; =arre bhai; theek se bolo; sahi bolo; "
        "sahi lagao; मज़ाक कर; =मज़ाक; =सच; =अरे; =अरे यार; =अरे भाई; ठीक से बोलिए; सही लगाओ; सही "
        "लगाइए; =really; =seriously; =सच में; सच में ?; mazak mat; "
        "mazaak mat; मज़ाक मत",
        "why": "why; kyu; kyun; kyon; क्यों",
        "too_far": "too much; too high; too low; too expensive; too little; too cheap; expensive; "
        "costly; mehnga; mehanga; bahut zyada; bahut kam; itna kam; itna zyada; so low; lower "
        "please; go lower; go higher; come down; reduce; kam karo; thoda kam; kam kijiye; aur "
        "badhao; thoda badhao; महँगा; महंगा; बहुत ज़्यादा; बहुत कम; कम करो; कम कीजिए; थोड़ा कम; "
        "इतना कम; थोड़ा बढ़ाओ; discount; discounts; rebate; sasta karo; thats a lot; छूट; सस्ता; "
        "डिस्काउंट",
        "price": "how much; what price; your price; your offer; what offer; price ?; kitna; "
        "kitne; kitne ka; kya daam; kya bhav; daam kya; rate; make offer; कितना; कितने; क्या दाम; "
        "दाम क्या; भाव",
        "item": "what is this; what is it; what item; condition; describe; tell about; what sell; "
        "selling what; quality; size; colour; color; new ?; used ?; old ?; brand; genuine; "
        "original ?; ye kya; kya hai ye; =kya hai; kaisa hai; haalat; naya hai; purana hai; asli "
        "hai; यह क्या; ये क्या; =क्या है; क्या चीज़; कैसा है; असली है; हालत; नया है; पुराना है; "
        "कैसी है; available; how old; uplabdh; kitna purana; कितना पुराना",
        "begging": "beg; mercy; poor; my children; my kids; hungry; help me; have pity; sick; "
        "hospital; gareeb; garib; raham; majboori; bachche; bachchon; हाथ जोड़; ग़रीब; गरीब; रहम; "
        "मजबूरी; बच्चे; बीमार; =please; =plz; =कृपया",
        "thanks": "thanks; thank; thx; shukriya; dhanyavaad; dhanyawad; शुक्रिया; धन्यवाद",
        "compliment": "nice; great; wonderful; beautiful; lovely; good shop; amazing; awesome; "
        "smart; clever; love it; badhiya; kamaal; sundar; mast; accha laga; बढ़िया; कमाल; सुंदर; "
        "ख़ूबसूरत; मस्त; अच्छा लगा; अच्छी है",
        "greeting": "hello; =hi; hi there; hi friend; hi bhaiya; hey; hola; namaste; namaskar; "
        "salaam; salam; pranam; ram ram; good morning; good evening; good afternoon; good day; "
        "how are you; whats up; kaise ho; kaise hain; kya haal; sat sri akal; नमस्ते; नमस्कार; "
        "सलाम; प्रणाम; राम राम; कैसे हो; कैसे हैं; क्या हाल; हाल कैसा; हाल चाल",
        "nod": "=yes deal; =ok deal; =its a deal; =deal then; =yes i accept; =ok i accept; "
        "=sure; =yes; =yeah; =yep; =yup; =ok; =okay; =good; =fine; =alright; =all right; "
        "=cool; =right; =agreed; =i agree; =i see; =got it; =understood; =sounds good; =i take "
        "it; =i will take it; =take it; =lets do it; =sold; =wow; =oh; =wow ok; =oh ok; =oh i "
        "see; =ok good; =ok fine; =ok sure; =ok cool; =ok yes; =hmm ok; =yes sure; =yes please; "
        "=very good; =thats good; =thats fine; =not bad; =achha; =accha; =acha; =achha ji; =achha "
        "theek hai; =theek; =thik; =haan; =haan ji; =ji haan; =ji; =ok ji; =ok bhai; =sahi; =sahi "
        "hai; =chalo; =chalo theek hai; =wah; =samajh gaya; =samajh gayi; =le lunga; =le lungi; "
        "=अच्छा; =अच्छा जी; =ठीक; =हाँ; =हाँ जी; =जी; =जी हाँ; =सही; =सही है; =चलो; =चलिए; =वाह; "
        "=समझ गया; =समझ गई; =चलो ठीक है; =अच्छा ठीक है",
    }
)
FOREIGN = table(
    {"foreign": "dollar; dollars; usd; euro; euros; eur; pound; pounds; yen; डॉलर; यूरो; पाउंड"}
)
