"""Save checks of `ce_intent` (tables 2.1)."""

from collections.abc import Iterator

from config_admin.validation import references, relations
from config_admin.validation.checks import common
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows, settings
from convengine.domain.catalogue.intents import RESET_INTENT_CODES
from convengine.domain.scope import ANY
from convengine.domain.text import code

Intent = Draft[rows.Intent]


def _code(draft: Intent) -> Iterator[Finding]:
    value = code(draft.row.intent_code)
    if value == ANY:
        yield draft.error("INTENT_RESERVED", "intent_code", "ANY is a wildcard and cannot be an intent.")
    elif common.CODE.fullmatch(value) is None:
        yield common.code_format(draft, "intent_code")


def _described(draft: Intent) -> Iterator[Finding]:
    yield from common.required(
        draft,
        "description",
        "Describe when this intent applies. The model chooses by this text.",
        "DESCRIPTION_BLANK",
    )


def _renamed(draft: Intent) -> Iterator[Finding]:
    old = draft.replaces
    if old and code(str(old.pk)) != code(draft.row.intent_code) and references.referring(draft.snapshot, old):
        yield draft.error(
            "CONFLICT",
            "intent_code",
            "Codes cannot be changed once rows use them. Create a new intent and move the rows.",
        )


def _resets(draft: Intent) -> bool:
    return code(draft.row.intent_code) in settings.read(draft.snapshot, RESET_INTENT_CODES).value


def _reset_mixed(draft: Intent) -> Iterator[Finding]:
    if not _resets(draft):
        return
    for row_type in (rows.Rule, rows.OutputSchema, rows.Response):
        if relations.of_intent(draft.snapshot, row_type, draft.row.intent_code):
            yield draft.warning(
                "RESET_INTENT_MIXED",
                "intent_code",
                "This intent resets the conversation as soon as it is resolved; its rows will never be reached.",
            )
            return


def _answered(draft: Intent) -> Iterator[Finding]:
    if not draft.row.enabled or _resets(draft):
        return
    if not any(relations.sharing_scope(draft.snapshot, rows.Response, draft.row.intent_code, ANY)):
        yield draft.warning("NO_RESPONSE_FOR_INTENT", None, "No response row can answer this intent yet.")


FORM: tuple[Check, ...] = (_code, _described, common.priority, _renamed)
FIT: tuple[Check, ...] = (_reset_mixed, _answered)
