"""Check the data of an evidence file by its hashes alone: each seal, and each seal with the one before it."""

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from django.conf import settings

from audit.export.evidence.collect import CONVERSATION, FORMAT, sign
from audit.export.evidence.sealed_row import SealedRow
from audit.seal import GENESIS
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.interfaces.release_history import ProvenReleases, release_history

#: What the file proves, and what it cannot prove.
PROVEN = (
    "The words, events and results of each turn are what its seal covers: nobody changed them after the seal was made.",
    "Turns that follow one another do so in this order, and none between them is missing.",
    "Each row of the configuration is what the release of its turn contains, and the release names who made it, when "
    "and why.",
)
NOT_PROVEN = (
    "What was removed from a turn that is marked as cut, and whether the installation recorded the removal.",
    "That the file comes from a certain installation: compare its seals with the record or the ledger there.",
    "That there are no earlier or later turns, other conversations, or further events that were added later.",
    "That nobody appended a turn or an event to the end of a conversation: a seal needs no secret. Compare the ends.",
    "Workspace, channel and participant, who made this file and when, the search and the root: no seal covers these.",
)


@dataclass(frozen=True)
class EvidenceFinding:
    """Something that does not match, and where."""

    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True)
class Talk:
    """A conversation of the file."""

    facts: Mapping[str, Json]
    turns: Sequence[SealedRow]
    additions: Sequence[SealedRow]

    @property
    def key(self) -> str:
        return str(self.facts["id"])

    @property
    def rows(self) -> Sequence[SealedRow]:
        return (*self.turns, *self.additions)


@dataclass
class EvidenceFile:
    """The data of a file, and what is wrong with it."""

    data: Mapping[str, Json]
    talks: list[Talk]
    releases: ProvenReleases
    findings: list[EvidenceFinding] = field(default_factory=list)
    #: What the file alone does not prove: turns that are not in it, and turns that were cut.
    gaps: list[str] = field(default_factory=list)

    @property
    def turn_count(self) -> int:
        return sum(len(talk.turns) for talk in self.talks)

    def snapshot(self, config_version: int) -> Snapshot:
        """The rows of a release that the file has."""
        release = self.releases.releases.get(config_version)
        return release.snapshot if release else Snapshot(config_version, {})

    def is_from_here(self) -> bool:
        """True when a secret of this installation, the present one or a fallback, made the file."""
        keys, proof = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS), str(self.data["proof"])
        return proof.isascii() and any(hmac.compare_digest(sign(dict(self.data), key), proof) for key in keys)


def check_data(data: Mapping[str, Json]) -> EvidenceFile:
    """Check everything that hashes can tell, without the proof of the installation.

    For other data than that of a file, raises ValueError or LookupError, or whatever reading a wrong type raises.
    """
    if data["format"] != FORMAT:
        raise ValueError(f"The file has the format {data['format']!r}; this version reads the format {FORMAT}.")
    releases = release_history().open_evidence(data["configuration"])
    evidence = EvidenceFile(data, [_read_talk(facts) for facts in data["conversations"]], releases)
    for finding in releases.findings:
        evidence.findings.append(EvidenceFinding(f"{finding.table} {finding.row}".strip(), finding.message))
    for talk in evidence.talks:
        evidence.findings += _check_rows(talk, releases)
        _check_order(talk, evidence)
        cut = [row for row in talk.rows if row.cuts]
        evidence.gaps += [f"{describe_location(row)}: cut ({', '.join(row.cuts)} removed)" for row in cut]
        if data["subject"]["kind"] == CONVERSATION and data["subject"]["whole"]:
            evidence.findings += _check_additions(talk)
            evidence.gaps += [
                f"{describe_location(row)}: what was added before it is not in the file"
                for row in talk.additions[:1]
                if row.seal and row.seal.previous != GENESIS
            ]
    return evidence


def describe_location(row: SealedRow) -> str:
    location = f"conversation {row.conversation_id}"
    if row.turn_no is not None:
        location += f", turn {row.turn_no}"
    return f"{location}, added later" if row.is_addition else location


def _read_talk(facts: Mapping[str, Json]) -> Talk:
    rows = [SealedRow.read(record) for record in facts["rows"]]
    turns = [row for row in rows if not row.is_addition]
    return Talk(facts, turns, [row for row in rows if row.is_addition])


def _check_rows(talk: Talk, releases: ProvenReleases) -> Iterator[EvidenceFinding]:
    """Check that each row belongs to its conversation, has a seal and a release in the file, and matches the seal."""
    names = {"header": "its columns", "events": "its events", "recording": "its recording"}
    for row in talk.rows:
        release = releases.releases.get(row.config_version)
        parts = row.encode(release.content_hash if release else "")
        if row.conversation_id != talk.key:
            yield EvidenceFinding(describe_location(row), f"It is listed with the conversation {talk.key}.")
        if row.seal is None:
            yield EvidenceFinding(describe_location(row), "It has no seal that can be read.")
        elif release is None:
            yield EvidenceFinding(describe_location(row), f"The file does not have its release {row.config_version}.")
        elif not row.seal.matches(parts) or row.seal.differing(parts):
            differing = [names[name] for name in row.seal.differing(parts)]
            what = " and ".join(differing) or "its seal, or the content hash of its release"
            yield EvidenceFinding(describe_location(row), f"It does not match its seal: {what} changed.")


def _check_order(talk: Talk, evidence: EvidenceFile) -> None:
    """Add a finding for each turn that does not follow from the one before it.

    Turns missing between them are a finding in a range of turns, and a gap in what a search found.
    """
    is_range = evidence.data["subject"]["kind"] == CONVERSATION
    for row in talk.turns[:1]:
        if row.seal and row.turn_no == 1 and row.seal.previous != GENESIS:
            evidence.findings.append(
                EvidenceFinding(describe_location(row), "The first turn is not the start of a chain.")
            )
    for before, row in pairwise(talk.turns):
        if before.seal is None or row.seal is None or row.seal.previous == before.seal.hash:
            continue
        first, last = int(before.turn_no or 0) + 1, int(row.turn_no or 0) - 1
        if first > last:
            text = f"Its seal does not follow from the seal of turn {before.turn_no}."
            evidence.findings.append(EvidenceFinding(describe_location(row), text))
            continue
        which = f"turn {first} is" if first == last else f"turns {first} to {last} are"
        if is_range:
            text = f"It does not follow from turn {before.turn_no}: {which} missing."
            evidence.findings.append(EvidenceFinding(describe_location(row), text))
        else:
            evidence.gaps.append(f"conversation {talk.key}: {which} not in the file")


def _check_additions(talk: Talk) -> Iterator[EvidenceFinding]:
    """Additions follow one another; retention may have removed the first ones."""
    for before, row in pairwise(talk.additions):
        if before.seal and row.seal and row.seal.previous != before.seal.hash:
            yield EvidenceFinding(
                describe_location(row), "Its seal does not follow from that of the addition before it."
            )
