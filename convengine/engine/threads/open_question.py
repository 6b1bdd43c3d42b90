"""What the answer of a turn asks, for a front end that shows fields and buttons."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from convengine.engine.dialogue.hand_over import is_with_person
from convengine.engine.forms.asking import find_form_language, find_form_locale, write_title
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.life import awaits_confirmation
from convengine.engine.forms.session_form import find_asked_field, get_current_form
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound, read_moment_bound
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.say import say_values
from convengine.json_value import Json

#: How a value is written, where its type does not say it.
_FORMATS = {
    Kind.DATE: "date",
    Kind.TIME: "time",
    Kind.DATE_TIME: "date-time",
    Kind.DURATION: "duration",
    Kind.EMAIL: "email",
    Kind.PHONE: "phone",
    Kind.IBAN: "iban",
    Kind.POSTCODE: "postcode",
    Kind.MONEY: "money",
}


def describe_open_question(session: Session, turn: Turn) -> dict[str, Json]:
    """What the user is asked at the end of a turn: `choices`, the `asked` field of a form, or a yes or no to `confirm`.

    At most one of them; the others are null, and all while a person has the conversation. `offered` has the values that
    a yes stores, by field; `cards` what documents say.
    """
    if is_with_person(session, turn):
        return dict.fromkeys(("asked", "confirm", "choices", "offered", "cards"))
    state, choices = DialogueState.of(session), _list_choices(session, turn)
    field = find_asked_field(session, turn)
    asks_yes_or_no = state.leaving is not None or bool(state.offered)
    offered = dict(state.offered) or None
    cards = list(session.cards) or None
    report: dict[str, Json] = {"asked": None, "confirm": None, "choices": choices, "offered": offered, "cards": cards}
    if choices is None and field is not None and not asks_yes_or_no:
        report["asked"] = _describe_field(session, turn, field)
    elif choices is None and (asks_yes_or_no or (_awaits_yes(session, turn) and not state.asks_what_to_change)):
        say = get_tables(find_form_language(session, turn, _get_last_form(session, turn, state))).say
        report["confirm"] = {"yes": say["yes"], "no": say["no"]}
    elif choices is None and state.buttons:
        report["choices"] = [{"value": message, "label": label} for label, message in state.buttons]
    return report


def drop_hidden_buttons(session: Session, turn: Turn) -> Session:
    """Remove the buttons if the answer asks something or hands over to a person: users do not see them then."""
    cleared = update_dialogue(session, buttons=())
    if cleared is session:
        return session
    report = describe_open_question(cleared, turn)
    is_hidden = is_with_person(session, turn) or any(report[name] for name in ("asked", "confirm", "choices"))
    return cleared if is_hidden else session


def awaits_decision(session: Session, turn: Turn) -> bool:
    """True while an action, a form or "Do you want to stop?" waits for the user."""
    return DialogueState.of(session).leaving is not None or _awaits_yes(session, turn)


def _list_choices(session: Session, turn: Turn) -> list[dict[str, Json]] | None:
    """What the user may mean; the reply is a value or a label."""
    if session.clarification is None:
        texts = session.lifecycle_detail.get("options")
        if isinstance(texts, (list, tuple)):
            return [{"value": text, "label": text} for text in texts]
        state = DialogueState.of(session)
        # "What should I change: day or name?" lists fields.
        form = _get_last_form(session, turn, state) if state.asks_what_to_change and state.leaving is None else None
        fields = [form.field(str(path)) for path in state.listed_options] if form else []
        return [{"value": field.path, "label": write_title(field, "")} for field in fields if field] or None
    return [
        {"value": option.get("actionKey") or option.get("intent"), "label": option.get("label")}
        for option in session.clarification.options
        if isinstance(option, Mapping) and option.get("offered") is not False
    ]


def _awaits_yes(session: Session, turn: Turn) -> bool:
    return has_open_action(session, turn) or awaits_confirmation(session, turn)


def _get_last_form(session: Session, turn: Turn, state: DialogueState) -> Form | None:
    row = turn.snapshot.row(OutputSchema, state.last_schema)
    return get_current_form(session, turn, row) if row else None


def _describe_field(session: Session, turn: Turn, field: Field) -> dict[str, Json]:
    """The asked field for a front end: its title, type, options, bounds and format."""
    spec, is_yes_no = field.spec, field.type == "boolean"
    locale = find_form_locale(session, turn, _get_last_form(session, turn, DialogueState.of(session)))
    values = _list_offered(session, field) or ([True, False] if is_yes_no else [])
    return {
        "field": field.path,
        "title": write_title(field, ""),
        "type": field.type,
        "options": [
            {"value": value, "label": label}
            for value, label in zip(values, say_values(spec, values, locale), strict=True)
        ],
        "min": _write_bound(spec, spec.minimum, session.now, is_last=False),
        "max": _write_bound(spec, spec.maximum, session.now, is_last=True),
        "format": spec.format or _FORMATS.get(spec.kind),
    }


def _list_offered(session: Session, field: Field) -> Sequence[Json]:
    """The values that the answer names for a field ("Friday 27 November or Friday 4 December?"), or all of a choice."""
    refusal = session.fields_read.find_refusal(field.path)
    if refusal is not None and refusal.data.get("candidates"):
        return tuple(refusal.data["candidates"])
    state = DialogueState.of(session)
    listed = state.listed_options if state.asked_field == field.path else ()
    return tuple(option.value for option in field.spec.options) or listed


def _write_bound(spec: FieldSpec, bound: Json, now: datetime | None, *, is_last: bool) -> Json:
    """A bound as a value of the field: the day itself for `today+90d`."""
    if now is None or spec.kind not in (Kind.DATE, Kind.DATE_TIME):
        return bound
    if spec.kind is Kind.DATE:
        day = read_date_bound(bound, now.date())
        return day.isoformat() if day else None
    moment = read_moment_bound(bound, now, is_last=is_last)
    return moment.replace(tzinfo=now.tzinfo).isoformat(timespec="minutes") if moment else None
