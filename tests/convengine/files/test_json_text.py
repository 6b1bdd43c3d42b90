"""What a JSON text of a file may not be is said in words, never by an exception of Python's."""

import pytest

from config_admin.transfer.document import FileRefused
from config_admin.transfer.files import read_bytes
from convengine.files import Unreadable
from convengine.files.json_text import read_json

HEAD = '{"format": "convengine-configuration", "version": 1, "tables": '


def test_values_are_read_as_they_are_written() -> None:
    assert read_json('{"a": [1, -2.5, true, null, "\\u00e9"]}') == {"a": [1, -2.5, True, None, "é"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1" * 5000, "more than 1000 digits"),
        ("[1e999]", "1e999 is not a JSON value"),
        ("[NaN]", "NaN is not a JSON value"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"\\ud800": 1}', "characters that cannot be stored"),
        ("[" * 100_000, "nested more than 64 deep"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_refused_is_said(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_json(text)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("b.json", f'{HEAD}{{"ce_rule": [{{"rule_id": {"1" * 5000}}}]}}}}', "more than 1000 digits"),
        (
            "b.yaml",
            f"ce_rule:\n- rule_id: {'1' * 5000}\n",
            "Line 2: '11111111111111111111' is not a value of the type int",
        ),
        ("b.yaml", "ce_rule:\n- rule_id: 0x_\n", "Line 2: '0x_' is not a value of the type int"),
        ("b.yaml", "ce_rule:\n- enabled: !!bool abc\n", "Line 2: 'abc' is not a value of the type bool"),
        ("ce_output_schema.csv", f"json_schema\n{'1' * 5000}\n", "line 2, json_schema: .*more than 1000 digits"),
        ("ce_output_schema.csv", 'json_schema\n"{""a"": NaN}"\n', "line 2, json_schema: .*NaN is not a JSON value"),
    ],
)
def test_a_file_with_such_a_value_is_refused_by_its_place(name: str, text: str, problem: str) -> None:
    with pytest.raises(FileRefused, match=problem):
        read_bytes(name, text.encode())
