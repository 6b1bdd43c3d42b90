"""A real browser before the real demonstration: a server of its own, people who work there, and a key."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request, Response, expect

from tests.browser.axe import no_violations
from tests.browser_setup import chromium
from tests.convengine.server.sign_in.fixtures import provider_folder, saml_site, set_user, site
from tests.migrated import copy_migrated

__all__ = ["provider_folder", "saml_site", "set_user", "site"]
ROOT = Path(__file__).resolve().parents[2]
#: Each window would load the lists below its address bar, a third of a short visit's work, and begin a spare process.
#: The last list of features is the one that counts, so the others, of Playwright's own list, are here again.
FEATURES_OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    "PreconnectToSearch",
)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    f"--disable-features={','.join(FEATURES_OFF)}",
)
#: Each of the screens on which people work; the second one in `make test-nightly`.
SCREENS = pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), pytest.param(768, "dark", marks=pytest.mark.nightly)]
)
_COUNT_TURNS = """
from datetime import timedelta
from audit.reports.counting import count_new_turns
list(count_new_turns())
list(count_new_turns(timedelta()))
"""
#: Seconds until the server must answer: it loads the demonstration first.
PATIENCE = 300
# A page may wait for a machine that is busy with other tests.
expect.set_options(timeout=30_000)


@dataclass(frozen=True)
class Server:
    """The demonstration, running."""

    url: str
    api_key: str
    #: Passwords by user name: `analyst`, `qa`, and `admin`, who may everything.
    passwords: dict[str, str]
    #: What it runs with: `manage.py` commands work on its database with the same.
    environment: dict[str, str]
    #: Cookies by user name, of those who signed in by the form already.
    cookies: dict[str, Any] = field(default_factory=dict)

    def say(self, text: str, conversation: str | None = None, *, key: str = "") -> Any:
        """A message of a conversation, of a new one when none is named; gives the answer."""
        body = {"message": text, **({"conversationId": conversation} if conversation else {})}
        return self._post("conversation/message", body, key)

    def say_as(self, participant: str, text: str) -> Any:
        """A message that a participant writes on a channel; gives the answer."""
        names = {"workspace_id": "default", "channel": "whatsapp", "remote_jid": participant}
        return self._post("sessions/message", {**names, "user_message": text})

    def manage(self, *words: str) -> None:
        """Run a `manage.py` command on its database."""
        command = [sys.executable, str(ROOT / "manage.py"), *words]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def count_turns(self) -> None:
        """Count all turns for the reports, also those of the last minute, which the job leaves for its next run."""
        self.manage("shell", "-v0", "-c", _COUNT_TURNS)

    def _post(self, path: str, body: dict[str, str], key: str = "") -> Any:
        headers = {"Authorization": f"Api-Key {key or self.api_key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read())


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The browser that this machine has. Without one the tests are skipped, where CI=true they fail."""
    found = chromium()
    if found is None:
        reason = "No Chromium: `make setup-browser` installs it, or CE_CHROMIUM names it."
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return {**browser_type_launch_args, "executable_path": found, "args": list(FLAGS)}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`manage.py demo` on a port and a database of its own, until the session ends."""
    folder = tmp_path_factory.mktemp("demo")
    copy_migrated(folder / "convengine.sqlite3")
    url = f"http://127.0.0.1:{find_free_port()}"
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CE_TEST_DATABASE")},
        "CE_VAR_DIR": str(folder),
        # As `make demo` starts it: without this, each page would ask for all its style sheets and scripts again.
        "CE_DEBUG": "false",
    }
    command = [sys.executable, str(ROOT / "manage.py"), "demo", "--no-week", "--port", url.rpartition(":")[2]]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            wait_for_server(url, process, folder / "log")
            facts = json.loads((folder / "demo.json").read_text())
            passwords = {user["username"]: user["password"] for user in facts["users"]}
            yield Server(url, facts["api_key"], passwords, environment)
        finally:
            process.terminate()
            process.wait(20)


def find_free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_for_server(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/admin/login/", timeout=30).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
        else:
            return
    pytest.fail(f"The server did not start:\n{log.read_text()}")


class Visitor:
    """Somebody at a browser of their own. What goes wrong on the way is kept, and told at the end."""

    def __init__(self, server: Server, page: Page) -> None:
        self.server = server
        #: The page, wherever it is.
        self.tab = page
        self._home_is_due = False
        self.troubles: list[str] = []
        page.set_default_timeout(30_000)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        page.on("request", self._on_request)
        page.on("response", self._on_response)

    @property
    def page(self) -> Page:
        """The page; the first page of the admin for somebody who has logged in and gone nowhere."""
        if self._home_is_due:
            self.go("/admin/")
        return self.tab

    def log_in(self, name: str = "admin") -> "Visitor":
        """Come as one of the demonstration's people, who signed in by the form once a run: a password costs time."""
        if name not in self.server.cookies:
            self.sign_in(name)
            self.server.cookies[name] = self.tab.context.cookies()
        else:
            self.tab.context.add_cookies(self.server.cookies[name])
            self._home_is_due = True
        return self

    def sign_in(self, name: str) -> "Visitor":
        """Sign in by the form, in a session of one's own."""
        self.go("/admin/login/")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(self.server.passwords[name])
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self.server.url}/admin/")
        return self

    def go(self, path: str) -> "Visitor":
        """Open a page."""
        self._home_is_due = False
        try:
            self.tab.goto(f"{self.server.url}{path}")
        except Error as error:
            # The page before, such as that of a running job, may load itself again just then.
            if "ERR_ABORTED" not in error.message:
                raise
            self.tab.goto(f"{self.server.url}{path}")
        return self

    def wait_for_job(self) -> "Visitor":
        """Wait until the page, if it is that of a running job, has loaded itself again to show the results."""
        expect(self.tab.locator("#ce-progress-bar")).to_have_count(0, timeout=60_000)
        # The progress bar disappears when the page reloads. Wait until the browser has loaded the new page.
        self.tab.wait_for_load_state()
        return self

    def at(self, width: int, scheme: str) -> "Visitor":
        """Have a screen of that width, light or dark."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        return self

    def tab_to(self, wanted: Locator) -> None:
        """Press Tab until something has the focus, as somebody does who has no mouse."""
        for _ in range(60):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("one => one === document.activeElement"):
                return
        pytest.fail(f"Tab does not lead to {wanted}")

    def open_response(self, text: str) -> "Visitor":
        """Open the form of the response that contains a text."""
        self.go(f"/admin/config_admin/ceresponse/?q={text}")
        self.page.locator("#result_list tbody th a, #result_list tbody .field-answer a").first.click()
        self.page.get_by_label("Reason for this change").wait_for()
        return self

    def save(self) -> None:
        """Press Save, giving a reason where one is asked for, and wait for what comes."""
        self.give_reason()
        with self.page.expect_navigation():
            self.page.get_by_role("button", name="Save", exact=True).click()

    def say(self, text: str) -> None:
        """Send a message in the conversation of the page, and wait for its answer."""
        turns = self.page.locator("[data-turn]")
        count = turns.count()
        self.page.get_by_label("Your message").fill(text)
        self.page.keyboard.press("Enter")
        expect(turns).to_have_count(count + 1)

    def give_reason(self) -> None:
        """Fill in the reason where one is asked for and none is offered."""
        reason = self.page.get_by_label("Reason for this change")
        if reason.count() and not reason.input_value():
            reason.fill("A test plays")

    def look_at(self, rows: dict[str, list[dict[str, Any]]], *, mode: str = "update") -> "Visitor":
        """Open the page of what importing some rows would do."""
        file = {"name": "rows.json", "mimeType": "application/json", "buffer": json.dumps(rows).encode()}
        self.go("/admin/config_admin/cerelease/transfer/")
        self.page.locator("#id_file").set_input_files(files=[file])  # type: ignore[list-item]
        self.page.get_by_label("Matching rows").select_option(mode)
        self.page.get_by_role("button", name="Preview").click()
        self.page.get_by_role("heading", name="rows.json").wait_for()
        return self

    def bring(self, rows: dict[str, list[dict[str, Any]]]) -> "Visitor":
        """Import some rows, unless they are so already."""
        button = self.look_at(rows).page.get_by_role("button", name="Import as one release")
        if button.count():
            button.click()
            self.page.get_by_role("link", name="Changes").wait_for()
        return self

    def make_key(self, name: str) -> str:
        """Make an API key by the form; gives its secret."""
        self.go("/admin/ce_api/ceapikey/add/")
        self.page.get_by_label("Name").fill(name)
        self.save()
        return self.page.get_by_label("API key").input_value()

    @property
    def fits(self) -> bool:
        """True when nothing hangs over the edge of the page."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    @property
    def text(self) -> str:
        """What the page says."""
        return self.page.locator("#main").inner_text()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.server.url, "data:", "blob:")):
            self.troubles.append(f"asked another host: {request.url}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.troubles.append(f"{response.status}: {response.url}")


@pytest.fixture
def somebody(server: Server, browser: Browser) -> Iterator[Callable[[], Visitor]]:
    """Makes visitors, each with a browser context of their own; at the end none may have met trouble."""
    visitors: list[Visitor] = []

    def make_visitor() -> Visitor:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        visitors.append(Visitor(server, context.new_page()))
        return visitors[-1]

    yield make_visitor
    for visitor in visitors:
        visitor.tab.context.close()
    assert [trouble for visitor in visitors for trouble in visitor.troubles] == []


@pytest.fixture
def ada(somebody: Callable[[], Visitor]) -> Visitor:
    """An administrator, signed in."""
    return somebody().log_in()


def check_page(visitor: Visitor) -> None:
    """Hold the open page to what every page promises."""
    no_violations(visitor.page)
    assert visitor.fits
