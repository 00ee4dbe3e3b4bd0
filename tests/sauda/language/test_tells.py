"""Tells are read where they are meant, in three ways of writing, and in any text without harm."""

import csv
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.experiments.language import (
    KINDS,
    LABELLED,
    LANGUAGES,
    SPLITS,
    blind,
    blind_quality,
    labelled,
    quality,
    split,
)
from sauda.language import lexicon
from sauda.language.lexicon import SIGNALS, find, words
from sauda.language.tells import HALF_LIFE, Tell, memory, read

LEXICON = LABELLED.with_name("lexicon.csv")
HALF_LIVES = [0.5 ** (n / HALF_LIFE) for n in range(8)]


def signals(text: str) -> set[str]:
    return {tell.signal for tell in read(text)}


def texts_of(text: str, signal: str) -> list[str]:
    return [tell.text for tell in read(text) if tell.signal == signal]


# What is said


@pytest.mark.parametrize(
    ("text", "signal", "span"),
    [
        ("It is URGENT, call me", "urgency", "URGENT"),
        ("bhai jaldi bolo", "urgency", "jaldi"),
        ("jaldeeee karo", "urgency", "jaldeeee"),
        ("मुझे तुरन्त चाहिए", "urgency", "तुरन्त"),
        ("two other buyers want it", "deception", "two other buyers"),
        ("teen log aur aa rahe hain", "deception", "teen log aur"),
        ("यह आख़िरी पीस है", "deception", "आख़िरी पीस"),
        ("I won't go any lower", "confidence", "won't go any lower"),
        ("600 se kam nahi lunga", "confidence", "600 se kam nahi"),
        ("हज़ार से कम नहीं लूँगा", "confidence", "हज़ार से कम नहीं"),
        ("I'm a student", "sympathy", "student"),
        ("main gareeb hoon", "sympathy", "gareeb"),
        ("मैं ग़रीब हूँ", "sympathy", "ग़रीब"),
        ("the lid is broken", "condition", "broken"),
        ("ekdam naya hai", "condition", "ekdam naya"),
        ("यह टूटा है", "condition", "टूटा"),
    ],
)
def test_a_tell_says_where_it_stands(text: str, signal: str, span: str):
    assert texts_of(text, signal) == [span]
    (tell,) = (tell for tell in read(text) if tell.signal == signal)
    assert 0 < tell.score <= 1
    assert tell.explanation.endswith(".")


@pytest.mark.parametrize("spelling", ["nuksan", "nuksaan", "nuqsan", "NUKSAAN", "nuksann"])
def test_spellings_of_a_word_are_one_word(spelling: str):
    assert signals(f"mera {spelling} hoga") == {"sympathy"}


def test_one_message_may_give_several_things_away():
    text = "Brand new, do log aur pooch rahe hain, 900 final, jaldi bolo, main student hoon"
    assert signals(text) == set(SIGNALS)


# What is not


@pytest.mark.parametrize(
    "text",
    [
        *("I bought it last year", "the semi-final is on Sunday", "my final exams are over"),
        *(
            "the rush hour is bad",
            "my iPhone is semi final",
            "from scratch",
            "he is a firm believer",
        ),
        *(
            "Can't wait to see it!",
            "that won't work for me",
            "all at once",
            "sell to somebody else",
        ),
        *("I knew the deadlines", "renewed", "the industry", "insurgents", "confirmed finally"),
        *("500 pe final karo", "final price is flexible", "ok final", "अभी फाइनल करते हैं"),
        *("pichle saal liya tha", "नई दिल्ली", "naya ghar", "abhi nahi"),
    ],
)
def test_a_look_alike_is_no_tell(text: str):
    assert read(text) == ()


@pytest.mark.parametrize(
    ("plain", "denied"),
    [
        ("It is urgent", "It is not urgent"),
        ("I am in a hurry", "I am not really in a hurry"),
        ("jaldi hai", "koi jaldi nahi hai"),
        ("jaldi karo", "jaldi mat karo"),
        ("जल्दी है", "कोई जल्दी नहीं"),
        ("urgent hai", "bilkul urgent nhi hai"),
        ("There are other buyers", "There are no other buyers"),
        ("final hai", "final nahi hai"),
        ("दाम फिक्स है", "दाम फिक्स नहीं है"),
        ("I am a student", "I'm not a student"),
        ("main student hu", "main student nahi hu"),
        ("मैं छात्र हूँ", "मैं छात्र नहीं हूँ"),
    ],
)
def test_a_denial_takes_a_tell_away(plain: str, denied: str):
    assert len(read(plain)) >= 1
    assert read(denied) == ()


