"""Reading values as people say them: dates, numbers, choices, addresses, in the language of a folder (R114).

`read_value` reads a whole answer for one field, and `say_value` repeats it. A language is a folder in `languages/`.
"""

from convengine.engine.values.field_spec import FieldSpec, Kind, Option, field_spec
from convengine.engine.values.read import read_value
from convengine.engine.values.reading import Outcome, Reading, ReadingSituation, Reason
from convengine.engine.values.say import say_value

__all__ = [
    "FieldSpec", "Kind", "Option", "Outcome", "Reading", "ReadingSituation", "Reason", "field_spec", "read_value",
    "say_value",
]  # fmt: skip
