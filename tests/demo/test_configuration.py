from config_admin.snapshot.active import snapshots
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_row
from convengine.engine.turn.rows import ROW_TYPES
from convengine.server.extensions.registry import Registry

#: Warnings that are meant: classifiers decide by priority; a hook and a task set two names; a refund has two ways; one
#: tool serves three intents; one answer is written by a model where there is one.
UNDERSTOOD = {
    "CLASSIFIER_OVERLAP",
    "TEMPLATE_VAR_UNKNOWN",
    "ACTION_AMBIGUOUS",
    "TOOL_SCOPE_ANY",
    "DERIVED_WITHOUT_MODEL",
}


def test_the_rows_of_the_demonstration_have_no_finding_but_those_that_are_meant(helpdesk: Registry) -> None:
    snapshot, world = snapshots.current(), describe_installation()
    found = [
        finding for kind in ROW_TYPES for row in snapshot.rows(kind) for finding in check_row(row, snapshot, world)
    ]
    assert [str(finding) for finding in found if finding.code not in UNDERSTOOD] == []
