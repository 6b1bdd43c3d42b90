"""Reading values as people say them: dates, numbers, choices, addresses, in the language of a folder (R114).

`read_value` reads a whole answer for one field, `find_values` the values in a sentence, and `say_value` repeats one.
A language is a folder in `languages/`.
"""

from convengine.engine.values.corrections import blank_leading_no, has_only_fillers, is_correction, strip_correction
from convengine.engine.values.field_spec import FieldSpec, Kind, Option, field_spec
from convengine.engine.values.find import ValueSpan, find_values
from convengine.engine.values.read import STORED_FORMATS, read_value
from convengine.engine.values.reading import Outcome, Reading, ReadingSituation, Reason
from convengine.engine.values.say import say_value
from convengine.engine.values.yes_or_no import begins_with_yes, says_yes_or_no

__all__ = [
    "STORED_FORMATS",
    "FieldSpec", "Kind", "Option", "Outcome", "Reading", "ReadingSituation", "Reason", "ValueSpan",
    "begins_with_yes", "blank_leading_no", "field_spec", "find_values", "has_only_fillers", "is_correction",
    "read_value", "say_value", "says_yes_or_no", "strip_correction",
]  # fmt: skip
