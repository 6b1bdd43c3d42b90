"""What a template lets the user do."""

from typing import Any

import pytest

from convengine.engine.prompts.contract import find_capabilities
from convengine.engine.turn.rows import PromptTemplate


def template(mode: str | None, contract: Any = None) -> PromptTemplate:
    return PromptTemplate(
        template_id=1,
        intent_code="ORDER",
        state_code="CONFIRM",
        response_type="TEXT",
        interaction_mode=mode,
        interaction_contract=contract,
    )


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("NORMAL", set()),
        ("IDLE", set()),
        ("FINAL", set()),
        ("DISAMBIGUATE", set()),
        ("FOLLOW_UP", set()),
        ("PENDING_ACTION", set()),
        ("COLLECT", {"reset", "structured_input"}),
        ("confirm ", {"affirm", "edit", "reset"}),
        ("REVIEW", {"edit", "reset"}),
        ("PROCESSING", {"retry"}),
        ("ERROR", {"retry", "reset"}),
        ("DREAMING", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_a_mode_stands_for_capabilities(mode: str | None, allowed: set[str]) -> None:
    assert find_capabilities(template(mode)) == allowed


@pytest.mark.parametrize(
    ("contract", "allowed"),
    [
        ({"allows": ["Affirm ", "retry"]}, {"affirm", "retry"}),
        ({"allows": []}, set()),
        ({"expects": ["structured_input"]}, {"affirm", "edit", "reset", "structured_input"}),
        ({"allows": ["sing", "edit"], "expects": []}, {"edit"}),
        ({"allows": "affirm"}, {"affirm", "edit", "reset"}),
        ([], {"affirm", "edit", "reset"}),
        (None, {"affirm", "edit", "reset"}),
    ],
)
def test_a_list_of_the_contract_decides_alone(contract: Any, allowed: set[str]) -> None:
    assert find_capabilities(template("CONFIRM", contract)) == allowed


def test_structured_input_is_expected_or_not_apart_from_what_is_allowed() -> None:
    assert find_capabilities(template("COLLECT", {"allows": ["edit"]})) == {"edit", "structured_input"}
    assert find_capabilities(template("COLLECT", {"expects": []})) == {"reset"}
