"""Permissions: each group, at each address of the admin, by GET and by POST, against the one table of rights."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db import models
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.urls import Resolver404, URLPattern, resolve, reverse
from django.utils import timezone

from audit.models import CeAudit, CeLlmCallLog
from config_admin import models as m
from convengine.server.admin_site.rights import GROUPS, INTEGRATOR, TASKS
from convengine.server.api.models import CeApiKey
from convengine.server.jobs.models import CeJob
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.config_admin.builders import MODELS, make
from tests.record import call, entry, store_turn
from tests.records import store_row
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db
NAMES = [group.name for group in GROUPS]
#: What an address of a model takes, by the end of its name: one of these rights to the model.
TAKES = {
    **dict.fromkeys(
        (
            *("changelist", "change", "history", "workspace", "effective", "compare", "map", "map_of", "health"),
            *("transfer", "transfer_export", "timeline", "turn", "row", "between"),
            *("replay", "replays", "scenario", "rated", "trust", "export", "print", "evidence", "customer"),
            *("what_if", "what_if_run", "what_if_cancel", "data"),
        ),
        ("view", "change"),
    ),
    **dict.fromkeys(
        ("judge_of_form", "try_it_of_form", "turns_of_form", "simulate_of_form", "what_if_of_form", "preview"),
        ("add", "change"),
    ),
    **dict.fromkeys(("put_back", "password_change", "try", "tools", "rename", "switch"), ("change",)),
    **dict.fromkeys(("add", "duplicate"), ("add",)),
    **dict.fromkeys(("delete", "delete_all"), ("delete",)),
}
#: The same where something is sent.
TAKES_TO_SEND = TAKES | dict.fromkeys(("change", "effective", "health"), ("change",))
#: Pages that answer by showing themselves where nothing is sent that they know.
SHOWN_AGAIN = ("ce_sessions_ceconversation_change", "ce_sessions_cethread_change", "config_admin_ceconfig_effective")
#: Addresses whose right is one of its own.
OWN = {
    "config_admin_cerelease_roll_back": "config_admin.roll_back_release",
    "config_admin_cerelease_take_back": "config_admin.change_cerule",
    "ce_jobs_cejob_run": "ce_jobs.run_job",
    **{f"ce_webhooks_cewebhook_{page}": "ce_webhooks.change_cewebhook" for page in ("secret", "test")},
    **{f"ce_webhooks_{model}_again": "ce_webhooks.resend_delivery" for model in ("cewebhook", "cewebhookdelivery")},
    "ce_channels_cechannel_test": "ce_channels.change_cechannel",
    "ce_channels_cechannelmessage_again": "ce_channels.change_cechannel",
    "ce_channels_ceoptout_delete": "ce_channels.delete_ceoptout",
    "ce_sessions_cependingactionexecution_settle": "ce_sessions.settle_execution",
    "audit_ceaudit_simulate": "ce_sessions.try_conversation",
    "audit_ceaudit_erase": "audit.erase_person",
    "audit_ceaudit_sample": "audit.erase_person",
    "audit_ceaudit_find": "ce_sessions.view_ceconversationhistory",
    **{
        f"audit_ceaudit_{page}": "ce_sessions.view_ceconversationhistory"
        for page in (
            *("reports", "forms", "rows", "effect", "week"),
            *("not_understood", "times", "models", "ratings"),
        )
    },
    "audit_ceaudit_inbox": "ce_sessions.view_ceconversationhistory",
    **{
        f"audit_{model}_{page}": "audit.silence_alert"
        for model in ("cealert", "cealertrule")
        for page in ("silence", "unsilence")
    },
    "audit_cemcpuserfeedback_give": "audit.add_cemcpuserfeedback",
    "config_admin_ceresponse_languages": "config_admin.view_ceresponse",
    "config_admin_ceresponse_languages_file": "config_admin.view_ceresponse",
    "config_admin_ceresponse_words": "config_admin.view_ceresponse",
    "config_admin_ceintent_start": "config_admin.add_ceintent",
    "config_admin_ceintent_start_talk": "config_admin.add_ceintent",
    "config_admin_ceanswerdocument_document_import": "config_admin.add_ceanswerdocument",
    "config_admin_ceanswerdocument_document_sections": "config_admin.view_ceanswerdocument",
    "config_admin_ceintent_faq": "config_admin.add_ceintent",
    "config_admin_ceintent_faq_template": "config_admin.add_ceintent",
    "config_admin_ceintent_flow": "config_admin.change_ceintent",
    "config_admin_ceintent_flow_talk": "config_admin.change_ceintent",
    "config_admin_ceintentclassifier_teach": "config_admin.add_ceintentclassifier",
    **{f"config_admin_cetestcase_{page}": "config_admin.run_test_case" for page in ("run", "again")},
    **{f"config_admin_cetestcase_{page}": "config_admin.view_cetestcase" for page in ("export", "coverage")},
    **{f"config_admin_cetestcase_{page}": "config_admin.view_cetestrun" for page in ("understanding", "evaluation")},
    "config_admin_cetestcase_evaluation_cancel": "config_admin.run_test_case",
    "config_admin_cetestcase_import": "config_admin.add_cetestcase",
    **{f"config_admin_cetestrun_{page}": "config_admin.run_test_case" for page in ("cancel", "again")},
    "config_admin_cetestrun_result": "config_admin.view_cetestrun",
    "config_admin_cedraft_come_over": "config_admin.add_cedraft",
    "config_admin_cedraft_leave": "config_admin.view_cedraft",
    "config_admin_cedraft_publish": "config_admin.publish_draft",
    "config_admin_cedraft_review": "config_admin.review_draft",
    "config_admin_cedraft_schedule": "config_admin.publish_draft",
    "config_admin_cedraft_cancel": "config_admin.publish_draft",
    **{f"config_admin_cegradualrelease_{page}": "config_admin.publish_draft" for page in ("stop", "all", "audience")},
    **{
        f"config_admin_cedraft_{page}": "config_admin.change_cedraft"
        for page in ("enter", "discard", "drop", "settle", "send", "move")
    },
}
#: The same where something is sent.
OWN_TO_SEND = OWN | {
    "config_admin_cerelease_transfer": "config_admin.add_cerule",
    "audit_ceaudit_inbox": "config_admin.add_ceintentclassifier",
}
#: Of the tables of the configuration, those whose pages are opened; the others' are refused in the same way, and open
#: as `test_lists` says.
LOOKED_AT = (m.CeRule, m.CeConfig, m.CeMcpServer)
#: The run of a what-if that does not exist.
NO_RUN = "7c1f0a52-3d52-4c55-9a6e-0e7c4b1c2d10"
#: There is nothing to be had: it may not be, it is sought in the wrong way, or what is sought is not there.
REFUSED = (403, 404, 405)
ANSWERED = (200, 302, 400, 404, 405)


def rows(user: User) -> dict[type[models.Model], Any]:
    """A row of every table that has pages; the key is the user's own."""
    CeJob.objects.get_or_create(name="close_sessions", defaults={"due_at": timezone.now()})
    of_tools = {
        model: {"tool": make(m.CeMcpTool, tool_code=model.__name__)} for model in (m.CeMcpDbTool, m.CeMcpHttpTool)
    }
    made: dict[type[models.Model], Any] = {model: make(model, **of_tools.get(model, {})) for model in MODELS}
    made |= {User: user, Group: Group.objects.get(name="qa"), CeJob: CeJob.objects.get(name="close_sessions")}
    made[CeConversationHistory] = store_turn(store_row(CeConversation), [entry(1, "USER_INPUT", calls=[call()])])
    made[CeAudit], made[CeLlmCallLog] = CeAudit.objects.get(), CeLlmCallLog.objects.get()
    made[CeApiKey] = CeApiKey.objects.create_key(name="mine", made_by=user)[0]
    made[m.CeRelease] = m.CeRelease.objects.order_by("config_version")[1]
    return made | {model: store_row(model) for model in admin.site._registry if model not in made}


