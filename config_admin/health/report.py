"""The health of a configuration as one document, for the command and the API."""

from collections.abc import Sequence
from typing import Any

from config_admin.health.check import Health
from config_admin.health.diagnosis import Diagnosis
from convengine.engine.turn.snapshot import Snapshot


def report(health: Health, chosen: Sequence[Diagnosis], snapshot: Snapshot) -> dict[str, Any]:
    """{configVersion, errorCount, warningCount, leftOut, findings}; each finding with its fingerprint."""
    errors = sum(one.is_error for one in chosen)
    return {
        "configVersion": health.config_version,
        "errorCount": errors,
        "warningCount": len(chosen) - errors,
        "leftOut": dict(health.left_out),
        "findings": [one.as_dict() | {"fingerprint": one.fingerprint(snapshot)} for one in chosen],
    }
