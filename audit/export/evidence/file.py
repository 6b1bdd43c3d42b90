"""The evidence file: HTML that is built from its own data, so that any change of a visible word shows."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from audit.export.evidence.check import NOT_PROVEN, PROVEN, EvidenceFile, EvidenceFinding, Talk, check_data
from audit.export.evidence.collect import CONVERSATION
from audit.export.evidence.sealed_row import SealedRow, list_turn_events, select_turn_rows
from audit.narration import Sentence, narrate_turn
from audit.narration.wording import name_rows, title_row
from convengine.engine.rules.conditions.values import write_text
from convengine.engine.text.compare import shorten
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.labels import code_label, in_words, step_label
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import stage_label
from convengine.json_value import Json
from convengine.server.admin_site.record_columns import answer_text, name_by
from convengine.server.interfaces.release_history import ProvenRow

_DATA = re.compile(r'<script type="application/json" id="evidence">\n(.*)\n</script>')
_ANCHOR = re.compile(r' id="([^"]+)"')
_TAGS = re.compile(r"<[^>]*>")
_SHOWN = 120


class NoEvidence(ValueError):
    """The file is not an evidence file; the message says why."""


def write_file(data: Mapping[str, Json]) -> str:
    return _write_checked(check_data(data))


def check_file(text: str) -> EvidenceFile:
    """Check a file: its data by their hashes, and all visible text against the data. Raises NoEvidence."""
    block = _DATA.search(text)
    if block is None:
        raise NoEvidence("This is not an evidence file: it does not contain the data of one.")
    try:
        evidence = check_data(json.loads(block[1]))
        expected = _write_checked(evidence)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as fault:
        raise NoEvidence(f"The data of the file cannot be read: {fault}") from fault
    evidence.findings += _compare_texts(expected, text)
    return evidence


def _write_checked(evidence: EvidenceFile) -> str:
    # In HTML, no tag may begin in the data.
    text = json.dumps(evidence.data, separators=(",", ":"))
    return render_evidence(evidence, text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _compare_texts(expected: str, given: str) -> Iterator[EvidenceFinding]:
    """Report each anchor below which a file differs from the one that its data give: the first different line."""
    if expected == given:
        return
    wanted, present = _split_by_anchor(expected), _split_by_anchor(given)
    locations = list(dict.fromkeys([*wanted, *present]))
    reported = False
    for location in locations:
        pairs = zip_longest(wanted.get(location, ()), present.get(location, ()), fillvalue="")
        different = next(((right, wrong) for right, wrong in pairs if right != wrong), None)
        if different:
            reported = True
            right, wrong = map(_describe_line, different)
            text = f"The file shows {wrong}; its data say {right}."
            if right == wrong:
                text = f"What surrounds {right} was changed."
            yield EvidenceFinding(f"visible text, {location}", text)
    if not reported:
        yield EvidenceFinding("visible text", "Its parts are not in the order that its data give.")


def _split_by_anchor(text: str) -> dict[str, list[str]]:
    """The lines of a file by the anchor above them."""
    lines: dict[str, list[str]] = {}
    location = "beginning"
    for line in text.split("\n"):
        if anchor := _ANCHOR.search(line):
            location = anchor[1].replace("-", " ")
        lines.setdefault(location, []).append(line)
    return lines


def _describe_line(line: str) -> str:
    """The words of a line without its tags, or its tags if it has only those, shortened; "nothing" for a blank one."""
    text = _TAGS.sub(" ", line)
    words = " ".join(text.split()) or line.strip()
    return f"“{shorten(words, _SHOWN)}”" if words else "nothing"


#: A row of the configuration that a turn used: its anchor and its name.
RowLink = tuple[str, str]


@dataclass(frozen=True)
class ExportedTurn:
    """A turn, or what was added outside of turns."""

    anchor: str
    title: str
    row: SealedRow
    at: str
    status: str
    #: The other columns with a value, as (name, value).
    columns: Sequence[tuple[str, str]]
    user_text: str
    answer: str
    error: str
    account: Sequence[str]
    rows: Sequence[RowLink]
    #: Each event with all that is stored of it.
    events: Sequence[dict[str, Json]]


@dataclass(frozen=True)
class TalkView:
    anchor: str
    talk: Talk
    participant: str
    turns: Sequence[ExportedTurn]
    additions: Sequence[ExportedTurn]


_SHOWN_APART = {
    *("conversation_id", "turn_no", "created_at", "status", "user_input", "error_code", "error_message"),
    *("intent_before", "state_before", "intent_code", "state_code", "config_version"),
}


def render_evidence(evidence: EvidenceFile, data: str) -> str:
    """The file; `data` is its data as text for HTML."""
    context = {
        "data": mark_safe(data),  # noqa: S308 - JSON without < and >
        "is_conversation": evidence.data["subject"]["kind"] == CONVERSATION,
        "evidence": evidence,
        "made": evidence.data,
        "made_at": _write_time(evidence.data["madeAt"]),
        "root_at": _write_time(evidence.data["root"]["at"]) if evidence.data["root"] else "",
        "subject": evidence.data["subject"],
        "talks": [_view_talk(evidence, number, talk) for number, talk in enumerate(evidence.talks, start=1)],
        "rows": list(_view_rows(evidence)),
        "releases": [(release, _write_time(release.at)) for release in evidence.releases.releases.values()],
        "findings": [EvidenceFinding(finding.location, _clean(finding.message)) for finding in evidence.findings],
        "proven": PROVEN,
        "not_proven": NOT_PROVEN,
    }
    return render_to_string("audit/evidence.html", context)


def _view_talk(evidence: EvidenceFile, number: int, talk: Talk) -> TalkView:
    """A conversation with its turns, and what was added outside of turns. `number` is its position in the file."""
    anchor = f"conversation-{number}"
    turns = [
        _view_row(
            evidence, f"{anchor}-turn-{row.turn_no}", f"Turn {row.turn_no}", select_turn_rows(row, talk.additions)
        )
        for row in talk.turns
    ]
    outside = enumerate((row for row in talk.additions if row.turn_no is None), start=1)
    additions = [
        _view_row(evidence, f"{anchor}-addition-{position}", "Outside of turns", [row]) for position, row in outside
    ]
    return TalkView(anchor, talk, _clean(talk.facts["participant"]), turns, additions)


def _view_row(evidence: EvidenceFile, anchor: str, title: str, rows: Sequence[SealedRow]) -> ExportedTurn:
    """A turn with what was added to it later. Intents have the names that they had in its release."""
    with name_by(evidence.snapshot(rows[0].config_version)):
        row, is_turn = rows[0], rows[0].turn_no is not None
        columns, snapshot = row.columns, evidence.snapshot(row.config_version)
        events = list_turn_events(rows) if is_turn else []
        sentences = narrate_turn(events, snapshot) if events else []
        status = TurnStatus.read(columns["status"])
        return ExportedTurn(
            anchor,
            title,
            row,
            _write_time(row.created_at.isoformat()),
            status.label if status else str(columns["status"]),
            [
                *([("Intent and state", _describe_position(row))] if is_turn else []),
                ("Release", str(row.config_version)),
                *(
                    (in_words(name), _clean(write_text(value)))
                    for name, value in columns.items()
                    if name not in _SHOWN_APART and value
                ),
                *([("Facts", _clean(write_text(row.facts)))] if row.facts else []),
                ("Recording", f"{len(row.recording):,} bytes"),
            ],
            _clean(columns["user_input"]),
            _clean(answer_text(row.answer)),
            _clean(" ".join(filter(None, (columns["error_code"], columns["error_message"])))),
            [_write_sentence(sentence, snapshot) for sentence in sentences],
            list(_link_rows(evidence, row, sentences)),
            list(_view_events(anchor, rows)),
        )


def _describe_position(row: SealedRow) -> str:
    """Intent and state before and after a turn, once if they did not change."""
    columns = row.columns
    before = columns["intent_before"], columns["state_before"]
    after = columns["intent_code"], columns["state_code"]
    labels = [" / ".join(map(code_label, codes)) for codes in dict.fromkeys((before, after)) if any(codes)]
    return _clean(" → ".join(labels))


def _write_sentence(sentence: Sentence, snapshot: Snapshot) -> str:
    conditions = f" (all conditions: {'; '.join(sentence.conditions)})" if sentence.conditions else ""
    return _clean("".join(name_rows(sentence.parts, snapshot)) + conditions)


def _link_rows(evidence: EvidenceFile, row: SealedRow, sentences: Iterable[Sentence]) -> Iterator[RowLink]:
    """The rows that a turn used, or that its narration names, as far as the file has them; each once."""
    release = evidence.releases.releases.get(row.config_version)
    used = {(table, str(key)) for table, key, _ in row.deciding_rows}
    used |= {(ref.table, str(ref.pk)) for sentence in sentences for ref in sentence.rows}
    for proven in release.rows if release else ():
        if (proven.table, proven.pk) in used:
            title = _clean(title_row(evidence.snapshot(row.config_version), proven.table, proven.pk))
            yield _row_anchor(row.config_version, proven), title


def _view_events(anchor: str, rows: Sequence[SealedRow]) -> Iterator[dict[str, Json]]:
    """The events with everything that their entries have; the rows of an entry without a stage are linked anyway."""
    entries = {entry["seq"]: entry for row in rows for entry in row.entries if entry.get("stage")}
    stored = [event for row in rows for event in row.list_events()]
    for event in sorted(stored, key=lambda event: event.seq):
        entry = entries[event.seq]
        data = {"session": event.session, "changed": event.changed, "rows": entry.get("rows")}
        data |= {"payload": event.payload_json, "calls": entry.get("calls")}
        yield {
            "anchor": f"{anchor}-event-{event.seq}",
            "seq": event.seq,
            "ms": round((event.created_at - rows[0].created_at).total_seconds() * 1000),
            "stage": event.stage,
            "label": stage_label(event.stage),
            "step": step_label(event.step or ""),
            "data": [(name, _clean(write_text(value))) for name, value in data.items() if value],
        }


def _view_rows(evidence: EvidenceFile) -> Iterator[dict[str, Json]]:
    """The rows as their releases have them, and the release that made this version if the file has it."""
    releases = evidence.releases.releases
    for version, release in releases.items():
        for row in release.rows:
            origin = releases.get(row.origin) if row.origin is not None else None
            yield {
                "anchor": _row_anchor(version, row),
                "title": _clean(title_row(release.snapshot, row.table, row.pk)),
                "row": row,
                "release": version,
                "origin": origin,
                "at": _write_time(origin.at) if origin else "",
            }


def _row_anchor(version: int, row: ProvenRow) -> str:
    return "".join(char if char.isalnum() or char in "_-" else "-" for char in f"row-{row.table}-{row.pk}-in-{version}")


def _write_time(text: Json) -> str:
    """A time in UTC for people; other text unchanged."""
    try:
        return f"{datetime.fromisoformat(str(text)).astimezone(UTC):%d %B %Y, %H:%M:%S} UTC".lstrip("0")
    except ValueError:
        return str(text)


def _clean(text: Json) -> str:
    """A text for the file, without lone surrogates, with invisible characters by name; blank for an empty value."""
    return reveal_invisible(str(text or "")).encode("utf-8", "backslashreplace").decode()
