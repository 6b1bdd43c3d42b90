"""The document of a file, read in a process of its own if it is large, and checked by the JSON schema of its system."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from config_admin.transfer.document import FileRefused
from convengine.engine.text.compare import shorten_line
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.table_text import decode

_LONGEST_PROBLEM = 160


def read_document(name: str, data: bytes, read: Callable[..., Any], *arguments: object) -> Any:
    """What `read` makes of the text of a file. Raises FileRefused."""
    try:
        return read_apart(data, read, decode(data), *arguments)
    except Unreadable as error:
        problem = f"{error.problem[:1].lower()}{error.problem[1:]}".rstrip(".")
        position = f"{name}, line {error.line}" if error.line else name
        raise FileRefused(position, f"{problem}. Correct the file.") from None


def check_document(name: str, document: object, schema: str, part: str, remedy: str) -> None:
    """Check a document by a part of a schema in this folder. Raises FileRefused."""
    if invalid := best_match(_get_validator(schema, part).iter_errors(document)):
        where = ".".join(map(str, invalid.absolute_path)) or "the file"
        raise FileRefused(name, f"{where}: {shorten_line(invalid.message, _LONGEST_PROBLEM)}. {remedy}")


@cache
def _get_validator(schema: str, part: str) -> Draft202012Validator:
    whole = json.loads(Path(__file__).with_name(schema).read_text("utf-8"))
    return Draft202012Validator({**whole, "$ref": f"#/$defs/{part}"} if part else whole)
