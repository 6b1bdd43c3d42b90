"""The configuration of the cluster's tests: an order that is paid after a yes."""

from config_admin.models import CeIntent, CeIntentClassifier, CePendingAction, CeResponse, CeRule
from config_admin.releases.change_set import change_set

ASK, DONE, LEFT_OPEN = "Shall I pay?", "Paid.", "We are looking into your payment."


def configure_payments() -> None:
    """`pay` asks, `yes` pays, and the next `pay` asks again."""
    with change_set(reason="payments"):
        CeResponse.objects.all().delete()
        CeIntent.objects.create(intent_code="ORDER", description="orders")
        CeIntentClassifier.objects.create(
            intent_code="ORDER", state_code="CONFIRM", rule_type="CONTAINS", pattern="pay"
        )
        CePendingAction.objects.create(
            intent_code="ORDER", state_code="CONFIRM", action_key="PAY", bean_name="payment", method_names="pay"
        )
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="ORDER", state_code="CONFIRM", rule_type="JSON_PATH",
            match_pattern="$[?(@.inputParams.pending_action_result == 'EXECUTED')]",
            action="SET_STATE", action_value="DONE",
        )  # fmt: skip
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="ORDER", state_code="DONE", rule_type="REGEX",
            match_pattern="^pay$", action="SET_STATE", action_value="CONFIRM",
        )  # fmt: skip
        begun = "context.pending_action_runtime.status == 'IN_PROGRESS'"
        confirm = f"{{% if {begun} %}}{LEFT_OPEN}{{% else %}}{ASK}{{% endif %}}"
        for intent, state, text in (
            ("ORDER", "CONFIRM", confirm),
            ("ORDER", "DONE", DONE),
            ("UNKNOWN", "UNKNOWN", "Sorry?"),
        ):
            CeResponse.objects.create(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)