@pytest.mark.parametrize("fault", ["scratches", "dents", "rust"])
def test_a_denied_fault_still_tells_of_the_condition(fault: str):
    (plain,) = read(f"it has {fault}")
    (denied,) = read(f"it has no {fault}")
    assert plain.explanation.startswith("Says that")
    assert denied.explanation == plain.explanation.replace("Says", "Denies", 1)


def test_no_warranty_and_no_box_do_not_praise_the_item():
    for tell in read("warranty expired, no original box"):
        assert "not new" in tell.explanation or tell.explanation.startswith("Denies")


@pytest.mark.parametrize(
    "text",
    [
        *("No bro, 500 is final", "No, the price is fixed", "nahi, 500 final hai"),
        *("no no 500 last price", "no 3000 is the last price"),
        *("not only that, price is fixed", "No doubt it is my final offer"),
        *("student hu, itna nahi de sakta", "aaj hi chahiye nahi to rehne do"),
    ],
)
def test_a_negator_denies_only_what_stands_in_its_scope(text: str):
    assert read(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Is it urgent?", "Are you in a hurry", "any scratches on it?", "What's the final price?"),
        *(
            "jaldi hai kya",
            "क्या आपको जल्दी है",
            "scratch hai kya?",
            "last kitna?",
            "It's new, right?",
        ),
        *("Why would I hurry?", "500 final?"),
        *("how firm is the price", "Does anyone else want it, another buyer maybe?"),
    ],
)
def test_a_question_is_no_tell(text: str):
    assert read(text) == ()


def test_a_request_presses_although_it_asks():
    assert signals("Can you decide right now?") == {"urgency"}
    assert signals("I am a student can you do 300?") == {"sympathy"}
    assert signals("student hu 300 mein doge?") == {"sympathy"}
    assert signals("its too high for me is there any way you can do 300?") == {"sympathy"}


@pytest.mark.parametrize(
    "text",
    [
        *("He said it was urgent", "She told me the price is final", "you said fixed price"),
        *("usne kaha tha ki urgent hai", "उसने कहा था दाम फिक्स है", "I never said it is urgent"),
        *('The board says "fixed price"', "if I was in a hurry I would pay", "it was urgent then"),
        *(
            "agar jaldi hoti to le leta",
            "अगर जल्दी होती तो ले लेता",
            "If it had scratches I'd tell you",
        ),
    ],
)
def test_what_is_reported_or_imagined_is_no_tell(text: str):
    assert read(text) == ()


def test_what_one_says_of_oneself_after_a_report_counts():
    assert signals("He said take your time but I need it urgently") == {"urgency"}
    assert signals("I told you 500 is final") == {"confidence"}
    assert signals("if you take it today I am in a hurry") == {"urgency"}
    assert signals('"500 is final"') == {"confidence"}
    assert signals('my 27" screen, 500 is final') == {"confidence"}
    assert signals('so " 500 is final') == {"confidence"}


@pytest.mark.parametrize("text", ["final", "scratch", "urgent!", "akhri", "जल्दी"])
def test_one_word_alone_is_no_tell(text: str):
    assert read(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("the buyer's rush is his problem", "my son is in a hurry", "their final price was 500"),
        *("my last bike had a bent fork", "my old scooter used to leak oil"),
        *("mere purane phone ki screen tooti thi", "मेरी पुरानी साइकिल की चेन टूटी थी"),
        *("if someone else showed up I'd tell you", "even if it is urgent I wait"),
        *("I was in a hurry last month", "aap hi keh rahe the ki do log aur aa rahe hain"),
        *("last price bolo", "if you want a warranty I can get one"),
    ],
)
def test_what_is_of_others_supposed_or_past_is_no_tell(text: str):
    assert read(text) == ()


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("that's the last I could do", "confidence"),
        ("85 is as far down as I'm willing to come", "confidence"),
        ("sorry, 90 is firm", "confidence"),
        ("600 se neeche to main soch bhi nahi sakta", "confidence"),
        ("and that is your final price", "confidence"),
        ("the transmission was rebuilt two years back", "condition"),
        ("new chain on it, the old one snapped", "condition"),
        ("the finish has worn thin", "condition"),
        ("zip thodi atakti hai", "condition"),
        ("किनारे पर दरार है", "condition"),
        ("never been in an accident", "condition"),
        ("another guy is driving over at 4", "deception"),
        ("this needs to go by Friday", "urgency"),
        ("at 120 I'm eating the cost", "sympathy"),
    ],
)
def test_hesitation_repair_and_wear_are_heard(text: str, signal: str):
    assert signal in signals(text)


