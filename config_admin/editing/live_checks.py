"""Answers to an edit page while it is filled in: errors, the rule sentence, *Try it here*, and the sign-in check."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET

from config_admin.editing import sample_turns
from config_admin.editing.context import get_editor_context
from config_admin.editing.field_previews import FIELD_PREVIEWS, PreviewResult
from config_admin.editing.sample_turns import SampleTurn
from config_admin.manual.links import entry_url
from config_admin.releases.content import content_of
from config_admin.validation.codes import CODES
from convengine.engine.rules.conditions.rows import convert_path
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.rows import Rule
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.configuration import ConfigurationName
from convengine.server.interfaces.unsaved_form import UnsavedForm, simulator, what_if

#: The field of a request with the key of the stored row; blank for a new one.
PK = "_pk"
#: The key of a row that is tried before it has one: that of the newest.
_NEW_ROW = 2**31 - 1
#: The right to read events of conversations, which What if asks for.
READ_RIGHT = "audit.view_ceaudit"
#: The right to try conversations, which the simulator asks for.
TRY_RIGHT = "ce_sessions.try_conversation"


class LiveChecksAdmin(PagesAdmin):
    """Edit pages with answers before saving. Nothing is stored, and nothing outside is called."""

    def questions(self, request: HttpRequest, stored: Any) -> dict[str, str] | None:
        """The addresses that the form of a row calls while it is filled in.

        Returns None for users who may only read the row.
        """
        if not self._may(request, stored):
            return None
        urls = {"judge": reverse(f"admin:{self._name('judge')}"), "pk": str(stored.pk) if stored else ""}
        if request.user.has_perm(TRY_RIGHT):
            urls["simulate"] = reverse(f"admin:{self._name('simulate')}")
        if request.user.has_perm(READ_RIGHT):
            urls["what_if"] = reverse(f"admin:{self._name('what-if')}")
        if any(table == self.opts.db_table for table, _ in FIELD_PREVIEWS):
            urls["try"] = reverse(f"admin:{self._name('try-it')}")
            urls["turns"] = reverse(f"admin:{self._name('turns')}") if request.user.has_perm(READ_TURNS) else ""
        return urls

    @page("form/judge/", name="judge_of_form", methods=["POST"])
    def judge_view(self, request: HttpRequest) -> JsonResponse:
        """The findings of the checks for the form as it is, by field; for a rule also its sentence."""
        form = self._bind_form(request)
        answer: dict[str, Any] = {"errors": {}, "warnings": {}}
        for name, errors in form.errors.items():
            answer["errors"][name] = [
                _serialize_finding(text, error.code) for error in errors.as_data() for text in error.messages
            ]
        for finding in form.warnings:
            of_field = answer["warnings"].setdefault(form.field_name(finding) or "", [])
            of_field.append(_serialize_finding(finding.message, finding.code))
        if isinstance(form.draft, Rule):
            answer["sentence"] = describe_rule(form.draft)
            if code(form.draft.rule_type) == RuleType.JSON_PATH:
                answer["rows"] = convert_path(form.draft.match_pattern or "")
        return JsonResponse(answer)

    @page("form/try-it/", name="try_it_of_form", methods=["POST"])
    def try_view_of_field(self, request: HttpRequest) -> HttpResponse:
        """Try one field of the form on a typed text or a stored turn."""
        name = request.POST.get("_field", "")
        trial = FIELD_PREVIEWS.get((self.opts.db_table, name))
        if trial is None:
            raise Http404(f"A preview of {name} is not available.")
        form = self._bind_form(request)
        form.full_clean()
        try:
            outcome = trial.run(form.draft, name, self._choose_turn(request, form.draft, *trial.at(form.draft)))
        except ValueError as error:
            outcome = PreviewResult(str(error), failed=True)
        return TemplateResponse(request, "config_admin/tried.html", {"outcome": outcome})

    @page("form/turns/", name="turns_of_form", methods=["GET"])
    def turns_view(self, request: HttpRequest) -> JsonResponse:
        """The newest turns to try a row on."""
        if not (self._may(request, None) and request.user.has_perm(READ_TURNS)):
            raise PermissionDenied
        choices = sample_turns.list_recent_turns(request.GET.get("intent", ""))
        return JsonResponse({"turns": [choice._asdict() for choice in choices]})

    @page("form/simulate/", name="simulate_of_form", methods=["POST"])
    def simulate_view(self, request: HttpRequest) -> HttpResponse:
        """Try a conversation with the form as it is, on the open draft or on what is live."""
        return simulator().show(request, self._read_unsaved_form(request), find_configuration(request))

    @page("form/what-if/", name="what_if_of_form", methods=["POST"])
    def what_if_view(self, request: HttpRequest) -> HttpResponse:
        """Ask what the form as it is would change in stored conversations."""
        return what_if().show(request, self._read_unsaved_form(request), find_configuration(request))

    def _read_unsaved_form(self, request: HttpRequest) -> UnsavedForm:
        """The posted row, unsaved, or the errors that prevent one."""
        form = self._bind_form(request, {"reason": "tried"})
        errors = [
            (str(form[name].label) if name in form.fields else "", message)
            for name, messages in form.errors.items()
            for message in messages
        ]
        is_new = form.instance._state.adding
        title = f"New {self.opts.verbose_name}" if is_new else f"{capfirst(self.opts.verbose_name)} {form.instance.pk}"
        if errors:
            return UnsavedForm(title, {}, errors)
        if is_new and form.instance.pk is None:
            form.instance.pk = _NEW_ROW
        return UnsavedForm(title, {self.opts.db_table: {form.instance.pk: content_of(form.instance)}})

    def _choose_turn(self, request: HttpRequest, row: Any, phase: str | None, step: str | None) -> SampleTurn:
        """The turn to try a row in: the stored turn that the request names, else one for the typed message.

        Raises PermissionDenied for a stored turn without the right to read it.
        """
        if turn_id := request.POST.get("_turn"):
            if not request.user.has_perm(READ_TURNS):
                raise PermissionDenied
            return sample_turns.load_stored_turn(turn_id, phase=phase, step=step)
        where = (getattr(row, "intent_code", None), getattr(row, "state_code", None))
        return sample_turns.sample_typed_message(
            request.POST.get("_text", ""), get_editor_context(request).snapshot, *where, request.POST.get("_values", "")
        )

    def _bind_form(self, request: HttpRequest, more: Mapping[str, str] | None = None) -> Any:
        """The form of the admin, bound to the posted values and to the stored row, if one is named.

        A deleted row counts as new. `more`: values that replace posted ones. Raises PermissionDenied, and Http404 if
        there never was such a row.
        """
        stored, key = None, {self.opts.pk.attname: request.POST.get(PK)}
        try:
            if request.POST.get(PK):
                stored = self.model._default_manager.filter(**key).first()
                if stored is None and not self.model.history.filter(**key).exists():
                    raise Http404
        except ValueError as error:
            raise Http404 from error
        if not self._may(request, stored):
            raise PermissionDenied
        data = request.POST.copy()
        data.update(more or {})
        return self.get_form(request, stored, change=stored is not None)(data, instance=stored)

    def _may(self, request: HttpRequest, stored: Any) -> bool:
        return bool(self.has_change_permission(request, stored) if stored else self.has_add_permission(request))

    def _name(self, view: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{view.replace('-', '_')}_of_form"


def _serialize_finding(text: str, code: str | None) -> dict[str, str]:
    """A message for a field, with the link to its explanation."""
    if not code or code not in CODES:
        return {"text": text}
    anchor = f"check.{code}"
    return {"text": text, "code": code, "anchor": anchor, "url": entry_url(anchor)}


def find_configuration(request: HttpRequest) -> ConfigurationName:
    """The open draft, else what is live."""
    draft = getattr(request, "ce_draft", None)
    return ConfigurationName("draft", draft.pk) if draft else ConfigurationName("live")


@require_GET
@ensure_csrf_cookie
def check_sign_in(request: HttpRequest) -> HttpResponse:
    """Whether the user of an open page is still signed in: a script asks before it sends a form.

    An empty answer with the CSRF token; users who are not signed in get the login page.
    """
    return HttpResponse(status=204)
