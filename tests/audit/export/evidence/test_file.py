"""The check of an evidence file reports the place of each changed word, event, row and seal."""

import copy
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.export.evidence.collect import EvidenceOrder, collect_conversation
from audit.export.evidence.file import NoEvidence, check_file, write_file
from audit.export.evidence.sealed_row import SealedRow
from audit.feedback.store import FeedbackInput, store_feedback
from audit.integrity import ledger
from audit.seal import Seal
from config_admin.models import CeIntent, CeResponse
from config_admin.releases.change_set import change_set
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversation
from tests.api import Caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]
EVERYTHING = EvidenceOrder("ada", lambda right: True)


def collect(caller: Caller, order: EvidenceOrder = EVERYTHING, first: int = 1, last: int = 9) -> dict[str, Json]:
    return collect_conversation(CeConversation.objects.get(pk=caller.conversation_id), order, first, last)


@pytest.fixture
def data(caller: Caller) -> dict[str, Json]:
    """Three turns; the answer of the second one comes from a later release with an author and a reason."""
    list(ledger.write_root())
    caller.say("hours", inputParams={"vip": True})
    with change_set(author="Grace", reason="new fees"):
        CeResponse.objects.filter(intent_code="FEES").update(exact_text="Nearly no fees.")
    caller.say("fees \u202e</script><b>")
    caller.say("my cvv")
    return collect(caller)


@pytest.mark.dialects
def test_an_untouched_file_matches_its_seals_and_needs_no_database(data: dict[str, Json], caller: Caller) -> None:
    text = write_file(data)
    with connection.execute_wrapper(lambda *_: pytest.fail("a query")):
        evidence = check_file(text)

    assert [str(finding) for finding in evidence.findings] == []
    assert evidence.turn_count == 3
    assert evidence.gaps == []
    assert evidence.is_from_here()
    assert "Everything in this file matches its seals." in text
    # The words, the account, the row with its author, and invisible characters by name.
    for words in ("For you: always.", "Grace", '<q dir="auto">new fees</q>', "Nearly no fees.", "[RLO]&lt;/script&gt;"):
        assert words in text
    assert "Recognised the intent" in text
    body = text.replace(data["proof"], "").casefold()
    assert not any(name in body for name in ("http://", "https://", "src=", "<link", "javascript"))


