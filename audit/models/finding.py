"""Tables of the search: the words of turns, and saved searches."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone


class Words(models.TextField):  # type: ignore[type-arg]
    """The words of a text for PostgreSQL's search; on other databases nothing is stored."""

    def db_type(self, connection: Any) -> str:
        return "tsvector" if connection.vendor == "postgresql" else "text"


class CeTurnText(models.Model):
    """The words of a turn, both sides, for the search (PostgreSQL; `audit.search.text_index`).

    A job fills it, never a turn; a trigger removes the words with the turn's texts.
    """

    history_id = models.BigIntegerField(primary_key=True, help_text="The turn.")
    words = Words(help_text="What the user and the assistant said, word by word.")

    class Meta:
        db_table = "ce_turn_text"
        verbose_name = "words of a turn"

    def __str__(self) -> str:
        return f"words of {self.history_id}"


class CeSavedSearch(models.Model):
    """A saved search."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=80, help_text="The name of the search.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="The user who saved it.",
    )
    shared = models.BooleanField(default=False, help_text="Visible to all users who may search turns.")
    query = models.TextField(help_text="The filters of the search, as in the address of the page.")
    created_at = models.DateTimeField("created", default=timezone.now, help_text="When it was saved.")

    class Meta:
        db_table = "ce_saved_search"
        verbose_name = "saved search"
        verbose_name_plural = "saved searches"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="ce_saved_search_once")]

    def __str__(self) -> str:
        return self.name
