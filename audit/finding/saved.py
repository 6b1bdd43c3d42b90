"""Searches under a name: one's own, and those that others share."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from audit.models import CeSavedSearch

#: So many are listed, of each kind.
MOST = 100


class SaveForm(forms.Form):
    """A name for the search that the page shows."""

    name = forms.CharField(
        label="Name", max_length=80, error_messages={"required": "Give it a name, by which you find it again."}
    )
    shared = forms.BooleanField(label="For everybody who may find turns", required=False)

    def __init__(self, user: Any, asked: Mapping[str, str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user, self.asked = user, asked

    def clean(self) -> dict[str, Any]:
        """Something is asked, and the name is free."""
        if not self.asked:
            raise ValidationError("This search asks nothing: fill in what you look for first.")
        if CeSavedSearch.objects.filter(owner=self.user, name=self.cleaned_data.get("name")).exists():
            self.add_error("name", "You have a search of this name: choose another, or delete that one first.")
        return self.cleaned_data

    def save(self) -> CeSavedSearch:
        """Keep it."""
        found = self.cleaned_data
        # Sent twice, it is kept once.
        kept, _ = CeSavedSearch.objects.get_or_create(
            name=found["name"],
            owner=self.user,
            defaults={"shared": found["shared"], "query": urlencode(self.asked)},
        )
        return kept


def visible(user: Any) -> QuerySet[CeSavedSearch]:
    """Those that somebody sees: their own first, then what others share."""
    return CeSavedSearch.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner").order_by("name", "id")


def may_delete(user: Any, one: CeSavedSearch) -> bool:
    """Owners may, and who may delete everybody's."""
    return one.owner_id == user.pk or bool(user.has_perm("audit.delete_cesavedsearch"))


def delete(user: Any, pk: str) -> CeSavedSearch | None:
    """Delete one; null where there is none that this user may delete."""
    found = visible(user).filter(pk=pk).first() if pk.isascii() and pk.isdecimal() and len(pk) < 19 else None
    if found is None or not may_delete(user, found):
        return None
    CeSavedSearch.objects.filter(pk=found.pk).delete()
    return found
