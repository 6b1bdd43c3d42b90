"""The pages of What if, as somebody of QA opens them."""

import re
import uuid
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import CeAccessLog, CeWhatIf, CeWhatIfTurn
from audit.what_if.jobs import what_ifs
from config_admin.drafts.models import CeDraft, CeDraftEdit
from config_admin.drafts.publish_draft import discard_draft
from config_admin.models import CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.content import content_of
from convengine.server.extensions.registry import TaskEntry, registry
from tests.api import Caller
from tests.sign_in import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]
PAGE = "/admin/audit/ceaudit/what-if/"


@pytest.fixture
def qa() -> Client:
    return sign_in("of_qa", "qa")


@pytest.fixture
def draft(caller: Caller) -> CeDraft:
    """Another answer about fees."""
    draft = CeDraft.objects.create(title="Dearer")
    edit(draft, CeResponse.objects.get(intent_code="FEES"), exact_text="Ten.")
    return draft


def edit(draft: CeDraft, row: Any, **values: str) -> None:
    before, after = content_of(row), {**content_of(row), **values}
    CeDraftEdit.objects.create(
        draft=draft, table_name=row._meta.db_table, row_pk=str(row.pk), before=before, after=after
    )


def read(response: Any) -> str:
    """The words of a page."""
    assert response.status_code == 200, response
    main = response.content.decode().partition('id="main"')[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


def start(client: Client, configuration: str, **values: Any) -> str:
    """Start a run and run it; gives its address."""
    given = {"configuration": configuration, "base": "LIVE", "last": "100", **values}
    response = client.post(PAGE, given)
    assert response.status_code == 302, read(response)
    what_ifs.run(CeWhatIf.objects.latest("created_at").pk)
    return str(response.headers["Location"])


def test_a_draft_is_compared_and_each_group_leads_to_its_turns(caller: Caller, draft: CeDraft, qa: Client) -> None:
    for text in ("fees", "hours"):
        caller.say(text)
    assert "Draft: Dearer" in read(qa.get(PAGE))

    url = start(qa, f"draft:{draft.pk}")

    page = read(qa.get(url))
    assert "1 of 2 turns differs in 1 conversation." in page
    assert "Only the answer 1 turn" in page
    turns = read(qa.get(f"{url}?kind=ANSWER"))
    assert "fees" in turns
    assert re.search(r"Live now No fees\..*Draft: Dearer Ten\.", turns)
    assert "Intent FEES, state IDLE" in turns
    assert "Draft: Dearer" in read(qa.get(PAGE))
    kinds = CeAccessLog.objects.order_by("access_id").values_list("kind", "search")
    assert [kind for kind, _ in kinds] == ["WHAT_IF"] * 2
    assert kinds[1][1].startswith("run=")


def test_turns_that_ask_what_was_not_recorded_cannot_be_told(caller: Caller, draft: CeDraft, qa: Client) -> None:
    """An installation without a model has no answers of one either."""
    rule: Any = {
        "rule_id": 900, "phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "HOURS", "state_code": "ANY",
        "rule_type": "EXACT", "match_pattern": "ANY", "action": "SET_TASK", "action_value": "unasked:run",
    }  # fmt: skip
    row = content_of(CeRule(**rule))
    CeDraftEdit.objects.create(draft=draft, table_name="ce_rule", row_pk="900", before=None, after=row)
    registry.add_task("unasked", TaskEntry({"run": lambda call: pytest.fail("It was called.")}))
    caller.say("hours")
    try:
        page = read(qa.get(start(qa, f"draft:{draft.pk}")))
    finally:
        del registry.tasks["unasked"]

    assert "No turn differs, of 1 turns in 1 conversation. Of 1 turn, it cannot be told." in page
    assert "Cannot be told 1 turn" in page


def test_turns_after_a_lasting_difference_stand_apart(caller: Caller, draft: CeDraft, qa: Client) -> None:
    edit(draft, CeIntentClassifier.objects.get(intent_code="FEES"), pattern="costs")
    for text in ("fees", "hours"):
        caller.say(text)

    url = start(qa, f"draft:{draft.pk}")

    assert "After a difference 1 turn" in read(qa.get(url))
    assert "after a difference" in read(qa.get(f"{url}?kind=AFTER"))


def test_each_number_of_turns_leads_to_as_many(caller: Caller, draft: CeDraft, qa: Client) -> None:
    caller.say("fees")
    url = start(qa, f"draft:{draft.pk}")
    turn = CeWhatIfTurn.objects.get()
    for table, pk in (("", ""), ("", ""), ("ce_rule", turn.row_pk)):
        turn.pk, turn.table_name, turn.row_pk = None, table, pk
        turn.save()

    links = re.findall(r'href="(\?kind=[^"]*)">(\d+) turn', qa.get(url).content.decode())

    assert sorted(count for _, count in links) == ["1", "1", "2"]
    for link, count in links:
        page = qa.get(f"{url}{unescape(link)}")
        assert len(page.context["turns"]) == int(count)


def test_who_may_not_read_drafts_neither_sees_nor_cancels_runs_of_them(
    caller: Caller, draft: CeDraft, qa: Client
) -> None:
    caller.say("fees")
    qa.post(PAGE, {"configuration": f"draft:{draft.pk}", "base": "LIVE", "last": "100"})
    user = User.objects.create_user("reader", is_staff=True)
    rights = ("view_ceaudit", "view_ceconversationhistory")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    reader = Client()
    reader.force_login(user)

    assert "Dearer" not in reader.get(PAGE, {"configuration": f"draft:{draft.pk}"}).content.decode()
    assert reader.post(f"{PAGE}{CeWhatIf.objects.get().pk}/cancel/").status_code == 403
    assert CeWhatIf.objects.get().status == "PENDING"


def test_a_draft_that_changed_or_ended_is_said(caller: Caller, draft: CeDraft, qa: Client) -> None:
    caller.say("fees")
    url = start(qa, f"draft:{draft.pk}")
    CeDraftEdit.objects.update(after={**content_of(CeResponse.objects.get(intent_code="FEES")), "exact_text": "Nine."})

    assert "changed since this run" in read(qa.get(url))
    assert "Nine." in read(qa.get(f"{url}?kind=ANSWER"))
    discard_draft(draft.pk)
    assert "The draft has ended" in read(qa.get(url))
    assert "The draft has ended" in read(qa.get(f"{url}?kind=ANSWER"))


def test_a_run_is_watched_and_cancelled(caller: Caller, draft: CeDraft, qa: Client) -> None:
    caller.say("fees")
    qa.post(PAGE, {"configuration": f"draft:{draft.pk}", "base": "LIVE", "last": "100"})
    run = CeWhatIf.objects.get()
    url = f"{PAGE}{run.pk}/"

    page = read(qa.get(url))
    assert "Waiting" in page
    assert "Cancel" in page
    second = qa.post(PAGE, {"configuration": "live", "base": "LIVE", "last": "100"})
    assert "A what-if run of yours is not finished" in second.content.decode()
    assert qa.post(f"{url}cancel/").status_code == 302
    assert "Cancelled" in read(qa.get(url))


def test_what_is_filled_in_wrong_is_said_beside_it(caller: Caller, qa: Client) -> None:
    response = qa.post(PAGE, {"configuration": "draft:77", "base": "LIVE", "last": "0", "since": "tomorrow"})

    page = read(response)
    assert "This configuration does not exist any more." in page
    assert "greater than or equal to 1" in page
    assert "This is not a valid time." in page
    assert not CeWhatIf.objects.exists()


def test_who_may_not_read_conversations_or_drafts_is_refused(caller: Caller, draft: CeDraft, qa: Client) -> None:
    caller.say("fees")
    url = start(qa, f"draft:{draft.pk}")
    operator = sign_in("of_operator", "operator")

    for address in (PAGE, url):
        assert operator.get(address).status_code == 403
    assert operator.post(PAGE, {"configuration": "live"}).status_code == 403
    assert operator.post(f"{url}cancel/").status_code == 403
    assert qa.get(f"{PAGE}{uuid.uuid4()}/").status_code == 404


@pytest.mark.parametrize("kind", ["", "ANSWER"])
def test_the_queries_of_a_page_do_not_grow(caller: Caller, draft: CeDraft, qa: Client, kind: str) -> None:
    counts = []
    for conversations in (2, 15):
        for _ in range(conversations):
            Caller(caller.secret).say("fees")
        url = start(qa, f"draft:{draft.pk}")
        qa.get(url, {"kind": kind})
        with CaptureQueriesContext(connection) as queries:
            read(qa.get(url, {"kind": kind}))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_row_is_opened_in_the_draft(caller: Caller, draft: CeDraft) -> None:
    caller.say("fees")
    analyst = sign_in("of_analyst", "analyst")
    url = start(analyst, f"draft:{draft.pk}")
    row = CeResponse.objects.get(intent_code="FEES")
    group = f"{url}?kind=ANSWER&table=ce_response&row={row.pk}"
    address = f"/admin/config_admin/ceresponse/{row.pk}/change/"

    assert "Open in the draft" in read(analyst.get(group))
    opened = analyst.post(f"/admin/config_admin/cedraft/{draft.pk}/enter/", {"next": address}, follow=True)
    assert "Ten." in opened.content.decode()
    assert "Open in the draft" not in read(analyst.get(group))
    elsewhere = analyst.post(f"/admin/config_admin/cedraft/{draft.pk}/enter/", {"next": "https://example.com/"})
    assert elsewhere.headers["Location"] == f"/admin/config_admin/cedraft/{draft.pk}/change/"


def test_the_pages_of_drafts_and_releases_lead_here(caller: Caller, draft: CeDraft) -> None:
    analyst = sign_in("of_analyst", "analyst")
    assert (
        f"what-if/?configuration=draft%3A{draft.pk}"
        in analyst.get(f"/admin/config_admin/cedraft/{draft.pk}/change/").content.decode()
    )


def fill_in(row: CeResponse, **values: str) -> dict[str, str]:
    """The form of an answer with other values."""
    content = {name: value for name, value in content_of(row).items() if value is not None}
    return {name: str(value) for name, value in {**content, **values, "_pk": row.pk, "enabled": "on"}.items()}


@pytest.mark.parametrize("in_draft", [False, True])
def test_a_form_that_is_not_saved_is_compared(caller: Caller, draft: CeDraft, in_draft: bool) -> None:
    caller.say("hours")
    analyst = sign_in("of_analyst", "analyst")
    if in_draft:
        analyst.post(f"/admin/config_admin/cedraft/{draft.pk}/enter/")
    row = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")
    address = "/admin/config_admin/ceresponse/form/what-if/"

    asked = analyst.post(address, fill_in(row, exact_text="Ten to six."))

    page = read(asked)
    assert f"With Answer {row.pk} as it is in the form. It is not saved." in page
    signed = re.search(r'name="unsaved" value="([^"]+)"', asked.content.decode())
    assert signed
    url = start(analyst, f"draft:{draft.pk}" if in_draft else "live", unsaved=signed[1])
    assert f"with Answer {row.pk} as in the form" in read(analyst.get(url))
    assert "Nine to five." in read(analyst.get(f"{url}?kind=ANSWER"))
    assert "Ten to six." in read(analyst.get(f"{url}?kind=ANSWER"))
    assert CeResponse.objects.get(pk=row.pk).exact_text == "Nine to five."
    refused = sign_in("of_qa", "qa").post(
        PAGE, {"configuration": "live", "base": "LIVE", "last": "9", "unsaved": signed[1]}
    )
    assert refused.status_code == 403


def test_a_form_with_errors_says_them_first(caller: Caller) -> None:
    row = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")

    page = read(
        sign_in("of_analyst", "analyst").post(
            "/admin/config_admin/ceresponse/form/what-if/", fill_in(row, intent_code="")
        )
    )

    assert "has errors. Correct them in the form first" in page


@pytest.mark.parametrize("name", ["draft:{}", " draft:{}", "DRAFT:{}"])
def test_no_spelling_of_a_draft_passes_its_right(caller: Caller, draft: CeDraft, name: str) -> None:
    caller.say("fees")
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_ceaudit", "view_ceconversationhistory"]))
    client, chosen = Client(), name.format(draft.pk)
    client.force_login(user)

    assert client.post(PAGE, {"configuration": chosen, "base": "LIVE", "last": "100"}).status_code == 403
    assert "Dearer" not in client.get(PAGE, {"configuration": chosen}).content.decode()
    assert not CeWhatIf.objects.exists()


def test_a_run_is_stored_under_the_usual_name(caller: Caller, draft: CeDraft, qa: Client) -> None:
    caller.say("fees")
    given = {"configuration": f" DRAFT:{draft.pk}", "base": "LIVE", "last": "100"}
    assert "does not exist any more" in read(qa.post(PAGE, given))
    assert not CeWhatIf.objects.exists()
