"""The sections of a document, their passages and sentences."""

import pytest

from convengine.engine.documents.sections import split_document, split_sentences

TEXT = """Before all.

# House rules

Guests leave before ten. Keys stay at the desk.

## Breakfast

- from seven
- until ten. On Sundays until eleven.

### Empty

## Parking

Place | Price
Yard | 5 euros
"""


def test_each_heading_with_text_begins_a_section() -> None:
    assert [(section.titles, section.text.split("\n")[0]) for section in split_document("Hotel", TEXT)] == [
        (("Hotel",), "Before all."),
        (("House rules",), "Guests leave before ten. Keys stay at the desk."),
        (("House rules", "Breakfast"), "- from seven"),
        (("House rules", "Parking"), "Place | Price"),
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Guests leave. Keys stay.", ["Guests leave.", "Keys stay."]),
        ("It is 5.30 p.m. on 3. August. Then we close!", ["It is 5.30 p.m. on 3. August.", "Then we close!"]),
        ("Bring e.g. A towel and approx. 5 euros.", ["Bring e.g. A towel and approx. 5 euros."]),
        ("Er sagte: „Komm.“ Dann ging er.", ["Er sagte: „Komm.“", "Dann ging er."]),
        ("- one thing\n- another. And more", ["- one thing", "- another.", "And more"]),
        ("Place | Price\nYard | 5 euros", ["Place | Price", "Yard | 5 euros"]),
        ("a line\nthat goes on.\n\nAnother paragraph", ["a line\nthat goes on.", "Another paragraph"]),
        ("", []),
    ],
)
def test_sentences_are_parts_of_the_text(text: str, sentences: list[str]) -> None:
    listed = list(split_sentences(text))

    assert [sentence for _, sentence in listed] == sentences
    assert all(text[start : start + len(sentence)] == sentence for start, sentence in listed)


def test_passages_have_some_sentences_and_all_of_the_section() -> None:
    paragraph = "This sentence has exactly seven words, truly. " * 8
    (section,) = split_document("T", "\n\n".join([paragraph.strip()] * 4))

    passages = section.list_passages()
    assert [len(passage.text.split()) for passage in passages] == [56, 56, 56, 56]
    assert sum(len(passage.sentences) for passage in passages) == 32
    assert all(passage.text in section.text for passage in passages)
