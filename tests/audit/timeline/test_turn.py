"""The page of a turn: the account first, and everything that it rests on."""

import re
import uuid
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.addresses import timeline_url, turn_url
from config_admin.models import CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.engine.understanding.phrases import models
from convengine.server.phrase_models.store import DatabaseStore
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.audit.timeline.conftest import long_conversation
from tests.record import call, change_entries

Words = Callable[[str], str]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


def page_of(caller: Caller, turn_no: int = 1, query: str = "") -> str:
    return turn_url(uuid.UUID(caller.conversation_id), turn_no) + query


def test_it_tells_what_happened_and_leads_to_rows_and_events(caller: Caller, reader: Client, words: Words) -> None:
    caller.say("hours please", inputParams={"vip": True})
    rule = CeRule.objects.get().pk

    text, source = words(page_of(caller)), reader.get(page_of(caller)).content.decode()

    assert f"{caller.conversation_id} · default / api" in text
    assert "Evidence of this turn" in text
    assert "What happened A new conversation began." in text
    assert f"ce_rule {rule} changed the state from Idle to Vip , because vip is true" in text
    assert f"/turn/1/row/?table=ce_rule&amp;row={rule}" in source
    assert "IntentResolutionStep" in text
    assert "Rules before the answer" in text
    assert "chosen" in text


def test_a_decision_shows_values_that_were_compared_and_counts_rows_that_it_does_not_list(
    caller: Caller, words: Words
) -> None:
    with change_set(reason="many"):
        CeIntentClassifier.objects.bulk_create(
            CeIntentClassifier(intent_code="FEES", state_code="IDLE", rule_type="CONTAINS", pattern=f"p{number}")
            for number in range(200)
        )
    caller.say("hours please")

    text = words(page_of(caller))

    assert "vip is true : no value: not set" in text
    assert "177 more are not shown: 177 (it does not match the message)" in text
    assert "more are not shown" not in words(page_of(caller, 1, "?rows=all")).replace("places that", "")


def test_a_phrase_shows_how_sure_and_how_near_it_was(caller: Caller, words: Words) -> None:
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.create(
            intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="What do I pay for a copy?"
        )
    caller.say("pay for copies of a passport")
    caller.say("how much do I pay for a copy")

    unsure, sure = words(page_of(caller, 1)), words(page_of(caller, 2))

    shown = re.search(
        r"the classifier is not sure enough the confidence is at least ([\d.]+)\s% : no value: ([\d.]+)\s%"
        r" · score likeness of message and phrase : ([\d.]+)\s% · likeness",
        unsure,
    )
    assert shown
    bound, confidence, likeness = map(float, shown.groups())
    assert 0 < confidence < bound
    assert confidence < likeness < 100
    assert "because the message has the telling words of the phrase “What do I pay for a copy?”" in sure
    assert re.search(
        r"chosen Phrase: What do I pay for a copy\? .*? the confidence is at least [\d.]+\s% : yes value: 100\s%", sure
    )


def test_how_sure_it_was_is_told_word_by_word_when_somebody_looks(caller: Caller, reader: Client, words: Words) -> None:
    with change_set(reason="phrases"):
        for intent, text in (("FEES", "What do I pay for a copy?"), ("HOURS", "When can I come to you?")):
            CeIntentClassifier.objects.create(intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text)
    caller.say("pay for copies of a passport")
    caller.say("hours please")

    page, part = words(page_of(caller)), words(page_of(caller, 1, "?part=words"))

    assert "How sure it was, word by word, and what to do" in page
    assert "How sure it was" not in words(page_of(caller, 2)), "a pattern decided"
    assert "Without a word" not in page
    assert re.search(r"Fees [\d.]+\s% What do I pay for a copy\?", part)
    assert re.search(
        r"How sure Fees would be without a word Without Confidence Change copies [\d.]+\s% −[\d.]+ points", part
    )
    assert "computed now" not in part
    assert "What to do" in part
    assert part in words(page_of(caller, 1, "?words=1"))


