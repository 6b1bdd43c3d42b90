"""Sign-in by SAML 2.0: the library verifies answers, and this module ties them to one sign-in in one browser."""

import base64
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
from django.views.decorators.http import require_POST
from onelogin.saml2.auth import OneLogin_Saml2_Auth, OneLogin_Saml2_Response, OneLogin_Saml2_Settings
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML
from requests import RequestException

from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.sign_in.provider import UNREADABLE, OpenIdProvider, Refused, accept
from convengine.server.sign_in.settings import PROVIDER

log = structlog.get_logger(__name__)
#: A session lasts at most this many seconds, because SAML has no way to ask the provider again.
_SESSION_SECONDS = 3600
_CONFIRMATIONS = "/samlp:Response/saml:Assertion/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"
#: Authentication contexts by which a provider says that it has checked a second factor.
_TWO_FACTORS = {"https://refeds.org/profile/mfa", "http://schemas.microsoft.com/claims/multipleauthn"}
_SECURITY = {
    "wantAssertionsSigned": True,
    "rejectDeprecatedAlgorithm": True,
    "allowRepeatAttributeName": True,
    "wantAttributeStatement": False,
    "requestedAuthnContext": False,
    "allowSingleLabelDomains": True,
    # The provider must not forget this server after two days.
    "metadataValidUntil": "",
    "metadataCacheDuration": "",
}
#: The attribute `uid`.
_USER_NAME = "urn:oid:0.9.2342.19200300.100.1.1"


class SamlProvider(SAMLProvider):
    id = PROVIDER
    get_redirect_from_request_kwargs = OpenIdProvider.get_redirect_from_request_kwargs

    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        names = data.get_attributes().get(_USER_NAME) or [data.get_nameid()]
        return {**super().extract_common_fields(data), "username": names[0]}

    def redirect(self, request: Any, process: str, next_url: Any = None, data: Any = None, **kwargs: Any) -> Any:
        """Redirect to the provider. Its answer must repeat the ID of this request."""
        auth = OneLogin_Saml2_Auth({}, _make_settings(request))
        address = auth.login(return_to="")
        self.stash_redirect_state(request, process, next_url, data, auth.get_last_request_id(), **kwargs)
        return HttpResponseRedirect(address)


def show_metadata(request: HttpRequest) -> HttpResponse:
    """What an operator registers at the provider."""
    text = _make_settings(request, has_provider=False).get_sp_metadata()
    return HttpResponse(text, content_type="application/samlmetadata+xml")


@csrf_exempt
@require_POST
@never_cache
def receive_answer(request: HttpRequest) -> Any:
    """Handle the answer that the browser brings from the provider.

    Browsers send no session cookie with a form from another site, so a page of our own sends it again.
    """
    text, state, refusal = request.POST.get("SAMLResponse", ""), None, Exception()
    if "again" not in request.POST:
        return render(request, "convengine/sign_in_again.html", {"answer": text})
    provider = get_adapter().get_provider(request, conf.get("SIGN_IN")["issuer"])
    try:
        key = OneLogin_Saml2_XML.to_etree(base64.b64decode(text)).get("InResponseTo")
        state = provider.unstash_redirect_state(request, key)
        response = OneLogin_Saml2_Response(_make_settings(request), text)
        seconds = _verify(request, response, key)
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


def _verify(request: HttpRequest, response: Any, key: str) -> float:
    """Verify an answer to the request with this ID. Returns the seconds that the session may last."""
    own = {"https": "on" if request.is_secure() else "off", "http_host": request.get_host()}
    response.is_valid({**own, "script_name": request.path}, key, raise_exceptions=True)
    confirmations = OneLogin_Saml2_XML.query(response.get_xml_document(), _CONFIRMATIONS)
    # Only the assertion is signed: anybody could have written what the response around it says.
    bound = {(each.get("Recipient"), each.get("InResponseTo")) for each in confirmations}
    if bound != {(request.build_absolute_uri(request.path), key)}:
        raise Refused("its assertion belongs to another sign-in")
    ends, now = response.get_assertion_not_on_or_after(), time.time()
    if not ends or not response.get_audiences():
        raise Refused("its assertion is not limited to this server and a time")
    if str(response.get_nameid_format()).endswith(":transient"):
        raise Refused("it names the user differently each time (transient NameID)")
    if not throttle.use_once(f"assertion:{response.get_assertion_id()}", int(ends - now) + 1):
        raise Refused("its assertion was used already")
    return min((response.get_session_not_on_or_after() or now + _SESSION_SECONDS) - now, _SESSION_SECONDS)


def _make_settings(request: HttpRequest, *, has_provider: bool = True) -> Any:
    """The library's settings. Raises RequestException if the provider's metadata cannot be read, or lacks something."""
    chosen, answers = conf.get("SIGN_IN"), request.build_absolute_uri(reverse("sign_in_callback"))
    server = {
        "entityId": request.build_absolute_uri(reverse("sign_in_metadata")),
        "assertionConsumerService": {"url": answers},
    }
    options = {"strict": True, "sp": server, "security": _SECURITY}
    if not has_provider:
        return OneLogin_Saml2_Settings(options, sp_validation_only=True)
    try:
        provider = OneLogin_Saml2_IdPMetadataParser.parse(_read(chosen["metadata"]), entity_id=chosen["entity"])
        return OneLogin_Saml2_Settings(options | provider)
    except (OSError, OneLogin_Saml2_Error, *UNREADABLE) as error:
        log.warning("the metadata of the identity provider cannot be read", exc_info=error)
        raise RequestException("the provider's metadata cannot be read") from error


def _read(source: str) -> bytes:
    """The metadata at an address or in a file. Raises OSError."""
    if "://" not in source:
        return Path(source).read_bytes()
    # A redirect could lead to an address without HTTPS, where others could put their keys into it.
    with get_adapter().get_requests_session() as session:
        return bytes(session.get(source, allow_redirects=False).content)
