"""Pages of the configuration work in the draft that the user opened; the session names it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, Resolver404, resolve, reverse

from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.open_draft import DraftEnded, RowsCollide, open_draft
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import draft_url
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.models import CeGradualRelease
from convengine.engine.errors import DraftRequired, GradualReleaseRunning
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.releases import requires_draft

#: The key in the session.
KEY = "draft"
#: What the names of the pages of the configuration begin with, and those among them that are about all releases.
_PAGES, _ABOUT_DRAFTS = "config_admin_", "config_admin_cedraft_"
#: Pages about tests, which name the configuration that they run on.
_ABOUT_TESTS = "config_admin_cetest"
_OUTSIDE = (
    _ABOUT_DRAFTS,
    "config_admin_cegradualrelease_",
    _ABOUT_TESTS,
    "config_admin_signed_in",
)
#: Inputs of the page that asks for a draft, and how many drafts it offers.
_OWN, _OFFERED = frozenset({"_draft", "_draft_title", "csrfmiddlewaretoken"}), 50
_SEARCHES = frozenset({"search", "autocomplete"})

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class _NotYours(DraftEnded):
    """The user lost the rights to the draft."""


class DraftMiddleware:
    """Opens the draft of the session around each page of the configuration."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The page, in the draft; other pages of the admin only say that it is open."""
        draft_id = _choose_draft(request) or _find_draft_id(request)
        if draft_id is None:
            return self._get_response(request)
        try:
            _require_rights(request)
            if _is_configuration_page(request):
                return self._respond_in_draft(request, draft_id)
            _note_draft(request, CeDraft.objects.filter(pk=draft_id, status=DraftStatus.OPEN).first(), is_in_it=False)
        except DraftEnded as ended:
            leave_draft(request)
            user: Any = request.user
            what = "is not open to you any more" if isinstance(ended, _NotYours) else "has ended"
            if _has_typed_text(request) and user.has_perm("config_admin.change_cedraft"):
                return offer_drafts(request, f"The draft that you worked in {what}. Nothing was saved yet.")
            may_view = user.has_perm("config_admin.view_cedraft")
            messages.warning(request, f"The draft that you worked in {what}. This is the live configuration.")
            return HttpResponseRedirect(reverse("admin:config_admin_cedraft_changelist" if may_view else "admin:index"))
        except RowsCollide:
            messages.error(
                request,
                "A new row of the draft has the name of a row that was made live meanwhile. Take one of the two out: "
                "conversations are not affected.",
            )
            return HttpResponseRedirect(draft_url(draft_id))
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Offer to save in a draft what a review or a gradual release refused: nothing that was typed is lost.

        A script, and a form with files, gets the refusal as JSON. Other exceptions are not handled.
        """
        if not isinstance(exception, DraftRequired) or not _is_admin(request):
            return None
        if "application/json" in request.headers.get("Accept", "") or request.FILES:
            return JsonResponse({"problem": f"{exception.message} Open a draft under Releases, then save again."})
        if isinstance(exception, GradualReleaseRunning):
            return offer_drafts(request, "A gradual release is running. Until it ends, make changes in a draft.")
        return offer_drafts(request, "Changes need a review before they go live.")

    def _respond_in_draft(self, request: HttpRequest, draft_id: int) -> HttpResponseBase:
        """The response of the view, whose reads and writes go to the draft."""
        reason = request.POST.get("reason", "").strip()
        # Who saves the form of a row sees it whole; a list, a file or a wizard does not show what is live.
        decides = _get_page_name(request).endswith(("_change", "_put_back"))
        with open_draft(draft_id, request.user, reason, writing=request.method == "POST", decides=decides) as draft:
            _note_draft(request, draft, is_in_it=True)
            response = self._get_response(request)
            if isinstance(response, StreamingHttpResponse):
                # Its parts are read now, while the rows of the draft are in the tables.
                response.streaming_content = list(response)
        return response


def enter_draft(request: HttpRequest, draft: CeDraft) -> None:
    """The pages of this session work in the draft from now on."""
    request.session[KEY] = draft.pk


def leave_draft(request: HttpRequest) -> None:
    """The pages of this session show the live configuration again."""
    request.session.pop(KEY, None)


def offer_drafts(request: HttpRequest, why: str) -> HttpResponse:
    """Ask for a draft for what was sent; nothing that was typed is lost."""
    user: Any = request.user
    context = {
        **admin.site.each_context(request),
        "title": "Save in a draft",
        "why": why,
        "drafts": CeDraft.objects.filter(status=DraftStatus.OPEN).order_by("title")[:_OFFERED],
        "may_add": user.has_perm("config_admin.add_cedraft"),
        "sent": [(name, value) for name, values in request.POST.lists() if name not in _OWN for value in values],
        "reason": request.POST.get("reason", ""),
    }
    response = TemplateResponse(request, "config_admin/draft_required.html", context, status=409)
    return response.render()


def _has_typed_text(request: HttpRequest) -> bool:
    """True for a form that somebody sent, and that a page can send again."""
    is_script = "application/json" in request.headers.get("Accept", "")
    is_form = request.method == "POST" and not request.FILES and not is_script
    return is_form and _is_configuration_page(request) and _has_token(request)


class _TokenCheck(CsrfViewMiddleware):
    """The check of Django, for what happens before the page; the page itself answers a refusal."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


