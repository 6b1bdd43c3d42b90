"""Store a change of a topic as one release: what its pages and the API share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from config_admin.flows.topics.changes import delete_topic, duplicate_topic, rename_topic, switch_topic
from config_admin.flows.topics.topic import Topic, collect_topic, has_rows_of
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import RowDifferences, compare_wanted
from config_admin.releases.head import lock_head
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_checks import Wanted, check_restored_rows
from config_admin.releases.restore_rows import RowsBelongTogether, restore_rows
from config_admin.validation.common import CODE
from config_admin.validation.findings import Finding
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_row
from config_admin.validation.world import World
from config_admin.workplace.editor_row import CeDeskRow
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

INTENT = rows.Intent.table


class CodeRefused(ValueError):
    """The topic may not have this code."""


class TopicRefused(ValueError):
    """The change has problems, so nothing was stored."""

    def __init__(self, problems: list[str], findings: list[Finding]) -> None:
        super().__init__("; ".join([*problems, *(finding.message for finding in findings)]))
        self.problems, self.findings = problems, findings


@dataclass(frozen=True)
class TopicChange:
    """The rows as they are to be, and why they cannot be."""

    wanted: Wanted
    problems: tuple[str, ...] = ()
    #: The new codes of renamed intents.
    renamed: Mapping[str, str] | None = None


@dataclass(frozen=True)
class TopicResult:
    """What a change does; the release is null if nothing was stored."""

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


def check_new_code(snapshot: Snapshot, topic: Topic, new_code: str, *, may_stay: bool) -> str:
    """A code that no other intent has. Raises CodeRefused."""
    new = code(new_code)
    if CODE.fullmatch(new) is None or new in (ANY, UNKNOWN):
        raise CodeRefused(f"{new} is not a valid code. Use capital letters, digits and underscores.")
    if may_stay and new == topic.code:
        return new
    for name in topic.rename_codes(new).values():
        if snapshot.row(rows.Intent, name):
            raise CodeRefused(f"The intent {name} already exists. Choose another code.")
        if has_rows_of(snapshot, name):
            raise CodeRefused(f"Rows of {name} exist already, without an intent. Choose another code.")
    return new


def plan_rename(new_code: str, title: str) -> Plan:
    """Another code, another title, or both. The plan raises CodeRefused."""

    def plan(snapshot: Snapshot, topic: Topic) -> TopicChange:
        new = check_new_code(snapshot, topic, new_code or topic.code, may_stay=True)
        renamed = topic.rename_codes(new) if new != topic.code else {}
        return TopicChange(rename_topic(topic, new, title), renamed=renamed)

    return plan


def plan_duplicate(new_code: str, title: str) -> Plan:
    """A copy of all rows under a new code. The plan raises CodeRefused."""

    def plan(snapshot: Snapshot, topic: Topic) -> TopicChange:
        copies = duplicate_topic(topic, check_new_code(snapshot, topic, new_code, may_stay=False), title)
        return TopicChange(copies.wanted, tuple(f"{where}: {finding.message}" for where, finding in copies.refused))

    return plan


def plan_switch(*, enabled: bool) -> Plan:
    """The topic on or off."""
    return lambda _, topic: TopicChange(switch_topic(topic, enabled=enabled))


def plan_delete() -> Plan:
    """Nothing of it is left."""
    return lambda _, topic: TopicChange(delete_topic(topic))


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
                apply_change(planned.wanted, planned.renamed or {})
            except RowsBelongTogether as error:
                raise TopicRefused([str(error)], []) from error
    return TopicResult(differences, findings, change.release if apply else None)


def apply_change(wanted: Wanted, renamed: Mapping[str, str]) -> None:
    """Store the rows, which were checked with the head locked. Call it in a change set. Raises RowsBelongTogether.

    What a row lacked before is no reason to refuse this. Recently opened items follow a renamed intent.
    """
    restore_rows(wanted, checked=False)
    for old, new in renamed.items():
        taken = CeDeskRow.objects.filter(table_name=INTENT, row_pk=new).values("user")
        CeDeskRow.objects.filter(table_name=INTENT, row_pk=old).exclude(user__in=taken).update(row_pk=new)


def find_new_problems(snapshot: Snapshot, world: World, wanted: Wanted) -> list[Finding]:
    """The findings of the save checks, without those that the stored rows have already."""
    stored = (snapshot.row(ROW_TYPE_OF[table], pk) for table, members in wanted.items() for pk in members)
    known = {_identify(finding) for row in stored if row is not None for finding in check_row(row, snapshot, world)}
    return [finding for finding in check_restored_rows(wanted) if _identify(finding) not in known]


def _identify(finding: Finding) -> tuple[Any, ...]:
    """A finding by its row; that of an intent without its code, which a rename changes."""
    row = None if finding.table == INTENT else finding.row
    return finding.table, row, finding.code, finding.field
