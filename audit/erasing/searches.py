"""What people searched for, where it names somebody who is erased."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, quote_plus

from django.db import transaction
from django.db.models import Q

from audit.models import CeAccessLog, CeSavedSearch
from convengine.domain.job import Counts


def searches_for(participant: str, instead: str) -> Iterator[Counts]:
    """What people searched for, where it names the participant, as it stands in an address too. That they did stays."""
    in_address = quote_plus(participant)
    found = list(CeAccessLog.objects.filter(Q(search__icontains=participant) | Q(search__icontains=in_address)))
    maybe = CeSavedSearch.objects.filter(query__icontains=in_address)
    saved = [one.pk for one in maybe if participant in dict(parse_qsl(one.query)).values()]
    with transaction.atomic():
        CeSavedSearch.objects.filter(pk__in=saved).delete()
        CeAccessLog.objects.filter(pk__in=[row.pk for row in found]).purge()
        for row in found:
            row.search = instead
        CeAccessLog.objects.bulk_create(found)
    if found or saved:
        yield {"searches": len(found) + len(saved)}
