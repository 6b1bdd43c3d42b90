from dataclasses import replace

import pytest

from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import IntentMatch, Phrase, get_phrase_book
from convengine.engine.understanding.phrases.matching import (
    OPTION,
    PART,
    PhraseMatches,
    describe_matches,
    match_phrases,
)
from tests.builders import make_classifier, make_config, make_intent, make_schema, make_snapshot

TRACK = make_classifier("TRACK", "Where is my order?", rule_type="PHRASE", classifier_id=1)
CANCEL = make_classifier("CANCEL", "Cancel my order", rule_type="phrase", classifier_id=2)


def snapshot(*more: Row) -> Snapshot:
    return make_snapshot(make_intent("TRACK"), make_intent("CANCEL"), TRACK, CANCEL, *more)


def intents(found: Snapshot, text: str) -> list[str]:
    return [match.intent for match in match_phrases(found, text).hits]


def test_the_minimum_confidence_and_the_margin_are_settings() -> None:
    assert intents(snapshot(), "I would like to cancel the order") == ["CANCEL"]
    assert intents(snapshot(make_config("Phrases/MIN_CONFIDENCE", "1")), "do cancel that green order now") == []
    wide = (make_config("Phrases/MARGIN", "1"), make_config("Phrases/MIN_CONFIDENCE", "0.01"))
    assert sorted(intents(snapshot(*wide), "my order")) == ["CANCEL", "TRACK"]
    assert intents(snapshot(*wide), "cancel MY order!") == ["CANCEL"], "an identical phrase wins outright"
    same = make_classifier("TRACK", "cancel my order", rule_type="PHRASE", classifier_id=3)
    assert sorted(intents(snapshot(same), "Cancel my order")) == ["CANCEL", "TRACK"]


def test_what_is_not_sure_is_near_from_the_minimum_for_a_question() -> None:
    unsure = snapshot(make_config("Phrases/MIN_CONFIDENCE", "0.999"), make_config("Phrases/MIN_NEAR", "0.05"))

    matches = match_phrases(unsure, "please stop that order of mine")
    assert matches.hits == ()
    assert matches.askable[0].intent == "CANCEL"
    assert match_phrases(snapshot(make_config("Phrases/MIN_NEAR", "1")), "please stop that").askable == ()


@pytest.mark.parametrize(("likeness", "is_asked"), [(0.3, True), (0.25, True), (0.1, False)])
def test_nothing_is_near_whose_phrases_are_all_unlike_the_message(likeness: float, is_asked: bool) -> None:
    match = IntentMatch("CANCEL", 0.2, Phrase(1, "CANCEL", "cancel my order"), likeness)

    assert bool(PhraseMatches((), (match,), 0.5, 0.1).askable) is is_asked


def test_synonyms_are_a_setting() -> None:
    synonyms = make_config("Phrases/SYNONYMS", '[["order", "basket"], "no list", [1]]')

    assert intents(snapshot(synonyms), "where is my basket") == ["TRACK"]


def test_disabled_rows_and_intents_take_no_part() -> None:
    assert intents(make_snapshot(make_intent("CANCEL"), TRACK, CANCEL), "where is my order") == []
    assert intents(make_snapshot(make_intent("TRACK"), replace(TRACK, enabled=False)), "where is my order") == []


def test_the_phrases_are_collected_once_per_table() -> None:
    found = snapshot()

    assert get_phrase_book(found) is get_phrase_book(found)


def test_an_event_names_the_confidence_and_the_runner_up() -> None:
    described = describe_matches(match_phrases(snapshot(), "cancel my whole order"))

    assert 0.5 <= described["score"] < 1
    assert described["runnerUp"] == "TRACK"


@pytest.mark.parametrize(
    "text",
    [
        "I need to see a dentist please, my name is Ann Bell",
        "My name is Ann Bell and I need to see a dentist",
        "Hello there, can you help me? My tooth hurts terribly, so I need to see a dentist",
    ],
)
def test_a_clause_is_read_by_itself_where_the_whole_message_means_nothing(text: str) -> None:
    snapshot = make_snapshot(
        make_intent("DENTIST"),
        make_intent("OPENING"),
        *(
            make_classifier("DENTIST", phrase, rule_type="PHRASE")
            for phrase in ("I need to see a dentist", "a check-up")
        ),
        *(make_classifier("OPENING", phrase, rule_type="PHRASE") for phrase in ("when are you open", "opening hours")),
    )

    assert [match.intent for match in match_phrases(snapshot, text).hits] == ["DENTIST"]
    assert match_phrases(snapshot, "My train was late, and the weather was awful").hits == ()


