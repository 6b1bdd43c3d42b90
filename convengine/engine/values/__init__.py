"""Reading values as people say them: dates, numbers, choices, addresses, in the language of a folder (R114).

`read_value` reads a whole answer for one field, `find_values` the values in a sentence, and `say_value` repeats one.
A language is a folder in `languages/`.
"""

from convengine.engine.values.corrections import (
    asks_to_change,
    blank_leading_no,
    concludes,
    counts_persons,
    denies,
    find_bare_number,
    find_contrasts,
    find_core,
    find_retraction,
    find_shift,
    find_total,
    has_number,
    has_only_fillers,
    is_bare_cardinal,
    is_correction,
    is_indifferent,
    is_only_slip,
    is_shift,
    is_slip,
    keeps_value,
    lengthens,
    strip_correction,
    strip_tail,
    takes_back,
)
from convengine.engine.values.field_spec import FieldSpec, Kind, Option, field_spec
from convengine.engine.values.find import ValueSpan, find_values, is_passing_moment
from convengine.engine.values.read import STORED_FORMATS, read_value
from convengine.engine.values.reading import Outcome, Reading, ReadingSituation, Reason
from convengine.engine.values.say import say_value
from convengine.engine.values.unmeant_options import blank_denials, blank_unmeant_options
from convengine.engine.values.yes_or_no import (
    agrees_behind_no,
    confirms_behind_no,
    names_day,
    orders_action,
    read_opening,
    read_own_words,
    says_yes_or_no,
)

__all__ = [
    "STORED_FORMATS",
    "FieldSpec",
    "Kind",
    "Option",
    "Outcome",
    "Reading",
    "ReadingSituation",
    "Reason",
    "ValueSpan",
    "agrees_behind_no",
    "asks_to_change",
    "blank_denials",
    "blank_leading_no",
    "blank_unmeant_options",
    "concludes",
    "confirms_behind_no",
    "counts_persons",
    "denies",
    "field_spec",
    "find_bare_number",
    "find_contrasts",
    "find_core",
    "find_retraction",
    "find_shift",
    "find_total",
    "find_values",
    "has_number",
    "has_only_fillers",
    "is_bare_cardinal",
    "is_correction",
    "is_indifferent",
    "is_only_slip",
    "is_passing_moment",
    "is_shift",
    "is_slip",
    "keeps_value",
    "lengthens",
    "names_day",
    "orders_action",
    "read_opening",
    "read_own_words",
    "read_value",
    "say_value",
    "says_yes_or_no",
    "strip_correction",
    "strip_tail",
    "takes_back",
]  # fmt: skip
