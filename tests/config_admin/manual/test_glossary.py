"""The glossary explains each word once, in one sentence, and has an entry for each label of the navigation."""

import re
from pathlib import Path

from convengine.server.admin_site.layout import list_sections

GLOSSARY = (Path(__file__).resolve().parents[3] / "docs/glossary.md").read_text()
ENTRIES = re.findall(r"^- (\*\*.+?): (.+)$", GLOSSARY, re.MULTILINE)
TERMS = {term.lower() for names, _ in ENTRIES for term in re.findall(r"\*\*(.+?)\*\*", names)}


def singular(label: str) -> str:
    return re.sub(r"ies$", "y", label) if label.endswith("ies") else label.removesuffix("s")


def test_each_label_of_the_navigation_has_its_entry() -> None:
    labels = {"Home"} | {
        label for section in list_sections() for label in (section.title, *(page.title for page in section.entries))
    }

    assert {label for label in labels if not {label.lower(), singular(label.lower())} & TERMS} == set()


def test_each_entry_is_one_sentence() -> None:
    assert len(ENTRIES) == GLOSSARY.count("\n- ")
    assert [meaning for _, meaning in ENTRIES if not re.fullmatch(r"[^.]+\.", meaning)] == []


def test_entries_are_in_alphabetical_order() -> None:
    names = [names.split("**")[1].lower() for names, _ in ENTRIES]

    assert names == sorted(names)
