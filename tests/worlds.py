"""Small configurations in the database."""

from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CePolicy, CeResponse, CeRule
from config_admin.releases.change_set import change_set


def create_help_desk() -> None:
    """A help desk of two intents, a policy, a rule, and an answer for each."""
    with change_set(reason="a desk"):
        CeResponse.objects.all().delete()
        for code in ("HOURS", "FEES"):
            CeIntent.objects.create(intent_code=code, description=code.lower())
            CeIntentClassifier.objects.create(
                intent_code=code, state_code="IDLE", rule_type="CONTAINS", pattern=code.lower()
            )
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION",
            intent_code="HOURS",
            state_code="IDLE",
            rule_type="JSON_PATH",
            match_pattern="$[?(@.inputParams.vip == true)]",
            action="SET_STATE",
            action_value="VIP",
        )
        CePolicy.objects.create(rule_type="CONTAINS", pattern="cvv", response_text="No cards, please.")
        for intent, state, text in (
            ("HOURS", "IDLE", "Nine to five."),
            ("HOURS", "VIP", "For you: always."),
            ("FEES", "IDLE", "No fees."),
            ("UNKNOWN", "UNKNOWN", "Sorry?"),
        ):
            CeResponse.objects.create(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)


def set_audit_setting(key: str, value: str | int) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key=key, config_value=str(value))
