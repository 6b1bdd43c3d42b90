"""The arguments of extensions, as the engine makes them, with sensible defaults: no database, no configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.facts import collect_extension_facts
from convengine.engine.turn.ports import ContainerRequest, Ports
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.json_value import Json
from convengine.server.extensions.tasks import TaskCall

#: The time of a test that names none: a Thursday.
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_ID = str(UUID(int=1))


def make_session(
    *,
    context: Mapping[str, Json] | None = None,
    input_params: Mapping[str, Json] | None = None,
    intent: str | None = None,
    state: str | None = None,
    user_text: str | None = None,
    **fields: Any,
) -> Session:
    """The session that hooks, rule types and rule actions get."""
    return Session(
        _ID,
        context=dict(context or {}),
        intent=intent,
        state=state,
        user_text=user_text,
        **{"now": NOON, **fields},
    ).with_params(input_params or {})


def make_session_facts(**session: Any) -> dict[str, Json]:
    """What tools, providers, transformers and memory stores get as `session`; the keywords are those of
    `make_session`.
    """
    facts: dict[str, Json] = to_plain(collect_extension_facts(make_session(**session)))
    return facts


def make_task_call(
    *,
    args: Mapping[str, Json] | None = None,
    rule: Rule | None = None,
    idempotency_key: str = "test",
    **session: Any,
) -> TaskCall:
    """The argument of a task; the keywords are those of `make_session`. Afterwards, `written_context`,
    `removed_context` and `written_params` say what the task wrote.
    """
    stands = make_session(**session)
    return TaskCall(
        to_plain(collect_extension_facts(stands)),
        dict(stands.context),
        dict(stands.input_params),
        rule,
        idempotency_key,
        dict(args or {}),
    )


def make_container_request(
    page: int = 1, section: int = 1, container: int = 1, *, input_params: Mapping[str, Json] | None = None, **more: Any
) -> ContainerRequest:
    """The request that a container provider and its interceptors get."""
    return ContainerRequest(page, section, container, dict(input_params or {}), **more)


def make_rule(**columns: Any) -> Rule:
    """The row that rule types and rule actions get; any column of `ce_rule`."""
    defaults = {
        "rule_id": 1, "intent_code": ANY, "state_code": ANY, "rule_type": "EXACT", "match_pattern": ANY,
        "action": "SET_STATE", "action_value": "DONE",
    }  # fmt: skip
    return Rule(**{**defaults, **columns})


@dataclass
class FrozenClock:
    """A clock that stands still."""

    at: datetime = NOON

    def now(self) -> datetime:
        return self.at

    def elapsed_ms(self) -> float:
        return 0.0


class _NoPort:
    """A port that a test did not give."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"make_turn has no {name}: give the port by name, for example make_turn(tools=…).")


def make_turn(*, user_text: str | None = None, at: datetime = NOON, **ports: Any) -> Turn:
    """The turn that hooks, rule actions and steps get: a fixed clock, an empty configuration, a trail of events.

    `ports` are those of the turn that the code calls, such as `tools` or `model`.
    """
    clock = FrozenClock(at)
    names = ("conversations", "tasks", "executions", "containers", "model", "tools", "servers")
    missing: dict[str, Any] = {name: _NoPort() for name in (*names, "pace", "memory", "transformers")}
    return Turn(
        turn_id=_ID,
        turn_no=1,
        request=TurnRequest(_ID, user_text),
        snapshot=Snapshot(1, {}),
        ports=Ports(**{"clock": clock, **missing, **ports}),
        trail=Trail(clock.elapsed_ms),
    )
