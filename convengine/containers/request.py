"""What a container provider is asked, and how much of it the audit shows (pipeline-2 1.2 rule 5)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.data import CONTAINER_MAX_BYTES, CONTAINER_REDACT_PARAMS, CONTAINER_TIMEOUT_MS
from convengine.domain.params import shown
from convengine.domain.ports import ContainerRequest
from convengine.domain.redaction import redacted
from convengine.domain.session import Session
from convengine.domain.turn import Turn


def request_of(row: rows.ContainerConfig, session: Session, turn: Turn) -> ContainerRequest:
    """The request of a row, with the limits that are set for its address."""
    address = _address(row)
    return ContainerRequest(
        row.page_id,
        row.section_id,
        row.container_id,
        params_of(row.input_param_name, session),
        conversation_id=session.conversation_id,
        intent=session.intent or "",
        state=session.state or "",
        timeout_ms=turn.config(session, CONTAINER_TIMEOUT_MS, address),
        max_bytes=turn.config(session, CONTAINER_MAX_BYTES, address),
    )


def params_of(name: str, session: Session) -> dict[str, Any]:
    """The context's value of that name, else what the user wants; over it all params, the request's own on top."""
    value = session.context.get(name)
    own = session.resolved_user_input if value is None else value
    return {name: own, **shown(session.input_params), **shown(session.user_input_params)}


def masked(row: rows.ContainerConfig, params: Mapping[str, Any], session: Session, turn: Turn) -> Mapping[str, Any]:
    """The params as the audit shows them: those of REDACT_PARAMS without their values."""
    hidden = turn.config(session, CONTAINER_REDACT_PARAMS, _address(row))
    kept: Mapping[str, Any] = redacted(dict(params), frozenset(name.lower() for name in hidden)) if hidden else params
    return kept


def _address(row: rows.ContainerConfig) -> str:
    return f"{row.page_id}-{row.section_id}-{row.container_id}"
