"""Every page says what browsers may load and run there; private answers are stored nowhere."""

import re
from pathlib import Path

import pytest
from django.test import Client, override_settings

from tests.api import Caller, make_key
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
TEMPLATES = sorted((Path(__file__).resolve().parents[4] / "templates").rglob("*.html"))


@pytest.fixture
def ada() -> Client:
    return sign_in_superuser()


def read_policy(client: Client, path: str, **headers: str) -> dict[str, str]:
    answer = client.get(path, headers=headers)
    if answer.streaming:
        list(answer)  # Only then is its file closed.
    value = answer.headers["Content-Security-Policy"]
    return dict(directive.split(" ", 1) for directive in value.split("; "))


@pytest.mark.parametrize("path", ["/", "/api/docs/", "/api/docs/?script=", "/nowhere/", "/static/convengine/icon.svg"])
def test_pages_of_our_own_run_nothing_inline(path: str) -> None:
    policy = read_policy(Client(), path)

    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in policy["style-src"]


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login/", "/docs/", "/admin/config_admin/cerule/", "/admin/nowhere/"]
)
def test_the_admin_runs_no_inline_script(ada: Client, path: str) -> None:
    policy = read_policy(ada, path)

    assert policy["script-src"] == "'self' 'unsafe-eval'"
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self'"


def test_a_form_in_a_frame_may_be_framed_by_our_pages(ada: Client) -> None:
    assert read_policy(ada, "/admin/config_admin/cerule/add/?_popup=1")["frame-ancestors"] == "'self'"


@pytest.mark.parametrize(
    ("address", "source"),
    [(":8001", "http://desk.example.com:8001"), ("https://s.example.com/x", "https://s.example.com"), ("", "")],
)
def test_pages_may_read_streams_of_another_process(ada: Client, address: str, source: str) -> None:
    with override_settings(CONVENGINE={"STREAMS_URL": address}, ALLOWED_HOSTS=["desk.example.com"]):
        policy = read_policy(ada, "/admin/", Host="desk.example.com:8000")

    assert policy["connect-src"] == f"'self' {source}".strip()


def test_answers_of_the_api_are_data_and_stored_nowhere() -> None:
    caller = Caller(make_key(scopes=["turns", "config"]))
    for answer in (caller.post({"message": 7}), caller.get(), caller.client.get("/api/v1/nowhere")):
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert answer.headers["Cache-Control"] == "no-store"
    bundle = caller.client.get("/api/v1/config/bundle", headers={"Authorization": f"Api-Key {caller.secret}"})
    assert (bundle.status_code, bundle.headers["Cache-Control"]) == (200, "private, no-cache")


@pytest.mark.parametrize("path", ["/admin/", "/docs/", "/admin/config_admin/cerule/", "/admin/ce_api/ceapikey/"])
def test_pages_of_people_are_stored_nowhere(ada: Client, path: str) -> None:
    assert "no-store" in ada.get(path).headers["Cache-Control"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_our_templates_have_no_inline_script_and_no_handler(template: Path) -> None:
    text = template.read_text()

    scripts = [
        tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag and "application/json" not in tag
    ]
    assert scripts == []
    assert re.findall(r"\son[a-z]+=[\"']|javascript:", text) == []


@pytest.mark.parametrize(
    ("setting", "styles"),
    [
        ({"default-src": ["'self'"]}, "'self' 'sha256-"),
        ({"default-src": ["'none'"], "style-src": ["'none'"]}, "'sha256-"),
        ({"default-src": ["'self'"], "style-src": ["https://css.example.com"]}, "https://css.example.com 'sha256-"),
        ({"script-src": ["'self'"]}, None),
    ],
)
def test_a_projects_own_policy_keeps_its_styles_beside_those_of_plain_pages(
    setting: dict[str, list[str]], styles: str | None
) -> None:
    with override_settings(SECURE_CSP=setting):
        policy = read_policy(Client(), "/nowhere/")

    assert policy.get("style-src", "").startswith(styles or "")
    assert ("style-src" in policy) == (styles is not None)


def test_an_empty_policy_is_no_header() -> None:
    with override_settings(SECURE_CSP={}):
        assert "Content-Security-Policy" not in Client().get("/nowhere/").headers
