"""Restaurants-8k as lines of a corpus: answers to a bot that books tables, with the positions of their values."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from convengine.json_value import Json

FORM = "restaurants8k"
SCHEMA: Json = {
    "type": "object",
    "title": "Book a table at a restaurant",
    "properties": {
        "people": {"title": "people", "description": "Number of people", "type": "integer", "minimum": 1},
        "date": {"title": "date", "type": "string", "format": "date"},
        "time": {"title": "time", "type": "string", "format": "time"},
        "first_name": {"title": "first name", "type": "string"},
        "last_name": {"title": "last name", "type": "string"},
    },
    "required": ["people", "date", "time", "first_name", "last_name"],
}


def read_restaurants(file: Path) -> Iterator[dict[str, Json]]:
    """Each answer of the file."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        answers = json.load(text)
    for answer in answers:
        requested = answer.get("context", {}).get("requestedSlots", [])
        spans = {
            label["slot"]: [label["valueSpan"].get("startIndex", 0), label["valueSpan"]["endIndex"]]
            for label in answer.get("labels", ())
        }
        yield {
            "form": FORM,
            "say": answer["userInput"]["text"],
            "asked": requested[0] if requested else "",
            "spans": spans,
        }
