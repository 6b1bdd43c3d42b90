"""Every page of the admin: usable by everybody, quiet, from this host alone, never too wide and never too long."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import Resolver404, resolve

from tests.browser.axe import CONTRAST, no_violations, violations
from tests.browser.conftest import Server, Visitor

pytestmark = pytest.mark.browser
#: Addresses that answer no page of their own. A scenario file is a download, or a page that says why there is none.
NO_PAGES = ("", "admin:audit_ceaudit_scenario", "admin:logout", "admin:jsi18n", "admin:view_on_site")
#: Pages of rows that look alike in all tables: a new row has the form of the stored one. No MCP server can be stored.
SAME = ("_add", "_history", "_delete")
#: In pixels: what is longer has pages, or folds.
LONGEST_PAGE = 5_000
#: Stops fading, and marks the texts that are coloured like none on a page before.
MARK = Path(__file__).with_name("unseen.js").read_text()
DARK = "document.documentElement.classList.remove('light'); document.documentElement.classList.add('dark')"


def kind(address: str) -> str:
    """Which page that is, whichever row it shows; blank when it is none."""
    try:
        name = resolve(urlsplit(address).path).view_name
    except Resolver404:
        return ""
    if name.startswith("admin:config_admin_") and name.endswith(SAME) and "server" not in name:
        return f"admin:config_admin_{name.rpartition('_')[2]}"
    return name if name.startswith(("admin:", "config_admin_", "manual")) else ""


def walk_pages(visitor: Visitor, *starts: str) -> Iterator[str]:
    """One page of each kind that links lead to from here, opened one after another; gives its kind."""
    ahead = list(starts)
    seen = {*NO_PAGES, *map(kind, ahead)}
    while ahead:
        visitor.go(address := ahead.pop(0)).wait_for_job()
        for link in visitor.page.eval_on_selector_all("a[href]:not([download])", "all => all.map(one => one.href)"):
            name = kind(link) if link.startswith(visitor.server.url) else ""
            if name not in seen:
                seen.add(name)
                ahead.append(link.removeprefix(visitor.server.url).partition("#")[0])
        yield kind(address)


def seen_at(visitor: Visitor, shapes: set[str], name: str) -> list[str]:
    """What is wrong with the open page: wide and light, narrow and dark."""
    page = visitor.page
    found = violations(page, without=CONTRAST)
    new = page.evaluate(MARK)
    found += violations(page, "[data-unseen]", only=CONTRAST) if new else []
    page.set_viewport_size({"width": 1280, "height": 900})
    if (tall := page.evaluate("document.documentElement.scrollHeight")) > LONGEST_PAGE:
        found.append(f"{page.url} is {tall} pixels long on a screen of 1280")
    page.set_viewport_size({"width": 768, "height": 900})
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > 768:
        found.append(f"{page.url} is {wide} pixels wide on a screen of 768")
    if (shape := name.rpartition("_")[2]) not in shapes:
        shapes.add(shape)
        found += violations(page, without=CONTRAST)
    page.evaluate(DARK)
    found += violations(page, "[data-unseen]", only=CONTRAST) if new else []
    page.set_viewport_size({"width": 1440, "height": 900})
    return found


#: Rows of tables in which the demonstration has none, so that their pages show something. They are switched off.
ANYWHERE = {"intent_code": "ANY", "state_code": "ANY"}
MORE_ROWS: tuple[tuple[str, dict[str, str]], ...] = (
    ("cestategraph", {"intent_code": "GREETING", "from_state": "IDLE", "to_state": "UNKNOWN"}),
    ("ceverbose", {**ANYWHERE, "determinant": "ANY", "step_value": "ANY", "message": "One moment."}),
    ("cemcpplanner", {**ANYWHERE, "system_prompt": "Plan.", "user_prompt": "{{ mcp_tools }}"}),
    ("cemcpsqlguardrail", {"rule_type": "BLOCK_FUNCTION", "match_value": "version"}),
    ("cemcptool", {**ANYWHERE, "tool_code": "look.at", "tool_group": "DB", "description": "Looks."}),
    (
        "cemcpdbtool",
        {
            "tool": "look.at",
            "dialect": "SQLITE",
            "sql_template": "SELECT 1 LIMIT :limit",
            "param_schema": '{"type": "object"}',
        },
    ),
)

#: The form of a new channel, to which a choice of providers leads.
ADD_CHANNEL = "/admin/ce_channels/cechannel/add/?provider=whatsapp"
#: A channel with a message that was given up, and a user who opted out.
CHANNEL = """
import uuid
from django.utils import timezone
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
now = timezone.now()
secrets = {"token": "SHOP_TOKEN", "secret": "SHOP_SECRET"}
channel = CeChannel.objects.create(name="shop", provider="telegram", secrets=secrets, refused_at=now, refusal="No.")
CeChannelMessage.objects.create(
    channel=channel, source_id=uuid.uuid4(), part=0, recipient="49151", text="Hello.", body={"text": "Hello."},
    status="FAILED", error="Telegram answered 403.", attempts=1, created_at=now, next_attempt_at=now,
)
CeOptOut.objects.create(channel=channel, recipient="49151", created_at=now)
"""


def add(visitor: Visitor, table: str, values: dict[str, str]) -> None:
    """Fill in the form of a new row, and save it whatever the warnings."""
    page = visitor.go(f"/admin/config_admin/{table}/add/").page
    for name, value in {**values, "reason": "To look at its pages"}.items():
        field = page.locator(f"#id_{name}")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(field.locator("option", has_text=value).first.get_attribute("value"))
        else:
            field.evaluate("(field, value) => { field.value = value; }", value)
    page.locator("#id_enabled").evaluate_all("fields => fields.forEach((field) => { field.checked = false; })")
    visitor.save()
    if page.get_by_label("Save anyway").count():
        page.get_by_label("Save anyway").check()
        visitor.save()
    assert "was added successfully" in visitor.text, visitor.text


@pytest.mark.long
def test_every_page_can_be_used_by_everybody(ada: Visitor, server: Server) -> None:
    for message in ("I want to cancel my order", "10021", "yes"):
        server.say(message, "0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a10")
    for table, values in MORE_ROWS:
        add(ada, table, values)
    server.manage("shell", "-v0", "-c", CHANNEL)
    shapes: set[str] = set()
    found = [trouble for name in walk_pages(ada, "/admin/", ADD_CHANNEL) for trouble in seen_at(ada, shapes, name)]

    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_way_in_can_be_used_by_everybody(somebody: Callable[[], Visitor], scheme: str) -> None:
    stranger = somebody()
    stranger.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    stranger.go("/admin/login/")
    no_violations(stranger.page)
    stranger.page.get_by_label("Username").fill("nobody")
    stranger.page.get_by_label("Password").fill("wrong")
    stranger.page.get_by_role("button", name="Log in").click()
    stranger.page.get_by_text("Please enter the correct username and password").wait_for()

    no_violations(stranger.page)
