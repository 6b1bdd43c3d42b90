"""The ends of chains, in the ledger and in a file elsewhere, which a database administrator cannot change.

The file is a copy of the ledger's roots, one JSON document per line. A line `{"anchor": 2, …}` begins a root; after it
stand the conversations that had grown: kind (`turns` or `additions`), conversation, the number of the last seal, its
hash and its time. Older lines stay true.
"""

import json
import uuid
from collections.abc import Generator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from django.db.models import Q

from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.read_record import RetentionCuts
from audit.models import CeChainBase, CeLedger
from audit.seal import read_seal
from convengine.server.sessions.models import ADDITION, CeConversation, CeConversationHistory

_FORMAT = 2
_TURNS, _ADDITIONS = "turns", "additions"
_COLUMNS = ("history_id", "source", "conversation_id", "turn_no", "seal", "created_at")
#: Where a chain ends: kind, conversation and number.
Position = tuple[str, uuid.UUID, int]
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
#: Rows per read, and lines per comparison.
_ROWS, _LINES = 2000, 100
#: Numbers are assigned before a transaction commits, so a smaller number within this margin may still appear.
_MARGIN = 10_000


class UnreadableAnchor(ValueError):
    """A file is not an anchor; the message says where and why."""


class ChainSource(NamedTuple):
    """What lists the ends: the codes of its findings, and its name in sentences."""

    missing: str
    differs: str
    name: str


LEDGER = ChainSource("LEDGER_MISSING", "LEDGER_DIFFERS", "ledger")
ANCHOR = ChainSource("ANCHOR_MISSING", "ANCHOR_DIFFERS", "anchor")


class ChainEnd(NamedTuple):
    kind: str
    conversation_id: uuid.UUID
    number: int
    hash: str
    at: int

    @property
    def position(self) -> Position:
        return self.kind, self.conversation_id, self.number

    def to_line(self) -> str:
        return json.dumps([self.kind, str(self.conversation_id), self.number, self.hash, self.at]) + "\n"

    @classmethod
    def parse(cls, line: Any) -> Self:
        """Parse a line of the file. Raises ValueError, TypeError, AttributeError."""
        kind, key, last, hash_text, at = line
        return cls(kind, uuid.UUID(key), int(last), str(hash_text), int(at))


def write_anchor(file: Path, roots: Iterable[CeLedger]) -> int:
    """Append the roots that the file does not have; returns the number of their ends.

    Raises OSError, and UnreadableAnchor for a file that is not an anchor.
    """
    known = set(_read_roots(file)) if file.exists() else set()
    count = 0
    with file.open("a", encoding="utf-8") as out:
        for root in (root for root in roots if root.root not in known):
            ends, begin = root.list_ends(), {"anchor": _FORMAT, "at": root.created_at.isoformat(), "root": root.root}
            out.writelines(f"{line}\n" for line in (json.dumps(begin), *ends))
            count += len(ends)
    return count


def compare_anchor(file: Path, only: uuid.UUID | None = None) -> Iterator[IntegrityFinding]:
    """Where the stored chains differ from the ones in the file, and the roots in it that the ledger no longer has.

    With `only`, the chains of that conversation alone, and no roots. Raises OSError, UnreadableAnchor.
    """
    # Before the roots of the ledger, to which a root is written before it is written to the file.
    roots_of_file = _read_roots(file) if only is None else {}
    ends = (end for end in _read_lines(file) if isinstance(end, ChainEnd) and only in (None, end.conversation_id))
    yield from compare_ends(ends, ANCHOR)
    roots = set(CeLedger.objects.exclude(root="").values_list("root", flat=True))
    for root, at in roots_of_file.items():
        if root and root not in roots:
            text = f"The root {root[:12]}… of the anchor is missing."
            yield create_table_finding(ANCHOR.missing, CeLedger._meta.db_table, at, text)


def compare_ends(ends: Iterator[ChainEnd], source: ChainSource) -> Generator[IntegrityFinding, None, set[uuid.UUID]]:
    """Where the stored chains differ from recorded ends.

    Returns the missing conversations that are old enough to have been removed by rule.
    """
    cuts, aged = RetentionCuts.read(), set[uuid.UUID]()
    while batch := list(islice(ends, _LINES)):
        stored = _read_stored_hashes(batch)
        gone = {end for end in batch if end.position not in stored}
        with_conversation = _select_aged(gone, cuts)
        missing = gone - with_conversation - _select_removed_turns(gone)
        if missing:
            # Retention records a removal before it removes anything, perhaps after the cuts were read.
            cuts = RetentionCuts.read()
            with_conversation = _select_aged(gone, cuts)
            missing -= with_conversation
        aged |= {end.conversation_id for end in with_conversation}
        for end in batch:
            stored_hash = stored.get(end.position)
            turn_no = end.number if end.kind == _TURNS else None
            what = f"{'turn' if end.kind == _TURNS else 'addition'} {end.number}"
            if end in missing:
                text = f"The {source.name} has {what}, which is missing: the end or all of the chain was removed."
                yield IntegrityFinding(source.missing, end.conversation_id, text, turn_no)
            elif stored_hash is not None and stored_hash != end.hash:
                text = f"The chain up to {what} does not match the {source.name}."
                yield IntegrityFinding(source.differs, end.conversation_id, text, turn_no)
    return aged


