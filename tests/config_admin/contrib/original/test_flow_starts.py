"""Flows of seed files start here as their author meant: from IDLE, and also when a phrase chooses the intent."""

from config_admin.contrib.original.seed_sql import read_statements
from config_admin.transfer.document import Document

PHRASE = "INSERT INTO ce_intent_classifier (intent_code, {}rule_type, pattern) VALUES ('PARCEL', {}'CONTAINS', 'send');"
ANSWER = "INSERT INTO ce_response (intent_code, state_code, exact_text) VALUES ('{}', '{}', 'Where to?');"
RULE = (
    "INSERT INTO ce_rule (rule_id, phase, intent_code, state_code, rule_type, match_pattern, action, action_value)"
    " VALUES (7, '{}', 'PARCEL', '{}', 'EXACT', 'ANY', 'SET_STATE', 'COLLECT');"
)


def read(*statements: str) -> Document:
    document = read_statements("".join(statements))
    assert not [note for note in document.notes if note.refused]
    return document


def get_phrase_state(document: Document) -> object:
    [row] = document.tables["ce_intent_classifier"]
    return row.values.get("state_code")


def list_phases(document: Document) -> list[object]:
    return [row.values["phase"] for row in document.tables.get("ce_rule", ())]


def test_a_phrase_without_a_state_leads_to_idle_where_its_intent_begins() -> None:
    phrase = PHRASE.format("", "")
    document = read(phrase, ANSWER.format("PARCEL", "IDLE"))

    assert get_phrase_state(document) == "IDLE"
    assert "It leads to IDLE" in document.notes[-1].text
    assert get_phrase_state(read(PHRASE.format("state_code, ", "NULL, "), ANSWER.format("PARCEL", "IDLE"))) == "IDLE"


def test_a_phrase_keeps_its_state_and_an_intent_that_begins_elsewhere_its_start() -> None:
    phrase = PHRASE.format("", "")

    assert get_phrase_state(read(PHRASE.format("state_code, ", "'ASK', "), ANSWER.format("PARCEL", "IDLE"))) == "ASK"
    assert get_phrase_state(read(phrase, ANSWER.format("PARCEL", "ANY"))) is None
    assert get_phrase_state(read(phrase, ANSWER.format("OTHER", "IDLE"))) is None
    both = ANSWER.format("PARCEL", "IDLE") + ANSWER.format("PARCEL", "UNKNOWN")
    assert get_phrase_state(read(phrase, both)) is None


def test_a_start_rule_after_the_model_also_starts_what_a_phrase_chose() -> None:
    document = read(RULE.format("AGENT_POST_INTENT", "IDLE"), PHRASE.format("", ""))

    assert list_phases(document) == ["POST_AGENT_INTENT", "POST_CLASSIFIER_INTENT"]
    model, phrase = document.tables["ce_rule"]
    assert {**phrase.values, "phase": "POST_AGENT_INTENT", "rule_id": 7} == model.values
    assert "rule_id" not in phrase.values
    assert "added a second time" in document.notes[-1].text


def test_a_start_rule_stays_alone_where_no_phrase_reaches_it_or_another_rule_starts() -> None:
    phrase = PHRASE.format("", "")

    assert list_phases(read(RULE.format("POST_AGENT_INTENT", "IDLE"))) == ["POST_AGENT_INTENT"]
    far = PHRASE.format("state_code, ", "'ASK', ")
    assert list_phases(read(RULE.format("POST_AGENT_INTENT", "IDLE"), far)) == ["POST_AGENT_INTENT"]
    both = RULE.format("POST_AGENT_INTENT", "UNKNOWN") + RULE.format("POST_CLASSIFIER_INTENT", "UNKNOWN")
    assert list_phases(read(both, phrase)) == ["POST_AGENT_INTENT", "POST_CLASSIFIER_INTENT"]
