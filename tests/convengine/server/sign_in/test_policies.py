"""Installations without passwords, with required second factors, and with a provider that is silent."""

import hmac
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.convengine.server.sign_in.site import LABEL, PASSWORD, ROOT, Site, Visitor, find_free_port, make_code, serve
from tests.convengine.server.sign_in.test_refused_answers import ScriptedProvider, answer
from tests.fakes.http_server import Reply, serving
from tests.migrated import copy_migrated

pytestmark = pytest.mark.slow
WITHOUT_PASSWORDS = {"CE_LOCAL_SIGN_IN": "false", "CE_SECOND_FACTOR": "required"}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScriptedProvider, Site]]:
    provider = ScriptedProvider()
    with serving() as server:
        provider.address, server.answer = server.address, provider.answer
        folder = tmp_path_factory.mktemp("strict")
        with serve(folder, server.address, find_free_port(), **WITHOUT_PASSWORDS) as site:
            yield provider, site


def sign_in(provider: ScriptedProvider, site: Site, name: str, *groups: str, **claims: object) -> Visitor:
    provider.reset()
    provider.claims = {"sub": name, "preferred_username": name, "groups": list(groups), **claims}
    provider.answers = {"/userinfo_endpoint": {"sub": name}}
    visitor = Visitor(site)
    answer(provider, visitor)
    return visitor


def test_without_passwords_an_administrator_gets_in_until_one_is_connected(
    strict: tuple[ScriptedProvider, Site],
) -> None:
    provider, site = strict
    visitor, ada = Visitor(site), Visitor(site)
    page = visitor.sign_in_by_password("local-qa")
    assert "Passwords are switched off." in page.text
    assert ("local-qa", "password: switched off") in site.read_log("SIGN_IN_REFUSED")
    assert "Add a second factor: users who may publish need one." in ada.sign_in_by_password("ada").text

    provider.reset()
    provider.claims = {"sub": "ada", "groups": []}
    provider.answers = {"/userinfo_endpoint": {"sub": "ada"}}
    answer(provider, ada, "/admin/account/sessions/")
    ada.post("/admin/account/again/", data={"password": PASSWORD})

    assert "Passwords are switched off." not in Visitor(site).get("/admin/login/").text
    assert 'name="password"' not in Visitor(site).get("/admin/login/").text
    token = {"username": "ada", "password": PASSWORD}
    assert not Visitor(site).post("/admin/login/", data=token).url.endswith("/admin/")
    assert ("ada", "password: switched off") in site.read_log("SIGN_IN_REFUSED")


@pytest.mark.parametrize(
    ("groups", "claims", "is_stopped"),
    [
        (["bots-analyst"], {}, True),
        (["bots-config_admin"], {"amr": ["pwd"]}, True),
        (["bots-analyst"], {"amr": ["pwd", "mfa"]}, False),
        (["bots-qa"], {}, False),
    ],
)
def test_users_who_may_publish_need_a_second_factor(
    strict: tuple[ScriptedProvider, Site], groups: list[str], claims: dict[str, object], is_stopped: bool
) -> None:
    provider, site = strict
    visitor = sign_in(provider, site, f"{groups[0]}{len(claims.get('amr', ''))}", *groups, **claims)  # type: ignore[arg-type]

    page = visitor.get("/admin/config_admin/cerule/")

    assert ("/admin/account/second-factor/" in page.url) is is_stopped
    form = visitor.http.post(f"{site.url}/admin/config_admin/cerule/add/", timeout=30, allow_redirects=False)
    assert (form.headers.get("Location") == "/admin/account/second-factor/") is is_stopped


#: The first recovery code of a blank secret, which anybody can compute, like a code of an app.
BLANK_RECOVERY = f"{int.from_bytes(hmac.digest(b'', b'  0,', 'sha1')[:4]) % 10**8:08}"


