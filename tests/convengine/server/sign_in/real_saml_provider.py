"""A real SAML identity provider, pysaml2: `python -m …real_saml_provider PORT FOLDER`.

`FOLDER/user.json` says who is at the browser, and what the provider knows about them: {"name", "groups"}.
"""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, make_server

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT, metadata
from saml2.config import IdPConfig
from saml2.saml import NAME_FORMAT_BASIC, NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server

from tests.convengine.server.sign_in.saml_provider import Key


class Provider:
    """Answers requests of servers, whose metadata it fetches from the address by which they name themselves."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder, key = address, folder, Key()
        (folder / "key.pem").write_text(key.private)
        (folder / "certificate.pem").write_text(key.certificate)

    def configure(self, *servers: str) -> Any:
        sign_on = (f"{self.address}/sso", BINDING_HTTP_REDIRECT)
        rules = {"lifetime": {"minutes": 5}, "name_form": NAME_FORMAT_BASIC, "attribute_restrictions": None}
        service = {"endpoints": {"single_sign_on_service": [sign_on]}, "policy": {"default": rules}}
        options: dict[str, Any] = {
            "entityid": f"{self.address}/metadata",
            "service": {"idp": {**service, "sign_assertion": True, "sign_response": False}},
            "key_file": str(self.folder / "key.pem"),
            "cert_file": str(self.folder / "certificate.pem"),
            "metadata": {"local": list(servers)},
        }
        return IdPConfig().load(options)

    def answer(self, query: dict[str, list[str]]) -> str:
        """The page with which the browser brings the answer."""
        server = Server(config=self.configure())
        asked = server.parse_authn_request(query["SAMLRequest"][0], BINDING_HTTP_REDIRECT).message
        file = self.folder / "server.xml"
        with urllib.request.urlopen(asked.issuer.text, timeout=20) as page:
            file.write_bytes(page.read())
        server = Server(config=self.configure(str(file)))
        user = json.loads((self.folder / "user.json").read_text())
        answer = server.create_authn_response(
            {"groups": user["groups"], "mail": user["email"]},
            userid=user["name"],
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=user["name"]),
            authn={"class_ref": user.get("context", "urn:oasis:names:tc:SAML:2.0:ac:classes:Password")},
            sign_alg="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            digest_alg="http://www.w3.org/2001/04/xmlenc#sha256",
            **server.response_args(asked),
        )
        state = query.get("RelayState", [""])[0]
        sent = server.apply_binding(BINDING_HTTP_POST, str(answer), asked.assertion_consumer_service_url, state, True)
        return str(sent["data"])

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] == "/metadata":
            kind, text = "application/xml", str(metadata.entity_descriptor(self.configure()))
        else:
            kind, text = "text/html", self.answer(parse_qs(environ["QUERY_STRING"]))
        start_response("200 OK", [("Content-Type", kind)])
        return [text.encode()]


def main() -> None:
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    handler = type("Quiet", (WSGIRequestHandler,), {"log_message": lambda *_: None})
    provider = Provider(f"http://localhost:{port}", folder)
    make_server("127.0.0.1", port, provider, handler_class=handler).serve_forever()


if __name__ == "__main__":
    main()
