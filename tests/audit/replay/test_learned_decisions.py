"""What is learned decides once: a replay has its figures from the record, whatever the encoder is by then."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audit.replay.replay import find_replay_difference, replay_turn
from config_admin.flows.mapping import write_rows
from config_admin.transfer.apply_import import add_rows
from convengine.engine.turn.codec import compress, decompress, dumps
from convengine.engine.understanding import encoder
from convengine.engine.understanding.encoder import Vector, describe_encoder
from convengine.engine.understanding.phrases import models
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import _WORDS, read_recording
from tests.api import Caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]

RENTAL = {
    "code": "RENTAL", "title": "Rent a boat", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to rent a boat", "boat hire please", "can I get a boat"],
    "fields": [
        {"name": "payment", "title": "Payment", "type": "choice",
         "options": [{"value": "invoice"}, {"value": "cash"}, {"value": "gift card"}]},
        {"name": "day", "title": "Day", "type": "date", "min": "today", "max": "today+90d"},
        {"name": "guests", "title": "Guests", "type": "number"},
    ],
    "answer": "Booked.",
    "questions_and_answers": [{"questions": ["is the harbour open in winter"], "answer": "Until November."}],
}  # fmt: skip
REPAIR = {
    "code": "REPAIR", "title": "Repair a boat", "kind": "answer", "answer": "Bring it to the dock.", "locale": "en-GB",
    "phrases": ["my boat is broken", "there is a hole in the hull", "the engine does not start"],
}  # fmt: skip
VERLEIH = {
    "code": "VERLEIH", "title": "Ein Boot leihen", "kind": "collect", "locale": "de-DE",
    "phrases": ["Ich möchte ein Boot leihen", "Bootsverleih bitte", "kann ich ein Boot haben"],
    "fields": [
        {"name": "zahlung", "title": "Zahlung", "type": "choice",
         "options": [{"value": "Rechnung"}, {"value": "bar"}, {"value": "Gutschein"}]},
        {"name": "tag", "title": "Tag", "type": "date", "min": "today"},
    ],
    "answer": "Notiert.",
}  # fmt: skip
LINES = {
    "english": (
        (RENTAL, REPAIR),
        (
            "something with water leaking", "I'd like to go out on the water", "I would like to hire one of your boats",
            "I'd give you banknotes", "yes", "that question went over my head", "is the harbour closed in January?",
            "could we perhaps have it tomorrow?", "four of us", "I would never accept such terms",
            "we are very pleased with all of it", "your kindness means a lot to me", "the motor is dead",
            "another boat to rent please", "coins please", "I have to look for my diary first",
            "let's give up on the entire thing", "I'd much prefer chatting to one of your workers",
        ),
    ),
    "german": (
        (VERLEIH,),
        (
            "ich brauche was zum Rudern", "wir würden gern ein Boot mieten", "mit Scheinen und Münzen", "ja",
            "ich muss kurz in meiner Tasche suchen", "könnten wir es bitte übermorgen haben?",
            "die Frage ging über meinen Kopf", "damit sind wir absolut zufrieden", "das war wirklich lieb von euch",
            "noch ein Boot bitte", "hol mir mal jemanden von euren Leuten",
        ),
    ),
}  # fmt: skip


def _perturb(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """From now on the encoder differs by a share of each vector, as another version of it would."""
    encode = encoder._encode

    def differ(text: str) -> Vector:
        noise = np.random.default_rng(len(text)).standard_normal(encoder.DIMENSIONS).astype(np.float32)
        vector: Vector = encode(text) + share * noise / np.linalg.norm(noise)
        return vector

    monkeypatch.setattr(encoder, "_encode", differ)
    monkeypatch.setattr(models, "_models", models._Models())


def _remove(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing is encoded and nothing classified."""
    refuse = pytest.fail
    monkeypatch.setattr(encoder, "_encode", lambda text: refuse(f"encoded {text}"))
    monkeypatch.setattr("convengine.engine.understanding.phrases.book.get_classifier", lambda *_: refuse("classified"))


LATER: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a little different": lambda monkeypatch: _perturb(monkeypatch, 0.01),
    "another one": lambda monkeypatch: _perturb(monkeypatch, 3),
    "missing": _remove,
}


def list_turns() -> list[CeConversationHistory]:
    return list(CeConversationHistory.objects.order_by("turn_no"))


def list_learned(turn: CeConversationHistory) -> list[tuple[str, Any, Any]]:
    """What was learned and decided in a turn: subject, question and answer."""
    assert turn.recording
    subjects = ("encoder", "phrases", "moves", "asks", "options")
    return [
        (port, request, answer) for port, request, answer in read_recording(turn.recording).tape if port in subjects
    ]


@pytest.fixture(params=LINES)
def played(request: pytest.FixtureRequest) -> Caller:
    """A conversation in one of the languages, whose turns rest on what is learned."""
    flows, lines = LINES[request.param]
    for flow in flows:
        add_rows(write_rows(flow), author="ada", reason="begin")
    caller = Caller()
    assert all(caller.say(line)["success"] for line in lines)
    return caller


@pytest.mark.parametrize("later", LATER)
def test_a_replay_equals_its_record_with_any_encoder(
    played: Caller, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = list_turns()
    assert {subject for turn in turns for subject, _, _ in list_learned(turn)} > {"phrases", "moves", "asks", "options"}

    LATER[later](monkeypatch)

    assert [find_replay_difference(turn) for turn in turns] == [None] * len(turns)
    assert all(replay_turn(turn).is_equal for turn in turns)


def test_a_recording_names_the_encoder_first_and_each_question_once(played: Caller) -> None:
    recordings = [learned for turn in list_turns() if (learned := list_learned(turn))]
    assert len(recordings) > 8
    for (subject, _, name), *questions in recordings:
        assert (subject, name) == ("encoder", describe_encoder())
        assert name.rpartition(" ")[2][0].isdigit()
        asked = [(port, dumps(request)) for port, request, _ in questions]
        assert len(asked) == len(set(asked))


def _leave_out_learned(turn: CeConversationHistory) -> None:
    """Make the recording one of a version that recorded nothing of it but the phrases."""
    assert turn.recording
    document = decompress(turn.recording, _WORDS)
    document["tape"] = [entry for entry in document["tape"] if entry[0] not in ("encoder", "moves", "asks", "options")]
    turn.recording = compress(dumps(document), _WORDS)
    turn.save()


def test_an_older_recording_is_replayed_with_the_encoder_of_today_and_says_so_where_it_differs(
    played: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for turn in list_turns():
        _leave_out_learned(turn)
    turns = list_turns()
    assert [find_replay_difference(turn) for turn in turns] == [None] * len(turns)

    _perturb(monkeypatch, 3)

    differences = [difference for turn in turns if (difference := find_replay_difference(turn))]
    assert differences
    for difference in differences:
        assert any(describe_encoder() in call and "not recorded" in call for call in difference.calls)
