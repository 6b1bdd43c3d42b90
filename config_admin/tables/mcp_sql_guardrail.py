"""`ce_mcp_sql_guardrail`: functions and keywords that SQL tools may, or may not, use."""

import re
from collections.abc import Iterator
from typing import Any

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.model_fields import LowerField, make_enabled_field, note, word
from config_admin.validation import common, relations
from config_admin.validation.columns import NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import GuardrailType

Guardrail = Draft[rows.SqlGuardrail]
_NAME = re.compile(r"[A-Za-z0-9_]+")
_IN_EVERY_QUERY = frozenset({"select", "with", "from"})


def _check_value(draft: Guardrail) -> Iterator[Finding]:
    if _NAME.fullmatch((draft.row.match_value or "").strip()) is None:
        yield draft.error("MATCH_VALUE", "match_value", "Enter one name with letters, digits and underscores only.")


def _get_value_key(row: Any) -> str:
    return (row.match_value or "").strip().lower()


def _get_entry_key(row: Any) -> tuple[str, str]:
    return code(row.rule_type), _get_value_key(row)


_check_duplicates = common.make_unique_check(
    _get_entry_key, "match_value", "This entry already exists (row {other.pk})."
)


def _check_conflicts(draft: Guardrail) -> Iterator[Finding]:
    kind, value = _get_entry_key(draft.row)
    for other in draft.others(relations.index_rows(draft.snapshot, rows.SqlGuardrail, _get_value_key).get(value, ())):
        pair = (kind, code(other.rule_type))
        if not other.enabled or not draft.row.enabled:
            continue
        elif pair == (GuardrailType.ALLOW_FUNCTION, GuardrailType.BLOCK_FUNCTION):
            yield draft.error(
                "CONFLICT",
                "match_value",
                f"{value} is also blocked by row {other.pk}. Blocking has priority, so this row has no effect.",
            )
        elif pair == (GuardrailType.BLOCK_FUNCTION, GuardrailType.ALLOW_FUNCTION):
            yield draft.error(
                "CONFLICT",
                "match_value",
                f"{value} is also allowed by row {other.pk}. Blocking has priority, so disable that row first.",
            )


def _check_breadth(draft: Guardrail) -> Iterator[Finding]:
    if code(draft.row.rule_type) == GuardrailType.BLOCK_KEYWORD and _get_value_key(draft.row) in _IN_EVERY_QUERY:
        yield draft.warning("CONFLICT", "match_value", "This blocks every query. Choose another keyword.")


class CeMcpSqlGuardrail(ControlPlaneRow):
    """One entry of the set; BLOCK wins over ALLOW."""

    save_checks = SaveChecks(form=(_check_value, _check_duplicates, _check_conflicts), fit=(_check_breadth,))
    natural_key = NaturalKey(("rule_type", "match_value"), is_unique=True)

    guardrail_id = models.BigAutoField("id", primary_key=True)
    rule_type = word(GuardrailType, verbose_name="kind")
    match_value = declare_column(
        LowerField("name", help_text="One function or keyword: letters, digits and underscores."), is_code=True
    )
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_sql_guardrail"
        verbose_name = "SQL guardrail"
        constraints = [
            models.UniqueConstraint(
                fields=["rule_type", "match_value"],
                name="ce_mcp_sql_guardrail_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="This guardrail already exists.",
            )
        ]
