"""The glossary explains each word once, in a row of a table, and has an entry for each label of the navigation."""

import re
from pathlib import Path

from convengine.server.admin_site.layout import list_sections

GLOSSARY = (Path(__file__).resolve().parents[3] / "docs/glossary.md").read_text()
#: The rows of each table: the names of a word or page, and its meaning.
TABLES = [re.findall(r"^\| (\*\*.+?) \| (.+) \|$", part, re.MULTILINE) for part in GLOSSARY.split("\n## ")[1:]]
ENTRIES = [entry for table in TABLES for entry in table]
TERMS = {term.lower() for names, _ in ENTRIES for term in re.findall(r"\*\*(.+?)\*\*", names)}


def singular(label: str) -> str:
    return re.sub(r"ies$", "y", label) if label.endswith("ies") else label.removesuffix("s")


def test_each_label_of_the_navigation_has_its_entry() -> None:
    labels = {"Home"} | {
        label for section in list_sections() for label in (section.title, *(page.title for page in section.entries))
    }

    assert {label for label in labels if not {label.lower(), singular(label.lower())} & TERMS} == set()


def test_no_meaning_has_a_full_stop() -> None:
    assert len(ENTRIES) == GLOSSARY.count("\n| **")
    assert [meaning for _, meaning in ENTRIES if "." in meaning] == []


def test_entries_of_a_table_are_in_alphabetical_order() -> None:
    for table in TABLES:
        names = [names.split("**")[1].lower() for names, _ in table]

        assert names == sorted(names)
        assert names