BOOKING = {"service": {"x-options": [{"value": "beard", "label": "Bart", "synonyms": ["Bart stutzen"]}]}}
SHOP = (
    make_intent("TERMIN"),
    make_intent("PREIS"),
    make_classifier("TERMIN", "Haare färben lassen", rule_type="PHRASE", classifier_id=1),
    make_classifier("TERMIN", "Einen Termin vereinbaren", rule_type="PHRASE", classifier_id=2),
    make_classifier("TERMIN", "Haben Sie etwas frei?", rule_type="PHRASE", classifier_id=4),
    make_classifier("PREIS", "Was kostet ein Haarschnitt?", rule_type="PHRASE", classifier_id=3),
)


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("Bart stutzen bitte", ["TERMIN"]),
        ("die Haare in der Suppe", []),
    ],
)
def test_an_option_of_a_form_is_half_a_phrase(text: str, intents: list[str]) -> None:
    form = make_schema("TERMIN", BOOKING)
    found = make_snapshot(*SHOP, form)

    assert [match.intent for match in match_phrases(found, text).hits] == intents


SEWING = (
    ("SEWING", ("I need my trousers shortened", "please shorten a skirt", "book a fitting", "repair a zip")),
    ("SEWING_Q1", ("Do you shorten curtains?", "Do you shorten skirts?")),
    ("SEWING_Q2", ("What is it that you do?", "Who are you?")),
    ("SEWING_Q3", ("Do I have to be there?",)),
    ("NAEHEN", ("ich möchte einen Rock kürzen lassen", "Hose kürzen", "ich brauche einen Termin")),
    ("NAEHEN_Q1", ("Kürzt ihr auch Röcke?", "Was macht ihr denn so?")),
)


def make_sewing_shop() -> Snapshot:
    rows_of_shop: list[Row] = []
    for intent, phrases in SEWING:
        rows_of_shop.append(make_intent(intent, returns="_Q" in intent))
        rows_of_shop += [make_classifier(intent, phrase, rule_type="PHRASE") for phrase in phrases]
    schemas = (make_schema(intent, {"piece": {"type": "string"}}) for intent in ("SEWING", "NAEHEN"))
    return make_snapshot(*rows_of_shop, *schemas)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("could you shorten a skirt for me?", "SEWING"),
        ("want a skirt shortened", "SEWING"),
        ("do you shorten skirts", "SEWING_Q1"),
        ("hi, do you shorten skirts?", "SEWING_Q1"),
        ("könntet ihr einen Rock kürzen?", "NAEHEN"),
        ("hätt gern nen Rock kürzen lassen", "NAEHEN"),
        ("kürzt ihr auch Röcke?", "NAEHEN_Q1"),
    ],
)
def test_an_order_is_the_task_and_a_question_the_question_beside_it(text: str, intent: str) -> None:
    assert intents(make_sewing_shop(), text) == [intent]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("do you shorten with that?", "SEWING_Q3"),
        ("what do you do please?", "SEWING_Q2"),
        ("shorten skirts for me then?", "SEWING_Q1"),
        ("need I be there 2 of them?", "SEWING_Q3"),
    ],
)
def test_a_question_beside_the_flow_is_favoured_and_no_surer_than_sure(text: str, own: str) -> None:
    shop = make_sewing_shop()

    alone, beside = (match_phrases(shop, text, interrupting=True, own=each).likely for each in ((), (own,)))

    assert all(match.confidence <= 1 for match in (*alone, *beside))
    assert [match.confidence for match in beside if match.intent == own] >= [
        match.confidence for match in alone if match.intent == own
    ]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("wanna book a fitting", "SEWING"),
        ("need a zip repaired", "SEWING"),
        ("bräucht nen Termin", "NAEHEN"),
        ("möcht ne Hose kürzen", "NAEHEN"),
        ("such nen Termin", "NAEHEN"),
    ],
)
def test_clipped_beginnings_say_nothing_of_their_own(text: str, intent: str) -> None:
    assert intents(make_sewing_shop(), text) == [intent]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("what's it that you do?", "SEWING_Q2"),
        ("who are you guys?", "SEWING_Q2"),
        ("who are you then", "SEWING_Q2"),
        ("do I have to be in?", "SEWING_Q3"),
        ("was macht ihr so", "NAEHEN_Q1"),
    ],
)
def test_questions_of_small_words_are_compared_by_all_their_words(text: str, intent: str) -> None:
    assert intents(make_sewing_shop(), text) == [intent]


