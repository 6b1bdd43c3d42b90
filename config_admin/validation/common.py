"""Checks that many tables share: scope, codes, priority, choices, order among neighbours."""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from config_admin.validation import relations
from config_admin.validation.draft import Check, Draft, Finding
from convengine.engine.text.compare import code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, UNKNOWN, scope_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.deployment.secrets import MASK

CODE = re.compile(r"[A-Z][A-Z0-9_]{0,119}")


#: Names of headers and variables that hold secrets.
CREDENTIAL = re.compile(r"authorization|cookie|api[-_]?key|token|secret|passw(?:or)?d|credential", re.IGNORECASE)
#: Texts that are secrets by their form: private keys, keys of well-known services, passwords in addresses.
SECRET_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\beyJ[A-Za-z0-9_-]{10,}\.eyJ|\b(?:Bearer|Basic) [A-Za-z0-9+/=._-]{16,}"
    r"|://[^/\s:@]+:[^/\s:@]+@"
)
#: A name and its value in an address or an option: `?api_key=…`, `--token=…`.
_NAMED_VALUE = re.compile(r"(?:[?&]|--)([\w-]+)=([^&\s]+)")
#: What stands for a value that is not in the row.
_REFERENCE = re.compile(r"\$\{|\{\{")


def is_secret(name: str, text: object) -> bool:
    """Whether a value holds a secret itself, by its name or its form. A reference to a secret is not a secret."""
    if not isinstance(text, str) or not text:
        return False
    if text == MASK:
        # A form or a file showed this for a secret: stored, it would replace it.
        return True
    pairs = [(name, text), *_NAMED_VALUE.findall(text)]
    named = any(CREDENTIAL.search(each) and not _REFERENCE.search(value) for each, value in pairs)
    return named or SECRET_VALUE.search(text) is not None


def check_intent(draft: Draft[Any]) -> Iterator[Finding]:
    """The intent of a scope: not blank, well formed, and existing."""
    value = code(draft.row.intent_code)
    if not value:
        yield draft.error("SCOPE_BLANK", "intent_code", "Enter an intent, or ANY for all intents.")
    elif CODE.fullmatch(value) is None:
        yield report_code_format(draft, "intent_code")
    elif value not in (ANY, UNKNOWN):
        yield from check_intent_exists(draft, "intent_code", value)


def check_state(draft: Draft[Any], field: str = "state_code") -> Iterator[Finding]:
    """A state column: not blank, and well formed."""
    value = code(getattr(draft.row, field))
    if not value:
        yield draft.error("SCOPE_BLANK", field, "Enter a state, or ANY for all states.")
    elif CODE.fullmatch(value) is None:
        yield report_code_format(draft, field)


def report_code_format(draft: Draft[Any], field: str) -> Finding:
    return draft.error(
        "CODE_FORMAT",
        field,
        "Use capital letters, digits and underscores, starting with a letter (for example CANCEL_ORDER).",
    )


def check_intent_exists(draft: Draft[Any], field: str, value: str) -> Iterator[Finding]:
    """The intent that `value` names exists."""
    intents = draft.snapshot.table(rows.Intent).by_pk
    if value not in intents:
        hint = did_you_mean(value, map(str, intents))
        yield draft.error(
            "INTENT_UNKNOWN",
            field,
            f"The intent {value} does not exist.{hint} Create it first, or choose ANY or UNKNOWN.",
        )


def check_intent_enabled(draft: Draft[Any]) -> Iterator[Finding]:
    """A row of a disabled intent is inactive."""
    value = code(draft.row.intent_code)
    if value and not draft.snapshot.is_active(value):
        yield draft.warning(
            "INTENT_DISABLED",
            "intent_code",
            f"The intent {value} is disabled, so this row is not used until the intent is enabled.",
        )


