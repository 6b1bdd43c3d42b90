"""People reach what they want in ordinary words, with nothing but flows that an analyst starts on a page.

The dialogues were written by people who had not seen the engine. Those in `seen` were looked at while the engine was
made; those in `unseen` were played once, at the end. `messages` are single messages behind a clean beginning.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from django.db import transaction

from convengine.engine.understanding import meant_options, sentences
from convengine.engine.understanding.encoder import Vector
from tests.api import Caller
from tests.dialogues.play import Played, list_trades, play_trade
from tests.dialogues.play_messages import MESSAGES, Probe, play_messages

#: The least share of dialogues that reach their end, by half: what holds, so that nothing gets worse. A script does not
#: answer "Do you mean …?", which is asked since intents are learned: 17 of 20 reached their end before.
FLOORS = {"seen": Fraction(3, 5), "unseen": Fraction(4, 5)}
#: The largest share of dialogues that confirm a value which the script does not mean, and of messages that give one.
MOST_SILENT = {"seen": Fraction(4, 100), "unseen": Fraction(1, 100), "messages": Fraction(2, 100)}

#: The largest share of turns in which reading asks the encoder.
MOST_ENCODING = Fraction(1, 3)


@pytest.mark.nightly
@pytest.mark.django_db
@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_most_dialogues_reach_their_end(half: str, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[Played] = []
    turns = _count_encoding_turns(monkeypatch)
    for file in list_trades(half):
        with transaction.atomic():
            played += play_trade(file)
            transaction.set_rollback(True)

    failed = [dialogue for dialogue in played if dialogue.misses]
    reached = Fraction(len(played) - len(failed), len(played))
    assert reached >= FLOORS[half], _describe(failed)
    wrong = [dialogue for dialogue in played if dialogue.is_silently_wrong]
    assert Fraction(len(wrong), len(played)) <= MOST_SILENT[half], _describe(wrong)
    assert Fraction(sum(turns), len(turns)) <= MOST_ENCODING


def _count_encoding_turns(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each turn that is played from now on: whether reading asked the encoder."""
    turns: list[bool] = []
    say, encode_text = Caller.say, sentences.encode_text

    def count_turn(caller: Caller, text: str, **options: Any) -> dict[str, Any]:
        turns.append(False)
        return say(caller, text, **options)

    def note_encoding(text: str) -> Vector:
        turns[-1] = True
        return encode_text(text)

    monkeypatch.setattr(Caller, "say", count_turn)
    for module in (sentences, meant_options):
        monkeypatch.setattr(module, "encode_text", note_encoding)
    return turns


@pytest.mark.nightly
@pytest.mark.django_db
def test_most_messages_are_read_as_a_careful_clerk_would() -> None:
    probes: list[Probe] = []
    for file in sorted(MESSAGES.glob("*.yaml")):
        with transaction.atomic():
            probes += play_messages(file)
            transaction.set_rollback(True)

    missed = [probe for probe in probes if probe.miss]
    wrong = [probe for probe in probes if probe.is_silently_wrong]
    assert Fraction(len(probes) - len(missed), len(probes)) >= FLOORS["seen"], _list_probes(missed)
    assert Fraction(len(wrong), len(probes)) <= MOST_SILENT["messages"], _list_probes(wrong)


def _list_probes(probes: Sequence[Probe]) -> str:
    return "\n".join(f"{probe.situation}: {probe.text!r}: {probe.miss}" for probe in probes)


def _describe(failed: Sequence[Played]) -> str:
    return "\n".join(
        "\n".join([f"## {dialogue.name}", *dialogue.lines, *(f"  !! {miss}" for miss in dialogue.misses)])
        for dialogue in failed
    )
