"""Sign-in by SAML 2.0: the library verifies answers, and this module ties them to one sign-in in one browser."""

import time
from pathlib import Path
from typing import Any

import structlog
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login, render_authentication_error
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.settings import OneLogin_Saml2_Settings
from onelogin.saml2.utils import OneLogin_Saml2_Utils
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML
from requests import RequestException

from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.sign_in.answers import UNREADABLE, IdentityProvider, Refused, accept

log = structlog.get_logger(__name__)
#: A session lasts at most this many seconds, because SAML has no way to ask the provider again.
_SESSION_SECONDS = 3600
_CONFIRMATIONS = "/samlp:Response/saml:Assertion/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"
#: Authentication contexts by which a provider says that it has checked a second factor.
_TWO_FACTORS = {
    "https://refeds.org/profile/mfa",
    "http://schemas.microsoft.com/claims/multipleauthn",
    "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract",
}
#: The attribute `uid`.
_USER_NAME = "urn:oid:0.9.2342.19200300.100.1.1"


class SamlProvider(IdentityProvider, SAMLProvider):
    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        names = data.get_attributes().get(_USER_NAME) or [data.get_nameid()]
        return {**super().extract_common_fields(data), "username": names[0]}

    def redirect(self, request: Any, process: str, next_url: Any = None, data: Any = None, **kwargs: Any) -> Any:
        """Redirect to the provider. Its answer must repeat the ID of this request."""
        auth = OneLogin_Saml2_Auth(_describe_request(request), _make_settings(request, _read_metadata()))
        address = auth.login(return_to="")
        self.stash_redirect_state(request, process, next_url, data, auth.get_last_request_id(), **kwargs)
        return HttpResponseRedirect(address)


@require_GET
def show_metadata(request: HttpRequest) -> HttpResponse:
    """What an operator registers at the provider."""
    return HttpResponse(_make_settings(request).get_sp_metadata(), content_type="application/samlmetadata+xml")


@csrf_exempt
@require_POST
@never_cache
def receive_answer(request: HttpRequest) -> HttpResponse:
    """Handle the answer that the browser brings from the provider.

    Browsers send no session cookie with a form from another site, so a page of our own sends it again.
    """
    text, state = request.POST.get("SAMLResponse", ""), None
    if "again" not in request.POST:
        return render(request, "convengine/sign_in_again.html", {"answer": text})
    provider = get_adapter().get_provider(request, conf.get("SIGN_IN")["issuer"])
    try:
        key = OneLogin_Saml2_XML.to_etree(OneLogin_Saml2_Utils.b64decode(text)).get("InResponseTo")
        state = provider.unstash_redirect_state(request, key)
        response = OneLogin_Saml2_Response(_make_settings(request, _read_metadata()), text)
        response.is_valid(_describe_request(request), key, raise_exceptions=True)
        seconds = _check(request, response, key)
        login = provider.sociallogin_from_response(request, response)
        methods = ["mfa"] if _TWO_FACTORS.intersection(response.get_authn_contexts()) else []
        login.state = state | accept(login, response.get_attributes(), amr=methods, seconds=seconds)
    except (PermissionDenied, RequestException, Refused) as error:
        refusal = error
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError) as error:
        refusal = Refused(str(error)[:200].rstrip("."))
    except UNREADABLE as error:
        log.warning("the answer of the identity provider cannot be read", exc_info=error)
        refusal = Refused("it cannot be read")
    else:
        return complete_social_login(request, login)
    return render_authentication_error(request, provider, exception=refusal, extra_context={"state": state})


def _check(request: HttpRequest, response: Any, key: str) -> float:
    """What the library leaves open. Returns the seconds that the session may last. Raises Refused."""
    confirmations = OneLogin_Saml2_XML.query(response.get_xml_document(), _CONFIRMATIONS)
    address = request.build_absolute_uri(reverse("sign_in_callback"))
    # Only the assertion is signed: what the response around it repeats, anybody could have written.
    if {(each.get("Recipient"), each.get("InResponseTo")) for each in confirmations} != {(address, key)}:
        raise Refused("its assertion belongs to another sign-in")
    ends, now = response.get_assertion_not_on_or_after(), time.time()
    if not ends or not response.get_audiences():
        raise Refused("its assertion is not limited to this server and a time")
    if str(response.get_nameid_format()).endswith(":transient"):
        raise Refused("it names the user differently each time (transient NameID)")
    used = f"assertion:{response.get_assertion_id()}"
    # The count refuses the second of two requests at the same moment. It begins again with each hour.
    if throttle.is_remembered(used) or throttle.count_call(used, 3600)[0] > 1:
        raise Refused("its assertion was used already")
    throttle.remember(used, int(ends - now) + 1)
    return min((response.get_session_not_on_or_after() or now + _SESSION_SECONDS) - now, _SESSION_SECONDS)


def _describe_request(request: HttpRequest) -> dict[str, str]:
    scheme = "on" if request.is_secure() else "off"
    return {"https": scheme, "http_host": request.get_host(), "script_name": request.path}


def _make_settings(request: HttpRequest, provider: dict[str, Any] | None = None) -> Any:
    """The library's settings. Raises RequestException if the provider's metadata lacks something."""
    server = {
        "entityId": request.build_absolute_uri(reverse("sign_in_metadata")),
        "assertionConsumerService": {"url": request.build_absolute_uri(reverse("sign_in_callback"))},
    }
    security = {
        "wantAssertionsSigned": True,
        "rejectDeprecatedAlgorithm": True,
        "allowRepeatAttributeName": True,
        "wantAttributeStatement": False,
        "requestedAuthnContext": False,
        "allowSingleLabelDomains": True,
        # Providers must not forget this server after two days.
        "metadataValidUntil": "",
        "metadataCacheDuration": "",
    }
    chosen = {"strict": True, "sp": server, "idp": provider or {}, "security": security}
    try:
        return OneLogin_Saml2_Settings(chosen, sp_validation_only=provider is None)
    except OneLogin_Saml2_Error as error:
        raise RequestException("the provider's metadata is not complete") from error


def _read_metadata() -> dict[str, Any]:
    """The provider's address and certificates. Raises RequestException."""
    chosen = conf.get("SIGN_IN")
    try:
        if "://" not in chosen["metadata"]:
            content = Path(chosen["metadata"]).read_bytes()
        else:
            with get_adapter().get_requests_session() as session:
                response = session.get(chosen["metadata"])
                response.raise_for_status()
                content = response.content
        return dict(OneLogin_Saml2_IdPMetadataParser.parse(content, entity_id=chosen["issuer"])["idp"])
    except (OSError, KeyError, ValueError, SyntaxError) as error:
        log.warning("the metadata of the identity provider cannot be read", exc_info=error)
        raise RequestException("the provider's metadata cannot be read") from error
