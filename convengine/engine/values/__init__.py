"""Reading values as people say them: dates, numbers, choices, addresses, in the language of a folder (R114)."""

from convengine.engine.values.field_spec import FieldSpec, Kind, Option, field_spec
from convengine.engine.values.reading import Outcome, Reading, ReadingSituation, Reason

__all__ = ["FieldSpec", "Kind", "Option", "Outcome", "Reading", "ReadingSituation", "Reason", "field_spec"]
