"""The configuration of the cluster's tests: an order that is paid after a yes, and advice that a model writes."""

from collections.abc import Iterable

from config_admin.models import (
    CeIntent,
    CeIntentClassifier,
    CePendingAction,
    CePromptTemplate,
    CeResponse,
    CeRule,
)
from config_admin.releases.change_set import change_set
from convengine.server.webhooks.models import CeWebhook
from convengine.server.webhooks.send import create_secret
from tests.live.configuration import configure

#: The model never answers, so the row's own text is said.
NO_ADVICE = "Ask us later."
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
    configure("DialogueActStep/RESOLUTE", "REGEX_ONLY")
    with change_set(reason="advice"):
        CeIntent.objects.create(intent_code="ADVICE", description="advice")
        CeIntentClassifier.objects.create(
            intent_code="ADVICE", state_code="IDLE", rule_type="CONTAINS", pattern="advice"
        )
        CePromptTemplate.objects.create(
            intent_code="ADVICE", state_code="IDLE", response_type="TEXT", user_prompt="{{user_input}}"
        )
        CeResponse.objects.create(
            intent_code="ADVICE", state_code="IDLE", response_type="DERIVED", exact_text=NO_ADVICE
        )


def subscribe(addresses: Iterable[str]) -> None:
    """Webhooks for actions that ran."""
    for number, address in enumerate(addresses):
        CeWebhook.objects.create(name=f"hook {number}", url=address, events=["action.executed"], secret=create_secret())
