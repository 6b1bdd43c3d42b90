"""`ce_state_graph`: the allowed state moves of an intent."""

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.model_fields import CodeField, make_enabled_field, not_blank, note, priority
from config_admin.tables.state_graph.checks import SAVE_CHECKS
from config_admin.validation.columns import NaturalKey, Reference, declare_column
from convengine.engine.turn.scope import ANY


class CeStateGraph(ControlPlaneRow):
    """One allowed move. An intent without edges allows every move."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "from_state", "to_state"), is_unique=True)

    edge_id = models.BigAutoField("id", primary_key=True)
    intent_code = declare_column(
        CodeField(
            "intent",
            default="ANY",
            db_default="ANY",
            help_text="The intent of this state graph, or ANY for all intents.",
        ),
        reference=Reference.INTENT,
        reserved=(ANY,),
    )
    from_state = declare_column(
        CodeField("from state", help_text="A state, or ANY for every state."),
        reference=Reference.STATE,
        reserved=(ANY,),
    )
    to_state = declare_column(
        CodeField("to state", help_text="A state, or ANY for every target state."),
        reference=Reference.STATE,
        reserved=(ANY,),
    )
    priority = priority(help_text="Only the order of display.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_state_graph"
        verbose_name = "state graph edge"
        indexes = [index("ce_state_graph_from", "enabled", "intent_code", "from_state")]
        constraints = [
            *not_blank("intent_code", "from_state", "to_state"),
            models.UniqueConstraint(
                fields=["intent_code", "from_state", "to_state"],
                name="ce_state_graph_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="This edge already exists.",
            ),
        ]
