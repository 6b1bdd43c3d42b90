"""The page that compares any two releases."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode

from config_admin.editing.fields import Option, PickerInput
from config_admin.editing.row_diff import build_comparison
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.diff import differences
from config_admin.releases.head import newest
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease, release_of
from convengine.engine.text.compare import shorten_line

#: How many of the newest releases are offered; any number may be typed.
OFFERED = 100


class Pair(NamedTuple):
    """The two releases, the earlier one first; None is the empty configuration before the first release."""

    before: CeRelease | None
    after: CeRelease | None


def compare_url(before: int, after: int) -> str:
    return f"{reverse('admin:config_admin_cerelease_compare')}?{urlencode({'before': before, 'after': after})}"


class PairForm(forms.Form):
    """Choose two releases."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        newest_first = CeRelease.objects.order_by("-pk").defer("manifest")
        offered = [
            Option(str(release.pk), f"{shorten_line(release.reason, 60)} · {release.made_by}")
            for release in newest_first[:OFFERED]
        ]
        for name, label in (("before", "From release"), ("after", "To release")):
            picker = PickerInput(offered, {"class": "ce-number", "inputmode": "numeric"})
            self.fields[name] = forms.IntegerField(label=label, min_value=0, widget=picker)

    def clean_before(self) -> CeRelease | None:
        return self._release("before")

    def clean_after(self) -> CeRelease | None:
        return self._release("after")

    def _release(self, name: str) -> CeRelease | None:
        number = self.cleaned_data[name]
        try:
            return release_of(number) if number else None
        except NoSuchRelease as error:
            raise ValidationError(f"{error} The newest is {newest()}.", "NO_SUCH_RELEASE") from error


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The two pickers and the differences; without numbers, the changes of the newest release."""
    last = newest()
    form = PairForm({"before": max(last - 1, 0), "after": last, **request.GET.dict()})
    context: dict[str, Any] = {"title": "Compare releases", "form": form}
    if form.is_valid():
        pair = Pair(form.cleaned_data["before"], form.cleaned_data["after"])
        before, after = (release.pk if release else 0 for release in pair)
        context |= {
            "pair": pair,
            "comparison": build_comparison(request, differences(before, after)),
            "other_way_url": compare_url(after, before),
            "may_go_back": model_admin.has_roll_back_permission(request),
            "in_force": last,
            "gradual": find_gradual_release(),
        }
    return TemplateResponse(request, "config_admin/compare.html", context)
