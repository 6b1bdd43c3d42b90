"""Labels of codes and steps for pages, where the identifier is shown beside the label."""

import re

#: Acronyms, which keep their capitals.
_ACRONYMS = frozenset(["api", "db", "http", "id", "json", "kb", "llm", "mcp", "sql"])
#: Codes of the engine; codes of intents and states are names of analysts.
_CODES = {"UNKNOWN": "Unknown", "ANY": "Any"}


def in_words(name: str) -> str:
    """`HTTP_TIMEOUT` as `HTTP timeout`, `SchemaExtraction` as `Schema extraction`."""
    spaced = name.replace("_", " ") if "_" in name or name.isupper() else re.sub(r"(?<!^)(?=[A-Z])", " ", name)
    words = [word.upper() if word in _ACRONYMS else word for word in spaced.lower().split()]
    return f"{words[0][:1].upper()}{words[0][1:]}{''.join(f' {word}' for word in words[1:])}"


def step_label(name: str) -> str:
    """A step by its class name: `SchemaExtractionStep` as `Schema extraction`."""
    return in_words(name.removesuffix("Step")) if name else ""


def code_label(code: str | None) -> str:
    """An intent or a state: the engine's own in words, those of analysts unchanged."""
    return _CODES.get(code or "UNKNOWN", code or "")
