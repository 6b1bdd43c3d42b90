"""Answers that a provider must not give: each is refused in words, and nothing of it is stored."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.convengine.server.sign_in.site import LABEL, PASSWORD, Site, Visitor, find_free_port, serve
from tests.fakes.http_server import Asked, Reply, serving

pytestmark = pytest.mark.slow


@dataclass
class ScriptedProvider:
    """Answers what a test says."""

    address: str = ""
    key: Any = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    #: Changes of the claims, of what signs them, and of whole answers by their path.
    claims: dict[str, Any] = field(default_factory=dict)
    sign: Callable[["ScriptedProvider", dict[str, Any]], str | None] | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""

    def reset(self) -> None:
        self.claims, self.sign, self.answers = {}, None, {}

    def make_token(self, claims: dict[str, Any], key: Any = None, algorithm: str = "RS256", kid: str = "1") -> str:
        return jwt.encode(claims, key or self.key, algorithm=algorithm, headers={"kid": kid})

    def list_claims(self) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.address, "sub": "7", "aud": "convengine", "iat": now, "exp": now + 60}
        claims |= {"nonce": self.nonce, "preferred_username": "mallory", "groups": ["bots-analyst"], **self.claims}
        return {name: value for name, value in claims.items() if value is not None}

    def answer(self, asked: Asked) -> Reply:
        path = urlsplit(asked.path).path
        reply = self.answers.get(path) or self._answer(path)
        if isinstance(reply, Reply):
            return reply
        return Reply(body=json.dumps(reply).encode(), headers={"Content-Type": "application/json"})

    def _answer(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
            return {"issuer": self.address, **{name: f"{self.address}/{name}" for name in names}}
        if path == "/jwks_uri":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": "1", "use": "sig", "alg": "RS256"}]}
        if path == "/token_endpoint":
            claims = self.list_claims()
            token = self.sign(self, claims) if self.sign else self.make_token(claims)
            return {"access_token": "access", "token_type": "Bearer", **({"id_token": token} if token else {})}
        return {"sub": "7"}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScriptedProvider, Site]]:
    provider = ScriptedProvider()
    with serving() as server:
        provider.address, server.answer = server.address, provider.answer
        with serve(tmp_path_factory.mktemp("scripted"), server.address, find_free_port()) as site:
            yield provider, site


def answer(provider: ScriptedProvider, visitor: Visitor, target: str = "/admin/") -> tuple[str, Any]:
    """The provider answers a sign-in that begins now; gives the address of its answer, and the page that follows."""
    query = parse_qs(urlsplit(visitor.begin(target)).query)
    assert query["code_challenge_method"] == ["S256"]
    provider.nonce = query["nonce"][0]
    address = f"/admin/account/provider/answer/?code=code&state={query['state'][0]}"
    return address, visitor.get(address)


def sign_with_public_key(provider: ScriptedProvider, claims: dict[str, Any]) -> str:
    """The attack by which a public key counts as a shared secret. PyJWT refuses to make such a token itself."""
    pem = provider.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return sign_by_hand(claims, pem)


def sign_by_hand(claims: dict[str, Any], secret: bytes) -> str:
    import base64
    import hmac

    def encode(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = encode(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "1"}).encode())
    text = f"{head}.{encode(json.dumps(claims).encode())}"
    return f"{text}.{encode(hmac.digest(secret, text.encode(), 'sha256'))}"


Sign = Callable[[ScriptedProvider, dict[str, Any]], str | None]
WRONG_SIGNATURE = "its ID token is not valid (Signature verification failed)"
NO_SIGNATURE = "its ID token is not valid (No signature of the provider)"
OTHER_KEY = rsa.generate_private_key(65537, 2048)
WRONG_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "issuer": ({"iss": "https://other.example.com"}, "its ID token is not valid (Invalid issuer)"),
    "audience": ({"aud": "shop"}, "not valid (Audience doesn't match)"),
    "no audience": ({"aud": None}, 'not valid (Token is missing the "aud" claim)'),
    "another client's among two": (
        {"aud": ["convengine", "shop"], "azp": "shop"},
        "not valid (Audience is another client)",
    ),
    "nonce": ({"nonce": "another"}, "its ID token belongs to another sign-in"),
    "no nonce": ({"nonce": None}, "its ID token belongs to another sign-in"),
    "expired": ({"exp": int(time.time()) - 3600}, "its ID token is not valid (Signature has expired)"),
    "never expires": ({"exp": None}, "its ID token is not valid"),
    "future": (
        {"iat": int(time.time()) + 3600, "exp": int(time.time()) + 7200},
        "its ID token is not valid (The token is not yet valid",
    ),
    "nobody": ({"sub": None}, "its ID token is not valid"),
    "another user": ({"sub": "8"}, "its user is not that of the ID token"),
}
WRONG_SIGNATURES: dict[str, tuple[Sign, str]] = {
    "none": (lambda p, claims: jwt.encode(claims, None, "none"), NO_SIGNATURE),
    "shared secret": (lambda p, claims: sign_by_hand(claims, b"secret"), NO_SIGNATURE),
    "public key": (sign_with_public_key, NO_SIGNATURE),
    "another key": (lambda p, claims: p.make_token(claims, OTHER_KEY), WRONG_SIGNATURE),
    "unknown key": (lambda p, claims: p.make_token(claims, kid="2"), "not valid (Signature by an unknown key)"),
    "cut off": (lambda p, claims: p.make_token(claims).rpartition(".")[0] + ".", WRONG_SIGNATURE),
    "no token": (lambda p, claims: None, "it has no ID token"),
    "garbage": (lambda p, claims: "a.b.c", "its ID token is not valid"),
}
WRONG_ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "refused code": ({"/token_endpoint": Reply(400, b'{"error": "invalid_grant"}')}, "the provider refused it"),
    "down": ({"/token_endpoint": Reply(500)}, "the provider cannot be reached"),
    "no keys": ({"/jwks_uri": {"keys": []}}, "refused"),
    "keys cannot be fetched": ({"/jwks_uri": Reply(503)}, "the provider cannot be reached"),
    "no json": ({"/userinfo_endpoint": Reply(200, b"<html>")}, "its answer cannot be read"),
    "a list": ({"/userinfo_endpoint": [1]}, "its user is not that of the ID token"),
    "userinfo refused": ({"/userinfo_endpoint": Reply(401)}, "the provider cannot be reached"),
}
LONG = "7" * 300
CASES: list[Any] = [
    *(pytest.param(claims, None, {}, words, id=name) for name, (claims, words) in WRONG_CLAIMS.items()),
    *(pytest.param({}, sign, {}, words, id=name) for name, (sign, words) in WRONG_SIGNATURES.items()),
    *(pytest.param({}, None, answers, words, id=name) for name, (answers, words) in WRONG_ANSWERS.items()),
    pytest.param({"sub": LONG}, None, {"/userinfo_endpoint": {"sub": LONG}}, "it cannot be read", id="too long a name"),
]


@pytest.mark.parametrize(("claims", "sign", "answers", "words"), CASES)
def test_a_wrong_answer_is_refused_in_words_and_nothing_is_stored(
    scripted: tuple[ScriptedProvider, Site], claims: dict[str, Any], sign: Sign | None, answers: Any, words: str
) -> None:
    provider, site = scripted
    provider.reset()
    before, visitor = site.list_users(), Visitor(site)
    provider.claims, provider.sign, provider.answers = claims, sign, answers

    _, page = answer(provider, visitor)

    assert page.status_code == 200
    assert "You cannot sign in: " in page.text
    assert words in page.text.replace("&#x27;", "'").replace("&quot;", '"')
    assert not visitor.is_signed_in
    assert site.list_users() == before
    assert site.query("SELECT * FROM socialaccount_socialaccount WHERE uid = '8'") == []
    assert any(words in details and details.startswith(LABEL) for _, details in site.read_log("SIGN_IN_REFUSED"))


def test_an_answer_is_accepted_once_and_only_in_the_browser_that_asked(
    scripted: tuple[ScriptedProvider, Site],
) -> None:
    provider, site = scripted
    provider.reset()
    visitor, thief = Visitor(site), Visitor(site)
    provider.nonce = parse_qs(urlsplit(visitor.begin()).query)["nonce"][0]
    state = parse_qs(urlsplit(visitor.begin()).query)["state"][0]

    page = thief.get(f"/admin/account/provider/answer/?code=code&state={state}")
    assert "belongs to no sign-in that began in this browser" in page.text
    assert not thief.is_signed_in

    address, _ = answer(provider, visitor)
    assert visitor.is_signed_in
    visitor.http.cookies.clear()
    assert "belongs to no sign-in" in visitor.get(address).text
    # The token of that sign-in is no answer to another.
    claims = provider.list_claims()
    provider.sign = lambda p, _: p.make_token(claims)
    assert "its ID token belongs to another sign-in" in answer(provider, visitor)[1].text
    assert not visitor.is_signed_in


def test_a_discovery_document_of_another_issuer_is_refused(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    provider.reset()
    visitor = Visitor(site)
    path = "/.well-known/openid-configuration"
    provider.answers = {path: {**provider._answer(path), "issuer": "https://other.example.com"}}

    assert "its discovery document is from another issuer" in answer(provider, visitor)[1].text
    assert not visitor.is_signed_in


def test_a_user_in_no_group_is_refused_and_not_stored(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    provider.reset()
    # The name is that of an administrator here, whose entry in the log the refusal must not be.
    provider.claims = {"sub": "9", "preferred_username": "ada", "groups": ["sales"]}
    provider.answers = {"/userinfo_endpoint": {"sub": "9"}}
    visitor = Visitor(site)

    assert "you are in no group that may work here" in answer(provider, visitor)[1].text
    assert [name for name in site.list_users() if name.startswith("ada")] == ["ada"]
    assert ("(unknown user)", f"{LABEL}: the user is in no group") in site.read_log("SIGN_IN_REFUSED")
    assert site.query("SELECT * FROM socialaccount_socialaccount WHERE uid = '9'") == []


def test_a_user_of_the_provider_has_one_account_there_and_no_other_way_in(
    scripted: tuple[ScriptedProvider, Site],
) -> None:
    provider, site = scripted
    provider.reset()
    provider.claims = {"sub": "31", "groups": ["bots-qa"]}
    provider.answers = {"/userinfo_endpoint": {"sub": "31"}}
    by_password, by_provider = Visitor(site), Visitor(site)
    by_password.sign_in_by_password("local-qa")
    answer(provider, by_password, "/admin/account/sessions/")

    page = by_password.post("/admin/account/again/", data={"password": PASSWORD})

    assert f"Your session has ended: it must begin with “{LABEL}”." in page.text
    assert "password is switched off." in Visitor(site).sign_in_by_password("local-qa").text
    answer(provider, by_provider)
    assert by_provider.is_signed_in
    provider.claims["sub"], provider.answers = "32", {"/userinfo_endpoint": {"sub": "32"}}
    assert "connected with another account already" in answer(provider, by_provider)[1].text
    assert site.query("SELECT * FROM socialaccount_socialaccount WHERE uid = '32'") == []


#: Where a sign-in must not lead.
ELSEWHERE = [
    f"{prefix}{host}{path}"
    for prefix in ("https://", "http://", "//", "///", "/\\", "\\\\", "https:", "http:///", "\t//", "/\t/")
    for host in ("evil.example.com", "127.0.0.1:1@evil.example.com")
    for path in ("", "/admin/", "?next=/admin/")
] + ["javascript:alert(1)", "data:text/html,x", "https://127.0.0.1.evil.example.com/", "ftp://evil.example.com"]


def test_a_sign_in_leads_to_no_other_host(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    provider.reset()
    assert len(ELSEWHERE) > 50
    for target in ELSEWHERE:
        visitor = Visitor(site)
        query = parse_qs(urlsplit(visitor.begin(target)).query)
        provider.nonce = query["nonce"][0]
        page = visitor.get(
            f"/admin/account/provider/answer/?code=code&state={query['state'][0]}", allow_redirects=False
        )
        assert page.headers["Location"] == "/admin/", target


def test_a_sign_in_begins_only_from_our_page_and_gives_a_new_session(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    provider.reset()
    visitor = Visitor(site)
    assert visitor.http.post(f"{site.url}/admin/account/provider/", timeout=30).status_code == 403
    assert visitor.get("/admin/account/provider/").status_code == 405
    query = parse_qs(urlsplit(visitor.begin()).query)
    before = visitor.http.cookies["sessionid"]
    provider.nonce = query["nonce"][0]

    visitor.get(f"/admin/account/provider/answer/?code=code&state={query['state'][0]}")

    assert visitor.is_signed_in
    assert visitor.http.cookies["sessionid"] != before
    thief = Visitor(site)
    thief.http.cookies.set("sessionid", before)
    assert not thief.is_signed_in
