"""The choices of a field as lines of text: `value: synonym, synonym`, or `value = label: synonym, synonym`.

A line with tabs has the cells of a table: value, label and synonyms, in one cell or several.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from convengine.engine.text.compare import shorten_line

Option = dict[str, Any]
#: Characters of a value, a label or another word (flow.schema.json).
LONGEST = 200


class ChoicesInvalid(ValueError):
    """A line that is no choice; the message names it."""


def format_choices(options: Sequence[Option]) -> str:
    """The lines of options, one as cells if its texts have what separates the parts of a line."""
    lines = []
    for option in options:
        value, label = str(option["value"]), option.get("label", "")
        label = "" if label == value else label
        synonyms = join_words(option.get("synonyms", ()))
        head = f"{value} = {label}" if label else value
        line, cells = f"{head}: {synonyms}" if synonyms else head, [value, label, synonyms]
        lines.append(line if _split_cells(line) == cells and "," not in label else "\t".join(cells))
    return "\n".join(lines)


def join_words(words: Sequence[str]) -> str:
    """The words with commas between, so that `split_words` reads them."""
    return ", ".join(map(_quote, words))


def _quote(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"' if "," in word or word.startswith('"') else word


def read_choices(text: str, known: Sequence[Option] = ()) -> list[Option]:
    """The options of the lines. `known`: options whose values keep their type. Raises ChoicesInvalid."""
    values = {str(option["value"]): option["value"] for option in known}
    options = list(_read_lines(text, values))
    names = [str(option["value"]) for option in options]
    for name, count in Counter(names).items():
        if count > 1:
            raise ChoicesInvalid(f"“{shorten_line(name)}” occurs twice. Write each choice in one line.")
    texts = ([str(option["value"]), option.get("label", ""), *option.get("synonyms", ())] for option in options)
    for word in chain.from_iterable(texts):
        if len(word) > LONGEST:
            raise ChoicesInvalid(f"“{shorten_line(word)}” has {len(word)} characters; {LONGEST} at most.")
    return options


def format_source(source: Mapping[str, Any]) -> str:
    """Where data have the choices: `value = label: synonyms in path`, with the keys of an entry; or the path alone."""
    signs = {"value": "", "label": " = ", "synonyms": ": ", "path": " in " if "value" in source else ""}
    return "".join(f"{sign}{source[key]}" for key, sign in signs.items() if key in source)


def read_source(text: str) -> Option:
    """Where data have the choices, from the text of `format_source`."""
    keys, _, path = ("", "", text) if text.startswith("$") else text.partition(" in ")
    parts = zip(("path", "value", "label", "synonyms"), (path.strip(), *_split_cells(keys)), strict=True)
    return {key: part for key, part in parts if part}


def split_cells(text: str) -> list[list[str]]:
    """The value, the label and the synonyms of each line, for a table: also where a line is no choice yet."""
    return [_split_cells(line) for line in text.splitlines() if line.strip()]


def list_choice_values(text: str) -> list[str]:
    """The stored values of the lines; none where a line is no choice yet."""
    try:
        return [str(option["value"]) for option in read_choices(text)]
    except ChoicesInvalid:
        return []


def _read_lines(text: str, values: dict[str, Any]) -> Iterator[Option]:
    """The choices in the lines of a text. Raises ChoicesInvalid.

    `values`: the stored value of a choice by its text.
    """
    for line in text.splitlines():
        if not line.strip():
            continue
        value, label, synonyms = _split_cells(line)
        if not value:
            raise ChoicesInvalid(f"“{shorten_line(line.strip())}” has no choice before the other words.")
        if "," in label and "\t" not in line:
            raise ChoicesInvalid(
                f"After “=” comes the text that users see, but “{shorten_line(label)}” has a comma. Write other words "
                f"after a colon: “{shorten_line(value)}: {shorten_line(label)}”."
            )
        option: Option = {"value": values.get(value, value)}
        if label and label != value:
            option["label"] = label
        if words := split_words(synonyms):
            option["synonyms"] = words
        yield option


def _split_cells(line: str) -> list[str]:
    """The value, the label and the synonyms. A label without a value is the value, too.

    A colon inside of a word, as in 10:30, separates nothing.
    """
    if "\t" in line:
        value, label, *words = (cell.strip() for cell in line.split("\t"))
        return [value or label, label, ", ".join(filter(None, words))]
    line = line.strip()
    head, synonyms = (line[:-1], "") if line.endswith(":") else line.partition(": ")[::2]
    value, _, label = (part.strip() for part in head.strip().partition(" = "))
    return [value, label, synonyms]


def split_words(text: str) -> list[str]:
    """The words of a line that have commas between, each once."""
    words = next(csv.reader([text], skipinitialspace=True), [])
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))
