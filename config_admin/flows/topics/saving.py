"""Store a change of a topic as one release: what its pages and the API share."""

from collections.abc import Callable
from dataclasses import dataclass

from config_admin.flows.topics.changes import TopicChange
from config_admin.flows.topics.topic import Topic, collect_topic
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import RowDifferences, compare_wanted
from config_admin.releases.head import lock_head
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_checks import find_new_problems
from config_admin.releases.restore_rows import RowsBelongTogether, restore_rows
from config_admin.validation.findings import Finding
from config_admin.validation.installation import describe_installation
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot


class TopicRefused(ValueError):
    """The change has problems, so nothing was stored."""

    def __init__(self, problems: list[str], findings: list[Finding]) -> None:
        super().__init__("; ".join([*problems, *(finding.message for finding in findings)]))
        self.problems, self.findings = problems, findings


@dataclass(frozen=True)
class TopicResult:
    """What a change does; the release is None if nothing was stored."""

    differences: RowDifferences
    findings: list[Finding]
    release: CeRelease | None


#: What is to be done with a topic of the configuration in force.
Plan = Callable[[Snapshot, Topic], TopicChange]


def find_topic(snapshot: Snapshot, intent: str) -> Topic | None:
    """The topic of an intent.

    Returns None for the codes that every configuration has, and where there is no such intent.
    """
    wanted = code(intent)
    return None if wanted in (ANY, UNKNOWN) else collect_topic(snapshot, wanted)


def store_topic(intent: str, plan: Plan, *, author: str, reason: str, apply: bool) -> TopicResult | None:
    """Plan the change of a topic and, with `apply`, store it as one release. Returns None if there is no such topic.

    Raises TopicRefused and CodeRefused; then nothing is changed.
    """
    with change_set(Origin.API, author, reason) as change:
        lock_head()
        snapshot = snapshots.current()
        topic = find_topic(snapshot, intent)
        if topic is None:
            return None
        planned = plan(snapshot, topic)
        findings = find_new_problems(snapshot, describe_installation(), planned.wanted)
        errors = [finding for finding in findings if finding.is_error]
        if planned.problems or errors:
            raise TopicRefused(list(planned.problems), errors)
        differences = compare_wanted(planned.wanted)
        if apply and differences:
            try:
                # What a row lacked before is no reason to refuse this.
                restore_rows(planned.wanted, checked=False)
            except RowsBelongTogether as error:
                raise TopicRefused([str(error)], []) from error
    return TopicResult(differences, findings, change.release if apply else None)
