"""Columns of lists that several tables share: what people call a row with a pattern, and the pattern beside it."""

from typing import Any

from convengine.engine.rules.pattern_examples import describe_examples
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.text.compare import code, shorten_line

_LONGEST = 60


def name_pattern(row: Any) -> str:
    """The description of a row, else texts that its pattern matches, else the pattern."""
    examples = describe_examples(row.pattern or "") if code(row.rule_type) == REGEX and not row.description else ""
    return examples or shorten_line(row.description or row.pattern, _LONGEST) or "-"


def show_pattern(row: Any) -> str:
    """The pattern, unless the name of the row is the pattern."""
    shown = shorten_line(row.pattern, _LONGEST)
    return "" if shown == name_pattern(row) else shown
