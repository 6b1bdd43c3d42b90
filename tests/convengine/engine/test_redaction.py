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