def test_word_by_word_takes_the_same_queries_for_any_number_of_words_and_phrases(
    caller: Caller, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_models", models._Models())
    models.use_store(DatabaseStore())

    def count(message: str, turn_no: int) -> int:
        caller.say(message)
        address = page_of(caller, turn_no, "?part=words")
        # What a new release takes once is not the page's.
        reader.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert "What to do" in reader.get(address).content.decode()
        return len(queries)

    def add_phrases(numbers: range) -> None:
        with change_set(reason="phrases"):
            CeIntentClassifier.objects.bulk_create(
                CeIntentClassifier(
                    intent_code=("FEES", "HOURS")[number % 2],
                    state_code="IDLE",
                    rule_type="PHRASE",
                    pattern=f"What do I pay for copy {number}?",
                )
                for number in numbers
            )

    add_phrases(range(2))
    few = count("pay for copies", 1)
    assert count("pay for the copies of a passport that my sister lost on her way to the library", 2) == few
    add_phrases(range(2, 40))
    assert count("pay for copies", 3) == few


def test_word_by_word_is_computed_on_the_release_of_the_turn(caller: Caller, words: Words) -> None:
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.create(
            intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="What do I pay for a copy?"
        )
    caller.say("pay for copies of a passport")
    before = words(page_of(caller, 1, "?part=words"))
    with change_set(reason="another one"):
        CeIntentClassifier.objects.filter(rule_type="PHRASE").update(pattern="Is the weather nice?")

    assert words(page_of(caller, 1, "?part=words")) == before


def test_it_is_narrowed_to_a_part_or_a_text_and_one_event_opens_whole(caller: Caller, reader: Client) -> None:
    caller.say("hours please", inputParams={"vip": True})

    whole = reader.get(page_of(caller)).context
    rules = reader.get(page_of(caller, 1, "?family=RULE")).context
    vip = reader.get(page_of(caller, 1, "?q=VIP")).context
    odd = reader.get(page_of(caller, 1, "?family=NONE&q=")).context

    assert {line.family for line in rules["lines"]} == {"RULE"}
    assert {one.family for one in rules["why"].sentences} == {"RULE"}
    assert 0 < len(vip["lines"]) < len(whole["lines"])
    assert len(odd["lines"]) == len(whole["lines"])
    seq = next(line.seq for line in rules["lines"] if line.stage.startswith("RULE_MATCH"))
    opened = reader.get(page_of(caller, 1, f"?part=event&event={seq}")).content.decode()
    assert "ruleId" in opened
    assert "_meta" in opened
    assert "This event does not exist" in reader.get(page_of(caller, 1, "?part=event&event=999")).content.decode()
    assert "<html" not in reader.get(page_of(caller, 1, "?part=details")).content.decode()


def test_a_turn_that_failed_shows_what_it_did_not_save(caller: Caller, reader: Client, words: Words) -> None:
    caller.say("hours please")
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees please", inputParams={"tier": "gold"})

    text = words(page_of(caller, 2))
    lost = {change.path_text: change.after for change in reader.get(page_of(caller, 2)).context["unsaved"].telling}

    assert "The turn failed with RESPONSE_MAPPING_NOT_FOUND . Nothing was saved." in text
    assert "What was not saved" in text
    assert lost == {"intent": "FEES"}


def test_prompts_are_there(caller: Caller, words: Words) -> None:
    caller.say("hours please")
    asked = call(purpose="INTENT", prompt_text="Which?", response_text="That.")
    change_entries(caller.conversation_id, 1, lambda entries: [entries[0] | {"calls": [asked]}, *entries[1:]])
    CeConversationHistory.objects.update(model_calls=1)

    assert "Prompt Which? Response That." in words(page_of(caller))


def test_its_neighbours_are_a_step_away_and_a_new_release_is_pointed_to(caller: Caller, words: Words) -> None:
    for _ in range(3):
        caller.say("hours please")
    with change_set(reason="news"):
        CeRule.objects.all().delete()
    caller.say("hours please")

    assert "« Turn 1" in words(page_of(caller, 2))
    assert "Turn 3 »" in words(page_of(caller, 2))
    assert "Configuration changes" not in words(page_of(caller, 3))
    assert "Configuration changes" in words(page_of(caller, 4))


def test_it_costs_the_same_whatever_the_length_of_its_conversation(reader: Client) -> None:
    counts = set()
    for turns in (3, 300):
        address = turn_url(long_conversation(turns).pk, turns // 2)
        reader.get(address)
        with CaptureQueriesContext(connection) as found:
            assert reader.get(address).status_code == 200
        counts.add(len(found))
    assert len(counts) == 1, counts
    # Two of them seal the entry of the access log.
    assert counts.pop() <= 16


def test_a_turn_whose_events_are_gone_or_were_never_written_is_shown_by_its_record(words: Words) -> None:
    row = long_conversation(1)
    CeConversationHistory.objects.filter(conversation=row).update(events=None)

    text = words(turn_url(row.pk, 1))

    assert "No events were recorded for this turn" in text
    assert "answer 1" in text


def test_a_turn_that_was_erased_says_so(words: Words) -> None:
    row = long_conversation(1, lifecycle="ABORTED", lifecycle_detail={"reason": "erased"})
    CeConversationHistory.objects.filter(conversation=row).update(events=None)

    assert "of this turn was erased" in words(turn_url(row.pk, 1))
    assert "The messages of this conversation were erased." in words(timeline_url(row.pk))


def test_what_users_write_is_shown_and_never_run(caller: Caller, reader: Client) -> None:
    caller.say("hours <script>alert(1)</script> & more")

    page = reader.get(page_of(caller)).content.decode()

    assert "<script>alert(1)" not in page
    assert "hours &lt;script&gt;" in page
    assert reader.get(page_of(caller, 7)).status_code == 404
    assert reader.get(page_of(caller, 7).replace("/7/", f"/{10**20}/")).status_code == 404
