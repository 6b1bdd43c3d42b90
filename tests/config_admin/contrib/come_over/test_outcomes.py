"""The name of an intent says what it is for."""

import pytest

from config_admin.contrib.come_over.outcomes import Role, find_role


@pytest.mark.parametrize(
    ("intent", "role"),
    [
        ("affirm", Role.YES),
        ("deny", Role.NO),
        ("cancel", Role.STOP),
        ("cancel_order", None),
        ("nlu_fallback", Role.FALLBACK),
        ("out_of_scope", Role.OUT_OF_SCOPE),
        ("speak_to_human", Role.HAND_OVER),
        ("HumanHandoff", Role.HAND_OVER),
        ("humanity", None),
        ("are_you_a_human", None),
        ("afirmación", Role.YES),
        ("nein", Role.NO),
    ],
)
def test_roles(intent: str, role: Role | None) -> None:
    assert find_role(intent) is role
