"""Save checks of `ce_response` (tables 3.3; R9)."""

import json
import re
from collections.abc import Iterator, Sequence

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.output_schema import valid_schema
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.domain import rows
from convengine.domain.enums import OutputFormat, ResponseType
from convengine.domain.scope import UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code
from convengine.prompts import convert

Response = Draft[rows.Response]
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def _derived(row: rows.Response) -> bool:
    return code(row.response_type) == ResponseType.DERIVED


def _types(draft: Response) -> Iterator[Finding]:
    yield from common.choice(draft, "output_format", list(OutputFormat))
    yield from common.choice(draft, "response_type", list(ResponseType))


def _exact_text(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if code(row.response_type) == ResponseType.EXACT:
        yield from common.required(draft, "exact_text", "Enter the text to send.", "EXACT_TEXT_REQUIRED")
    yield from programs.template(draft, "exact_text", row.exact_text, intent=row.intent_code, strict=False)
    yield from programs.template(draft, "derivation_hint", row.derivation_hint, intent=row.intent_code)


def _json_text(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if _derived(row) or code(row.output_format) != OutputFormat.JSON or blank(row.exact_text):
        return
    if not json_shaped(row.exact_text or ""):
        yield draft.error("SHAPE_INVALID", "exact_text", "For JSON the text must be JSON once filled in.")


def json_shaped(text: str) -> bool:
    """True when the text is JSON with a value in place of each expression.

    Blocks may build anything, and a template that does not parse is told as such.
    """
    try:
        plain = convert.convert(text).text
    except convert.ConversionError:
        return True
    if "{%" in plain:
        return True
    try:
        # A digit is a value where the expression stands alone, and a harmless character inside a text.
        json.loads(_EXPRESSION.sub("0", plain))
    except ValueError:
        return False
    return True


def _schema(draft: Response) -> Iterator[Finding]:
    row = draft.row
    yield from programs.json_document(draft, "json_schema")
    schema = as_json(row.json_schema)
    if schema is None or schema is UNREADABLE:
        return
    if not _derived(row) or code(row.output_format) != OutputFormat.JSON:
        yield draft.error("JSON_SCHEMA_FOR_TEXT", "json_schema", "A schema only applies to DERIVED JSON answers.")
    else:
        yield from valid_schema(draft, "json_schema", schema)


def _is_fallback(row: rows.Response) -> bool:
    return row.enabled and relations.scope_key(row) == (UNKNOWN, UNKNOWN)


def last_fallback(snapshot: Snapshot, row: rows.Response) -> bool:
    """True when the stored row is the only enabled answer for UNKNOWN / UNKNOWN."""
    stored = snapshot.row(rows.Response, row.pk)
    return stored is not None and [other.pk for other in fallbacks(snapshot)] == [row.pk]


def fallbacks(snapshot: Snapshot) -> Sequence[rows.Response]:
    """The enabled answers for UNKNOWN / UNKNOWN."""
    return snapshot.index(rows.Response, relations.scope_key, relations.rank).get((UNKNOWN, UNKNOWN), ())


def last_fallback_message(draft: Response) -> Finding:
    """What is said when that row is deleted, disabled or moved elsewhere."""
    return draft.error(
        "LAST_FALLBACK",
        "enabled",
        "This is the only answer for messages that nothing else understands. Add another first.",
    )


def _keeps_a_fallback(draft: Response) -> Iterator[Finding]:
    if not _is_fallback(draft.row) and last_fallback(draft.snapshot, draft.row):
        yield last_fallback_message(draft)


def _prompted(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or not _derived(row):
        return
    wanted = code(row.output_format)
    fitting = relations.sharing_scope(draft.snapshot, rows.PromptTemplate, row.intent_code, row.state_code)
    if not any(code(template.response_type) == wanted for template in fitting):
        yield draft.warning(
            "DERIVED_NO_PROMPT",
            None,
            f"No enabled {wanted} prompt template fits {code(row.intent_code)}/{code(row.state_code)}; the turn would "
            "fail.",
        )


def _hinted(draft: Response) -> Iterator[Finding]:
    if _derived(draft.row) and blank(draft.row.derivation_hint):
        yield draft.warning("DERIVED_NO_HINT", "derivation_hint", "Without a hint the model only has the template.")


def _modelled(draft: Response) -> Iterator[Finding]:
    if not _derived(draft.row) or draft.world.model_configured:
        return
    outcome = (
        "the turn fails; give the row a text to fall back to"
        if blank(draft.row.exact_text)
        else "the text of the row is sent instead"
    )
    yield draft.warning("DERIVED_WITHOUT_MODEL", "response_type", f"No model is configured, so {outcome}.")


def _shadowed(draft: Response) -> Iterator[Finding]:
    yield from common.shadowed_row(draft)


FORM: tuple[Check, ...] = (
    common.scope,
    _types,
    common.priority,
    _exact_text,
    _json_text,
    _schema,
    _keeps_a_fallback,
)
FIT: tuple[Check, ...] = (common.scope_fit, _prompted, _hinted, _modelled, common.duplicate_row, _shadowed)