def test_an_intensifier_raises_a_score_and_a_softener_lowers_it():
    (plain,), (strong,), (weak,) = map(
        read, ["it is broken", "it is very broken", "it is slightly broken"]
    )
    assert weak.score < plain.score < strong.score <= 1


# What is remembered


def test_a_tell_is_half_forgotten_after_a_half_life():
    (tell,) = read("it is urgent")
    for silent, share in enumerate(HALF_LIVES):
        level = memory(["it is urgent", *["hm"] * silent])["urgency"]
        assert level == pytest.approx(tell.score * share)


def test_a_weaker_tell_does_not_lower_what_is_remembered():
    assert memory(["it is urgent", "hurry"])["urgency"] >= memory(["it is urgent", "hm"])["urgency"]


def test_taking_it_back_clears_it_and_nothing_else():
    levels = memory(["urgent hai, main student hoon", "ab koi jaldi nahi hai"])
    assert levels["urgency"] == 0
    assert levels["sympathy"] > 0


def test_nothing_is_remembered_of_nothing():
    assert memory([]) == memory(["", "how about 300"]) == dict.fromkeys(SIGNALS, 0.0)


@given(st.lists(st.sampled_from(["urgent hai", "not urgent", "student hu", "500 final", "ok"])))
def test_every_level_lies_between_zero_and_one(messages: list[str]):
    levels = memory(messages)
    assert tuple(levels) == SIGNALS
    assert all(0 <= level <= 1 for level in levels.values())


# Any text at all

PIECES = st.sampled_from(
    [
        *("not", "no", "nahi", "नहीं", "if", "agar", "kya", "said", "he", "?", "!", ",", ".", "'"),
        *("urgent", "jaldi", "final", "scratch", "student", "other", "buyers", "last", "kam", "se"),
        *("500", "₹", "saat", "sau", "hu", '"', "-", "\ud800", "\x00", "🙂", "क्", "़", "\n", "ﷺ"),
    ]
)


def assert_whole(text: str, tells: tuple[Tell, ...]) -> None:
    ends = dict.fromkeys(SIGNALS, 0)
    assert list(tells) == sorted(tells, key=lambda tell: tell.start)
    for tell in tells:
        assert ends[tell.signal] <= tell.start < tell.end <= len(text)
        assert text[tell.start : tell.end] == tell.text
        assert 0 < tell.score <= 1
        ends[tell.signal] = tell.end


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_is_read_with_whole_spans(text: str):
    assert_whole(text, read(text))


