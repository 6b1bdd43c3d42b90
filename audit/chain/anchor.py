"""How chains end, noted in a file that is kept elsewhere: who changes the database cannot change that too.

The file has one JSON document a line. A line `{"anchor": 1, …}` begins a section; behind it
stand the chains that went on since the section before: conversation, kind (`turns` or `additions`), the number of the
last seal, its hash and its time. Older lines stay true.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Max, Q

from audit.chain.about import Cuts
from audit.chain.findings import Finding
from audit.chain.links import frame as link_frame
from audit.chain.pieces import microseconds
from audit.models import CeChainBase, CeChainLink
from convengine.domain.chain import Seal
from convengine.sessions.clock import database_time
from convengine.sessions.models import CeConversation, CeConversationHistory
from convengine.sessions.sealing import FRAME, frame

_FORMAT = 1
_TURNS, _ADDITIONS = "turns", "additions"
#: Rows that are read, and lines that are held against rows, at one go.
_ROWS, _LINES = 2000, 100
#: Numbers are given before a transaction is committed: so far back one with a smaller number may come yet.
_MARGIN = 10_000


class Unreadable(ValueError):
    """A file is no anchor; the message says where and why."""


class End(NamedTuple):
    """How a chain ended when it was noted."""

    kind: str
    conversation_id: uuid.UUID
    number: int
    hash: str
    at: int

    def line(self) -> str:
        """As it stands in the file."""
        return json.dumps([self.kind, str(self.conversation_id), self.number, self.hash, self.at]) + "\n"


def write(file: Path) -> int:
    """Note the chains that went on since the file was last written, all of them in a new one; how many.

    Raises OSError, and Unreadable for a file that is no anchor.
    """
    turns, links = _last_section(file) if file.exists() else (0, 0)
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
        for found in chain(_ends_of_turns(turns), _ends_of_additions(links)):
            out.write(found.line())
            count += 1
    return count


def differences(file: Path, only: uuid.UUID | None = None) -> Iterator[Finding]:
    """Where the stored chains are others than those that were noted. Raises OSError, Unreadable."""
    cuts, ends = Cuts.read(), _ends(file, only)
    while batch := list(islice(ends, _LINES)):
        yield from _held([one for one in batch if one.kind == _TURNS], cuts, _turns)
        yield from _held([one for one in batch if one.kind == _ADDITIONS], cuts, _additions)


def _ends_of_turns(after: int) -> Iterator[End]:
    columns = ("history_id", "chain", *FRAME)
    rows = CeConversationHistory.objects.order_by("history_id").values(*columns)
    while found := list(rows.filter(history_id__gt=after)[:_ROWS]):
        after = found[-1]["history_id"]
        newest = {row["conversation_id"]: row for row in found if row["chain"]}
        for row in newest.values():
            yield End(_TURNS, row["conversation_id"], row["turn_no"], _hash(row), microseconds(row["created_at"]))


def _ends_of_additions(after: int) -> Iterator[End]:
    while found := list(CeChainLink.objects.filter(link_id__gt=after).order_by("link_id")[:_ROWS]):
        after = found[-1].link_id
        for link in {link.conversation_id: link for link in found}.values():
            at = microseconds(link.created_at)
            yield End(_ADDITIONS, link.conversation_id, link.number, _hash_of_link(link), at)


def _hash(row: dict[str, Any]) -> str:
    try:
        return Seal.read(row["chain"]).hash(frame(row)).hex()
    except ValueError:
        return "unreadable"


def _hash_of_link(link: CeChainLink) -> str:
    try:
        return Seal.read(link.chain).hash(link_frame(link)).hex()
    except ValueError:
        return "unreadable"


def _turns(ends: Iterable[End]) -> dict[tuple[uuid.UUID, int], str]:
    wanted = Q(pk__in=[])
    for one in ends:
        wanted |= Q(conversation_id=one.conversation_id, turn_no=one.number)
    rows = CeConversationHistory.objects.filter(wanted).exclude(chain=None).values("chain", *FRAME)
    return {(row["conversation_id"], row["turn_no"]): _hash(row) for row in rows}


def _additions(ends: Iterable[End]) -> dict[tuple[uuid.UUID, int], str]:
    wanted = Q(pk__in=[])
    for one in ends:
        wanted |= Q(conversation_id=one.conversation_id, number=one.number)
    return {(link.conversation_id, link.number): _hash_of_link(link) for link in CeChainLink.objects.filter(wanted)}


def _held(ends: list[End], cuts: Cuts, stored: Any) -> Iterator[Finding]:
    """Ends against what is stored."""
    there = stored(ends) if ends else {}
    gone = [one for one in ends if (one.conversation_id, one.number) not in there]
    removed = _removed(gone, cuts) if gone else set()
    for one in ends:
        found = there.get((one.conversation_id, one.number))
        turn_no = one.number if one.kind == _TURNS else None
        what = f"turn {one.number}" if one.kind == _TURNS else f"addition {one.number}"
        if found is None and one not in removed:
            text = f"The anchor has {what}, which is not there: the end of the chain or all of it was taken out."
            yield Finding("ANCHOR_MISSING", one.conversation_id, text, turn_no)
        elif found is not None and found != one.hash:
            text = f"The chain up to {what} is another one than was noted."
            yield Finding("ANCHOR_DIFFERS", one.conversation_id, text, turn_no)


def _removed(gone: list[End], cuts: Cuts) -> set[End]:
    """Those that were removed by rule: with their session, or as old turns of one that goes on."""
    keys = [one.conversation_id for one in gone]
    there = set(CeConversation.objects.filter(pk__in=keys).values_list("pk", flat=True))
    bases = {base.pk: base.turn_no for base in CeChainBase.objects.filter(pk__in=keys) if base.is_genuine()}
    return {
        one
        for one in gone
        if (one.kind == _TURNS and one.number <= bases.get(one.conversation_id, 0))
        or (one.conversation_id not in there and cuts.took_turn(datetime.fromtimestamp(one.at / 1_000_000, UTC)))
    }


def _ends(file: Path, only: uuid.UUID | None) -> Iterator[End]:
    for number, line in _lines(file):
        if isinstance(line, list):
            try:
                kind, key, last, found, at = line
                one = End(kind, uuid.UUID(key), int(last), str(found), int(at))
            except (ValueError, TypeError, AttributeError) as fault:
                raise Unreadable(f"{file}, line {number}: {fault}.") from fault
            if only is None or one.conversation_id == only:
                yield one


def _last_section(file: Path) -> tuple[int, int]:
    """Up to which numbers the file goes."""
    sections = [line for _, line in _lines(file) if isinstance(line, dict)]
    if not sections or sections[0].get("anchor") != _FORMAT:
        raise Unreadable(f"{file} is no anchor of this version: its first line is not of format {_FORMAT}.")
    return int(sections[-1].get(_TURNS, 0)), int(sections[-1].get(_ADDITIONS, 0))


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield number, json.loads(line)
            except ValueError as fault:
                raise Unreadable(f"{file}, line {number} is no JSON: {fault}.") from fault
