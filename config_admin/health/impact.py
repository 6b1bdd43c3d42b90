"""How much a finding matters to customers."""

from enum import StrEnum

from config_admin.validation.draft import Severity


class Impact(StrEnum):
    """What a finding does to conversations, the worst first."""

    BREAKS = "BREAKS"
    SURPRISES = "SURPRISES"
    HINT = "HINT"

    @property
    def label(self) -> str:
        """The severity on pages."""
        return _LABELS[self]

    @property
    def help(self) -> str:
        return _HELP[self]

    @property
    def rank(self) -> int:
        """Its position in the order of urgency."""
        return list(Impact).index(self)


_LABELS = {Impact.BREAKS: "Breaks", Impact.SURPRISES: "Unexpected effect", Impact.HINT: "Hint"}
_HELP = {
    Impact.BREAKS: "Customers get an error, no answer, or cannot go on.",
    Impact.SURPRISES: "Conversations go on, but not as the row says.",
    Impact.HINT: "Nothing goes wrong, or no turn was found in which it does. The row may be useless, or unclear.",
}
#: Warnings about turns that fail, or conversations that cannot go on; every error is one of them.
_BREAKING = frozenset(
    {
        "CONFIRM_WITHOUT_ACTION_OR_RULE", "DERIVED_NO_PROMPT", "FORM_WITHOUT_EXIT", "NO_RESPONSE_FOR_INTENT",
        "POLICY_BLOCKS_EVERYTHING", "STATE_WITHOUT_RESPONSE",
    }
)  # fmt: skip
#: Warnings about rows that nobody misses.
_HINTS = frozenset(
    {
        "ACTION_NO_DESCRIPTION", "CONFIG_KEY_RENAMED", "DERIVED_NO_HINT", "DERIVED_WITHOUT_MODEL",
        "DESCRIPTION_BLANK", "DUPLICATE_ROW", "EDGE_SELF", "JSON_SCHEMA_FOR_TEXT", "LANGUAGE_UNLISTED",
        "LLM_NOT_CONFIGURED", "NOT_REGISTERED", "PROMPT_WITHOUT_RESPONSE", "RESPONSE_NEVER_USED",
        "ROW_INACTIVE_INTENT", "SCHEMA_NO_PROMPT", "SCHEMA_RESERVED_FIELD", "SQL_NO_LIMIT", "SQL_PARAM_UNUSED",
        "TEMPLATE_OLDER_FORM", "TOOL_NEVER_USED", "TOOL_NO_DESCRIPTION", "TOOL_SCOPE_ANY", "TRANSLATION_UNUSED",
        "UNREACHABLE_STATE",
    }
)  # fmt: skip


def get_impact(code: str, severity: Severity) -> Impact:
    """The impact of findings of a type."""
    if severity is Severity.ERROR or code in _BREAKING:
        return Impact.BREAKS
    return Impact.HINT if code in _HINTS else Impact.SURPRISES
