"""The demonstration's rows are as an analyst wants them: there is nothing to mend and nothing to accept."""

from config_admin.health.check import check_all
from config_admin.models import CeConfig, CeRule
from config_admin.releases.active import snapshots
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_row
from convengine.engine.turn.rows import ROW_TYPES
from convengine.server.extensions.registry import Registry


def test_health_finds_nothing(helpdesk: Registry) -> None:
    health = check_all(snapshots.current(), describe_installation())

    assert [f"{finding.code} {finding.table} {finding.row}: {finding.message}" for finding in health.findings] == []


def test_no_save_check_has_anything_to_say(helpdesk: Registry) -> None:
    snapshot, world = snapshots.current(), describe_installation()

    findings = [
        finding for kind in ROW_TYPES for row in snapshot.rows(kind) for finding in check_row(row, snapshot, world)
    ]

    assert [str(finding) for finding in findings] == []


def test_it_leaves_to_the_engine_what_the_engine_does(helpdesk: Registry) -> None:
    """No rule for messages that nobody understood, no code for the date, no general rule over specific ones."""
    settings = {(row.config_type, row.config_key): row.config_value for row in CeConfig.objects.all()}

    assert settings["Rules", "GENERAL_MAY_UNDO"] == "false"
    assert settings["Session", "LOCALE"] == "en-GB"
    assert settings["Session", "TIME_ZONE"] == "Europe/London"
    assert not CeRule.objects.filter(action_value="UNKNOWN").exists()
    assert not CeRule.objects.filter(match_pattern__contains="today").exists()
