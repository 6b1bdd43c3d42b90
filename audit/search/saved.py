"""Saved searches: one's own, and shared ones of others."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from audit.models import CeSavedSearch

#: Maximum searches of each kind.
MAX_LISTED = 100


class SaveForm(forms.Form):
    """The name of a search."""

    name = forms.CharField(label="Name", max_length=80, error_messages={"required": "Enter a name for the search."})
    shared = forms.BooleanField(label="Share with everyone who may search turns", required=False)

    def __init__(self, user: Any, asked: Mapping[str, str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user, self.asked = user, asked

    def clean(self) -> dict[str, Any]:
        """The search is not empty, and the name is free."""
        if not self.asked:
            raise ValidationError("The search has no filters. Enter at least one filter first.")
        if CeSavedSearch.objects.filter(owner=self.user, name=self.cleaned_data.get("name")).exists():
            self.add_error(
                "name", "You already have a search with this name. Choose another name, or delete that search first."
            )
        return self.cleaned_data

    def save(self) -> CeSavedSearch:
        """Store the search."""
        found = self.cleaned_data
        # Stored once, even if it is sent twice.
        kept, _ = CeSavedSearch.objects.get_or_create(
            name=found["name"],
            owner=self.user,
            defaults={"shared": found["shared"], "query": urlencode(self.asked)},
        )
        return kept


def visible_searches(user: Any) -> QuerySet[CeSavedSearch]:
    """The searches that a user may see: their own first, then shared ones."""
    return CeSavedSearch.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner").order_by("name", "id")


def may_delete_search(user: Any, one: CeSavedSearch) -> bool:
    """Owners may, and users with the right to delete all."""
    return one.owner_id == user.pk or bool(user.has_perm("audit.delete_cesavedsearch"))


def delete_search(user: Any, pk: str) -> CeSavedSearch | None:
    """Delete one; null if this user may not delete it."""
    found = visible_searches(user).filter(pk=pk).first() if pk.isascii() and pk.isdecimal() and len(pk) < 19 else None
    if found is None or not may_delete_search(user, found):
        return None
    CeSavedSearch.objects.filter(pk=found.pk).delete()
    return found
