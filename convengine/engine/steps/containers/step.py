"""AddContainerDataStep: fetch reference data for the intent and state, before any step uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.redaction import redact
from convengine.engine.rules.explain import OUTRANKED
from convengine.engine.rules.verdict import count_out_of_scope
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.live_settings import boolean, declare, integer, text_list
from convengine.engine.turn.params import hide_internal
from convengine.engine.turn.ports import ContainerAnswer, ContainerRequest
from convengine.engine.turn.scope import list_buckets, scope_key
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.turn import Candidate, Turn

CONTAINER_FAMILY = "AddContainerDataStep"

#: The qualifier of a container row's own value.
_ADDRESS = "page-section-container"

CONTAINER_ENABLED = declare(
    CONTAINER_FAMILY, "ENABLED", boolean(), True, "Fetch data from data sources.", label="Fetch data"
)
CONTAINER_TIMEOUT_MS = declare(
    CONTAINER_FAMILY,
    "TIMEOUT_MS",
    integer(100, 60_000),
    3000,
    "Timeout for one fetch (milliseconds).",
    qualifier=_ADDRESS,
    label="Timeout of a fetch (ms)",
)
CONTAINER_MAX_BYTES = declare(
    CONTAINER_FAMILY,
    "MAX_BYTES",
    integer(),
    65_536,
    "Maximum size of one fetched result.",
    qualifier=_ADDRESS,
    label="Maximum size of a result (bytes)",
)
CONTAINER_REDACT_PARAMS = declare(
    CONTAINER_FAMILY,
    "REDACT_PARAMS",
    text_list(),
    (),
    "Parameters that are masked in the audit of a fetch, such as iban, pin.",
    qualifier=_ADDRESS,
    label="Masked parameters",
)

CONTAINER_DATA_SKIPPED = declare_stage(
    "CONTAINER_DATA_SKIPPED",
    Family.DATA,
    "No data is fetched here, and why.",
    steps="AddContainerDataStep",
    keys="reason intent state",
    common=True,
)
CONTAINER_DATA_EXECUTED = declare_stage(
    "CONTAINER_DATA_EXECUTED",
    Family.DATA,
    "One piece of data was fetched: what was asked, and what came.",
    steps="AddContainerDataStep",
    keys="containerId pageId sectionId inputParam requestInput response durationMs",
    sentences=(SentenceTemplate("Fetched {inputParam}[ from {source}]: {response}."),),
)
CONTAINER_DATA_FAILED = declare_stage(
    "CONTAINER_DATA_FAILED",
    Family.DATA,
    "One piece of data could not be fetched.",
    steps="AddContainerDataStep",
    keys="containerId pageId sectionId inputParam error errorType durationMs",
    sentences=(SentenceTemplate("Could not fetch {inputParam}[ from {source}]: {error}.", tone=Tone.ERROR),),
)
CONTAINER_DATA_ATTACHED = declare_stage(
    "CONTAINER_DATA_ATTACHED",
    Family.DATA,
    "The fetched data is now in the context.",
    steps="AddContainerDataStep",
)

#: Session fields that fetching may change.
CONTAINER_FIELDS = frozenset({"context", "container_data", "has_container_data"})
#: The branch of the context for fetched data.
BRANCH = "container_data"


@dataclass(frozen=True)
class ContainerChoice:
    """The rows that run, by priority and id, and the counts of the others."""

    chosen: tuple[rows.ContainerConfig, ...]
    cut: Mapping[str, int]

    def candidates(self) -> list[Candidate]:
        """All chosen rows, because they all run."""
        return [Candidate(row.id, True) for row in self.chosen]


class AddContainerDataStep(Step):
    """Ask the providers of the container rows. A failed provider never fails the turn."""

    after = ("FallbackIntentStateStep",)
    rank = 1600
    always_runs = True
    requires_persisted = True
    writes = CONTAINER_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        return Continue(attach_container_data(session, turn))


def attach_container_data(session: Session, turn: Turn) -> Session:
    """The session with the fetched data of the rows. Data of an earlier turn is removed.

    Rows are independent: a failure is CONTAINER_DATA_FAILED, and the next row runs.
    """
    reason = "RESET_ONLY" if session.reset_only else "" if turn.config(session, CONTAINER_ENABLED) else "DISABLED"
    chosen_rows = () if reason else _choose_rows(session, turn)
    if not chosen_rows:
        turn.audit(session, CONTAINER_DATA_SKIPPED, reason=reason or "NO_ROWS", **session.where)
    root: dict[str, Any] = {}
    for row in chosen_rows:
        answer = _fetch_row(row, session, turn)
        if answer.error_type is None:
            root[row.input_param_name] = answer.value
            session = session.evolve(container_data=answer.value)
    if not root:
        return session.without_context(BRANCH) if BRANCH in session.context else session
    session = session.with_context({BRANCH: root}).evolve(has_container_data=True)
    # The payload is the fetched data; its keys are those of the rows.
    turn.trail.add(session, CONTAINER_DATA_ATTACHED, root)
    return session


def _choose_rows(session: Session, turn: Turn) -> tuple[rows.ContainerConfig, ...]:
    """The rows to fetch for the session and for a digression. Records all rows that it considers."""
    if not turn.snapshot.rows(rows.ContainerConfig):
        return ()
    # A question in between is answered with the data of its own intent.
    scopes = (session, session.digression) if session.digression else (session,)
    chosen: dict[int, rows.ContainerConfig] = {}
    for scope in scopes:
        choice = choose_containers(turn.snapshot, scope.intent, scope.state)
        turn.decide(
            session,
            DecisionKind.CONTAINER,
            key={"intent": scope.intent, "state": scope.state},
            winner=choice.chosen[0] if choice.chosen else None,
            candidates=choice.candidates(),
            cut=choice.cut,
        )
        for row in choice.chosen[1:]:
            turn.record_deciding_row(row, DecisionKind.CONTAINER)
        chosen |= {row.id: row for row in choice.chosen}
    return tuple(chosen.values())


def _fetch_row(row: rows.ContainerConfig, session: Session, turn: Turn) -> ContainerAnswer:
    """Ask the provider of a row, and record its answer with masked params, or its failure."""
    request = build_request(row, session, turn)
    answer = turn.ports.containers.fetch(request, session)
    address: dict[str, Any] = {
        "containerId": row.container_id,
        "pageId": row.page_id,
        "sectionId": row.section_id,
        "inputParam": row.input_param_name,
    }
    if answer.error_type is not None:
        turn.audit(
            session,
            CONTAINER_DATA_FAILED,
            **address,
            error=answer.error_message,
            errorType=answer.error_type,
            durationMs=answer.duration_ms,
        )
        return answer
    sent = request.input_params if answer.sent is None else answer.sent
    turn.audit(
        session,
        CONTAINER_DATA_EXECUTED,
        **address,
        requestInput=mask_params(row, sent, session, turn),
        response=answer.value,
        durationMs=answer.duration_ms,
    )
    return answer


def build_request(row: rows.ContainerConfig, session: Session, turn: Turn) -> ContainerRequest:
    """The request of a row, with the limits of its address."""
    address = _format_address(row)
    return ContainerRequest(
        row.page_id,
        row.section_id,
        row.container_id,
        collect_params(row.input_param_name, session),
        conversation_id=session.conversation_id,
        intent=session.intent or "",
        state=session.state or "",
        timeout_ms=turn.config(session, CONTAINER_TIMEOUT_MS, address),
        max_bytes=turn.config(session, CONTAINER_MAX_BYTES, address),
    )


def collect_params(name: str, session: Session) -> dict[str, Any]:
    """The context's value of that name, else the user's text, and all params that are not internal.

    Where names are equal, the request's own params win.
    """
    value = session.context.get(name)
    fetched_for = session.resolved_user_input if value is None else value
    return {name: fetched_for, **hide_internal(session.input_params), **hide_internal(session.user_input_params)}


def mask_params(
    row: rows.ContainerConfig, params: Mapping[str, Any], session: Session, turn: Turn
) -> Mapping[str, Any]:
    """The params for the audit: those in REDACT_PARAMS are masked."""
    hidden = turn.config(session, CONTAINER_REDACT_PARAMS, _format_address(row))
    masked: Mapping[str, Any] = redact(dict(params), frozenset(map(str.lower, hidden))) if hidden else params
    return masked


def _format_address(row: rows.ContainerConfig) -> str:
    return f"{row.page_id}-{row.section_id}-{row.container_id}"


def choose_containers(snapshot: Snapshot, intent: str | None, state: str | None) -> ContainerChoice:
    """The rows of the first scope that has any: intent and state, intent, state, everywhere."""
    by_scope = snapshot.index(rows.ContainerConfig, scope_key, _order)
    tiers = [
        by_scope[bucket]
        for bucket in dict.fromkeys(list_buckets(intent, state))
        if bucket in by_scope and snapshot.is_active(bucket[0])
    ]
    in_scope = sum(len(tier) for tier in tiers)
    chosen = tiers[0] if tiers else ()
    cut = count_out_of_scope(snapshot, rows.ContainerConfig, intent, in_scope)
    return ContainerChoice(chosen, {**cut, OUTRANKED: in_scope - len(chosen)})


def _order(row: rows.ContainerConfig) -> tuple[int, int]:
    return row.priority, row.id
