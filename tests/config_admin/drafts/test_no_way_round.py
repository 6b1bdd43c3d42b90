"""Where changes are reviewed, every way to change the configuration ends in a draft or a refusal.

Each way is played twice: without a draft it is refused, and it is real: a page makes an edit of a draft, a call or a
command makes a release where changes are live at once.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client, RequestFactory
from django.urls import URLPattern, get_resolver, reverse
from simple_history.models import HistoricalRecords

from config_admin import models as m
from config_admin.drafts.middleware import KEY
from config_admin.editing.setting_fields import to_choice
from config_admin.flows.saving import create_flow
from config_admin.releases import head
from config_admin.releases.change_set import change_set, get_released_head
from config_admin.urls import urlpatterns
from convengine.cli.commands import map_management_commands
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import make_key
from tests.config_admin.admin.pages import a_response, address, fill
from tests.config_admin.builders import make
from tests.config_admin.flows.test_page import flow_address
from tests.config_admin.flows.test_page import send as send_flow
from tests.config_admin.flows.test_page import sent_by as sent_by_flow
from tests.config_admin.flows.test_reading import FULL
from tests.config_admin.flows.topics.builders import make_topic
from tests.convengine.server.admin_site.test_rights import addresses, rows
from tests.copied_rows import make_rarely

pytestmark = pytest.mark.django_db
WHY = {"reason": "Because", "post": "yes", "confirmed": "1"}
QUESTIONS = "Questions\tAnswer\nWhere can I park my car?\tBehind the house.\n"
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
NAMES = {"code": "CREDIT", "title": "Credit"}


@make_rarely
def make_rows() -> None:
    """A row that was changed, a topic and a flow."""
    make(m.CeAnswerDocument)
    make(m.CeConfig, config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE")
    row = a_response(exact_text="We open at nine.", priority=10)
    make_topic()
    create_flow(FULL, author="ada", reason="begin")
    with change_set("ADMIN", None, "A change to take back"):
        m.CeResponse.objects.filter(pk=row.pk).update(description="later")


class World:
    """What the ways need: an administrator, a key, a file, and rows to change."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        self.folder = folder
        make_rows()
        self.row = m.CeResponse.objects.get(description="later")
        #: Before the change to take back.
        self.first = head.newest() - 1
        self.secret = make_key(scopes=["config"])

    def post(self, url: str, **sent: Any) -> Any:
        return self.client.post(url, WHY | sent)

    def call(self, method: str, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Api-Key {self.secret}"}
        send = getattr(Client(), method)
        return send(f"/api/v1/config/{path}", json.dumps(body), "application/json", headers=headers)

    def write_file(self, content: Any) -> str:
        path = self.folder / "some.json"
        path.write_text(json.dumps(content))
        return str(path)


def page(name: str, *args: Any) -> str:
    return reverse(f"admin:config_admin_{name}", args=args)


def add(world: World) -> Any:
    values = {"rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
    return fill(world.client, address(m.CePolicy, "add"), **values)


def change(world: World) -> Any:
    return fill(world.client, address(m.CeResponse, "change", world.row.pk), priority=7)


def delete(world: World) -> Any:
    return world.post(address(m.CeIntentClassifier, "delete", m.CeIntentClassifier.objects.first().pk))


def act(world: World) -> Any:
    rules = list(m.CeRule.objects.values_list("pk", flat=True)[:1])
    return world.post(address(m.CeRule), action="disable_selected", **{ACTION_CHECKBOX_NAME: rules})


def put_back(world: World) -> Any:
    return world.post(address(m.CeResponse, "put_back", world.row.pk, world.first))


def change_setting(world: World) -> Any:
    setting = CATALOGUE["SESSION", "IDLE_TIMEOUT_HOURS"]
    url = f"{page('ceconfig_effective')}?edit={setting.name}"
    return world.client.post(url, {"config_value": to_choice(setting, "48"), "reason": "Because"})


def import_page(world: World) -> Any:
    file = SimpleUploadedFile("some.json", json.dumps({"ce_policy": [POLICY]}).encode())
    shown: Any = world.client.post(page("cerelease_transfer"), {"file": file})
    sent = {"packed": shown.context["packed"], "name": shown.context["name"], "mode": "", "apply": "1"}
    return world.post(page("cerelease_transfer"), **sent)


def ask_questions(world: World) -> Any:
    url, sent = page("ceintent_faq"), {"text": QUESTIONS, "skip": "on"}
    digest = world.client.post(url, sent).context["plan"].digest
    return world.post(url, **sent, _make="1", previewed=digest)


def import_handbook(world: World) -> Any:
    file = SimpleUploadedFile("rules.md", b"# Keys\n\nKeys stay here.")
    return world.post(page("ceanswerdocument_document_import"), file=file)


def switch_section_off(world: World) -> Any:
    row = m.CeAnswerDocument.objects.get()
    return world.post(page("ceanswerdocument_document_sections", row.pk), **{"off-0": "on"})


def teach(world: World) -> Any:
    turn = CeConversationHistory.objects.create(
        conversation=CeConversation.objects.create(remote_jid=str(uuid4())),
        turn_no=1,
        user_input="a loan for a boat",
        config_version=1,
    )
    url = f"{page('ceintentclassifier_teach')}?message_of={turn.pk}&intent=LOAN"
    shown: Any = world.client.get(url)
    tried = {"phrase": "a loan for a boat", "use": "0", "intent": "LOAN", "tried": shown.context["effect"].digest}
    return world.post(url, **tried, _save="1")


def change_flow(world: World) -> Any:
    shown = world.client.get(flow_address())
    return world.client.post(flow_address(), sent_by_flow(shown, title="Reserve a table", _save="1", **WHY))


def replace_word(world: World) -> Any:
    sent = {"word": "nine", "new": "ten", "do": "replace", "in_force": head.newest()}
    return world.post(page("ceresponse_words"), **sent)


def translate(world: World) -> Any:
    answer = m.CeResponse.objects.first()
    assert answer is not None
    sent = {"language": "de", f"text:ce_response/{answer.pk}/exact_text": "Guten Tag.", "in_force": head.newest()}
    return world.post(page("ceresponse_languages"), **sent)


PAGES: dict[str, Callable[[World], Any]] = {
    "add": add,
    "change": change,
    "delete": delete,
    "changelist": act,
    "put_back": put_back,
    "effective": change_setting,
    "transfer": import_page,
    "roll_back": lambda world: world.post(page("cerelease_roll_back", world.first)),
    "take_back": lambda world: world.post(page("cerelease_take_back", world.first + 1)),
    "start": lambda world: send_flow(world.client, _save="1", reason="we take bookings"),
    "flow": change_flow,
    "faq": ask_questions,
    "document_import": import_handbook,
    "document_sections": switch_section_off,
    "teach": teach,
    "languages": translate,
    "words": replace_word,
    "rename": lambda world: world.post(page("ceintent_rename", "LOAN"), **NAMES),
    "duplicate": lambda world: world.post(page("ceintent_duplicate", "LOAN"), **NAMES),
    "switch": lambda world: world.post(page("ceintent_switch", "LOAN")),
    "delete_all": lambda world: world.post(page("ceintent_delete_all", "LOAN")),
}
#: Pages that only read the configuration, beside those of an unsaved form (`…_of_form`). What some of them store is no
#: configuration.
READERS = {
    *("history", "workspace", "map", "map_of", "export", "faq_template", "languages_file", "health", "compare"),
    *("transfer_export", "tools", "try", "flow_talk", "start_talk"),
    # In a demonstration only, and never in a draft.
    "start_empty",
    # Who gets a release that was published, or the one before it again.
    *("audience", "stop", "all"),
    # Of all pages.
    *("find", "signed_in", "hide_first_steps", "last_turn"),
}
TOPIC, FLOW = "config/topics/<str:topic_code>", "config/flows/<str:flow_code>"
API: dict[tuple[str, str], Callable[[World], Any]] = {
    ("config/import", "post"): lambda world: world.call("post", "import", bundle={"ce_policy": [POLICY]}, apply=True),
    ("config/releases/<int:config_version>/restore", "post"): lambda world: world.call(
        "post", f"releases/{world.first}/restore", apply=True, reason="x"
    ),
    ("config/releases/<int:config_version>/undo", "post"): lambda world: world.call(
        "post", f"releases/{world.first + 1}/undo", apply=True, reason="x"
    ),
    ("config/flows", "post"): lambda world: world.call("post", "flows", flow={**FULL, "code": "DINNER"}),
    (FLOW, "put"): lambda world: world.call("put", "flows/BOOKING", flow={**FULL, "title": "A table"}),
    (TOPIC, "delete"): lambda world: world.call("delete", "topics/LOAN", apply=True),
    (f"{TOPIC}/rename", "post"): lambda world: world.call("post", "topics/LOAN/rename", **NAMES, apply=True),
    (f"{TOPIC}/duplicate", "post"): lambda world: world.call("post", "topics/LOAN/duplicate", **NAMES, apply=True),
    (f"{TOPIC}/switch", "post"): lambda world: world.call("post", "topics/LOAN/switch", enabled=False, apply=True),
}
#: Endpoints of drafts, of tests, and of who gets a release that was published.
OTHER_ENDPOINTS = ("config/drafts", "config/test", "config/gradual")
COMMANDS: dict[str, Callable[[World], Any]] = {
    "apply": lambda world: call_command("apply", world.write_file({"ce_policy": [POLICY]}), author="ada"),
    "config_import": lambda world: call_command(
        "config_import", world.write_file({"ce_policy": [POLICY]}), apply=True, author="ada"
    ),
    "config_rollback": lambda world: call_command("config_rollback", world.first, author="ada"),
    "config_rollback --undo": lambda world: call_command("config_rollback", world.first + 1, undo=True, author="ada"),
    "start_flow": lambda world: call_command("start_flow", world.write_file({**FULL, "code": "DINNER"}), author="ada"),
    "start_flow --update": lambda world: call_command(
        "start_flow", world.write_file({**FULL, "title": "A table"}), update=True, author="ada"
    ),
}
#: Commands that change nothing, or that make a new installation.
OTHER_COMMANDS = {
    *("config_check", "config_diff", "config_export", "config_schemas", "export_flow"),
    *(
        "demo",
        "demo_week",
        "local_model",
        "mcp_serve",
        "serve",
        "draft",
        "scenarios",
        "test_cases",
        "what_if",
    ),
    *("audit_anchor", "audit_erase", "audit_verify", "replay", "report", "save_scenario", "jobs"),
    *("api_key_create", "user_create", "load_documents", "evaluate"),
    # Who gets a release that was published.
    "gradual",
    # It makes drafts only.
    "come_over",
}


@pytest.fixture
def world(ada: Client, tmp_path: Path) -> World:
    return World(ada, tmp_path)


def set_mode(mode: str) -> None:
    with change_set():
        m.CeConfig.objects.update_or_create(config_type="Releases", config_key="MODE", defaults={"config_value": mode})


def play_refused(world: World, way: Callable[[World], Any]) -> Any:
    set_mode("REVIEWED")
    before = head.newest()
    answer = way(world)
    assert (get_released_head().config_version, head.newest()) == (before, before)
    return answer


@pytest.mark.parametrize("name", PAGES)
def test_a_page_ends_in_a_draft_or_is_refused(world: World, name: str) -> None:
    way = PAGES[name]
    answer = play_refused(world, way)
    text = answer.content.decode()
    assert answer.status_code == 409 or "Open a draft under Releases" in text

    before, draft = head.newest(), m.CeDraft.objects.create(title="Christmas")
    session = world.client.session
    session[KEY] = draft.pk
    session.save()
    way(world)
    assert head.newest() == before
    assert draft.edits.exists()


@pytest.mark.parametrize(("name", "method"), API)
def test_the_api_is_refused(world: World, name: str, method: str) -> None:
    way = API[name, method]
    answer = play_refused(world, way)
    assert (answer.status_code, answer.json()["errorCode"]) == (409, "DRAFT_REQUIRED")
    set_mode("LIVE")
    before = head.newest()
    way(world)
    assert head.newest() == before + 1


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_refused(world: World, name: str) -> None:
    with transaction.atomic(), pytest.raises((CommandError, SystemExit), match=r"1|draft"):
        play_refused(world, COMMANDS[name])
    before = head.newest()
    set_mode("LIVE")
    assert get_released_head().config_version == before + 1  # Only the mode changed.
    COMMANDS[name](world)
    assert head.newest() == before + 2


def test_every_page_is_played_or_only_reads() -> None:
    names = {
        url.name.removeprefix("config_admin_").removeprefix(f"{model._meta.model_name}_")
        for model, pages in admin.site._registry.items()
        for url in pages.urls
        if isinstance(url, URLPattern) and url.name and model in _list_models()
    } | {pattern.name.removeprefix("config_admin_") for pattern in urlpatterns}
    names = {name for name in names if not name.endswith("_of_form")}
    assert names - READERS == set(PAGES)


def test_every_endpoint_is_played() -> None:
    reader = ("get", "head", "options")
    writing = {
        (str(pattern.pattern), method)
        for pattern in get_resolver("config_admin.api.urls").url_patterns
        for method in pattern.callback.view_class().allowed_methods
        if method.lower() not in reader and not str(pattern.pattern).startswith(OTHER_ENDPOINTS)
    }
    assert {(route, method.lower()) for route, method in writing} == set(API)


def test_every_command_is_played() -> None:
    assert map_management_commands().keys() - OTHER_COMMANDS == {name.partition(" ")[0] for name in COMMANDS}


@pytest.mark.long
def test_whatever_is_sent_to_whatever_page_makes_no_release(ada: Client) -> None:
    by_model = rows(User.objects.get(username="ada"))
    set_mode("REVIEWED")
    before = head.newest()
    for model in _list_models():
        for name, url in addresses(model, by_model[model]):
            ada.post(url, WHY | NAMES)
            assert get_released_head().config_version == before, name


def test_writes_of_a_page_without_a_change_set_are_refused(world: World) -> None:
    """A page that forgets its change set is no way round."""
    set_mode("REVIEWED")
    before = head.newest()
    HistoricalRecords.context.request = RequestFactory().post("/admin/")
    try:
        with pytest.raises(DraftRequired), transaction.atomic():
            m.CeResponse.objects.filter(pk=world.row.pk).update(priority=3)
    finally:
        del HistoricalRecords.context.request
    assert head.newest() == before


def test_sql_and_scripts_get_past_it_and_home_says_so(world: World) -> None:
    set_mode("REVIEWED")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_response SET description = 'by hand' WHERE response_id = %s", [world.row.pk])
    number = get_released_head().config_version
    assert m.CeRelease.objects.get(pk=number).origin == "OUT_OF_BAND"
    home = world.client.get(reverse("admin:index")).content.decode()
    assert f"Release {number} changed the configuration without a draft" in home
    assert "Direct database change" in home


def _list_models() -> list[Any]:
    # Drafts are published on purpose; stopping a gradual release gives everybody what the others have.
    own = (m.CeDraft, m.CeGradualRelease)
    return [
        model
        for model in admin.site._registry
        if model._meta.app_label == "config_admin" and model not in own and not model.__name__.startswith("CeTest")
    ]
