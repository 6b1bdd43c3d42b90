"""The glossary explains each word once, by subject, with an example, and has each label of the navigation."""

import re
from pathlib import Path

from convengine.server.admin_site.layout import list_sections

GLOSSARY = (Path(__file__).resolve().parents[3] / "docs/glossary.md").read_text()
WORDS, PAGES = (
    [line.strip("|").split(" | ") for line in re.findall(r"^\| \*\*.+ \|$", part, re.MULTILINE)]
    for part in GLOSSARY.split("\n## ")[1:]
)
ENTRIES = [*WORDS, *PAGES]
SUBJECTS = GLOSSARY.partition("\n## Pages")[0].split("\n### ")[1:]
TERMS = {term.lower() for names, *_ in ENTRIES for term in re.findall(r"\*\*(.+?)\*\*", names)}


def singular(label: str) -> str:
    return re.sub(r"ies$", "y", label) if label.endswith("ies") else label.removesuffix("s")


def test_each_label_of_the_navigation_has_its_entry() -> None:
    labels = {"Home"} | {
        label for section in list_sections() for label in (section.title, *(page.title for page in section.entries))
    }

    assert {label for label in labels if not {label.lower(), singular(label.lower())} & TERMS} == set()


def test_no_meaning_has_a_full_stop() -> None:
    assert len(ENTRIES) == GLOSSARY.count("\n| **")
    assert [meaning for _, meaning, *_ in ENTRIES if "." in meaning] == []


def test_each_word_has_a_short_example() -> None:
    assert {len(entry) for entry in WORDS} == {3}
    assert [example for *_, example in WORDS if not 1 <= len(example.split()) <= 5] == []


def test_words_are_in_subjects_and_explained_once() -> None:
    names = [names for names, *_ in WORDS]

    assert sorted(set(names)) == sorted(names)
    assert len(SUBJECTS) >= 8
    assert all("\n| **" in subject for subject in SUBJECTS)
    assert sum(subject.count("\n| **") for subject in SUBJECTS) == len(WORDS)


def test_pages_are_in_alphabetical_order() -> None:
    names = [names.split("**")[1].lower() for names, _ in PAGES]

    assert names == sorted(names)
    assert names
