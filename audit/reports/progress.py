"""Up to when turns are counted: while they are counted again, pages and programs say that numbers are not complete."""

from datetime import datetime

from django.db.models import F
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.models import CeCountProgress
from convengine.server.sessions.models import CeConversationHistory


def describe_recount() -> str:
    """Up to when the numbers are complete while turns are counted again; blank at other times."""
    if not is_recounting():
        return ""
    until = _find_counted_until()
    known = f"complete up to {date_format(localtime(until), 'DATETIME_FORMAT')}" if until else "no turn is counted yet"
    return f"Turns are being counted again: {known}. Later turns are missing until it ends."


def is_recounting() -> bool:
    """True from the beginning of a recount until its counts are merged with the old ones."""
    return CeCountProgress.objects.exclude(recount_until=None).exists()


def _find_counted_until() -> datetime | None:
    """When the last counted record was made; null before the first."""
    parts = CeCountProgress.objects.exclude(pk=CeCountProgress.FEEDBACK).filter(counted__lt=F("recount_until"))
    turns = CeCountProgress.objects.filter(pk=CeCountProgress.TURNS)
    counted = (parts.order_by("pk").first() or turns.get()).counted
    records = CeConversationHistory._base_manager.filter(pk__lte=counted).order_by("-pk")
    return records.values_list("created_at", flat=True).first()
