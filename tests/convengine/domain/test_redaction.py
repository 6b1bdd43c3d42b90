from convengine.domain.redaction import mentions, redacted

KEYS = frozenset({"password"})


def test_what_stands_under_a_key_is_masked_in_any_case_at_any_depth() -> None:
    assert redacted([{"Password": "x", "a": {"password": {"b": 1}}}], KEYS) == [
        {"Password": "***", "a": {"password": "***"}}
    ]


def test_a_part_of_a_pointer_is_a_key_too() -> None:
    changed = {"set": {"/inputParams/password": "x", "/context/password/hint": "y", "/context/passwords": "z"}}

    assert redacted(changed, KEYS) == {
        "set": {"/inputParams/password": "***", "/context/password/hint": "***", "/context/passwords": "z"}
    }
    assert mentions('{"/inputParams/Password":1}', KEYS)


def test_a_null_is_no_secret() -> None:
    assert redacted({"password": None}, KEYS) == {"password": None}
