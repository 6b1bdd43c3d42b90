"""Rasa's files."""

import pytest

from convengine.evaluation.labelled import read_upload
from convengine.evaluation.read import EvaluationError
from convengine.json_value import Json

NLU = """
version: "3.1"
nlu:
- intent: book_table
  examples: |
    - a table for [four](guests)
    - a table in the [garden](area:outside) at [8 pm]{"entity": "time", "role": "start", "value": "20:00"}

    - a table on the [Terrace](area)
- intent: faq/parking
  examples:
  - text: |
      where can I park
    metadata: {reviewed: yes}
  - is there a garage
- synonym: outside
  examples: |
    - terrace
- regex: phone
  examples: |
    - [0-9]{5,}
- lookup: streets
  examples: |
    - High Street
"""
STORIES = """
version: "3.1"
stories:
- story: a test
  steps:
  - user: |
      a table in [Rome](city)
    intent: book_table
  - action: utter_done
- story: an example to learn from
  steps: [{intent: book_table}]
"""


def read(text: str) -> list[tuple[str, str | None, Json]]:
    return [
        (message.text, message.intent, message.values) for message in read_upload("nlu.yml", text.encode()).messages
    ]


def test_examples_lose_their_marks_which_are_values() -> None:
    assert read(NLU) == [
        ("a table for four", "book_table", {"guests": "four"}),
        ("a table in the garden at 8 pm", "book_table", {"area": "outside", "start": "20:00"}),
        ("a table on the Terrace", "book_table", {"area": "outside"}),
        ("where can I park", "faq/parking", {}),
        ("is there a garage", "faq/parking", {}),
    ]


def test_what_is_no_message_is_left_out_and_named() -> None:
    files = read_upload("nlu.yml", NLU.encode())

    assert files.notes == [
        "nlu.yml: left out because they are not messages: regular expressions (1), lookup tables (1)."
    ]
    assert files.messages[0].source == "nlu.yml, book_table, example 1"


def test_the_messages_of_tests_are_labelled() -> None:
    assert read(STORIES) == [("a table in Rome", "book_table", {"city": "Rome"})]


def test_an_entity_that_is_marked_twice_has_both_values() -> None:
    text = 'nlu: [{intent: order, examples: "- [tea](drink), [milk](drink) and [tea](drink)"}]'

    assert read(text) == [("tea, milk and tea", "order", {"drink": ["tea", "milk", "tea"]})]


def test_a_mark_that_is_no_json_is_named() -> None:
    with pytest.raises(EvaluationError, match="mark"):
        read("nlu: [{intent: order, examples: '- [tea]{entity: drink}'}]")