def check_state_known(draft: Draft[Any], field: str = "state_code") -> Iterator[Finding]:
    """Some row names or leads to the state already."""
    value, known = code(getattr(draft.row, field)), draft.snapshot.known_states
    if value and value != ANY and value not in known:
        yield draft.warning(
            "STATE_UNKNOWN",
            field,
            f"No rule, phrase or state graph edge leads to state {value} yet.{did_you_mean(value, known)}",
        )


def check_duplicate_row(draft: Draft[Any]) -> Iterator[Finding]:
    """Another row of the same scope is identical."""
    if not draft.row.enabled:
        return
    for other in draft.others(relations.find_similar_rows(draft.snapshot, draft.row)):
        if relations.has_same_effect(draft.row, other):
            yield draft.warning(
                "DUPLICATE_ROW",
                None,
                f"Row {other.pk} has the same scope, condition and effect. Only the first one is used. Delete one of "
                "them.",
            )
            return


def make_unique_check(key: Callable[[Any], Hashable], field: str | None, text: str) -> Check:
    """No two rows of the table have the same key, not even disabled ones. `text` may name {row} and {other}."""

    def check_unique(draft: Draft[Any]) -> Iterator[Finding]:
        same = relations.index_rows(draft.snapshot, type(draft.row), key).get(key(draft.row), ())
        for other in draft.others(same):
            yield draft.error("DUPLICATE", field, text.format(row=draft.row, other=other))

    return check_unique


def make_rival_check(
    finding_code: str, field: str | None, text: str, key: Callable[[Any], Hashable] = lambda row: None
) -> Check:
    """Another enabled row of the same scope has the same key, and only one is used. `text` names {other}."""

    def check_rival(draft: Draft[Any]) -> Iterator[Finding]:
        if draft.row.enabled:
            for other in draft.others(relations.find_rows_of_scope(draft.snapshot, draft.row)):
                if key(other) == key(draft.row):
                    yield draft.warning(finding_code, field, text.format(other=other))
                    return

    return check_rival


def make_any_scope_check(finding_code: str, text: str) -> Check:
    """The row is used for every intent and state."""

    def check_any_scope(draft: Draft[Any]) -> Iterator[Finding]:
        if scope_key(draft.row) == (ANY, ANY):
            yield draft.warning(finding_code, "intent_code", text)

    return check_any_scope


def make_shadowing_check(*contested: str, finding_code: str = "SHADOWED_ROW") -> Check:
    """If only one row wins: another of the same scope, and the same `contested` columns, always comes first."""

    def check_shadowing(draft: Draft[Any]) -> Iterator[Finding]:
        if not draft.row.enabled:
            return
        for other in draft.others(relations.find_rows_of_scope(draft.snapshot, draft.row)):
            if relations.rank(other) >= relations.rank(draft.row):
                return
            own, others = ([code(str(getattr(row, name) or "")) for name in contested] for row in (draft.row, other))
            if own == others and not relations.has_same_effect(draft.row, other):
                why = "lower priority number" if other.priority < draft.row.priority else "same priority, lower id"
                yield draft.warning(
                    finding_code,
                    None,
                    f"Row {other.pk} is always used instead of this one (same scope, {why}). Change the priority or "
                    "the scope.",
                )
                return

    return check_shadowing


def list_fallbacks(snapshot: Snapshot) -> Sequence[rows.Response]:
    """The enabled answers for UNKNOWN / UNKNOWN, the first choice first."""
    return snapshot.index(rows.Response, scope_key, relations.rank).get((UNKNOWN, UNKNOWN), ())


def is_last_fallback(snapshot: Snapshot, row: rows.Response) -> bool:
    """True when the stored row is the only enabled answer for UNKNOWN / UNKNOWN."""
    stored = snapshot.row(rows.Response, row.pk)
    return stored is not None and [other.pk for other in list_fallbacks(snapshot)] == [row.pk]


def report_last_fallback(draft: Draft[rows.Response]) -> Finding:
    """The message when that row is deleted, disabled or moved."""
    return draft.error(
        "LAST_FALLBACK",
        "enabled",
        "This is the only answer for messages that are not recognised. Add another one first.",
    )
