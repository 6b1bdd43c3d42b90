"""The choices of a field as lines of text: `value: synonym, synonym`, or `value = label: synonym, synonym`."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any

Option = dict[str, Any]


class ChoicesInvalid(ValueError):
    """A line that is no choice; the message names it."""


def format_choices(options: Sequence[Option]) -> str:
    """The lines of options."""
    return "\n".join(map(_format_choice, options))


def _format_choice(option: Option) -> str:
    value, label = str(option["value"]), option.get("label", "")
    head = f"{value} = {label}" if label and label != value else value
    synonyms = ", ".join(f'"{word}"' if "," in word else word for word in option.get("synonyms", ()))
    return f"{head}: {synonyms}" if synonyms else head


def read_choices(text: str, known: Sequence[Option] = ()) -> list[Option]:
    """The options of the lines. `known`: options whose values keep their type. Raises ChoicesInvalid."""
    values = {str(option["value"]): option["value"] for option in known}
    options = list(_read_lines(text, values))
    names = [str(option["value"]) for option in options]
    for name in names:
        if names.count(name) > 1:
            raise ChoicesInvalid(f"“{name}” occurs twice. Write each choice in one line.")
    return options


def list_choice_values(text: str) -> list[str]:
    """The stored values of the lines; none where a line is no choice yet."""
    try:
        return [str(option["value"]) for option in read_choices(text)]
    except ChoicesInvalid:
        return []


def _read_lines(text: str, values: dict[str, Any]) -> Iterator[Option]:
    for line in text.splitlines():
        if not line.strip():
            continue
        head, synonyms = _split_line(line.strip())
        value, _, label = (part.strip() for part in head.partition(" = "))
        if not value:
            raise ChoicesInvalid(f"“{line.strip()}” has no choice before the colon.")
        option: Option = {"value": values.get(value, value)}
        if label and label != value:
            option["label"] = label
        if words := _split_synonyms(synonyms):
            option["synonyms"] = words
        yield option


def _split_line(line: str) -> tuple[str, str]:
    """The choice and its synonyms. A colon inside of a word, as in 10:30, separates nothing."""
    if line.endswith(":"):
        return line[:-1].strip(), ""
    head, _, synonyms = line.partition(": ")
    return head.strip(), synonyms


def _split_synonyms(text: str) -> list[str]:
    words = next(csv.reader([text], skipinitialspace=True), [])
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))
