"""Values that were allowed when they were given, and are no more: a day that has passed since."""

from collections.abc import Iterator

from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.message import describe_situation
from convengine.engine.forms.session_form import list_held
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound
from convengine.engine.understanding.kinds.days import find_now, read_day
from convengine.engine.understanding.reading import Refused
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.span import Reason

#: Bounds that move with the time begin so.
_MOVING = ("today", "tomorrow", "now")


def list_outdated(session: Session, turn: Turn, form: Form) -> list[Refused]:
    """The days of a form that are before what its fields allow now."""
    held = list_held(session, form)
    moving = [field for field in form.leaves if field.path in held and _has_moving_bound(field)]
    return list(_refuse_earlier(session, turn, form, moving)) if moving else []


def _has_moving_bound(field: Field) -> bool:
    is_day, bound = field.spec.kind in (Kind.DATE, Kind.DATE_TIME), field.spec.minimum
    return is_day and isinstance(bound, str) and bound.strip().lower().startswith(_MOVING)


def _refuse_earlier(session: Session, turn: Turn, form: Form, fields: list[Field]) -> Iterator[Refused]:
    situation, held = describe_situation(session, turn, form), list_held(session, form)
    for field in fields:
        first = read_date_bound(str(field.spec.minimum).lower().replace("now", "today", 1), find_now(situation).date())
        day, value = read_day(held[field.path]), held[field.path]
        if first is not None and day is not None and day < first:
            text = say_value(field.spec, value, situation.locale)
            yield Refused(field.path, text, Reason.OUT_OF_BOUNDS, {"min": first.isoformat()})
