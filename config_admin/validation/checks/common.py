"""Checks that many tables share: scope, codes, priority, choices, order among neighbours (tables 1.3, 1.5, 1.8)."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean, one_of
from convengine.domain import rows
from convengine.domain.scope import ANY, UNKNOWN
from convengine.domain.text import blank, code

CODE = re.compile(r"[A-Z][A-Z0-9_]{0,119}")
MAX_PRIORITY = 1_000_000
#: What a header or a variable that holds a secret is called.
CREDENTIAL = re.compile(r"authorization|cookie|api[-_]?key|token|secret|passw(?:or)?d|credential", re.IGNORECASE)


def scope(draft: Draft[Any]) -> Iterator[Finding]:
    """Intent and state of a scoped row: not blank, well formed, and the intent exists."""
    yield from intent(draft)
    yield from state(draft)


def intent(draft: Draft[Any]) -> Iterator[Finding]:
    """The intent of a scope: not blank, well formed, and there."""
    value = code(draft.row.intent_code)
    if not value:
        yield draft.error(
            "SCOPE_BLANK", "intent_code", "Enter an intent, or ANY for all of them. Blank is not allowed."
        )
    elif CODE.fullmatch(value) is None:
        yield code_format(draft, "intent_code")
    elif value not in (ANY, UNKNOWN):
        yield from intent_known(draft, "intent_code", value)


def state(draft: Draft[Any], field: str = "state_code") -> Iterator[Finding]:
    """A state column: not blank, and well formed."""
    value = code(getattr(draft.row, field))
    if not value:
        yield draft.error("SCOPE_BLANK", field, "Enter a state, or ANY for all of them. Blank is not allowed.")
    elif CODE.fullmatch(value) is None:
        yield code_format(draft, field)


def code_format(draft: Draft[Any], field: str) -> Finding:
    """What is said about a code of the wrong shape."""
    return draft.error(
        "CODE_FORMAT",
        field,
        "Use capital letters, digits and underscore, starting with a letter (for example CANCEL_ORDER).",
    )


def intent_known(draft: Draft[Any], field: str, value: str) -> Iterator[Finding]:
    """The intent that `value` names exists."""
    intents = draft.snapshot.table(rows.Intent).by_pk
    if value not in intents:
        hint = did_you_mean(value, map(str, intents))
        yield draft.error(
            "INTENT_UNKNOWN",
            field,
            f"There is no intent {value}.{hint} Create it first, or choose ANY or UNKNOWN.",
        )


def intent_disabled(draft: Draft[Any]) -> Iterator[Finding]:
    """A row of a disabled intent is inactive (tables 1.6)."""
    value = code(draft.row.intent_code)
    if value and not draft.snapshot.is_active(value):
        yield draft.warning(
            "INTENT_DISABLED",
            "intent_code",
            f"Intent {value} is disabled, so this row will not be used until it is enabled.",
        )


def state_unknown(draft: Draft[Any], field: str = "state_code") -> Iterator[Finding]:
    """Something names or leads to the state already (R93)."""
    value, known = code(getattr(draft.row, field)), draft.snapshot.known_states
    if value and value != ANY and value not in known:
        yield draft.warning(
            "STATE_UNKNOWN",
            field,
            f"No rule, classifier or state-graph edge leads to state {value} yet.{did_you_mean(value, known)}",
        )


def scope_fit(draft: Draft[Any]) -> Iterator[Finding]:
    """Warnings about the scope of a row."""
    yield from intent_disabled(draft)
    yield from state_unknown(draft)


def priority(draft: Draft[Any]) -> Iterator[Finding]:
    """A whole number within the bounds that all tables share."""
    value = draft.row.priority
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_PRIORITY:
        yield draft.error(
            "PRIORITY_RANGE", "priority", "Priority must be a whole number from 0 to 1000000; lower goes first."
        )


def required(draft: Draft[Any], field: str, message: str, finding_code: str = "FIELD_REQUIRED") -> Iterator[Finding]:
    """A column that may not be blank."""
    if blank(getattr(draft.row, field)):
        yield draft.error(finding_code, field, message)


def choice(
    draft: Draft[Any],
    field: str,
    allowed: Collection[str],
    *,
    finding_code: str = "CHOICE_UNKNOWN",
    extra: Collection[str] = (),
    message: str | None = None,
) -> Iterator[Finding]:
    """A column with a closed list of words; `extra` words are accepted but not offered."""
    value = code(str(getattr(draft.row, field) or ""))
    if value not in allowed and value not in extra:
        yield draft.error(
            finding_code, field, message or f"Choose {one_of(list(allowed))}.{did_you_mean(value, allowed)}"
        )


def duplicate_row(draft: Draft[Any]) -> Iterator[Finding]:
    """Another row of the same scope does exactly the same."""
    if not draft.row.enabled:
        return
    for other in draft.others(relations.alike(draft.snapshot, draft.row)):
        if relations.does_the_same(draft.row, other):
            yield draft.warning(
                "DUPLICATE_ROW",
                None,
                f"Row {other.pk} has the same scope, condition and effect. Only the first will matter.",
            )
            return


def shadowed_row(draft: Draft[Any], *contested: str, finding_code: str = "SHADOWED_ROW") -> Iterator[Finding]:
    """Where one row wins alone: another of the same scope, and the same `contested` columns, always comes first."""
    if not draft.row.enabled:
        return
    for other in draft.others(relations.same_scope(draft.snapshot, draft.row)):
        if relations.rank(other) >= relations.rank(draft.row):
            return
        if all(_same(draft.row, other, name) for name in contested) and not relations.does_the_same(draft.row, other):
            why = "lower priority number" if other.priority < draft.row.priority else "same priority, lower id"
            yield draft.warning(finding_code, None, f"Row {other.pk} always wins over this one (same scope, {why}).")
            return


def _same(one: Any, other: Any, name: str) -> bool:
    return code(str(getattr(one, name) or "")) == code(str(getattr(other, name) or ""))
