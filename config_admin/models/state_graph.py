"""`ce_state_graph`: the allowed state moves of an intent (tables 2.4)."""

from django.db import models

from config_admin.models.base import ControlPlaneRow, index
from config_admin.models.fields import CodeField, enabled, not_blank, note, priority


class CeStateGraph(ControlPlaneRow):
    """One allowed move. An intent without edges allows every move."""

    edge_id = models.BigAutoField("id", primary_key=True)
    intent_code = CodeField(
        "intent", default="ANY", db_default="ANY", help_text="Whose graph this edge belongs to; ANY for all."
    )
    from_state = CodeField("from state", help_text="A state, or ANY.")
    to_state = CodeField("to state", help_text="A state, or ANY for every target.")
    priority = priority(help_text="Order of display only; edges are a set.")
    enabled = enabled()
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
                violation_error_message="This edge exists already.",
            ),
        ]

    def summary(self) -> str:
        return f"{self.intent_code}: {self.from_state} → {self.to_state}"
