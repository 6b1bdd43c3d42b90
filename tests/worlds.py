"""Small configurations in the database."""

from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CeOutputSchema, CePolicy, CeResponse, CeRule
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


PIZZA_FORM = {
    "type": "object",
    "required": ["day", "size", "guests"],
    "x-locale": "en-GB",
    "properties": {
        "day": {"type": "string", "format": "date", "title": "Day", "x-ask": "For which day?", "x-order": 1},
        "size": {
            "type": "string",
            "title": "Size",
            "x-options": [{"value": "S", "label": "Small", "synonyms": ["tiny"]}, {"value": "L", "label": "Large"}],
            "x-ask": "Which size?",
            "x-order": 2,
        },
        "guests": {"type": "integer", "title": "Guests", "maximum": 12, "x-ask": "How many guests?", "x-order": 3},
    },
}


@make_rarely
def create_pizza_form() -> None:
    """An order of a pizza party: a form with a day, a size and a number."""
    with change_set(reason="a form"):
        CeIntent.objects.create(intent_code="PARTY", display_name="Pizza party", description="Order a pizza party")
        CeIntentClassifier.objects.create(
            intent_code="PARTY", state_code="COLLECT", rule_type="CONTAINS", pattern="party"
        )
        CeOutputSchema.objects.create(
            intent_code="PARTY", state_code="ANY", json_schema=PIZZA_FORM, description="Pizza party"
        )
        CeResponse.objects.create(
            intent_code="PARTY", state_code="ANY", response_type="EXACT", exact_text="{{ question }}"
        )


def create_delivery_form() -> None:
    """A delivery: a form with an e-mail address, a street and a day."""
    questions = {"email": "Which e-mail?", "address": "Which address?", "day": "Which day?"}
    properties = {name: {"type": "string", "question": question} for name, question in questions.items()}
    properties["email"]["format"], properties["day"]["format"] = "email", "date"
    with change_set(reason="a form"):
        CeIntent.objects.create(intent_code="DELIVER", display_name="Delivery", description="Deliver something")
        CeIntentClassifier.objects.create(
            intent_code="DELIVER", state_code="COLLECT", rule_type="CONTAINS", pattern="deliver"
        )
        CeOutputSchema.objects.create(
            intent_code="DELIVER",
            state_code="ANY",
            json_schema={"type": "object", "properties": properties, "required": [*questions]},
            description="Delivery",
        )
        CeResponse.objects.create(
            intent_code="DELIVER", state_code="ANY", response_type="EXACT", exact_text="{{ question }}"
        )


def set_audit_setting(key: str, value: str | int) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key=key, config_value=str(value))