@pytest.mark.parametrize("text", ["I do not have it", "you do it", "who is it for", "can you do that?"])
def test_other_small_words_ask_nothing_that_is_known(text: str) -> None:
    assert intents(make_sewing_shop(), text) == []


def test_what_is_denied_tells_two_intents_apart() -> None:
    pause = make_classifier("PAUSE", "no boxes please, we can't take boxes", rule_type="PHRASE", classifier_id=3)
    order = make_classifier("ORDER", "boxes please", rule_type="PHRASE", classifier_id=4)
    found = make_snapshot(make_intent("PAUSE"), make_intent("ORDER"), pause, order)

    assert intents(found, "we don't take boxes from Monday on") == ["PAUSE"]
    assert intents(found, "boxes for us then") == ["ORDER"]


def test_a_message_in_capitals_is_as_sure_as_in_small_letters() -> None:
    book = get_phrase_book(snapshot())

    assert book.rank("COULD YOU TRACK IT FOR ME") == book.rank("could you track it for me")


def test_typing_errors_of_one_slip_are_mended() -> None:
    address = make_classifier("ADDRESS", "I need to change my address", rule_type="PHRASE", classifier_id=3)

    assert intents(snapshot(make_intent("ADDRESS"), address), "i ned to chnage my adress") == ["ADDRESS"]


def test_greetings_and_courtesies_around_a_phrase_weigh_nothing() -> None:
    (match,) = match_phrases(snapshot(), "Good morning, cancel my order please. Kind regards").hits

    assert (match.intent, match.is_identical) == ("CANCEL", True)


GARAGE = (
    make_intent("CAR"),
    make_intent("CAR_Q1", returns=True),
    make_schema(
        "CAR", {"job": {"x-options": [{"value": "tyres", "label": "Reifenwechsel", "synonyms": ["tyre change"]}]}}
    ),
    make_classifier("CAR", "mein Auto muss in die Werkstatt", rule_type="PHRASE", classifier_id=1),
    make_classifier("CAR_Q1", "was kostet ein Reifenwechsel", rule_type="PHRASE", classifier_id=2),
    make_classifier("CAR_Q1", "what does a tyre change cost", rule_type="PHRASE", classifier_id=3),
)


@pytest.mark.parametrize(
    ("text", "basis"),
    [
        ("Wir sind neu hier, die Sonne scheint, muss mein Auto in die Werkstatt?", PART),
        ("moin ich bins nochmal, brauch nen reifenwechsel", OPTION),
        ("a tyre change please", OPTION),
        ("what does the tyre change cost", ""),
        ("mein Auto muss in die Werkstatt", ""),
    ],
)
def test_a_match_says_whether_the_whole_message_speaks_for_it(text: str, basis: str) -> None:
    matches = match_phrases(make_snapshot(*GARAGE), text)

    assert (*matches.hits, *matches.near)[0].basis == basis
    assert matches.describe(matches.hits[0]).get("basis", "") == basis


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("ich brauch am donnerstag um 9 nen reifenwechsel", "CAR"),
        ("moin ich bins nochmal, brauch nen reifenwechsel", "CAR"),
        ("reifenwechsel", "CAR"),
        ("I need a tyre change on Thursday at 9", "CAR"),
        ("a tyre change please", "CAR"),
        ("was kostet n reifenwechsel", "CAR_Q1"),
        ("what does the tyre change cost", "CAR_Q1"),
    ],
)
def test_who_orders_what_a_flow_offers_asks_no_question_beside_it(text: str, intent: str) -> None:
    assert intents(make_snapshot(*GARAGE), text) == [intent]