def _answer(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _has_token(request: HttpRequest) -> bool:
    """True for what a page of ours sent; another site cannot make or enter a draft in somebody's name."""
    check = _TokenCheck(_answer)
    check.process_request(request)
    return check.process_view(request, _answer, (), {}) is None


def _choose_draft(request: HttpRequest) -> int | None:
    """The draft that the user chose for what is sent again; it is entered.

    If only a title was sent, the open draft of that title, or a new one. Returns None if nothing was chosen, if the
    form has no valid token, or if the user may not change drafts.
    """
    user: Any = getattr(request, "user", None)
    if (
        request.method != "POST"
        or user is None
        or not _is_admin(request)
        or not {"_draft", "_draft_title"} & request.POST.keys()
        or not _has_token(request)
    ):
        return None
    title, number = (request.POST.get(name, "").strip() for name in ("_draft_title", "_draft"))
    draft = CeDraft.objects.filter(pk=parse_whole_number(number) or 0, status=DraftStatus.OPEN).first()
    if draft is None and title and user.has_perm("config_admin.add_cedraft"):
        draft, _ = CeDraft.objects.get_or_create(
            title=title[:150], status=DraftStatus.OPEN, defaults={"created_by": user.get_username()}
        )
    if draft is None or not user.has_perm("config_admin.change_cedraft"):
        return None
    enter_draft(request, draft)
    return draft.pk


def _find_draft_id(request: HttpRequest) -> int | None:
    """The draft that the user works in. Returns None outside of the admin, and for users who are not logged in."""
    user: Any = getattr(request, "user", None)
    if not _is_admin(request) or not hasattr(request, "session"):
        return None
    draft_id: int | None = request.session.get(KEY)
    return draft_id if user is not None and user.is_authenticated else None


def _require_rights(request: HttpRequest) -> None:
    """Refuse users who lost the rights to drafts: what they save must not go live instead. Raises _NotYours."""
    user: Any = request.user
    rights = ["config_admin.view_cedraft"]
    if request.method == "POST" and _is_configuration_page(request):
        rights.append("config_admin.change_cedraft")
    if not user.has_perms(rights):
        raise _NotYours


def _is_admin(request: HttpRequest) -> bool:
    """False also in a project whose addresses have no admin."""
    try:
        return request.path.startswith(reverse("admin:index"))
    except NoReverseMatch:
        return False


def _is_configuration_page(request: HttpRequest) -> bool:
    """True for a page that works in the open draft."""
    name = _get_page_name(request)
    return name in _SEARCHES or (name.startswith(_PAGES) and not name.startswith(_OUTSIDE))


def _get_page_name(request: HttpRequest) -> str:
    """The name of the page in the addresses; blank for none."""
    try:
        return resolve(request.path_info).url_name or ""
    except Resolver404:
        return ""


def _note_draft(request: HttpRequest, draft: CeDraft | None, *, is_in_it: bool) -> None:
    """Note the draft for the bar above the page. Raises DraftEnded without one."""
    if draft is None:
        raise DraftEnded
    held: Any = request
    held.ce_draft, held.is_in_draft = draft, is_in_it
    held.is_about_drafts = _get_page_name(request).startswith((_ABOUT_DRAFTS, _ABOUT_TESTS))


#: What the names of pages of the configuration begin with on which nothing is edited.
_ONLY_READ = ("config_admin_cerelease_", "config_admin_find")


class NeededDraft(NamedTuple):
    """Why a change goes to a draft: a gradual release is running, or changes are reviewed or tested."""

    gradual: CeGradualRelease | None
    is_reviewed: bool

    def __bool__(self) -> bool:
        return bool(self.gradual or self.is_reviewed)


def find_needed_draft(request: HttpRequest) -> NeededDraft:
    """Why changes go to a draft now; false when they are live at once. Read once in a request."""
    held: Any = request
    if not hasattr(held, "_needed_draft"):
        held._needed_draft = NeededDraft(find_gradual_release(), requires_draft(get_editor_context(request).snapshot))
    needed: NeededDraft = held._needed_draft
    return needed


def is_editing_page(request: HttpRequest) -> bool:
    """True for a page of the configuration, for a user who may save in drafts."""
    user: Any = request.user
    if not _is_configuration_page(request) or _get_page_name(request).startswith(_ONLY_READ):
        return False
    return bool(user.has_perm("config_admin.change_cedraft"))
