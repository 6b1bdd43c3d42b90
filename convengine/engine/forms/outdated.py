"""Values that were allowed when they were given, and are no more: a day that has passed since."""

from convengine.engine.forms.form import Form
from convengine.engine.forms.message import describe_situation
from convengine.engine.forms.session_form import list_held
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound
from convengine.engine.understanding.kinds.days import find_now, read_day
from convengine.engine.understanding.reading import RefusedText
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.span import RefusalReason

#: Bounds that move with the time begin so.
_MOVING = ("today", "tomorrow", "now")


def list_outdated(session: Session, turn: Turn, form: Form) -> list[RefusedText]:
    """The days of a form that are before what its fields allow now."""
    held, refused = list_held(session, form), list[RefusedText]()
    days = [field for field in form.leaves if field.path in held and field.spec.kind in (Kind.DATE, Kind.DATE_TIME)]
    bounds = {field: field.spec.minimum.lower() for field in days if isinstance(field.spec.minimum, str)}
    moving = {field: bound for field, bound in bounds.items() if bound.strip().startswith(_MOVING)}
    if not moving:
        return refused
    situation = describe_situation(session, turn, form)
    for field, bound in moving.items():
        first = read_date_bound(bound.replace("now", "today", 1), find_now(situation).date())
        day = read_day(held[field.path])
        if first is not None and day is not None and day < first:
            text = say_value(field.spec, held[field.path], situation.locale)
            refused.append(RefusedText(field.path, text, RefusalReason.OUT_OF_BOUNDS, {"min": first.isoformat()}))
    return refused
