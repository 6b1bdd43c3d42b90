"""Small configurations in the database."""

from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CePolicy, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from tests.copied_rows import make_rarely


@make_rarely
def create_help_desk() -> None:
    """A help desk of two intents, a policy, a rule, and an answer for each."""
    with change_set(reason="a desk"):
        CeResponse.objects.all().delete()
        codes = ("HOURS", "FEES")
        CeIntent.objects.bulk_create(CeIntent(intent_code=code, description=code.lower()) for code in codes)
        CeIntentClassifier.objects.bulk_create(
            CeIntentClassifier(intent_code=code, state_code="IDLE", rule_type="CONTAINS", pattern=code.lower())
            for code in codes
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
        CeResponse.objects.bulk_create(
            CeResponse(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)
            for intent, state, text in (
                ("HOURS", "IDLE", "Nine to five."),
                ("HOURS", "VIP", "For you: always."),
                ("FEES", "IDLE", "No fees."),
                ("UNKNOWN", "UNKNOWN", "Sorry?"),
            )
        )


def set_audit_setting(key: str, value: str | int) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key=key, config_value=str(value))
