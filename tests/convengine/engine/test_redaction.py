import pytest

from convengine.engine.redaction import Redaction, may_mention, redact

KEYS = frozenset({"password"})


def test_what_stands_under_a_key_is_masked_in_any_case_at_any_depth() -> None:
    assert redact([{"Password": "x", "a": {"password": {"b": 1}}}], KEYS) == [
        {"Password": "***", "a": {"password": "***"}}
    ]


def test_a_part_of_a_pointer_is_a_key_too() -> None:
    changed = {"set": {"/inputParams/password": "x", "/context/password/hint": "y", "/context/passwords": "z"}}

    assert redact(changed, KEYS) == {
        "set": {"/inputParams/password": "***", "/context/password/hint": "***", "/context/passwords": "z"}
    }
    assert may_mention('{"/inputParams/Password":1}', KEYS)


def test_a_null_is_no_secret() -> None:
    assert redact({"password": None}, KEYS) == {"password": None}


def test_a_part_of_a_pointer_is_compared_as_it_was_before_it_was_escaped() -> None:
    keys = frozenset({"a/b", 'c"d'})

    assert redact({"/context/a~1b": "x", 'c"d': "y"}, keys) == {"/context/a~1b": "***", 'c"d': "***"}
    assert may_mention('{"/context/a~1b":1}', keys)
    assert may_mention('{"c\\"d":1}', keys)


def test_names_that_are_spared_are_looked_into_and_never_masked_as_a_whole() -> None:
    document = {"key": {"phase": "X"}, "_meta": {"changed": {"set": {"/context/key": "x"}}}, "context": {"key": "y"}}

    assert redact(document, frozenset({"key", "set", "changed"}), frozenset({"key", "_meta", "changed", "set"})) == {
        "key": {"phase": "X"},
        "_meta": {"changed": {"set": {"/context/key": "***"}}},
        "context": {"key": "***"},
    }


def test_a_name_in_json_inside_a_text_is_masked() -> None:
    text = 'I sent {"user": "ada", "Password": "x"} and [{"password": 1}] {'
    masked = 'I sent {"user":"ada","Password":"***"} and [{"password":"***"}] {'

    assert redact({"text": text}, KEYS) == {"text": masked}
    assert Redaction(KEYS).text(text) == masked
    assert redact('{"pass": 1}', KEYS) == '{"pass": 1}'


def test_a_name_that_is_written_with_escapes_is_masked() -> None:
    redaction = Redaction(frozenset({"contraseña"}))

    assert redaction.text(r'He sent {"Contrase\u00f1a": "x"}.') == 'He sent {"Contraseña":"***"}.'
    assert redaction.touches(r'{"contrase\u00F1a": "x"}')


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param("password {" + "[" * 16_000, "password {***", id="brackets"),
        pytest.param("password " + '{"a":' * 3_000, "password ***", id="objects"),
        pytest.param('{"password": "x"} ' + "[" * 16_000, '{"password":"***"} ***', id="a document before it"),
        pytest.param('{"a":' * 3_000 + '{"password": "x"}' + "}" * 3_000, "***", id="a deep document"),
        pytest.param('{"a":' * 700 + '{"password": "x"}' + "}" * 700, "***", id="a document too deep to walk"),
        pytest.param("password {" + "[" * 300 + "1," * 7_000, None, id="long lists"),
        pytest.param("[INFO] {" * 2_000 + '{"password": "x"}', "[INFO] {" * 2_000 + '{"password":"***"}', id="a log"),
        pytest.param(
            '{"a": [' * 30 + '{"password": "x"}, ' + "1, " * 500,
            '{"a": [' * 30 + '{"password":"***"}, ' + "1, " * 500,
            id="cut",
        ),
    ],
)
def test_a_text_that_begins_many_documents_is_read_within_limits(text: str, masked: str | None) -> None:
    result = Redaction(KEYS).text(text)

    assert result == masked if masked else result.endswith("***")
