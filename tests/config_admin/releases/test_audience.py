"""A release that a part of the conversations gets: real turns on both sides."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.integrity.verify import verify_conversation
from audit.replay.replay import find_replay_difference
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import PublicationRefused, publish_draft
from config_admin.releases import head
from config_admin.releases.active import Snapshots
from config_admin.releases.audience import (
    AudienceInvalid,
    AudienceSpec,
    NotGradual,
    change_audience,
    find_gradual_release,
    give_to_all,
)
from config_admin.releases.change_set import change_set
from config_admin.releases.choose_release import compute_point
from config_admin.releases.undo import stop_gradual_release
from convengine.engine.errors import GradualReleaseRunning
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from tests.record import events
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def say(conversation_id: str | None = None, text: str = "hours") -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id or str(uuid.uuid4()), text))
    assert isinstance(answer, TurnAnswer)
    return answer


def read_text(answer: TurnAnswer) -> Any:
    return answer.payload.value if answer.payload else answer.error


def make_draft(title: str = "Late hours", text: str = "Nine to nine.") -> m.CeDraft:
    draft = m.CeDraft.objects.create(title=title)
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text=text)
    return draft


@pytest.fixture
def desk() -> None:
    create_help_desk()


def publish(**audience: Any) -> m.CeRelease:
    return publish_draft(make_draft().pk, "ada", audience=AudienceSpec(**audience))


def test_each_side_runs_its_release_and_says_so(desk: None) -> None:
    before = head.newest()
    staff = str(uuid.uuid4())
    release = publish(participants=[staff])
    answers = {staff: say(staff), (other := str(uuid.uuid4())): say(other)}

    assert (read_text(answers[staff]), answers[staff].config_version) == ("Nine to nine.", release.pk)
    assert (read_text(answers[other]), answers[other].config_version) == ("Nine to five.", before)
    for conversation_id, reason in ((staff, "AUDIENCE"), (other, "NOT_IN_AUDIENCE")):
        (chosen,) = events("RELEASE_CHOSEN", conversation_id=conversation_id)
        assert chosen.payload_json["reason"] == reason
        turn = CeConversationHistory.objects.get(conversation_id=conversation_id)
        assert turn.config_version == answers[conversation_id].config_version
        assert find_replay_difference(turn) is None
        assert not list(verify_conversation(uuid.UUID(conversation_id)).findings)


def test_the_share_is_near_and_a_person_stays_on_one_side(desk: None) -> None:
    points = [compute_point("7", "default", "web", f"person {number}") for number in range(5000)]
    assert abs(sum(point < 2000 for point in points) / 5000 - 0.2) < 0.03
    release = publish(share=50)
    conversations = [str(uuid.uuid4()) for _ in range(20)]
    sides = [say(conversation_id).config_version for conversation_id in conversations]
    assert set(sides) == {release.pk, release.pk - 1}
    assert [say(conversation_id).config_version for conversation_id in conversations] == sides
    change_audience(AudienceSpec(share=80))
    wider = [say(conversation_id).config_version for conversation_id in conversations]
    assert all(now >= then for now, then in zip(wider, sides, strict=True))


def test_nobody_switches_sides_while_the_audience_changes(desk: None) -> None:
    """The head of a turn was read before the change, and its process does not know that audience yet."""
    release = publish(participants=["staff"])
    read_before = head.read()
    change_audience(AudienceSpec(participants=["staff", "boss"]))
    snapshots = Snapshots()
    versions = {
        name: snapshots.choose(read_before, Conversation("1", "default", "api", name), None)[0].config_version
        for name in ("staff", "other")
    }
    assert versions == {"staff": release.pk, "other": release.pk - 1}


def test_a_turn_of_either_side_costs_no_more_statements(desk: None) -> None:
    conversations = [str(uuid.uuid4()) for _ in range(2)]
    for conversation_id in conversations * 2:
        say(conversation_id)
    with CaptureQueriesContext(connection) as usual:
        say(conversations[0])
    publish(participants=conversations[:1])
    for conversation_id in conversations:
        say(conversation_id)
        with CaptureQueriesContext(connection) as gradual:
            say(conversation_id)
        assert len(gradual) == len(usual)


def test_edits_are_refused_meanwhile_and_work_in_a_draft(desk: None) -> None:
    publish(share=10)
    with pytest.raises(GradualReleaseRunning):
        m.CeResponse.objects.filter(intent_code="FEES").update(exact_text="Ten.")
    draft = make_draft("Other hours", "Ten to ten.")
    with pytest.raises(PublicationRefused):
        publish_draft(draft.pk)
    give_to_all("ada")
    assert publish_draft(m.CeDraft.objects.get(pk=make_draft("More", "Never.").pk).pk)


def test_it_stops_on_the_content_of_the_others(desk: None) -> None:
    staff = str(uuid.uuid4())
    before = m.CeRelease.objects.get(pk=head.newest())
    publish(participants=[staff])
    assert read_text(say(staff)) == "Nine to nine."

    row = stop_gradual_release("ada", "too many complaints")

    now = m.CeRelease.objects.get(pk=head.newest())
    assert (row.status, now.content_hash, now.author) == ("STOPPED", before.content_hash, "ada")
    assert read_text(say(staff)) == "Nine to five."
    assert find_gradual_release() is None
    with pytest.raises(NotGradual):
        stop_gradual_release("ada")
    m.CeResponse.objects.filter(intent_code="FEES").update(exact_text="Ten.")


@pytest.mark.parametrize("policy", ["END_OF_FORM", "END_OF_SESSION"])
def test_nobody_stays_on_a_stopped_release(desk: None, policy: str) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="RUNNING", config_value=policy)
    staff = str(uuid.uuid4())
    publish(participants=[staff])
    assert read_text(say(staff)) == "Nine to nine."
    CeConversation.objects.filter(pk=staff).update(lifecycle="AWAITING_USER")
    stop_gradual_release("ada")
    assert read_text(say(staff)) == "Nine to five."


def test_given_to_all_it_is_the_release(desk: None) -> None:
    release = publish(share=1)
    row = give_to_all("bob")
    assert (row.status, row.ended_by) == ("COMPLETE", "bob")
    answer = say()
    assert (read_text(answer), answer.config_version) == ("Nine to nine.", release.pk)
    with pytest.raises(NotGradual):
        change_audience(AudienceSpec(share=5))


def test_a_write_past_the_application_reaches_only_the_audience(desk: None) -> None:
    staff = str(uuid.uuid4())
    publish(participants=[staff])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_response SET exact_text = 'By hand.' WHERE intent_code = 'HOURS'")
    assert read_text(say(staff)) == "By hand."
    assert read_text(say()) == "Nine to five."
    stop_gradual_release("ada")
    assert read_text(say(staff)) == "Nine to five."


@pytest.mark.parametrize("audience", [{}, {"share": 100}, {"share": -1}, {"participants": ["x"] * 201}])
def test_an_audience_that_makes_no_sense_publishes_nothing(desk: None, audience: dict[str, Any]) -> None:
    before = head.newest()
    with pytest.raises(AudienceInvalid):
        publish(**audience)
    assert head.newest() == before
    assert m.CeDraft.objects.get().status == "OPEN"


def test_a_renamed_intent_keeps_its_code_for_the_others(desk: None) -> None:
    old, staff = str(uuid.uuid4()), str(uuid.uuid4())
    for conversation_id in (old, staff):
        say(conversation_id)
    draft = m.CeDraft.objects.create(title="Rename")
    with open_draft(draft.pk, None, writing=True), change_set():
        intent = m.CeIntent.objects.get(pk="HOURS")
        m.CeIntent.objects.filter(pk="HOURS").delete()
        m.CeIntent.objects.bulk_create([m.CeIntent(intent_code="OPENING", description="x")])
        m.CeIntent.objects.filter(pk="OPENING").update(created_at=intent.created_at)
        for model in (m.CeIntentClassifier, m.CeResponse):
            model.objects.filter(intent_code="HOURS").update(intent_code="OPENING")
        m.CeRule.objects.filter(intent_code="HOURS").update(intent_code="OPENING")
    publish_draft(draft.pk, audience=AudienceSpec(participants=[staff]))
    assert say(staff, "hours").session.intent == "OPENING"
    assert say(old, "hours").session.intent == "HOURS"
    stop_gradual_release("ada")
    assert say(staff, "hours").session.intent == "HOURS"
