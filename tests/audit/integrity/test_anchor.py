"""What was noted elsewhere finds ends that were cut off, and conversations that were taken out whole."""

import json
import uuid
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from audit.integrity import anchor, ledger
from audit.models import CeChainCut, CeLedger
from audit.record import removals
from audit.record.document_parts import encode_stored_document
from audit.seal import SEALED, Seal, encode_parts
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    found = Caller()
    for _ in range(3):
        found.say("hours")
    return found


def run_verify(file: Path, *options: str) -> tuple[int, dict[str, Any]]:
    out = StringIO()
    try:
        call_command("audit_verify", "--json", "--anchor", str(file), *options, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


def codes(file: Path) -> set[tuple[str, int | None]]:
    return {(one["code"], one["turn_no"]) for one in run_verify(file)[1]["findings"]}


def write_anchor(file: Path) -> str:
    """Gives the number of ends that were written."""
    out = StringIO()
    call_command("audit_anchor", str(file), stdout=out)
    return out.getvalue().split()[0]


def test_the_ledger_says_who_wrote_a_root(caller: Caller, tmp_path: Path) -> None:
    list(ledger.write_root())
    write_anchor(tmp_path / "heads")

    written = CeLedger.objects.filter(kind="ROOT").order_by("pk").values_list("by", "reason")
    assert list(written) == [("write_ledger", "daily"), ("audit_anchor", "for an anchor file")]
    assert run_verify(tmp_path / "heads")[0] == 0


def test_an_end_that_was_cut_off_with_its_head_is_found(caller: Caller, tmp_path: Path) -> None:
    file = tmp_path / "heads"
    call_command("audit_anchor", str(file), stdout=StringIO())
    assert run_verify(file)[0] == 0
    assert run_verify(file, "--conversation", caller.conversation_id)[0] == 0

    rows = CeConversationHistory.objects.filter(turn_no=3)
    second = CeConversationHistory.objects.get(turn_no=2)
    rows.delete()
    CeConversation.objects.update(last_turn_no=2, chain_head=Seal.read(second.seal).hash)

    assert run_verify(file)[0] == 1
    assert codes(file) == {("ANCHOR_MISSING", 3), ("LEDGER_MISSING", 3)}


def test_what_retention_removes_while_an_anchor_is_compared_is_no_damage(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "heads"
    write_anchor(file)
    read_stored_hashes = anchor._read_stored_hashes

    def remove_first(*args: Any) -> Any:
        removals.note_cut(CeChainCut.Kind.TURNS, database_time())
        CeConversation.objects.all().delete()
        return read_stored_hashes(*args)

    monkeypatch.setattr(anchor, "_read_stored_hashes", remove_first)

    assert list(anchor.compare_anchor(file)) == []


def test_a_root_that_is_written_while_an_anchor_is_compared_is_no_damage(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "heads"
    write_anchor(file)
    read_roots = anchor._read_roots

    def write_first(*args: Any) -> Any:
        monkeypatch.undo()
        ledger.create_root("ada", "a test")
        ledger.copy_roots(file)
        return read_roots(*args)

    monkeypatch.setattr(anchor, "_read_roots", write_first)

    assert list(anchor.compare_anchor(file)) == []


def test_only_the_wanted_turn_is_compared_with_an_anchor(caller: Caller, tmp_path: Path) -> None:
    file = tmp_path / "heads"
    write_anchor(file)
    CeConversationHistory.objects.filter(turn_no=3).delete()

    assert run_verify(file, "--conversation", caller.conversation_id, "--turn", "3")[0] == 1
    assert run_verify(file, "--conversation", caller.conversation_id, "--turn", "2")[0] == 0
    with pytest.raises(CommandError, match="has no turn 4"):
        run_verify(file, "--conversation", caller.conversation_id, "--turn", "4")


def test_a_conversation_that_was_taken_out_whole_is_found(caller: Caller, tmp_path: Path) -> None:
    file = tmp_path / "heads"
    write_anchor(file)
    CeConversation.objects.all().delete()

    assert codes(file) == {("ANCHOR_MISSING", 3), ("LEDGER_MISSING", 3)}
    removals.note_cut(CeChainCut.Kind.TURNS, database_time())
    assert codes(file) == {("LEDGER_MISSING", None)}


def test_a_chain_that_was_made_anew_is_found(caller: Caller, tmp_path: Path) -> None:
    file = tmp_path / "heads"
    write_anchor(file)
    record = CeConversationHistory.objects.get(turn_no=3)
    record.status = "BLOCKED"
    values = {name: getattr(record, name) for name in SEALED}
    seal = Seal.create(
        Seal.read(record.seal).previous,
        encode_parts(
            values, configuration().content_hash(record.config_version), encode_stored_document(record.events)
        ),
    )
    record.seal = seal.to_bytes()
    record.save()
    CeConversation.objects.update(chain_head=seal.hash)

    assert codes(file) == {("ANCHOR_DIFFERS", 3), ("LEDGER_DIFFERS", 3)}


def test_later_sections_hold_what_went_on_and_older_lines_stay_true(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor, "_MARGIN", 0)
    file = tmp_path / "heads"
    assert write_anchor(file) == "1"
    other = Caller()
    other.say("hours")

    assert write_anchor(file) == "1"
    assert write_anchor(file) == "0"
    assert [json.loads(line)[1:3] for line in file.read_text().splitlines() if line[0] == "["] == [
        [caller.conversation_id, 3],
        [other.conversation_id, 1],
    ]
    assert run_verify(file)[0] == 0


def test_a_file_that_is_no_anchor_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "heads"
    file.write_text("nonsense\n")
    with pytest.raises(CommandError, match="line 1 is neither valid JSON nor the end of a chain"):
        call_command("audit_anchor", str(file))
    with pytest.raises(CommandError, match="line 1 is neither valid JSON nor the end of a chain"):
        call_command("audit_verify", "--conversation", str(uuid.uuid4()), "--anchor", str(file))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "heads"
    file.write_bytes(b"\xff\n")
    with pytest.raises(CommandError, match="line 1 is neither valid JSON nor the end of a chain"):
        call_command("audit_anchor", str(file))
    with pytest.raises(CommandError, match="line 1 is neither valid JSON nor the end of a chain"):
        call_command("audit_verify", "--conversation", str(uuid.uuid4()), "--anchor", str(file))
