"""Accounts of varied turns of two shipped bots and of German ones: none contradicts its turn, few are vague."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from audit.narration import narrate_turn
from audit.record.events import Event, expand_events
from config_admin.models import CeIntent, CeOutputSchema
from tests import record
from tests.api import Caller, make_key
from tests.browser.bicycle_workshop import BUNDLE
from tests.demo.conftest import install_helpdesk, load_rows
from tests.dialogues.play import FOLDER, play_trade
from tests.outcomes import Outcome, list_contradictions, list_vague

pytestmark = [pytest.mark.django_db, pytest.mark.long]

CONVERSATIONS = yaml.safe_load((Path(__file__).parent / "conversations.yaml").read_text("utf-8"))
_APPROVED = "[approved]"


def read_outcomes() -> Iterator[tuple[Outcome, list[str]]]:
    """Each stored turn with the sentences of its account."""
    names = dict(CeIntent.objects.values_list("intent_code", "display_name"))
    titles = {
        path: field["title"]
        for schema in CeOutputSchema.objects.all()
        for path, field in schema.json_schema["properties"].items()
        if "title" in field
    }
    recorded: Iterable[Event] = expand_events(record.events())
    for _, group in groupby(recorded, lambda event: (event.row.conversation_id, event.row.turn_no)):
        events = list(group)
        yield Outcome(events, names, titles), [sentence.text for sentence in narrate_turn(events)]


def check_accounts(at_least: int) -> None:
    """No sentence of the stored turns contradicts its turn, and less than one in 200 is vague."""
    outcomes = list(read_outcomes())
    assert len(outcomes) >= at_least
    contradictions = [fault for turn, texts in outcomes for fault in list_contradictions(turn, texts)]
    vague = [text for turn, texts in outcomes for text in list_vague(turn, texts)]
    assert contradictions == []
    assert len(vague) < sum(len(texts) for _, texts in outcomes) / 200, vague


def say_all(bot: str, key: str) -> None:
    for messages in CONVERSATIONS[bot]:
        caller = Caller(key)
        for message in messages:
            approved = {"inputParams": {"approval_granted": True}} if message.startswith(_APPROVED) else {}
            caller.say(message.removeprefix(_APPROVED), **approved)


def test_accounts_of_the_help_desk(tmp_path: Path, settings: Any) -> None:
    with install_helpdesk(tmp_path, settings):
        load_rows()
        say_all("help_desk", make_key(scopes=["turns", "audit", "approve"]))
        check_accounts(200)


def test_accounts_of_the_bicycle_workshop() -> None:
    call_command("config_import", str(BUNDLE), "--apply", verbosity=0)
    say_all("bicycle_workshop", make_key())
    check_accounts(120)


@pytest.mark.parametrize("trade", ["fahrschule", "ferienwohnung"])
def test_accounts_of_german_bots(trade: str) -> None:
    for _ in play_trade(FOLDER / "seen" / f"{trade}.yaml"):
        pass
    check_accounts(60)
