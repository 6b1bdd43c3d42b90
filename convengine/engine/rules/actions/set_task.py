"""SET_TASK: run methods of a registered task."""

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence

from convengine.engine.rules.actions.contract import (
    ENGINE_BRANCHES,
    Action,
    ActionFailed,
    ActionValueError,
    audit_action,
    require_value,
    split_names,
)
from convengine.engine.rules.stages import SET_TASK
from convengine.engine.rules.task_runs import (
    ALREADY_CLAIMED,
    TaskOutcome,
    TaskReference,
    apply_task_answer,
    run_claimed,
    run_methods,
)
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn.codec import dumps, sort_keys, to_plain
from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.engine.turn.enums import DialogueAct, RuleAction
from convengine.engine.turn.facts import audit_changed_facts
from convengine.engine.turn.owned_params import RuleParams
from convengine.engine.turn.ports import RULE_CLAIMANT, RuleTaskClaim, TaskAnswer, TaskRun
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

VALUE = "task:method"
USAGE = "Use task:method, task:method,method, or task."
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_NAMESPACE = uuid.UUID("7f6a3f0e-0d8e-4a4b-9a57-5b1c1f6b2f7d")
_UNKNOWN_END = "An earlier turn started this task, but its outcome is unknown. A person must check it."


def parse(value: str | None) -> TaskReference:
    """`task:method[,method…]` or `task`. Raises ActionValueError."""
    task, colon, methods = require_value("SET_TASK", value, VALUE).partition(":")
    method_names = split_names(methods)
    if not _NAME.fullmatch(task.strip()) or (colon and not method_names):
        raise ActionValueError(USAGE)
    return TaskReference(task.strip(), method_names)


