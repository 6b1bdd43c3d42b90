"""A look-up counts as completed when it has its answer: nothing is left to confirm."""

import pytest

from tests.audit.record.test_form_steps import talk

pytestmark = [pytest.mark.usefixtures("helpdesk")]


@pytest.mark.parametrize(
    ("messages", "last_steps"),
    [
        ("where is my order|48392", ["2/GIVEN:orderNumber", "2/FILLED:", "2/COMPLETED:"]),
        ("where is my order 48392", ["2/STARTED:", "2/GIVEN:orderNumber", "2/FILLED:", "2/COMPLETED:"]),
        ("where is my order|99999", ["2/GIVEN:orderNumber"]),
        ("cancel my order|48392", ["1/GIVEN:orderNumber", "1/FILLED:"]),
        ("cancel my order|48392|yes", ["1/COMPLETED:"]),
    ],
)
def test_a_look_up_is_completed_by_its_answer(messages: str, last_steps: list[str]) -> None:
    assert talk(messages)[-1] == last_steps