@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_any_mixture_of_what_matters_is_read_with_whole_spans(text: str):
    assert_whole(text, read(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["a", "no ", "1 other ", "? ", "'a", "जल्दी ", "\ud800", "if was, "]
)
def test_a_hundred_kilobytes_are_read_to_the_end(piece: str):
    text = (piece * 100_000)[:100_000]
    assert_whole(text, read(text))


@pytest.mark.parametrize("piece", ["final ", "no more people ", "1 ", "kam se kam 1 aur ", "have "])
def test_the_work_grows_with_the_length_and_no_faster(piece: str, monkeypatch):
    work = Counter()
    real = lexicon.phrase_end

    def counted(*arguments):
        work[length] += 1
        return real(*arguments)

    monkeypatch.setattr(lexicon, "phrase_end", counted)
    for length in (200, 400):
        list(find(words(piece * length)))
    assert work[400] <= 2.05 * work[200]


# The lexicon


def test_every_phrase_of_the_lexicon_can_be_looked_up():
    for elements, cue in lexicon.phrases(LEXICON):
        first = elements[0]
        assert first.words or first.stems or first.kinds, cue
        assert not first.optional, cue
        assert all(len(stem) >= 3 for stem in first.stems), first.stems


def test_every_row_of_the_lexicon_is_a_plain_sentence_with_a_score_and_all_scripts():
    with LEXICON.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            assert row["signal"] in (*SIGNALS, "none")
            assert 0 < float(row["score"]) <= 1
            assert row["denied"] in ("drops", "flips", "stays")
            assert row["explanation"].endswith(".")
            assert row["en"]
            assert row["hinglish"]
            assert row["hi"]
            if row["denied"] == "flips":
                assert row["explanation"].startswith("Says that")


# The labelled sentences

SENTENCES = labelled()


def test_no_sentence_stands_there_twice():
    texts = [" ".join(sentence.text.lower().split()) for sentence in SENTENCES]
    assert len(set(texts)) == len(texts)


def test_the_labelled_set_has_the_size_and_the_parts_it_promises():
    n = len(SENTENCES)
    languages = Counter(sentence.language for sentence in SENTENCES)
    assert n >= 480
    assert all(0.28 * n <= languages[language] <= 0.39 * n for language in LANGUAGES)
    assert sum(not sentence.signals for sentence in SENTENCES) >= n / 3
    assert sum(sentence.split == "held_out" for sentence in SENTENCES) >= n / 2
    for language in LANGUAGES:
        held_out = [s for s in SENTENCES if (s.language, s.split) == (language, "held_out")]
        assert all(sum(signal in s.signals for s in held_out) >= 10 for signal in SIGNALS)


def test_devanagari_sentences_are_written_in_it_and_others_are_not():
    for sentence in SENTENCES:
        has_devanagari = any("\u0900" <= letter <= "\u097f" for letter in sentence.text)
        assert has_devanagari == (sentence.language == "hi"), sentence.text


def test_a_sentence_in_the_wrong_split_is_refused(tmp_path):
    path = tmp_path / "labelled.csv"
    wrong = {"dev": "held_out", "held_out": "dev"}[split("jaldi bolo")]
    path.write_text(f"text,language,split,signals,price\njaldi bolo,hinglish,{wrong},urgency,\n")
    with pytest.raises(ValueError, match="belongs to"):
        labelled(path)


@pytest.mark.slow
def test_the_development_sentences_are_read_well_in_every_language():
    data = quality(sentences=[s for s in SENTENCES if s.split == "dev"], unseen=())
    for row in data["rows"]:
        if (row["reader"], row["split"], row["signal"]) == ("sauda", "dev", "all"):
            assert row["f1"]["mean"] >= 0.95, row
    (prices,) = (
        row
        for row in data["prices"]
        if (row["reader"], row["split"], row["language"]) == ("sauda", "dev", "all")
    )
    assert prices["exact_rate"]["mean"] >= 0.95
    assert prices["false_positive_rate"]["mean"] <= 0.02


BLIND_SENTENCES = blind()


def test_a_blind_sentence_of_no_known_kind_is_refused(tmp_path):
    path = tmp_path / "blind.csv"
    path.write_text("text,language,split,kind,signals,price\nfor 5,en,dev,guess,,5\n")
    with pytest.raises(ValueError, match="'for 5' is labelled"):
        blind(path)


def test_the_blind_sentences_stand_once_and_have_both_splits_of_every_kind():
    texts = [" ".join(sentence.text.lower().split()) for sentence in BLIND_SENTENCES]
    assert len(set(texts)) == len(texts)
    counts = Counter((sentence.split, sentence.kind) for sentence in BLIND_SENTENCES)
    assert all(counts[split_name, kind] >= 10 for split_name in SPLITS for kind in KINDS)


@pytest.mark.slow
def test_the_blind_development_sentences_are_read_well():
    data = blind_quality([s for s in BLIND_SENTENCES if s.split == "dev"])
    ours = {"reader": "sauda", "split": "dev", "language": "all"}
    (tells,) = (r for r in data["rows"] if r.items() >= {**ours, "signal": "all"}.items())
    assert tells["precision"]["mean"] >= 0.95
    assert tells["recall"]["mean"] >= 0.95
    (prices,) = (r for r in data["prices"] if r.items() >= {**ours, "kind": "all"}.items())
    assert (prices["other"], prices["false_positives"]) == (0, 0)
    assert prices["exact_rate"]["mean"] >= 0.95


@pytest.mark.nightly
def test_the_blind_figures_count_each_sentence_for_what_it_is_labelled_for():
    data = blind_quality(BLIND_SENTENCES)
    for row in data["rows"]:
        if (row["language"], row["signal"]) == ("all", "all"):
            kinds = [(s.split, s.kind) for s in BLIND_SENTENCES]
            assert row["n"] == kinds.count((row["split"], "tells"))
    for row in data["prices"]:
        assert row["priced"] + row["unpriced"] == row["n"]
        assert row["exact"] + row["other"] + row["missed"] == row["priced"]


def test_the_figures_follow_from_the_counts():
    data = quality(sentences=SENTENCES[:40], unseen=BLIND_SENTENCES[:40])
    for row in data["rows"]:
        if row["precision"]:
            assert row["precision"]["mean"] == row["true_positives"] / (
                row["true_positives"] + row["false_positives"]
            )
        if row["recall"]:
            assert row["recall"]["mean"] == row["true_positives"] / (
                row["true_positives"] + row["false_negatives"]
            )
    assert len(data["sentences"]) == 40