def check_reference(reference: TaskReference, registered: Mapping[str, Sequence[str]]) -> None:
    """Check that the deployment has the task and its methods. Raises ActionValueError."""
    methods = registered.get(reference.task)
    if methods is None:
        raise build_unknown_task_error(reference.task, registered)
    _check_methods(reference, methods)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Run the methods in order; each sees the results of the earlier ones. Raises ActionValueError and ActionFailed."""
    reference = parse(rule.action_value)
    registered = turn.ports.tasks.methods(reference.task)
    if registered is None:
        raise build_unknown_task_error(reference.task, turn.ports.tasks.names())
    _check_methods(reference, registered)
    methods = reference.choose_methods(registered)
    run_details, outcome = _run_or_reuse(rule, session, turn, reference, methods)
    if outcome is None:
        raise _build_failure(session, reference, methods[0], ALREADY_CLAIMED, _UNKNOWN_END)
    changes: list[tuple[str, Session, Session]] = []
    for method, effect in zip(methods, outcome.effects, strict=False):
        before, session = session, apply_task_answer(session, TaskAnswer(**effect))
        changes.append((f"{reference.task}:{method}", before, session))
    if outcome.error_type:
        _audit_changes(session, turn, changes)
        raise _build_failure(session, reference, methods[len(outcome.values)], outcome.error_type, outcome.message)
    audit_action(
        rule,
        session,
        turn,
        SET_TASK,
        "context",
        "inputParams",
        beanName=reference.task,
        beanMethodNames=list(methods),
        **session.where,
        **run_details,
    )
    _audit_changes(session, turn, changes)
    return session


def _run_or_reuse(
    rule: Rule, session: Session, turn: Turn, reference: TaskReference, methods: Sequence[str]
) -> tuple[Mapping[str, Json], TaskOutcome | None]:
    """The outcome of this run or of an earlier one (None if it is unknown), and the claim for the event."""
    start = turn.previous_session or session
    nonce = _derive_nonce(rule, session, turn, start, reference)

    def run() -> TaskOutcome:
        def run_method(method: str, seen: Session) -> TaskAnswer:
            # Each method has its own key, because a rule may name several that change the same system.
            task_run = TaskRun(f"{start.conversation_id}:{nonce}:{method}")
            return turn.ports.tasks.run(reference.task, method, seen, rule, task_run)

        return run_methods(session, turn, methods, run_method)

    if turn.ports.tasks.is_repeatable(reference.task, methods):
        return {}, run()
    claim = RuleTaskClaim(
        start.conversation_id,
        turn.turn_id,
        nonce,
        f"{RULE_CLAIMANT}{rule.rule_id}",
        str(reference),
        _hash_request(session),
    )
    claimed = run_claimed(turn, claim, reference, run)
    reused = {} if claimed.execution.claimed else {"reused": True}
    return {"executionId": claimed.execution.execution_id, **reused}, claimed.outcome


def _derive_nonce(rule: Rule, session: Session, turn: Turn, start: Session, reference: TaskReference) -> str:
    """The key of this run, which is counted. A turn that died is taken again from the same version: it gets the same.

    Another message in its place gets another one. `start` is the session that the turn began in: the id of one that
    it goes on in differs in each attempt.
    """
    run_no = turn.task_runs[rule.rule_id] = turn.task_runs.get(rule.rule_id, 0) + 1
    message = dumps([session.user_text, to_plain(dict(session.user_input_params))])
    parts = (start.conversation_id, start.version, rule.rule_id, reference, run_no, message)
    return str(uuid.uuid5(_NAMESPACE, "\n".join(str(part) for part in parts)))


def _hash_request(session: Session) -> str:
    """A digest of what the task may read: the message, its params, and the business fields. Any yes is the same."""
    is_yes = session.dialogue.dialogue_act == DialogueAct.AFFIRM
    fields = {key: value for key, value in session.context.items() if key not in {*ENGINE_BRANCHES, DIALOGUE}}
    message = DialogueAct.AFFIRM.value if is_yes else session.user_text
    request = dumps(sort_keys(to_plain([message, dict(session.user_input_params), fields])))
    return hashlib.sha256(request.encode()).hexdigest()


def _audit_changes(session: Session, turn: Turn, changes: Iterable[tuple[str, Session, Session]]) -> None:
    """Write what each method changed."""
    for method, before, after in changes:
        audit_changed_facts(before, after, turn, by=method, kind="TASK", session=session)


def build_unknown_task_error(task: str, registered: Iterable[str]) -> ActionValueError:
    """The message for an unknown task: the known ones, and the most similar."""
    known = list(registered)
    names = join_names(known)
    remedy = f"{did_you_mean(task, known)} Name a registered task ({names}), or register {task} in code.".lstrip()
    message = f"There is no registered task {task}. Registered: {names}."
    return ActionValueError(message, "NOT_REGISTERED", remedy)


def _check_methods(reference: TaskReference, registered: Sequence[str]) -> None:
    """Raises ActionValueError if a method that the reference names is not registered."""
    for method in reference.choose_methods(registered):
        if method not in registered:
            has = join_names(registered)
            message = f"Task {reference.task} has no method {method}. It has: {has}."
            raise ActionValueError(message, "NOT_REGISTERED", f"Name a method of {reference.task}: {has}.")


def _build_failure(
    session: Session, reference: TaskReference, method: str, error_type: str, message: str | None
) -> ActionFailed:
    payload = {"task": reference.task, "method": method, "errorType": error_type, "errorMessage": message or ""}
    return ActionFailed(error_type, message or "", session.with_values(RuleParams(rule_task_error=payload)))


def _describe(reference: TaskReference) -> str:
    methods = f" ({', '.join(reference.methods)})" if reference.methods else ""
    return f"run the task {reference.task}{methods}"


ACTION = Action(
    RuleAction.SET_TASK.value,
    RuleAction.SET_TASK.label,
    help="Runs a registered task, at most once per phase. A turn that is taken again does not run it again.",
    value=VALUE,
    picker="task",
    parse=parse,
    apply=apply,
    describe=_describe,
)
