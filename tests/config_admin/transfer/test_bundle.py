"""Texts of bundles: strict to read, and the same bytes for the same rows."""

import json
from itertools import permutations
from unittest import mock

import pytest
import yaml

from config_admin.transfer import bundle
from config_admin.transfer.document import Ancestor, BaseRelease, Document, FileRefused, ImportMode

HEAD = "format: convengine-configuration\nversion: 1\ntables:\n"


def rows(document: Document, table: str = "ce_intent") -> list[dict[str, object]]:
    return [dict(row.values) for row in document.tables[table]]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "  ce_intent:\n  - {intent_code: LOAN, priority: 5, enabled: true, llm_hint: null}\n",
        "ce_intent:\n- intent_code: LOAN\n  priority: 5\n  enabled: true\n  llm_hint: ~\n",
        '{"ce_intent": [{"intent_code": "LOAN", "priority": 5, "enabled": true, "llm_hint": null}]}',
        '\ufeff{"format": "convengine-configuration", "version": 1, "tables": {"ce_intent":'
        ' [{"intent_code": "LOAN", "priority": 5, "enabled": true, "llm_hint": null}]}}',
    ],
)
def test_yaml_and_json_with_and_without_a_head_say_the_same(text: str) -> None:
    document = bundle.read_bundle(text.lstrip("\ufeff"))
    assert rows(document) == [{"intent_code": "LOAN", "priority": 5, "enabled": True, "llm_hint": None}]
    assert document.mode is ImportMode.REPLACE
    assert document.count == 1


def test_a_row_knows_its_line() -> None:
    document = bundle.read_bundle(HEAD + "  ce_intent:\n  - intent_code: A\n  - intent_code: B\n")
    assert [row.where for row in document.tables["ce_intent"]] == ["Intents, row 1 (line 5)", "Intents, row 2 (line 6)"]


BASE, ANCESTRY = "base:\n  release: 2\n  content: 0aa1\n", "ancestry:\n  checksum: 0bb2\n  contents:\n  - 0cc3\n"
TABLES = "tables:\n  ce_intent:\n  - intent_code: LOAN\n"


@pytest.mark.parametrize("parts", [*permutations((BASE, TABLES, ANCESTRY)), (BASE, TABLES, ANCESTRY.rstrip())])
def test_another_base_leaves_all_other_keys_whatever_their_order_is(parts: tuple[str, ...]) -> None:
    text = bundle.replace_base("".join(parts), BaseRelease(7, "f00d"), [Ancestor("beef")])

    document = bundle.read_bundle(text)
    assert (document.base, document.ancestors) == (BaseRelease(7, "f00d"), [Ancestor("beef")])
    assert rows(document) == [{"intent_code": "LOAN"}]


@pytest.mark.parametrize("is_sorted", [False, True])
def test_another_base_leaves_all_other_keys_of_json(is_sorted: bool) -> None:
    document = yaml.safe_load(BASE + TABLES + ANCESTRY)
    text = json.dumps(document, indent=1, sort_keys=is_sorted) + "\n"

    expected = document | {"base": {"release": 7, "content": "f00d"}}
    expected |= {"ancestry": document["ancestry"] | {"contents": ["beef"], "checksum": mock.ANY}}
    assert json.loads(bundle.replace_base(text, BaseRelease(7, "f00d"), [Ancestor("beef")])) == expected


def test_dates_and_other_words_of_yaml_stay_texts() -> None:
    document = bundle.read_bundle("ce_prompt_template:\n- {created_at: 2026-01-31T12:00:00Z, user_prompt: =}\n")
    assert rows(document, "ce_prompt_template") == [{"created_at": "2026-01-31T12:00:00Z", "user_prompt": "="}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not a configuration"),
        ("- 1", "this is not a configuration"),
        ("ce_intents: []", "ce_intents: is not a table"),
        ("ce_intent: {}", "ce_intent: must be a list of rows"),
        ("ce_intent: [1]", "Intents, row 1: must be a map"),
        ("format: other\nversion: 1\ntables: {}", "format: 'other' is not supported"),
        (
            "format: convengine-configuration\nversion: 2\ntables: {}",
            "version: 2 is not supported. This installation reads 1",
        ),
        (HEAD + "  ce_intent: []\nmore: 1", "unknown keys: more"),
        ("ce_intent: [{a: 1,\n a: 2}]", "Line 2: the key 'a' occurs twice"),
        ("ce_intent: &x []\nce_rule: *x", "Line 2: aliases"),
        ("ce_intent: !!python/object:os.system []", "Line 1: aliases .* tags"),
        ("ce_intent: !!binary aGk=", "the tag .*binary is not supported"),
        ("ce_intent: [{1: a}]", "this key is not a text"),
        ("ce_intent: [{a: .nan}]", ".nan is not a JSON value"),
        ("ce_intent: {\n", "not valid YAML"),
        ("ce_intent: []\n---\nce_rule: []", "more than one document"),
        ('{"ce_intent": [{"a": 1, "a": 2}]}', "the key 'a' occurs twice"),
        ('{"ce_intent": NaN}', "NaN is not a JSON value"),
        ('{\n"ce_intent": [,]}', "Line 2, column 15: not valid JSON"),
        ("[" * 100_000, "nested more than"),
        ('{"a":' * 100_000, "nested more than"),
    ],
    ids=lambda text: text[:25],
)
def test_what_is_no_bundle_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(FileRefused, match=message):
        bundle.read_bundle(text)


def contents(rows: dict[int, dict[str, object]]) -> dict[str, dict[int, dict[str, object]]]:
    return {"ce_policy": rows, "ce_mcp_tool": {}}


ROW = {
    "rule_type": "REGEX",
    "pattern": "x",
    "response_text": "a\nb\n",
    "enabled": True,
    "description": None,
    "translations": None,
}


@pytest.mark.parametrize("as_yaml", [True, False])
def test_order_does_not_depend_on_what_led_there(as_yaml: bool) -> None:
    first, two, three = (
        {"policy_id": 9, "priority": 10, **ROW},
        {"policy_id": 10, "priority": 10, **ROW},
        {"policy_id": 1, "priority": 20, **ROW},
    )
    text = bundle.write_bundle(contents({1: three, 10: two, 9: first}), ["ce_policy"], as_yaml=as_yaml)
    assert text == bundle.write_bundle(contents({9: first, 1: three, 10: two}), ["ce_policy"], as_yaml=as_yaml)
    assert [row["policy_id"] for row in rows(bundle.read_bundle(text), "ce_policy")] == [9, 10, 1]


@pytest.mark.parametrize(
    "value",
    [
        *("a\nb\n", " lead\n  \ntrail ", "tab\tend", "x\u2028y\x85", "on", "12:30", "1e3", "=", "<<", "2026-01-01"),
        *("é 🙂", "#", "- a", "\r\n", "", "'", "null", "\x01"),
    ],
)
@pytest.mark.parametrize("as_yaml", [True, False])
def test_every_text_comes_back(value: str, as_yaml: bool) -> None:
    row = {"policy_id": 1, "priority": 1, **ROW, "response_text": value}
    text = bundle.write_bundle(contents({1: row}), ["ce_policy"], as_yaml=as_yaml)
    [imported] = rows(bundle.read_bundle(text), "ce_policy")
    assert imported["response_text"] == value


def test_texts_of_several_lines_stand_as_they_are_read() -> None:
    text = bundle.write_bundle(contents({1: {"policy_id": 1, "priority": 1, **ROW}}), ["ce_policy"], as_yaml=True)
    assert "    response_text: |\n      a\n      b\n" in text
    assert "description" not in text
