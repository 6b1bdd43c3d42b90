"""Events about code of the deployment that changed the answer or facts."""

from collections.abc import Mapping

from convengine.engine.turn.payload import Payload
from convengine.engine.turn.session import FIELDS, PARAM_FIELDS, Session
from convengine.engine.turn.stages import FACTS_CHANGED, RESPONSE_TRANSFORMED
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: Fields of a session with keys of their own in the events, or without meaning for users.
_OWN_KEYS = frozenset({"context", *PARAM_FIELDS, "payload", "last_assistant", "steps"})


def audit_transformed(
    session: Session, turn: Turn, before: Payload | None, after: Payload | None, *, by: str, kind: str, **details: Json
) -> None:
    """Write RESPONSE_TRANSFORMED if the answer changed."""
    old, new = (payload.value if payload else None for payload in (before, after))
    if old != new:
        details = {key: value for key, value in details.items() if value is not None}
        turn.audit(session, RESPONSE_TRANSFORMED, by=by, kind=kind, before=old, after=new, **details)


def audit_changed_facts(
    before: Session, after: Session, turn: Turn, *, by: str, kind: str, session: Session | None = None
) -> None:
    """Write FACTS_CHANGED if facts changed, and RESPONSE_TRANSFORMED if the answer did.

    `session` is the present one, if the turn went on after these changes.
    """
    if before is after:
        return
    facts = _find_written(before.context, after.context)
    parameters = _find_written(before.input_params, after.input_params)
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in FIELDS if name not in _OWN_KEYS)
    # A value that is no text, number or truth value is only named.
    fields = {name: new if isinstance(new, (str, int, float, bool)) else None for name, old, new in pairs if old != new}
    removed = sorted(
        {*(before.context.keys() - after.context.keys()), *(before.input_params.keys() - after.input_params.keys())}
    )
    changes: dict[str, Json] = {"facts": facts, "parameters": parameters, "removed": removed, "fields": fields}
    if any(changes.values()):
        turn.audit(
            session or after, FACTS_CHANGED, by=by, kind=kind, **{key: value for key, value in changes.items() if value}
        )
    audit_transformed(session or after, turn, before.payload, after.payload, by=by, kind=kind)


def _find_written(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """The entries that are new or have another value."""
    return {key: value for key, value in after.items() if key not in before or before[key] != value}