@pytest.mark.parametrize(
    ("factors", "code", "address"),
    [
        (["totp"], "app", "/admin/login/"),
        (["totp", "recovery_codes"], BLANK_RECOVERY, "/admin/login/"),
        (["recovery_codes"], "", "/admin/account/second-factor/"),
    ],
)
def test_factors_whose_secrets_are_lost_let_nobody_in(
    strict: tuple[ScriptedProvider, Site], factors: list[str], code: str, address: str
) -> None:
    provider, site = strict
    name = f"keyless-{code}"
    sign_in(provider, site, name, "bots-analyst")
    for factor in factors:
        stored = '{"secret": "by another key", "seed": "by another key", "used_mask": 0}'
        statement = "INSERT INTO mfa_authenticator (user_id, type, data, created_at) SELECT id, ?, ?, ? FROM auth_user"
        site.query(f"{statement} WHERE username = ?", factor, stored, "2026-01-01", name)

    visitor = sign_in(provider, site, name, "bots-analyst")
    if code:
        form = {"code": make_code("") if code == "app" else code}
        page = visitor.post("/admin/account/second-factor/authenticate/", data=form)
        assert "Incorrect code." in page.text

    assert urlsplit(visitor.get("/admin/config_admin/cerule/").url).path == address


def add_factor(site: Site, name: str) -> None:
    """A second factor whose secret nobody has."""
    statement = "INSERT INTO mfa_authenticator (user_id, type, data, created_at) SELECT id, 'totp', ?, ? FROM auth_user"
    site.query(f"{statement} WHERE username = ?", '{"secret": "by another key"}', "2026-01-01", name)


def test_a_session_that_began_before_factors_were_required_ends(strict: tuple[ScriptedProvider, Site]) -> None:
    provider, site = strict
    visitor = sign_in(provider, site, "early", "bots-analyst")
    assert visitor.get("/admin/config_admin/cerule/").url.endswith("/second-factor/")
    add_factor(site, "early")

    page = visitor.get("/admin/config_admin/cerule/")

    assert "Your session has ended: it began without the second factor that you have." in page.text
    assert not visitor.is_signed_in


def test_a_wrong_security_key_is_logged(strict: tuple[ScriptedProvider, Site]) -> None:
    provider, site = strict
    sign_in(provider, site, "keyring", "bots-analyst")
    add_factor(site, "keyring")
    visitor = sign_in(provider, site, "keyring", "bots-analyst")

    visitor.post("/admin/account/second-factor/authenticate/", data={"credential": '{"id": "forged"}'})

    assert ("keyring", "second factor: wrong security key") in site.read_log("SIGN_IN_REFUSED")
    assert not visitor.is_signed_in


def test_a_silent_provider_ends_sessions_after_five_minutes(strict: tuple[ScriptedProvider, Site]) -> None:
    provider, site = strict
    visitor = sign_in(provider, site, "patient", "bots-qa")
    provider.answers["/userinfo_endpoint"] = Reply(503)
    site.age_sessions(181)
    assert visitor.is_signed_in
    site.age_sessions(120)

    assert "Your session has ended: the provider cannot be reached." in visitor.get("/admin/").text
    assert not visitor.is_signed_in


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"/userinfo_endpoint": Reply(401)}, "the provider no longer confirms it"),
        ({"/userinfo_endpoint": {"sub": "somebody"}}, "the provider no longer confirms it"),
        ({"/userinfo_endpoint": {"sub": "checked"}}, "you are in no group that may work here"),
    ],
)
def test_a_check_that_does_not_confirm_the_user_ends_the_session(
    strict: tuple[ScriptedProvider, Site], answers: dict[str, object], reason: str
) -> None:
    provider, site = strict
    visitor = sign_in(provider, site, "checked", "bots-qa")
    assert visitor.is_signed_in
    provider.answers = answers
    site.age_sessions(181)

    assert reason in visitor.get("/admin/").text
    assert not visitor.is_signed_in


def test_a_session_by_a_former_provider_ends(strict: tuple[ScriptedProvider, Site]) -> None:
    provider, site = strict
    visitor = sign_in(provider, site, "loyal", "bots-qa")
    assert visitor.is_signed_in
    site.change_sessions(lambda _: {"issuer": "https://former.example.com"})

    assert "Your session has ended: it began at another provider." in visitor.get("/admin/").text


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"CE_LOCAL_SIGN_IN": "false"}, "nobody could sign in"),
        ({"CE_OIDC_ISSUER": "http://login.example.com"}, "must begin with https://"),
        ({"CE_OIDC_ISSUER": "https://login.example.com"}, "CE_OIDC_CLIENT_ID"),
        ({"CE_SECOND_FACTOR": "perhaps"}, "CE_SECOND_FACTOR must be one of off, allowed, required"),
    ],
)
def test_settings_that_would_lock_everybody_out_stop_the_start(variables: dict[str, str], words: str) -> None:
    assert words in run("check", **variables).stderr


