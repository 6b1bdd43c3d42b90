"""The ledger of roots: once a day the ends of all chains, and the comparison with what is stored.

A root lists the ends of the conversations that have grown since the root before, in the lines of an anchor file, and
hashes them with the root before. So a conversation that was removed whole is missed. A root also lists the new rows
that have proofs.
"""

import hashlib
import json
import shlex
import subprocess
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path

from django.db import transaction
from django.db.models import Max

from audit.integrity import anchor
from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.read_record import Ledger
from audit.integrity.signed_rows import pack_new_rows
from audit.models import CeChain, CeErasure, CeLedger
from audit.models.ledger import hash_ids
from convengine.engine.turn.enums import JobStatus
from convengine.engine.turn.job import Counts, Job, Nightly
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_rows
from convengine.server.deployment import conf
from convengine.server.interfaces.release_history import release_history
from convengine.server.jobs.models import CeJobRun
from convengine.server.sessions.models import CeConversation, CeConversationHistory

_TABLE = CeLedger._meta.db_table
_ROWS_TO, _LISTED_TO = "rowsTo", "listedTo"
_COMMAND_SECONDS = 60


class AnchorFailed(Exception):
    """The root is in the ledger, but not where the deployment wants it, too; the message says why."""


def write_root() -> Iterator[Counts]:
    """Write a root, then the file and the command of the deployment. Raises AnchorFailed."""
    with transaction.atomic():
        entry = create_root(JOB.name, "daily")
    yield {"chains": entry.count}
    if file := conf.get("ANCHOR_FILE"):
        copy_roots(Path(file))
    if command := conf.get("ANCHOR_COMMAND"):
        line = json.dumps({"root": entry.root, "at": entry.created_at.isoformat(), "chains": entry.count}) + "\n"
        try:
            subprocess.run(  # noqa: S603
                shlex.split(command), input=line.encode(), check=True, capture_output=True, timeout=_COMMAND_SECONDS
            )
        except (OSError, subprocess.SubprocessError) as fault:
            raise AnchorFailed(f"The anchor command {command!r}: {fault}") from fault


def copy_roots(file: Path) -> int:
    """Append the roots to an anchor file; returns the number of new ends. Raises AnchorFailed."""
    try:
        return anchor.write_anchor(file, Ledger.read().roots)
    except (OSError, anchor.UnreadableAnchor) as fault:
        raise AnchorFailed(f"The anchor file {file}: {fault}") from fault


def create_root(by: str, reason: str) -> CeLedger:
    """Write a root of what has grown since the one before. Needs an open transaction. `by`: the job or the command."""
    before = CeLedger.find_newest_root()
    after = before.details.get(_ROWS_TO, 0) if before else 0
    newest = CeConversationHistory._base_manager.aggregate(last=Max("history_id"))["last"] or 0
    packer, parts, count = zlib.compressobj(), [], 0
    for end in anchor.list_chain_ends(after):
        parts.append(packer.compress(end.to_line().encode()))
        count += 1
    ends = b"".join([*parts, packer.flush()])
    listed_to, rows = pack_new_rows(before.details.get(_LISTED_TO, {}) if before else {})
    detail = {
        _ROWS_TO: anchor.settled_row(newest),
        _LISTED_TO: listed_to,
        "release": list(release_history().read_chain_end()),
        "tables": [[chain.pk, chain.last, bytes(chain.head).hex()] for chain in CeChain.objects.order_by("pk")],
    }
    text = json.dumps(detail, separators=(",", ":"))
    entry: CeLedger = CeLedger.objects.create(
        created_at=database_time(),
        kind=CeLedger.Kind.ROOT,
        by=by,
        reason=reason,
        count=count,
        detail=text,
        ends=ends,
        rows=rows or None,
        root=_hash_root(before.root if before else "", text, ends, rows),
    )
    return entry


def _hash_root(before: str, detail: str, ends: bytes, rows: bytes) -> str:
    """The hash of a root over its contents and the root before it, which is blank for the first one."""
    return hashlib.sha256(b"\n".join([before.encode(), detail.encode(), ends, *([rows] if rows else [])])).hexdigest()


# --- verify -----------------------------------------------------------------------------------------------------


def compare_ledger(ledger: Ledger, only: uuid.UUID | None = None) -> Iterator[IntegrityFinding]:
    """Where the record differs from the ledger: conversations, releases, and the ledger's own entries.

    With `only`, that conversation alone.
    """
    if only is None:
        yield from _verify_roots(ledger)
        yield from _find_missing_entries(ledger)
        # The newest release of each root has the seal that the root lists.
        for root in ledger.roots:
            version, seal = root.details.get("release", (0, ""))
            if version and release_history().read_seal(version) != seal:
                text = f"The ledger of {root.created_at:%Y-%m-%d} lists another seal."
                yield create_table_finding("LEDGER_DIFFERS", "ce_release", version, text)
    wanted = str(only) if only else ""
    ends = (line for root in reversed(ledger.roots) for line in reversed(root.list_ends()) if wanted in line)
    newest = anchor.newest_ends(anchor.ChainEnd.parse(json.loads(line)) for line in ends)
    aged = yield from anchor.compare_ends(newest, anchor.LEDGER)
    if only is None and len(aged) > (removed := ledger.count_removed_conversations()):
        text = f"Missing conversations that the ledger lists: {len(aged)}; conversations removed by age: {removed}."
        yield create_table_finding("LEDGER_MISSING", CeConversation._meta.db_table, "several", text)


def _verify_roots(ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Compute the hash of each root again, oldest first."""
    before = ""
    for root in ledger.roots:
        if _hash_root(before, root.detail, bytes(root.ends or b""), bytes(root.rows or b"")) != root.root:
            text = "Its ends of chains do not match its root, or the root before it was removed."
            yield create_table_finding("LEDGER_DIFFERS", _TABLE, root.pk, text)
        before = root.root


def _find_missing_entries(ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Entries that other tables prove: the ledger may have been emptied with the end of its chain."""
    conversations, kind = CeConversation._meta.db_table, CeLedger.Kind.ERASURE
    noted = {entry.ids_hash for entry in ledger.entries if (entry.kind, entry.table_name) == (kind, conversations)}
    for erasure in read_rows(CeErasure.objects.order_by("pk")):
        if erasure.is_genuine() and hash_ids([erasure.conversation_id]) not in noted:
            text = f"The ledger does not have the erasure {erasure.pk}: entries were removed."
            yield create_table_finding("LEDGER_MISSING", _TABLE, f"erasure {erasure.pk}", text)
    runs = CeJobRun.objects.filter(job_name=JOB.name, status=JobStatus.OK.value).order_by("pk")
    times = list(runs.values_list("started_at", flat=True))
    count = sum(root.created_at >= times[0] for root in ledger.roots) if times else 0
    if count < len(times):
        text = f"The job wrote {len(times):,} roots since {times[0]:%Y-%m-%d}, and the ledger has {count:,}."
        yield create_table_finding("LEDGER_MISSING", _TABLE, "roots", text)


JOB = Job(
    "write_ledger",
    "Write the ledger",
    (
        "Writes the ends of all chains into the ledger, and to the deployment's anchor. Verifying the record compares "
        "them, so that a removed conversation is noticed."
    ),
    Nightly(1),
    write_root,
)
