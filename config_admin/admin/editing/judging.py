"""What a form is told while somebody fills it in: what is wrong, what it will do, and how it does when it is tried."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.views.decorators.http import require_GET, require_POST
from unfold.admin import ModelAdmin

from config_admin.admin.desk import desk_of
from config_admin.admin.editing import moments
from config_admin.admin.editing.moments import Moment
from config_admin.admin.editing.trials import TRIALS, Outcome
from config_admin.manual.addresses import entry_url
from config_admin.validation.codes import CODES
from convengine.domain.rows import Rule
from convengine.rules.sentence import sentence

#: The field of a request that names the stored row which the form is of; blank for a new one.
PK = "_pk"


class JudgingAdmin(ModelAdmin):
    """Forms that answer before they are sent. Nothing is stored, and nothing outside is called."""

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, what a form asks."""
        views = {
            "judge": require_POST(self.judge_view),
            "try-it": require_POST(self.try_view_of_field),
            "turns": require_GET(self.turns_view),
        }
        return [
            *(
                path(f"form/{name}/", self.admin_site.admin_view(view), name=self._name(name))
                for name, view in views.items()
            ),
            *super().get_urls(),
        ]

    def questions(self, request: HttpRequest, stored: Any) -> dict[str, str] | None:
        """Where the form of a row asks; null for who may only read it."""
        if not self._may(request, stored):
            return None
        found = {"judge": reverse(f"admin:{self._name('judge')}"), "pk": str(stored.pk) if stored else ""}
        if any(table == self.opts.db_table for table, _ in TRIALS):
            found["try"] = reverse(f"admin:{self._name('try-it')}")
            found["turns"] = reverse(f"admin:{self._name('turns')}") if request.user.has_perm(moments.RIGHT) else ""
        return found

    def judge_view(self, request: HttpRequest) -> JsonResponse:
        """What the checks say of the form as it is, field by field; of a rule also what it does, in words."""
        form = self._form(request)
        told: dict[str, Any] = {"errors": {}, "warnings": {}}
        for name, errors in form.errors.items():
            told["errors"][name] = [_told(text, one.code) for one in errors.as_data() for text in one.messages]
        for finding in form.warnings:
            of_field = told["warnings"].setdefault(form.field_name(finding) or "", [])
            of_field.append(_told(finding.message, finding.code))
        if isinstance(form.draft, Rule):
            told["sentence"] = sentence(form.draft)
        return JsonResponse(told)

    def try_view_of_field(self, request: HttpRequest) -> HttpResponse:
        """One field of the form, tried against a typed text or a moment of a stored turn."""
        name = request.POST.get("_field", "")
        trial = TRIALS.get((self.opts.db_table, name))
        if trial is None:
            raise Http404(f"{name} cannot be tried.")
        form = self._form(request)
        form.full_clean()
        try:
            outcome = trial.run(form.draft, name, self._moment(request, form.draft, *trial.at(form.draft)))
        except ValueError as error:
            outcome = Outcome(str(error), failed=True)
        return TemplateResponse(request, "config_admin/tried.html", {"outcome": outcome})

    def turns_view(self, request: HttpRequest) -> JsonResponse:
        """The newest turns to try a row against."""
        if not (self._may(request, None) and request.user.has_perm(moments.RIGHT)):
            raise PermissionDenied
        found = moments.recent(request.GET.get("intent", ""))
        return JsonResponse({"turns": [choice._asdict() for choice in found]})

    def _moment(self, request: HttpRequest, row: Any, phase: str | None, step: str | None) -> Moment:
        if turn_id := request.POST.get("_turn"):
            if not request.user.has_perm(moments.RIGHT):
                raise PermissionDenied
            return moments.stored(turn_id, phase=phase, step=step)
        where = (getattr(row, "intent_code", None), getattr(row, "state_code", None))
        return moments.typed(request.POST.get("_text", ""), desk_of(request).snapshot, *where)

    def _form(self, request: HttpRequest) -> Any:
        pk = request.POST.get(PK)
        stored = self._stored(pk) if pk else None
        if not self._may(request, stored):
            raise PermissionDenied
        return self.get_form(request, stored, change=stored is not None)(request.POST, instance=stored)

    def _stored(self, pk: str) -> Any:
        """The row; one that somebody deleted meanwhile is judged as a new one."""
        key = {self.opts.pk.attname: pk}
        try:
            found = self.model._default_manager.filter(**key).first()
            if found is None and not self.model.history.filter(**key).exists():
                raise Http404
        except ValueError as error:
            raise Http404 from error
        return found

    def _may(self, request: HttpRequest, stored: Any) -> bool:
        return bool(self.has_change_permission(request, stored) if stored else self.has_add_permission(request))

    def _name(self, view: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{view.replace('-', '_')}_of_form"


def _told(text: str, code: str | None) -> dict[str, str]:
    """What is said at a field, and where the manual says more."""
    if not code or code not in CODES:
        return {"text": text}
    anchor = f"check.{code}"
    return {"text": text, "code": code, "anchor": anchor, "url": entry_url(anchor)}
