"""What findings do to conversations."""

import pytest

from config_admin.health.impact import _BREAKING, _HINTS, Impact, get_impact
from config_admin.validation.codes import CODES, HEALTH_CODES
from config_admin.validation.draft import Severity


@pytest.mark.parametrize(
    ("code", "severity", "impact"),
    [
        ("ROW_UNUSABLE", Severity.ERROR, Impact.BREAKS),
        ("STATE_WITHOUT_RESPONSE", Severity.WARNING, Impact.BREAKS),
        ("RULE_COLLISION", Severity.WARNING, Impact.SURPRISES),
        ("RESPONSE_NEVER_USED", Severity.WARNING, Impact.HINT),
    ],
)
def test_a_finding_breaks_or_surprises_or_is_a_hint(code: str, severity: Severity, impact: Impact) -> None:
    assert get_impact(code, severity) is impact
    assert impact.help.endswith(".")


def test_every_listed_code_exists() -> None:
    assert CODES.keys() | HEALTH_CODES.keys() >= _BREAKING | _HINTS
    assert not _BREAKING & _HINTS