def test_without_the_variables_nothing_of_the_library_is_loaded() -> None:
    code = (
        "import sys; from django.urls import get_resolver; get_resolver().url_patterns; from django.test import Client;"
        "names = {'allauth', 'fido2', 'oauthlib', 'qrcode', 'jwt', 'onelogin', 'xmlsec'};"
        "print(sorted(names & set(sys.modules)))"
    )
    assert run("shell", "-v0", "-c", code).stdout.strip() == "[]"


#: A turn by an API key; prints what of the library and its parts the turn itself imports, and what the turn gives.
_TURN = """
import sys
from django.test import Client
from django.urls import get_resolver
from tests.api import make_key
browser, headers = Client(), {"Host": "localhost", "Authorization": f"Api-Key {make_key(scopes=['turns'])}"}
browser.get("/livez", headers=headers)
get_resolver().url_patterns
before = set(sys.modules)
page = browser.post("/api/v1/conversation/message", {"message": "Hello"}, "application/json", headers=headers)
names = ("allauth", "fido2", "oauthlib", "qrcode", "jwt", "requests", "cryptography", "onelogin", "xmlsec")
print(page.status_code, [name for name in set(sys.modules) - before if name.startswith(names)])
"""


def test_a_turn_imports_nothing_of_the_library(tmp_path: Path) -> None:
    file = tmp_path / "site.sqlite3"
    copy_migrated(file)
    variables = {"DATABASE_URL": f"sqlite:///{file}", "CE_VAR_DIR": str(tmp_path), "CE_SECOND_FACTOR": "required"}
    variables |= {"CE_OIDC_ISSUER": "https://login.example.com", "CE_OIDC_CLIENT_ID": "convengine"}
    assert run("migrate", "-v0", **variables).returncode == 0

    done = run("shell", "-v0", "-c", _TURN, **variables)

    assert done.stdout.strip() == "200 []", done.stdout + done.stderr


def run(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_"))}
    command = [sys.executable, "manage.py", *words]
    environment = {**own, "CE_DEBUG": "true", **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


#: Addresses of a user's own sign-in.
OWN_PAGES = ("", "sessions/", "again/", "sign-out/", "second-factor/", "second-factor/totp/activate/")


@pytest.mark.parametrize(
    "variables",
    [
        {"CE_OIDC_ISSUER": "", "CE_SECOND_FACTOR": "allowed"},
        {"CE_OIDC_ISSUER": "https://login.invalid", "CE_SECOND_FACTOR": "off"},
    ],
    ids=["factors alone", "provider alone"],
)
def test_a_part_works_without_the_other(tmp_path: Path, variables: dict[str, str]) -> None:
    with serve(tmp_path, "", find_free_port(), **variables) as site:
        visitor, stranger = Visitor(site), Visitor(site)
        assert visitor.sign_in_by_password("ada").url == f"{site.url}/admin/"
        passwords = {"old_password": PASSWORD, "new_password1": f"new {PASSWORD}", "new_password2": f"new {PASSWORD}"}
        visitor.post("/admin/password_change/", data=passwords)
        assert "(this one)" in visitor.get("/admin/account/sessions/").text
        missing = 404 if variables["CE_SECOND_FACTOR"] == "off" else 200
        for page in OWN_PAGES:
            status = missing if "second-factor" in page else 200
            assert visitor.get(f"/admin/account/{page}").status_code == status, page
            assert stranger.get(f"/admin/account/{page}").status_code == 200, page
        has_provider = bool(variables["CE_OIDC_ISSUER"])
        assert (LABEL in stranger.get("/admin/login/").text) is has_provider
        begun = stranger.post("/admin/account/provider/", "/admin/login/")
        assert ("You cannot sign in: the provider cannot be reached" in begun.text) is has_provider
        for query in ("", "?error=access_denied&state=x"):
            answer_page = stranger.get(f"/admin/account/provider/answer/{query}")
            assert ("belongs to no sign-in" in answer_page.text) is has_provider
