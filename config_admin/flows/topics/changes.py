"""What renaming, duplicating, switching or deleting a topic makes of its rows, and one release of it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from config_admin.drafts.models import ScheduleStatus
from config_admin.flows.topics.mentions import replace_intents
from config_admin.flows.topics.topic import Topic, find_topic, has_rows_of
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import RowDifferences, compare_wanted
from config_admin.releases.head import lock_head
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_rows import RowsBelongTogether, Wanted, find_new_problems, restore_rows
from config_admin.releases.tree import Content
from config_admin.transfer.document import Document, FileRow, ImportMode, locate_row
from config_admin.transfer.import_plan import plan_import
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE, list_file_rows
from config_admin.validation.common import CODE
from config_admin.validation.draft import Finding
from config_admin.validation.installation import describe_installation
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

INTENT, PHRASES = rows.Intent.table, rows.Classifier.table


class CodeRefused(ValueError):
    """The topic may not have this code."""


@dataclass(frozen=True)
class TopicChange:
    """The rows as they are to be, and why they cannot be."""

    wanted: Wanted
    problems: tuple[str, ...] = ()
    #: The new codes of renamed intents.
    renamed: Mapping[str, str] = field(default_factory=dict)


def check_new_code(snapshot: Snapshot, topic: Topic, new_code: str, *, may_stay: bool) -> str:
    """The new code in capitals. Raises CodeRefused if it is not valid, or another intent or its rows have it.

    `may_stay`: the present code of the topic is allowed.
    """
    new = code(new_code)
    if CODE.fullmatch(new) is None or new in (ANY, UNKNOWN):
        raise CodeRefused(
            f"{new} is not a valid code. Begin with a letter, and use capital letters, digits and underscores."
        )
    if may_stay and new == topic.code:
        if new_code.strip() != new:
            raise CodeRefused(f"Codes are always in capitals, so {new_code.strip()} is the present code {new}.")
        return new
    for name in topic.rename_codes(new).values():
        if snapshot.row(rows.Intent, name):
            raise CodeRefused(f"The intent {name} already exists. Choose another code.")
        if has_rows_of(snapshot, name):
            raise CodeRefused(f"Rows of {name} exist already, without an intent. Choose another code.")
    return new


def rename_topic(snapshot: Snapshot, topic: Topic, new_code: str, title: str) -> TopicChange:
    """All rows that name the intent, with another code, another title, or both. Raises CodeRefused.

    The rows keep their numbers, so records still find them.
    """
    new = check_new_code(snapshot, topic, new_code or topic.code, may_stay=True)
    codes = topic.rename_codes(new)
    wanted: dict[str, dict[Any, Content | None]] = {}
    for source in (topic.own, topic.references):
        for table, members in source.items():
            renamed = {pk: replace_intents(table, row, codes) for pk, row in members.items()}
            wanted.setdefault(table, {}).update(renamed)
    intents = {pk: wanted[INTENT].pop(pk) for pk in topic.own[INTENT]}
    intent = intents[topic.intent.pk]
    assert intent is not None
    renamed_intent = intents[topic.intent.pk] = {**intent, "display_name": title or intent["display_name"]}
    if new == topic.code:
        return TopicChange({INTENT: {topic.intent.pk: renamed_intent}})
    wanted[INTENT] |= dict.fromkeys(intents)
    wanted[INTENT] |= {codes[code(pk)]: row for pk, row in intents.items()}
    return TopicChange(wanted, renamed=codes)


def duplicate_topic(snapshot: Snapshot, topic: Topic, new_code: str, title: str) -> TopicChange:
    """A copy of all rows under a new code, and rows that cannot be copied. Raises CodeRefused.

    Copied phrases are off, because they would compete with the others.
    """
    new = check_new_code(snapshot, topic, new_code, may_stay=False)
    # The names of tools and MCP servers are unique.
    tools = [str(row[TOOL_CODE]) for row in topic.own.get(TOOL, {}).values()]
    servers = [str(row["name"]) for row in topic.own.get(rows.McpServer.table, {}).values()]
    names, codes = {name: f"{name}_{new.lower()}" for name in (*tools, *servers)}, topic.rename_codes(new)
    copied: dict[str, dict[Any, Content]] = {TOOL: {}}
    for table, members in topic.own.items():
        copied[table] = {pk: _rename_parts(replace_intents(table, row, codes), names) for pk, row in members.items()}
    intents, phrases = copied[INTENT], copied.get(PHRASES, {})
    original = intents[topic.intent.pk]
    copied[INTENT] = intents | {topic.intent.pk: {**original, "display_name": title or original["display_name"]}}
    copied[PHRASES] = {pk: {**row, "enabled": False} for pk, row in phrases.items()}
    # An import that adds them gives them numbers of their own.
    tables = {
        table: [FileRow(row, locate_row(table, number)) for number, row in enumerate(list_file_rows(copied, table), 1)]
        for table, members in copied.items()
        if members
    }
    placed = plan_import(Document(tables, ImportMode.ADD)).placed
    return TopicChange(placed.wanted, tuple(f"{where}: {finding.message}" for where, finding in placed.refused))


def switch_topic(topic: Topic, *, enabled: bool) -> TopicChange:
    """Switch its intents on or off. No conversation begins an intent that is off; those that are in it finish it."""
    return TopicChange({INTENT: {pk: {**row, "enabled": enabled} for pk, row in topic.own[INTENT].items()}})


def delete_topic(topic: Topic) -> TopicChange:
    """Nothing of it is left. A draft that is about to be published with rows of it prevents that."""
    scheduled = [draft for draft in topic.list_drafts() if draft.schedules.filter(status=ScheduleStatus.WAITING)]
    problems = [
        f"The draft “{draft.title}” changes rows of {topic.code}, and is scheduled. Cancel its schedule or discard it."
        for draft in scheduled
    ]
    return TopicChange({table: dict.fromkeys(members) for table, members in topic.own.items()}, tuple(problems))


def _rename_parts(value: Json, names: Mapping[str, str]) -> Json:
    """A row whose texts name the copies instead of the originals."""
    if not names:
        return value
    if isinstance(value, str):
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.sub(rf"(?<![\w.])({words})(?![\w])", lambda match: names[match[0]], value)
    if isinstance(value, Mapping):
        return {name: _rename_parts(inner, names) for name, inner in value.items()}
    return [_rename_parts(inner, names) for inner in value] if isinstance(value, list) else value


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
