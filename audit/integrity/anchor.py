"""The ends of chains in a file elsewhere, which a database administrator cannot change.

The file has one JSON document per line. A line `{"anchor": 1, …}` begins a section with the chains that have grown
since the section before: conversation, kind (`turns` or `additions`), the number of the last seal, its hash and its
time. Older lines stay true.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Max, Q

from audit.integrity.conversation_facts import RetentionCuts
from audit.integrity.findings import Finding
from audit.models import CeChainBase, CeChainLink
from audit.record.seal.links import link_frame
from audit.record.seal.pieces import microseconds
from convengine.engine.turn.seal import Seal
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.turn_record import FRAME, encode_frame

_FORMAT = 1
_TURNS, _ADDITIONS = "turns", "additions"
#: Rows per read, and lines per comparison.
_ROWS, _LINES = 2000, 100
#: Numbers are assigned before a transaction commits, so a smaller number within this margin may still appear.
_MARGIN = 10_000


class UnreadableAnchor(ValueError):
    """A file is not an anchor; the message says where and why."""


class ChainEnd(NamedTuple):
    """The recorded end of a chain."""

    kind: str
    conversation_id: uuid.UUID
    number: int
    hash: str
    at: int

    def to_line(self) -> str:
        """The line in the file."""
        return json.dumps([self.kind, str(self.conversation_id), self.number, self.hash, self.at]) + "\n"


def write_anchor(file: Path) -> int:
    """Append the chains that have grown since the file was last written, or all to a new one; returns how many.

    Raises OSError, and Unreadable for a file that is not an anchor.
    """
    turns, links = _read_last_section(file) if file.exists() else (0, 0)
    newest = CeConversationHistory.objects.aggregate(last=Max("history_id"))["last"] or 0
    newest_link = CeChainLink.objects.aggregate(last=Max("link_id"))["last"] or 0
    begin = {
        "anchor": _FORMAT,
        "at": database_time().isoformat(),
        _TURNS: max(newest - _MARGIN, 0),
        _ADDITIONS: max(newest_link - _MARGIN, 0),
    }
    count = 0
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(begin) + "\n")
        for chain_end in chain(_turn_chain_ends(turns), _addition_chain_ends(links)):
            out.write(chain_end.to_line())
            count += 1
    return count


def compare_anchor(file: Path, only: uuid.UUID | None = None) -> Iterator[Finding]:
    """Where the stored chains differ from the recorded ones. Raises OSError, Unreadable."""
    cuts, ends = RetentionCuts.read(), _read_ends(file, only)
    while batch := list(islice(ends, _LINES)):
        yield from _compare_ends(
            [chain_end for chain_end in batch if chain_end.kind == _TURNS], cuts, _stored_turn_hashes
        )
        yield from _compare_ends(
            [chain_end for chain_end in batch if chain_end.kind == _ADDITIONS], cuts, _stored_link_hashes
        )


def _turn_chain_ends(after: int) -> Iterator[ChainEnd]:
    columns = ("history_id", "chain", *FRAME)
    rows = CeConversationHistory.objects.order_by("history_id").values(*columns)
    while page := list(rows.filter(history_id__gt=after)[:_ROWS]):
        after = page[-1]["history_id"]
        newest = {row["conversation_id"]: row for row in page if row["chain"]}
        for row in newest.values():
            yield ChainEnd(
                _TURNS, row["conversation_id"], row["turn_no"], _turn_hash(row), microseconds(row["created_at"])
            )


def _addition_chain_ends(after: int) -> Iterator[ChainEnd]:
    while page := list(CeChainLink.objects.filter(link_id__gt=after).order_by("link_id")[:_ROWS]):
        after = page[-1].link_id
        for link in {link.conversation_id: link for link in page}.values():
            at = microseconds(link.created_at)
            yield ChainEnd(_ADDITIONS, link.conversation_id, link.number, _link_hash(link), at)


def _turn_hash(row: dict[str, Any]) -> str:
    try:
        return Seal.read(row["chain"]).hash(encode_frame(row)).hex()
    except ValueError:
        return "unreadable"


def _link_hash(link: CeChainLink) -> str:
    try:
        return Seal.read(link.chain).hash(link_frame(link)).hex()
    except ValueError:
        return "unreadable"


def _stored_turn_hashes(ends: Iterable[ChainEnd]) -> dict[tuple[uuid.UUID, int], str]:
    wanted = Q(pk__in=[])
    for end in ends:
        wanted |= Q(conversation_id=end.conversation_id, turn_no=end.number)
    rows = CeConversationHistory.objects.filter(wanted).exclude(chain=None).values("chain", *FRAME)
    return {(row["conversation_id"], row["turn_no"]): _turn_hash(row) for row in rows}


def _stored_link_hashes(ends: Iterable[ChainEnd]) -> dict[tuple[uuid.UUID, int], str]:
    wanted = Q(pk__in=[])
    for end in ends:
        wanted |= Q(conversation_id=end.conversation_id, number=end.number)
    return {(link.conversation_id, link.number): _link_hash(link) for link in CeChainLink.objects.filter(wanted)}


def _compare_ends(ends: list[ChainEnd], cuts: RetentionCuts, stored: Any) -> Iterator[Finding]:
    """Compare recorded ends with the stored chains."""
    stored_hashes = stored(ends) if ends else {}
    gone = [end for end in ends if (end.conversation_id, end.number) not in stored_hashes]
    removed = _removed_by_rule(gone, cuts) if gone else set()
    for end in ends:
        stored_hash = stored_hashes.get((end.conversation_id, end.number))
        turn_no = end.number if end.kind == _TURNS else None
        what = f"turn {end.number}" if end.kind == _TURNS else f"addition {end.number}"
        if stored_hash is None and end not in removed:
            text = f"The anchor has {what}, which is missing: the end of the chain or the whole chain was removed."
            yield Finding("ANCHOR_MISSING", end.conversation_id, text, turn_no)
        elif stored_hash is not None and stored_hash != end.hash:
            text = f"The chain up to {what} does not match the anchor."
            yield Finding("ANCHOR_DIFFERS", end.conversation_id, text, turn_no)


def _removed_by_rule(gone: list[ChainEnd], cuts: RetentionCuts) -> set[ChainEnd]:
    """Those that were removed by rule: with their session, or as old turns of another."""
    keys = [end.conversation_id for end in gone]
    existing = set(CeConversation.objects.filter(pk__in=keys).values_list("pk", flat=True))
    bases = {base.pk: base.turn_no for base in CeChainBase.objects.filter(pk__in=keys) if base.is_genuine()}
    return {
        end
        for end in gone
        if (end.kind == _TURNS and end.number <= bases.get(end.conversation_id, 0))
        or (
            end.conversation_id not in existing
            and cuts.explains_missing_turn(datetime.fromtimestamp(end.at / 1_000_000, UTC))
        )
    }


def _read_ends(file: Path, only: uuid.UUID | None) -> Iterator[ChainEnd]:
    for number, line in _read_lines(file):
        if isinstance(line, list):
            try:
                kind, key, last, hash_text, at = line
                end = ChainEnd(kind, uuid.UUID(key), int(last), str(hash_text), int(at))
            except (ValueError, TypeError, AttributeError) as fault:
                raise UnreadableAnchor(f"{file}, line {number}: {fault}.") from fault
            if only is None or end.conversation_id == only:
                yield end


def _read_last_section(file: Path) -> tuple[int, int]:
    """The highest numbers in the file."""
    sections = [line for _, line in _read_lines(file) if isinstance(line, dict)]
    if not sections or sections[0].get("anchor") != _FORMAT:
        raise UnreadableAnchor(
            f"{file} is not an anchor of this version: its first line does not have the format {_FORMAT}."
        )
    return int(sections[-1].get(_TURNS, 0)), int(sections[-1].get(_ADDITIONS, 0))


def _read_lines(file: Path) -> Iterator[tuple[int, Any]]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield number, json.loads(line)
            except ValueError as fault:
                raise UnreadableAnchor(f"{file}, line {number} is not valid JSON: {fault}.") from fault
