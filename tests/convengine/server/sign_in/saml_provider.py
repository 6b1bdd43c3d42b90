"""A scripted SAML provider: it signs what a test says, and its metadata is a file."""

import base64
import html
import re
import uuid
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.convengine.server.sign_in.site import Visitor

ENTITY = "urn:example:provider"
_METADATA = """<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{entity}">
<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing">
<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>{certificate}
</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor><md:SingleSignOnService
 Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://login.example.com/sso"/>
</md:IDPSSODescriptor></md:EntityDescriptor>"""
ASSERTION = """<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{id}" Version="2.0" \
IssueInstant="{now}"><saml:Issuer>{issuer}</saml:Issuer><saml:Subject>\
<saml:NameID Format="{format}">{user}</saml:NameID>\
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData {confirmation}/>\
</saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{begins}" NotOnOrAfter="{ends}">{restriction}\
</saml:Conditions><saml:AuthnStatement AuthnInstant="{now}" {session}><saml:AuthnContext><saml:AuthnContextClassRef>\
{context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>\
<saml:Attribute Name="groups">{values}</saml:Attribute><saml:Attribute Name="urn:oid:0.9.2342.19200300.100.1.1">\
<saml:AttributeValue>{user}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>"""
RESPONSE = """<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" \
xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{response_id}" Version="2.0" IssueInstant="{now}" {response}>\
<saml:Issuer>{issuer}</saml:Issuer><samlp:Status>\
<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:{status}"/></samlp:Status>{assertion}</samlp:Response>"""


class Key:
    """A private key with its certificate."""

    def __init__(self) -> None:
        key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "provider")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
        pem = serialization.Encoding.PEM
        self.private = key.private_bytes(
            pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        ).decode()
        self.certificate = builder.sign(key, hashes.SHA256()).public_bytes(pem).decode()

    def sign(self, xml: str, algorithm: str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256") -> str:
        from onelogin.saml2.utils import OneLogin_Saml2_Utils

        signed = OneLogin_Saml2_Utils.add_sign(xml, self.private, self.certificate, sign_algorithm=algorithm)
        return str(signed.decode() if isinstance(signed, bytes) else signed)


@dataclass
class ScriptedProvider:
    key: Key
    file: Path

    def write_metadata(self) -> None:
        certificate = "".join(self.key.certificate.strip().splitlines()[1:-1])
        self.file.write_text(_METADATA.format(entity=ENTITY, certificate=certificate))

    def describe(self, asked: tuple[str, str, str], **changes: Any) -> dict[str, str]:
        """The parts of the answer to a request. A changed address may contain the right one."""
        request, recipient, audience = asked

        def moment(seconds: float) -> str:
            return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

        facts: dict[str, Any] = {
            "request": request,
            "recipient": recipient,
            "audience": audience,
            "lasts": 60,
            "session": "",
        }
        facts |= {"destination": recipient, "response_request": request, "begins": -1, "groups": ["bots-qa"], **changes}
        facts["recipient"] = facts["recipient"].replace("{recipient}", recipient)
        if isinstance(facts["session"], int):
            facts["session"] = f'SessionNotOnOrAfter="{moment(facts["session"])}"'
        confirmation = {"NotOnOrAfter": moment(facts["lasts"]), "Recipient": facts["recipient"]}
        attributes = {"Destination": facts["destination"], "InResponseTo": facts["response_request"]}
        restriction = f"<saml:Audience>{facts['audience']}</saml:Audience>"
        values = "".join(f"<saml:AttributeValue>{group}</saml:AttributeValue>" for group in facts["groups"])
        parts = {
            "id": f"_{uuid.uuid4().hex}",
            "response_id": f"_{uuid.uuid4().hex}",
            "issuer": ENTITY,
            "status": "Success",
            "user": "mallory",
            "format": "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
            "context": "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport",
            **facts,
            "now": moment(0),
            "begins": moment(facts["begins"]),
            "ends": moment(facts["lasts"]),
            "values": values,
            "confirmation": _write_attributes({**confirmation, "InResponseTo": facts["request"]}),
            "response": _write_attributes(attributes),
            "restriction": facts["audience"] and f"<saml:AudienceRestriction>{restriction}</saml:AudienceRestriction>",
        }
        return {name: str(value) for name, value in parts.items()}

    def write(self, parts: dict[str, str], key: Key | None = None) -> str:
        """An answer with a signed assertion."""
        return RESPONSE.format(**parts, assertion=(key or self.key).sign(ASSERTION.format(**parts)))


def _write_attributes(values: dict[str, str]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in values.items() if value)


def read_request(address: str) -> tuple[str, str, str]:
    """The ID, the address for the answer, and the sender of a request."""
    packed = base64.b64decode(parse_qs(urlsplit(address).query)["SAMLRequest"][0])
    text = zlib.decompress(packed, -15).decode()
    found = [re.search(pattern, text) for pattern in (' ID="(.+?)"', 'ServiceURL="(.+?)"', "Issuer>(.+?)<")]
    first, second, third = (match[1] for match in found if match)
    return first, second, third


def sign_in_by_page(visitor: Visitor, target: str = "/admin/") -> requests.Response:
    """By a provider that answers with a page, to the end."""
    page = visitor.http.get(visitor.begin(target), timeout=30)
    found = re.search(r'name="SAMLResponse" value="([^"]*)"', page.text)
    assert found, page.text
    return send(visitor, found[1].encode())


def send(visitor: Visitor, answer: str | bytes, **more: str) -> requests.Response:
    """The browser brings an answer from the provider's page, without the cookies of this site, and sends it again."""
    coded = base64.b64encode(answer.encode()).decode() if isinstance(answer, str) else answer.decode()
    address = f"{visitor.site.url}/admin/account/provider/answer/"
    page = requests.post(address, {"SAMLResponse": coded, **more}, timeout=30)
    assert page.status_code == 200
    assert not page.cookies
    repeated = re.search(r'name="SAMLResponse" value="([^"]*)"', page.text)
    assert repeated
    form = {"SAMLResponse": html.unescape(repeated[1]), "again": "1"}
    return visitor.http.post(address, form, timeout=30)