def addresses(model: Any, row: Any) -> Iterator[tuple[str, str]]:
    """The name of every address of a model's pages, and the address for the row."""
    for url in admin.site._registry[model].urls:
        if isinstance(url, URLPattern) and url.name:
            release = m.CeRelease.objects.order_by("config_version")[1].pk
            values: dict[str, Any] = {"config_version": release, "what_if_id": NO_RUN}
            named = {name: values.get(name) or getattr(row, name, row.pk) for name in url.pattern.converters}
            yield url.name, reverse(f"admin:{url.name}", kwargs=named)


def right_for(name: str, model: Any, takes: dict[str, tuple[str, ...]]) -> set[str]:
    """The rights of which one is enough; KeyError for an address that the table of this test does not know."""
    own = OWN_TO_SEND if takes is TAKES_TO_SEND else OWN
    if name in own:
        return {own[name]}
    opts = model._meta
    page = name.removeprefix(f"{opts.app_label}_{opts.model_name}_")
    taken = takes[page]
    if not admin.site._registry[model].has_add_permission.__qualname__.startswith(("BaseModelAdmin", "ModelAdmin")):
        taken = tuple(action for action in taken if action == "view")  # Nobody edits what the engine writes.
    return {f"{opts.app_label}.{action}_{opts.model_name}" for action in taken}


