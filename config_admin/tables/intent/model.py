"""`ce_intent`: the registry of business intents."""

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.intent.checks import SAVE_CHECKS
from config_admin.tables.model_fields import (
    CodeField,
    flag,
    make_enabled_field,
    mark_prose,
    optional_name,
    optional_text,
    priority,
)
from config_admin.validation.columns import NaturalKey, Problem, declare_column


class CeIntent(ControlPlaneRow):
    """A business intent. Every scoped row names one of these, ANY or UNKNOWN."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code",), is_unique=True)

    intent_code = declare_column(
        CodeField(
            "code", primary_key=True, help_text="Capital letters, digits and underscores, for example CANCEL_ORDER."
        ),
        is_code=True,
    )
    description = declare_column(
        models.TextField(help_text="When this intent applies. A model chooses the intent by this text."),
        required=Problem(
            "DESCRIPTION_BLANK", "Describe when this intent applies. A model chooses the intent by this text."
        ),
    )
    display_name = mark_prose(
        optional_name(help_text="Shown to users in questions. If empty, the code is shown in words.")
    )
    llm_hint = mark_prose(
        optional_text(
            verbose_name="hint for the model",
            help_text="Extra guidance for the model, for example what does not belong to this intent.",
        )
    )
    priority = priority(help_text="Order in the list that the model receives. Lower numbers come first.")
    returns = flag(
        False,
        verbose_name="answers and returns",
        help_text=(
            "While a form or a question is open, a message with this intent is answered and the open question follows. "
            "Intent, state and form stay as they are. For questions that users ask in between."
        ),
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent"
        verbose_name = "intent"
        indexes = [index("ce_intent_listed", "enabled", "priority", "intent_code")]

    def __str__(self) -> str:
        return str(self.display_name or self.intent_code)
