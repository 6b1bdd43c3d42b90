"""The one order of groups, on Home, on the week page, in the inbox and in the API: what to teach first."""

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from audit.models.inbox import CeInboxGroup, CeInboxMessage
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.sessions.models import CeConversationHistory

#: The order in words, as pages show it.
ORDER = "Most messages of the last seven days first, then most messages of the period."
ORDER_OF_NOT_UNDERSTOOD = (
    f"{ORDER} Messages that came only within a flow come last: most of them are answers to its questions."
)


def order_groups(groups: QuerySet[CeInboxGroup]) -> QuerySet[CeInboxGroup]:
    """What to teach first comes first."""
    outside = Q(intent_code=None) | Q(intent_code__in=["", UNKNOWN])
    leader = CeConversationHistory._base_manager.filter(outside, pk=OuterRef("leader"))
    of_turn = Q(turn__intent_code=None) | Q(turn__intent_code__in=["", UNKNOWN])
    messages = CeInboxMessage.objects.filter(of_turn, group=OuterRef("pk"), turn__pk__gt=0)
    is_elsewhere = When(~Q(kind=CeInboxGroup.Kind.NOT_UNDERSTOOD) | Exists(leader) | Exists(messages), then=Value(0))
    return groups.annotate(is_within_flow=Case(is_elsewhere, default=Value(1))).order_by(
        "is_within_flow", F("this_week").desc(), F("messages").desc(), "id"
    )