@pytest.fixture(params=[name if name == "analyst" else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES])
def member(request: pytest.FixtureRequest, db: None) -> User:
    user = User.objects.create_user("member", is_staff=True)
    user.groups.set(Group.objects.filter(name=request.param))
    return user


@pytest.fixture
def at_work(member: User) -> Client:
    client = Client()
    client.force_login(member)
    return client


def list_rights(group: str) -> set[str]:
    """All rights of a group, as `app.codename`."""
    return {right for task in TASKS if group in task.groups for right in task.rights}


@pytest.mark.parametrize("name", NAMES)
def test_the_groups_have_the_rights_of_the_table(name: str) -> None:
    rights = Permission.objects.filter(group__name=name).select_related("content_type")

    assert {f"{right.content_type.app_label}.{right.codename}" for right in rights} == list_rights(name)


def test_every_right_of_the_table_is_there() -> None:
    existing = {
        f"{permission.content_type.app_label}.{permission.codename}"
        for permission in Permission.objects.select_related("content_type")
    }

    assert {right for task in TASKS for right in task.rights} - existing == set()


def test_every_address_is_open_to_whom_it_should_be_and_refused_to_all_others(
    member: User, at_work: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page of a refusal is proved in `test_error_pages`; most of the time went into making it hundreds of times.
    monkeypatch.setattr("convengine.urls.handler403", lambda request, exception: HttpResponse(status=403))
    # A status is decided before the page is written. `test_nothing_that_is_shown_leads_to_a_refusal` writes them.
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    has = list_rights(member.groups.get().name)
    wrong = []
    for model, row in rows(member).items():
        for name, address in addresses(model, row):
            for send, takes in ((at_work.get, TAKES), (at_work.post, TAKES_TO_SEND)):
                may = bool(right_for(name, model, TAKES if name in SHOWN_AGAIN else takes) & has)
                if may and model in MODELS and model not in LOOKED_AT:
                    continue
                status = send(address).status_code
                if status not in (REFUSED if not may else ANSWERED):
                    wrong.append(f"{send.__name__} {address}: {status}, {'may' if may else 'may not'}")

    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_nothing_that_is_shown_leads_to_a_refusal(member: User, at_work: Client) -> None:
    rows(member)
    wrong, seen, ahead = [], {"admin:logout"}, ["/admin/"]
    while ahead:
        address = ahead.pop(0)
        page = at_work.get(address)
        if page.status_code >= 400:
            wrong.append(f"{address}: {page.status_code}")
        elif page.status_code == 200 and "html" in page["Content-Type"]:
            text = page.content.decode()
            wrong += [f"{address}: {action}" for action in _refused_actions(at_work, address, text)]
            for link in re.findall(r'<a[^>]*href="(/[^"#]*)', text):
                if (kind := _kind(link)) not in seen:
                    seen.add(kind)
                    ahead.append(link.replace("&amp;", "&"))

    assert not wrong, "\n".join(wrong)


def _kind(address: str) -> str:
    try:
        name = resolve(address.partition("?")[0]).view_name
    except Resolver404:
        return "admin:logout"
    skipped = {f"{model._meta.app_label}_{model._meta.model_name}_" for model in MODELS if model not in LOOKED_AT}
    return "admin:logout" if any(name.startswith(f"admin:{prefix}") for prefix in skipped) else name


def _refused_actions(client: Client, address: str, text: str) -> Iterator[str]:
    """The bulk actions that a list offers, and that are refused when they are asked for."""
    offered = re.search(r'<select[^>]*name="action".*?</select>', text, re.DOTALL)
    row = re.search(r'name="_selected_action" value="([^"]+)"', text)
    for action in re.findall(r'value="(\w+)"', offered[0]) if offered and row else ():
        if client.post(address, {"action": action, "_selected_action": row[1]}).status_code >= 400:
            yield action


def test_actions_that_one_may_not_do_are_not_offered_and_not_done(at_work: Client, member: User) -> None:
    rule = make(m.CeRule)
    may = "config_admin.change_cerule" in list_rights(member.groups.get().name)
    at_work.post(
        "/admin/config_admin/cerule/", {"action": "disable_selected", "_selected_action": rule.pk, "_answer": "1"}
    )
    page = at_work.get("/admin/config_admin/cerule/").content.decode()
    rule.refresh_from_db()

    assert rule.enabled
    assert ('value="disable_selected"' in page) is may


def test_integrators_see_no_keys_but_their_own() -> None:
    ida = sign_in("ida", INTEGRATOR)
    strange = CeApiKey.objects.create_key(name="somebody else's")[0]
    page = ida.post("/admin/ce_api/ceapikey/add/", {"name": "mine", "workspace_id": "default", "scopes": ["turns"]})
    mine = CeApiKey.objects.get(name="mine")

    assert mine.is_valid(page.context["secret"])
    shown = ida.get("/admin/ce_api/ceapikey/").content.decode()
    assert "mine" in shown
    assert "somebody else" not in shown
    assert ida.get(reverse("admin:ce_api_ceapikey_change", args=[strange.pk])).status_code == 302
    ida.post("/admin/ce_api/ceapikey/", {"action": "revoke_selected", "_selected_action": [strange.pk, mine.pk]})
    assert list(CeApiKey.objects.filter(revoked=True)) == [mine]


def test_the_scope_of_all_configuration_is_given_by_configuration_administrators_only() -> None:
    user = User.objects.create_user("ida", is_staff=True)
    user.groups.set(Group.objects.filter(name=INTEGRATOR))
    ida = Client()
    ida.force_login(user)

    assert 'value="config"' not in ida.get("/admin/ce_api/ceapikey/add/").content.decode()
    ida.post("/admin/ce_api/ceapikey/add/", {"name": "all", "workspace_id": "default", "scopes": ["turns", "config"]})
    assert not CeApiKey.objects.filter(name="all").exists()

    user.groups.add(Group.objects.get(name="config_admin"))
    ida.post("/admin/ce_api/ceapikey/add/", {"name": "all", "workspace_id": "default", "scopes": ["turns", "config"]})
    assert CeApiKey.objects.filter(name="all").exists()


def test_keys_that_read_every_conversation_are_given_by_people_who_do() -> None:
    user = User.objects.create_user("ida", is_staff=True)
    user.groups.set(Group.objects.filter(name=INTEGRATOR))
    ida, add = Client(), "/admin/ce_api/ceapikey/add/"
    ida.force_login(user)

    form = ida.get(add).context["adminform"].form
    assert form["scopes"].value() == ["turns", "sessions", "own_audit"]
    ida.post(add, {"name": "all", "workspace_id": "default", "scopes": ["turns", "audit"]})
    assert not CeApiKey.objects.exists()
    ida.post(add, {"name": "own", "workspace_id": "default", "scopes": ["turns", "own_audit"]})
    assert CeApiKey.objects.get().scopes == ["turns", "own_audit"]

    user.groups.add(Group.objects.get(name="qa"))
    ida.post(add, {"name": "all", "workspace_id": "default", "scopes": ["turns", "audit"]})
    assert CeApiKey.objects.filter(name="all").exists()


def test_a_key_keeps_a_scope_that_its_keeper_may_not_give() -> None:
    user = User.objects.create_user("ida", is_staff=True)
    user.groups.set(Group.objects.filter(name=INTEGRATOR))
    key, _ = CeApiKey.objects.create_key(name="shop", scopes=["turns", "audit"], made_by=user)
    ida = Client()
    ida.force_login(user)

    ida.post(
        f"/admin/ce_api/ceapikey/{key.pk}/change/",
        {"name": "store", "workspace_id": "default", "scopes": ["turns", "audit"]},
    )

    key.refresh_from_db()
    assert (key.name, key.scopes) == ("store", ["turns", "audit"])
