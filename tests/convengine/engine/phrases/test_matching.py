from dataclasses import replace

import pytest

from convengine.engine.phrases.matching import describe_matches, get_phrase_index, match_phrases
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from tests.builders import make_classifier, make_config, make_intent, make_snapshot

TRACK = make_classifier("TRACK", "Where is my order?", rule_type="PHRASE", classifier_id=1)
CANCEL = make_classifier("CANCEL", "Cancel my order", rule_type="phrase", classifier_id=2)


def snapshot(*more: Row) -> Snapshot:
    return make_snapshot(make_intent("TRACK"), make_intent("CANCEL"), TRACK, CANCEL, *more)


def intents(found: Snapshot, text: str) -> list[str]:
    return [match.intent for match in match_phrases(found, text).hits]


def test_the_minimum_score_and_the_margin_are_settings() -> None:
    assert intents(snapshot(), "cancel the green order") == ["CANCEL"]
    assert intents(snapshot(make_config("Phrases/MIN_SCORE", "0.99")), "cancel the green order") == []
    wide = (make_config("Phrases/MARGIN", "1"), make_config("Phrases/MIN_SCORE", "0.1"))
    assert intents(snapshot(*wide), "cancel my order") == ["CANCEL", "TRACK"]


def test_synonyms_are_a_setting() -> None:
    synonyms = make_config("Phrases/SYNONYMS", '[["order", "basket"], "no list", [1]]')

    assert intents(snapshot(synonyms), "where is my basket") == ["TRACK"]


def test_disabled_rows_and_intents_take_no_part() -> None:
    assert intents(make_snapshot(make_intent("CANCEL"), TRACK, CANCEL), "where is my order") == []
    assert intents(make_snapshot(make_intent("TRACK"), replace(TRACK, enabled=False)), "where is my order") == []


def test_the_index_is_built_once_per_table() -> None:
    found = snapshot()

    assert get_phrase_index(found) is get_phrase_index(found)


def test_an_event_names_the_words_and_the_runner_up() -> None:
    described = describe_matches(match_phrases(snapshot(), "cancel my order"))

    assert described["words"] == ["cancel", "order"]
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