def check_elsewhere(file: Path, folder: Path) -> tuple[int, str]:
    """The command in an empty folder, with a database that does not exist."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, "-m", "convengine", "manage", "audit_verify", "--evidence", str(file)],
        cwd=folder,
        env=environment | {"DATABASE_URL": f"sqlite:///{folder}/none/none.sqlite3", "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def evidence_with_names(caller: Caller) -> dict[str, Json]:
    """Turns of intents with names: one is recognised, one stays, two are asked about."""
    with change_set(reason="names"):
        CeIntent.objects.filter(intent_code="HOURS").update(display_name="Opening hours")
        CeIntent.objects.filter(intent_code="FEES").update(display_name="What it costs")
    for text in ("hours", "yes", "hours and fees"):
        caller.say(text)
    return collect(caller)


def test_the_command_needs_neither_a_database_nor_an_installation(
    evidence_with_names: dict[str, Json], tmp_path: Path
) -> None:
    file, changed, other = (tmp_path / name for name in ("file.html", "changed.html", "other.html"))
    text = write_file(evidence_with_names)
    file.write_text(text)
    changed.write_text(text.replace("Nine to five.", "Nine to six."))
    other.write_text("<html></html>")

    status, said = check_elsewhere(file, tmp_path)
    assert (status, "Intact: 3 turns of 1 conversation." in said) == (0, True), said
    assert "The secret of this installation did not make the file" in said
    status, said = check_elsewhere(changed, tmp_path)
    assert (status, "NOT INTACT" in said) == (1, True), said
    assert check_elsewhere(other, tmp_path)[0] == 2
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".html"] == []


def test_intents_keep_the_names_of_the_turn(evidence_with_names: dict[str, Json]) -> None:
    text = write_file(evidence_with_names)
    with change_set(reason="other names"):
        CeIntent.objects.update(display_name="Renamed")

    assert [str(finding) for finding in check_file(text).findings] == []
    assert write_file(evidence_with_names) == text
    assert "“Opening hours”" in text
    assert "“What it costs”" in text
    assert "Renamed" not in text


def change_words(data: dict[str, Json]) -> None:
    change_text(data, 0, '"hours"', '"fees"')


def change_text(data: dict[str, Json], turn: int, old: str, new: str) -> None:
    row = data["conversations"][0]["rows"][turn]
    assert old in row["words"]
    row["words"] = row["words"].replace(old, new)


def change_answer(data: dict[str, Json]) -> None:
    change_text(data, 2, "No cards, please.", "Cards, please.")


def change_event(data: dict[str, Json]) -> None:
    row = data["conversations"][0]["rows"][1]
    row["events"] = row["events"].replace("FEES", "HOURS")


def remove_event(data: dict[str, Json]) -> None:
    row = data["conversations"][0]["rows"][1]
    row["events"] = json.dumps(json.loads(row["events"])[:-1])


def change_recording(data: dict[str, Json]) -> None:
    data["conversations"][0]["rows"][0]["recording"] = ""


def remove_turn(data: dict[str, Json]) -> None:
    del data["conversations"][0]["rows"][1]


def swap_turns(data: dict[str, Json]) -> None:
    data["conversations"][0]["rows"].reverse()


def change_seal(data: dict[str, Json]) -> None:
    row = data["conversations"][0]["rows"][1]
    row["seal"] = row["seal"][:4] + "0000" + row["seal"][8:]


def change_checksum(data: dict[str, Json]) -> None:
    row = data["conversations"][0]["rows"][1]
    row["seal"] = row["seal"][:-4] + "0000"


def remove_seal(data: dict[str, Json]) -> None:
    data["conversations"][0]["rows"][1]["seal"] = ""


def swap_events(data: dict[str, Json]) -> None:
    first, second = data["conversations"][0]["rows"][:2]
    first["events"], second["events"] = second["events"], first["events"]


def change_row(data: dict[str, Json]) -> None:
    blobs = data["configuration"]["blobs"]
    name = next(name for name, text in blobs.items() if "Nearly no fees." in text)
    blobs[name] = blobs[name].replace("Nearly no fees.", "High fees.")


def change_author(data: dict[str, Json]) -> None:
    release = next(each for each in data["configuration"]["releases"].values() if each["author"] == "Grace")
    release["author"] = "Ada"


def change_time(data: dict[str, Json]) -> None:
    next(iter(data["configuration"]["releases"].values()))["created_at"] = "2020-01-01T00:00:00.000000Z"


def change_reason_of_row(data: dict[str, Json]) -> None:
    entries = data["configuration"]["entries"]
    name = next(name for name, text in entries.items() if "new fees" in text)
    entries[name] = entries[name].replace("new fees", "old fees")


def name_unknown_removal(data: dict[str, Json]) -> None:
    """Other words under the old hash, as after a removal."""
    change_text(data, 1, "fees ", "hours ")
    row = data["conversations"][0]["rows"][1]
    sealed = SealedRow.read(row)
    release = data["configuration"]["releases"][str(sealed.config_version)]["content_hash"]
    row["seal"] = Seal.read(bytes.fromhex(row["seal"])).cut(32, sealed.encode(release)).to_bytes().hex()


def name_other_conversation(data: dict[str, Json]) -> None:
    data["conversations"][0]["id"] = str(uuid.uuid4())


DATA_CHANGES: dict[Callable[[dict[str, Json]], None], str] = {
    change_words: "turn 1: It does not match its seal: its columns changed.",
    change_answer: "turn 3: It does not match its seal: its columns changed.",
    change_event: "turn 2: It does not match its seal: its events changed.",
    remove_event: "turn 2: It does not match its seal: its events changed.",
    change_recording: "turn 1: It does not match its seal: its recording changed.",
    remove_turn: "turn 3: It does not follow from turn 1: turn 2 is missing.",
    swap_turns: "turn 1: Its seal does not follow",
    change_seal: "turn 2: It does not match its seal",
    change_checksum: "turn 2: It does not match its seal: its recording changed.",
    remove_seal: "turn 2: It has no seal that can be read.",
    swap_events: "turn 1: It does not match its seal: its events changed.",
    change_row: "Its content does not match its name, which is its hash.",
    change_author: "Its author, reason, time, content or history does not match its seal.",
    change_time: "Its author, reason, time, content or history does not match its seal.",
    change_reason_of_row: "does not list this entry of its history.",
    name_unknown_removal: "turn 2: It has no seal that can be read.",
    name_other_conversation: "turn 1: It is listed with the conversation",
}


def test_changed_data_are_found_even_if_the_page_is_made_anew(data: dict[str, Json]) -> None:
    unseen = {}
    for change, message in DATA_CHANGES.items():
        forged = copy.deepcopy(data)
        change(forged)
        evidence = check_file(write_file(forged))
        if not any(message in str(finding) for finding in evidence.findings) or evidence.is_from_here():
            unseen[change.__name__] = evidence.findings

    assert unseen == {}


def test_a_row_cannot_come_from_a_release_after_that_of_its_turn(data: dict[str, Json], caller: Caller) -> None:
    for text in ("Many fees.", "Nearly no fees."):
        with change_set(author="Eve", reason="mine"):
            CeResponse.objects.filter(intent_code="FEES").update(exact_text=text)
    caller.say("fees")
    forged = collect(caller)
    configuration = forged["configuration"]
    assert check_file(write_file(forged)).findings == []
    listed = [
        rows[at]
        for _, rows in sorted(configuration["rows"].items(), key=lambda item: int(item[0]))
        for at, (_, _, entry) in enumerate(rows)
        if "fees." in configuration["entries"].get(entry or "", "")
    ]
    assert len(listed) == 2
    listed[0][2] = listed[1][2]

    (finding,) = check_file(write_file(forged)).findings
    assert "cannot have it from the later release" in finding.message


def test_an_invented_event_at_the_end_has_no_proof_of_the_installation_and_another_last_seal(
    data: dict[str, Json], caller: Caller, tmp_path: Path
) -> None:
    """No hash can tell it: a seal needs no secret."""
    key = uuid.UUID(caller.conversation_id)
    store_feedback(key, None, "participant", FeedbackInput("THUMBS_DOWN", comment="wrong"))
    forged = collect(caller)
    rows = forged["conversations"][0]["rows"]
    last, words = SealedRow.read(rows[-1]), rows[-1]["events"].replace("wrong", "right")
    release = forged["configuration"]["releases"][str(last.config_version)]["content_hash"]
    invented = SealedRow.read({**rows[-1], "events": words})
    seal = Seal.create(bytes.fromhex(last.hash), invented.encode(release))
    rows.append({**rows[-1], "events": words, "seal": seal.to_bytes().hex()})
    file, out = tmp_path / "evidence.html", StringIO()
    file.write_text(write_file(forged), newline="")

    assert check_file(write_file(forged)).findings == []
    call_command("audit_verify", "--evidence", str(file), stdout=out)
    assert "The secret of this installation did not make the file" in out.getvalue()
    assert f"added later: {seal.hash.hex()}" in out.getvalue()
    del rows[-2]
    assert "what was added before it is not in the file" in str(check_file(write_file(forged)).gaps)


TEXT_CHANGES = {
    "a word of the user": ("</b>hours</p>", "</b>fees</p>", "conversation 1 turn 1"),
    "an answer": ("</b>For you: always.", "</b>For you: never.", "conversation 1 turn 1"),
    "a sentence of the account": ("Recognised the intent", "Missed the intent", "conversation 1 turn"),
    "an event": ("<small>USER_INPUT", "<small>ENGINE_RETURN", "conversation 1 turn 1 event 9"),
    "a row": ('<dd dir="auto">Nearly no fees.', '<dd dir="auto">No fees.', "row ce_response"),
    "who made it": ("<b>Grace</b>", "<b>Ada</b>", "row ce_response"),
    "a seal": ("Seal before it <code>0000", "Seal before it <code>1111", "seal 1 1"),
    "the result": ("Everything in this file", "Really everything in this file", "check"),
    "a hiding style": ("<style>\n", "<style>\n.user { display: none; }\n", "beginning"),
    "a further word": ("</main>", "<p>He agreed.</p></main>", "proof"),
    "a second block of data": ("</body>", '<script type="application/json">{}</script></body>', "evidence"),
}


def test_changed_text_is_found_with_its_place(data: dict[str, Json]) -> None:
    text, unseen = write_file(data), {}
    for name, (old, new, place) in TEXT_CHANGES.items():
        assert old in text, name
        findings = check_file(text.replace(old, new, 1)).findings
        if not any(place in finding.location for finding in findings):
            unseen[name] = findings

    assert unseen == {}


@pytest.mark.dialects
def test_failed_turns_later_events_and_erased_turns_are_evidence_too(data: dict[str, Json], caller: Caller) -> None:
    caller.say("hours")
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")
    key = uuid.UUID(caller.conversation_id)
    store_feedback(key, None, "participant", FeedbackInput("THUMBS_DOWN", comment="wrong"))
    whole = write_file(collect(caller))
    assert check_file(whole).findings == []
    assert "RESPONSE_MAPPING_NOT_FOUND" in whole
    assert "MCP_USER_FEEDBACK" in whole

    for _ in erase_conversation(key, EraseOrder("ada", "Article 17")):
        pass

    evidence = check_file(text := write_file(collect(caller)))
    assert evidence.findings == []
    assert f"conversation {key}, turn 1: cut (all words, by an erasure removed)" in evidence.gaps
    assert "For you: always." not in text


@pytest.mark.dialects
def test_a_record_that_was_changed_before_says_so_itself(data: dict[str, Json], caller: Caller) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_conversation_history SET user_input = 'else' WHERE turn_no = 2")

    text = write_file(collect(caller))

    assert "Not everything in this file matches its seals." in text
    assert [str(finding) for finding in check_file(text).findings] == [
        f"conversation {caller.conversation_id}, turn 2: It does not match its seal: its columns changed."
    ]


def test_a_file_of_another_version_is_refused(data: dict[str, Json]) -> None:
    text = write_file(data)

    with pytest.raises(NoEvidence, match="another version of the product made it"):
        check_file(text.replace('"header":"[', '"header":"[1,'))


def test_forged_values_do_not_break_the_check(data: dict[str, Json]) -> None:
    text, at = write_file(data), json.loads(data["conversations"][0]["rows"][0]["header"].split("\n")[0])[3]

    assert not check_file(write_file({**data, "proof": "\u00e9"})).is_from_here()
    for forged in (text.replace(f",{at},", f",{'9' * 30},"), text.replace('"format":2', f'"format":{"[" * 99_999}')):
        with pytest.raises(NoEvidence):
            check_file(forged)


def test_a_reader_without_the_right_gets_no_rows_of_that_table(data: dict[str, Json], caller: Caller) -> None:
    without = collect(caller, EvidenceOrder("ada", lambda right: "response" not in right))

    assert "Nearly no fees." not in json.dumps(without["configuration"])
    assert check_file(write_file(without)).findings == []


def test_a_part_of_a_conversation_says_what_is_left_out(data: dict[str, Json], caller: Caller) -> None:
    part = collect(caller, first=2)

    assert part["subject"]["leftOut"] == "1 of its 3 turns"
    assert check_file(write_file(part)).findings == []


def test_one_turn_is_evidence_by_itself(data: dict[str, Json], caller: Caller) -> None:
    part = collect(caller, first=2, last=2)

    assert (part["subject"]["first"], part["subject"]["last"]) == (2, 2)
    assert part["subject"]["leftOut"] == "2 of its 3 turns"
    assert check_file(write_file(part)).findings == []


def test_the_command_checks_a_file(data: dict[str, Json], tmp_path: Path) -> None:
    file, out = tmp_path / "evidence.html", StringIO()
    file.write_text(write_file(data), newline="")
    call_command("audit_verify", "--evidence", str(file), stdout=out)
    assert "Intact: 3 turns of 1 conversation." in out.getvalue()
    assert "The secret of this installation made the file." in out.getvalue()
    assert "Not proven:" in out.getvalue()
    newest = max(data["configuration"]["releases"].items(), key=lambda item: int(item[0]))
    assert f"  release {newest[0]}: {newest[1]['seal']}" in out.getvalue()

    file.write_text(write_file(data).replace("For you: always.", "For you: never."), newline="")
    with pytest.raises(SystemExit, match="1"):
        call_command("audit_verify", "--evidence", str(file), "--json", stdout=StringIO())

    for content in ("", "<html></html>", write_file(data).replace('"format":2', '"format":9')):
        file.write_text(content)
        with pytest.raises(CommandError) as fault:
            call_command("audit_verify", "--evidence", str(file))
        assert fault.value.returncode == 2
    with pytest.raises(NoEvidence):
        check_file("")