def newest_ends(ends: Iterable[ChainEnd]) -> Iterator[ChainEnd]:
    """The first of the ends of each chain. The ends must come newest first: older ones follow from the newest."""
    seen: set[tuple[str, uuid.UUID]] = set()
    for end in ends:
        if (end.kind, end.conversation_id) not in seen:
            seen.add((end.kind, end.conversation_id))
            yield end


def settled_row(newest: int) -> int:
    """The number up to which no row can appear any more."""
    return max(newest - _MARGIN, 0)


def list_chain_ends(after: int) -> Iterator[ChainEnd]:
    """The ends of the chains that have rows after the row with this number, read page by page.

    A chain that has rows on several pages is listed once for each of them.
    """
    rows = CeConversationHistory._base_manager.order_by("history_id").values(*_COLUMNS)
    while page := list(rows.filter(history_id__gt=after)[:_ROWS]):
        after = page[-1]["history_id"]
        newest = {(row["conversation_id"], row["source"] == ADDITION): row for row in page if row["seal"]}
        yield from map(_read_end, newest.values())


def _read_end(row: dict[str, Any]) -> ChainEnd:
    """The end that a chain had at this row. Instead of a damaged seal, its hash is the word `unreadable`."""
    kind, number = (_ADDITIONS, row["history_id"]) if row["source"] == ADDITION else (_TURNS, row["turn_no"])
    seal = read_seal(row["seal"])
    digest = seal.hash.hex() if seal else "unreadable"
    return ChainEnd(kind, row["conversation_id"], number, digest, (row["created_at"] - _EPOCH) // _MICROSECOND)


def _read_stored_hashes(ends: Iterable[ChainEnd]) -> dict[Position, str]:
    """The hashes of the stored rows at which chains had these ends."""
    wanted = Q(source=ADDITION, pk__in=[end.number for end in ends if end.kind == _ADDITIONS])
    for end in ends:
        if end.kind == _TURNS:
            wanted |= Q(conversation_id=end.conversation_id, turn_no=end.number)
    rows = CeConversationHistory._base_manager.filter(wanted).exclude(seal=None).values(*_COLUMNS)
    return {end.position: end.hash for end in map(_read_end, rows)}


def _select_aged(gone: set[ChainEnd], cuts: RetentionCuts) -> set[ChainEnd]:
    """The ends that retention may have removed with their whole conversation."""
    keys = {end.conversation_id for end in gone}
    existing = set(CeConversation.objects.filter(pk__in=keys).values_list("pk", flat=True))
    return {
        end
        for end in gone
        if end.conversation_id not in existing
        and cuts.explains_missing_turn(datetime.fromtimestamp(end.at / 1_000_000, UTC))
    }


def _select_removed_turns(gone: set[ChainEnd]) -> set[ChainEnd]:
    """The ends that retention removed as old turns of a conversation in use, as its base records."""
    rows = CeChainBase.objects.filter(pk__in={end.conversation_id for end in gone})
    bases = {base.pk: base.turn_no for base in rows if base.is_genuine()}
    return {end for end in gone if end.kind == _TURNS and end.number <= bases.get(end.conversation_id, 0)}


def _read_roots(file: Path) -> dict[str, str]:
    """The roots in the file, with their times. Raises OSError, and UnreadableAnchor for a file without a root."""
    sections = [line for line in _read_lines(file) if isinstance(line, dict)]
    if not sections or sections[0].get("anchor") != _FORMAT:
        raise UnreadableAnchor(
            f"{file} is not an anchor of this version: its first line does not have the format {_FORMAT}."
        )
    return {str(section.get("root") or ""): str(section.get("at")) for section in sections}


def _read_lines(file: Path) -> Iterator[ChainEnd | dict[str, Any]]:
    """The ends, and the lines that begin a root, in order. Raises OSError, UnreadableAnchor."""
    # As bytes, so that a line that is no UTF-8 is refused as any other line that is no JSON.
    with file.open("rb") as lines:
        for number, encoded in enumerate(lines, start=1):
            try:
                line = json.loads(encoded)
                yield line if isinstance(line, dict) else ChainEnd.parse(line)
            except (ValueError, TypeError, AttributeError) as fault:
                raise UnreadableAnchor(
                    f"{file}, line {number} is neither valid JSON nor the end of a chain: {fault}."
                ) from fault
