"""What the save checks say about translations of a row's texts."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import CANCELLED, COLLECTING, RULE, SCHEMA, codes, list_messages

JSON_ANSWER = replace(CANCELLED, output_format="JSON", exact_text='{"say": "Done."}')
REFUSAL = replace(RULE, action="REFUSE_VALUE", action_value="orderNumber: Not on Mondays.", state_code="COLLECT")
ASKING = replace(
    SCHEMA,
    json_schema={
        "type": "object",
        "properties": {"orderNumber": {"type": "string", "x-ask": "Which order, {{ orderNumber }}?"}},
        "required": ["orderNumber"],
    },
)


def translate(row: Any, at: str, text: str, **more: Any) -> Any:
    return replace(row, translations={"de": {at: {"text": text, "of": "…", **more}}})


@pytest.mark.parametrize(
    ("row", "at", "text", "code"),
    [
        (CANCELLED, "exact_text", "Fertig.", ""),
        (COLLECTING, "exact_text", "Welche? {{ missing_fields }}", ""),
        (COLLECTING, "exact_text", "Welche? {{missing_fields", "TEMPLATE_INVALID"),
        (COLLECTING, "exact_text", "Welche?", "TRANSLATION_NAMES"),
        (COLLECTING, "exact_text", "Welche? {{ missing_fields }} {{ day }}", "TRANSLATION_NAMES"),
        (CANCELLED, "display_name", "Fertig", "TRANSLATION_UNUSED"),
        (JSON_ANSWER, "exact_text", '{"say": "Fertig."}', ""),
        (JSON_ANSWER, "exact_text", "Fertig.", "SHAPE_INVALID"),
        (REFUSAL, "action_value", "orderNumber: Nicht am Montag.", ""),
        (REFUSAL, "action_value", "Nicht am Montag.", "SHAPE_INVALID"),
        (REFUSAL, "action_value", "day: Nicht am Montag.", "CONFLICT"),
        (RULE, "action_value", "BESTÄTIGT", "TRANSLATION_UNUSED"),
        (ASKING, "json_schema/orderNumber/x-ask", "Welche Bestellung, {{ orderNumber }}?", ""),
        (ASKING, "json_schema/orderNumber/x-ask", "Welche Bestellung?", "TRANSLATION_NAMES"),
        (ASKING, "json_schema/day/x-ask", "Welcher Tag?", "TRANSLATION_UNUSED"),
    ],
)
def test_a_translation_fits_its_text(row: rows.Row, at: str, text: str, code: str) -> None:
    assert set(codes(translate(row, at, text))) - set(codes(row)) == ({code} if code else set())


@pytest.mark.parametrize(
    "translations",
    [
        [],
        "de",
        {"de-DE": {}},
        {"DE": {}},
        {"de": []},
        {"de": {"exact_text": "Fertig."}},
        {"de": {"exact_text": {"text": "Fertig."}}},
        {"de": {"exact_text": {"text": 1, "of": "Done."}}},
        {"de": {"exact_text": {"text": "Fertig.", "of": "Done.", "draft": "yes"}}},
        {"de": {"exact_text": {"text": "Fertig.", "of": "Done.", "by": "ada"}}},
    ],
)
def test_translations_have_their_structure(translations: Any) -> None:
    assert codes(replace(CANCELLED, translations=translations)) in (["SHAPE_INVALID"], ["JSON_INVALID"])


def test_a_message_names_the_text_and_the_language() -> None:
    ((_, message),) = list_messages(translate(COLLECTING, "exact_text", "Welche? {{ day }}", draft=True))[:1]

    assert message == (
        "Text (German) uses names that the text does not have: day; it lacks names of the text: missing_fields."
    )
