"""The inbox: what users wrote and the bot could not serve, in groups; and what to teach first, the order of groups."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils.crypto import salted_hmac

from convengine.engine.turn.scope import UNKNOWN
from convengine.server.sessions.models import CeConversationHistory


class CeInboxGroup(models.Model):
    """Messages that are alike, and what was decided about them. It names turns; their texts stay where they are."""

    class Kind(models.TextChoices):
        """What went wrong with the messages of a group."""

        NOT_UNDERSTOOD = "NOT_UNDERSTOOD", "Not understood"
        #: The API has this code. The question may also have named one intent, or three.
        TWO_INTENTS = "TWO_INTENTS", "Asked what was meant"
        REFUSED_VALUE = "REFUSED_VALUE", "Refused values"
        FORM_GIVEN_UP = "FORM_GIVEN_UP", "Forms given up"
        HANDED_OVER = "HANDED_OVER", "Handed over"
        NEGATIVE = "NEGATIVE", "Negative feedback"
        #: Of documents, another section helped than the one that was shown first.
        OTHER_SECTION = "OTHER_SECTION", "Another section helped"

    class Status(models.TextChoices):
        """What became of a group."""

        OPEN = "OPEN", "Open"
        UNDERSTOOD = "UNDERSTOOD", "Understood now"
        DISMISSED = "DISMISSED", "Dismissed"

    id = models.BigAutoField(primary_key=True)
    workspace_id = models.TextField("workspace", default="default", help_text="The workspace of the messages.")
    kind = models.CharField(
        max_length=20, choices=Kind.choices, default=Kind.NOT_UNDERSTOOD, help_text="What went wrong."
    )
    fingerprint = models.CharField(
        max_length=64, help_text="A keyed hash of what the messages have in common, by which the group is known again."
    )
    status = models.CharField(
        max_length=10, choices=Status.choices, default=Status.OPEN, help_text="What became of the group."
    )
    leader = models.BigIntegerField(help_text="The turn whose message stands for the group.")
    examples = models.JSONField(default=list, help_text="Turns with other wordings.")
    messages = models.IntegerField(help_text="How many messages the group has.")
    wordings = models.IntegerField(help_text="How many different ones.")
    this_week = models.IntegerField(default=0, help_text="Messages of the last seven days.")
    week_before = models.IntegerField(default=0, help_text="Messages of the seven days before.")
    first_at = models.DateTimeField(help_text="When the first message came.")
    last_at = models.DateTimeField(help_text="When the last message came.")
    came_back = models.BooleanField(default=False, help_text="Messages came after the group was decided.")
    intent_code = models.TextField(
        "intent", default="", help_text="The intent of the form, or what most users got after the question."
    )
    field_name = models.TextField("field", default="", help_text="The field whose value was refused.")
    detail = models.TextField(
        default="", help_text="Why the value was refused, how many users got the intent, or the section that helped."
    )
    table_name = models.TextField("table", default="", help_text="The table of the row that the messages met.")
    row_pk = models.TextField("row", default="", help_text="The form or the answer that the messages met.")
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Who takes care of the group.",
    )
    note = models.TextField(blank=True, help_text="What people who share the work should know.")
    decided_by = models.CharField(max_length=150, blank=True, help_text="Who dismissed it; blank for the job.")
    decided_at = models.DateTimeField(null=True, help_text="When it was dismissed, or understood.")
    decision = models.TextField(default="", help_text="The last decision of a person in words. It stays.")
    decision_at = models.DateTimeField(null=True, help_text="When that was.")

    class Meta:
        db_table = "ce_inbox_group"
        verbose_name = "group of messages"
        verbose_name_plural = "groups of messages"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "fingerprint"], name="ce_inbox_group_once"),
        ]
        indexes = [models.Index(fields=["status", "kind", "-messages", "id"], name="ce_inbox_group_order")]

    #: The turns whose messages a reader shows, which it sets.
    shown_turns: Sequence[Any] = ()

    def __str__(self) -> str:
        return f"{self.messages} messages"

    @property
    def turns(self) -> list[int]:
        """The turns that it names."""
        return [turn for turn in (self.leader, *self.examples) if turn]

    @classmethod
    def forget_turns(cls, turns: Collection[int]) -> None:
        """Remove erased turns from all groups; a group without other messages goes, with its note and fingerprint."""
        erased = set(turns)
        with transaction.atomic():
            groups = list(cls.objects.select_for_update().only("leader", "examples", "messages").order_by("id"))
            messages = CeInboxMessage.objects.filter(turn__in=erased)
            # A group names only some of its turns; one that the job has not looked at yet has no messages here.
            counts = Counter(messages.values_list("group_id", flat=True))
            for group in groups:
                counts[group.pk] = max(counts[group.pk], len(erased.intersection(group.turns)))
            touched = [group for group in groups if counts[group.pk]]
            remaining = [group for group in touched if group.messages > counts[group.pk]]
            for group in remaining:
                group.messages -= counts[group.pk]
                # Until the job looks again, a group may stand there without a message.
                group.leader, *group.examples = [turn for turn in group.turns if turn not in erased] or [0]
            messages.delete()
            cls.objects.filter(pk__in=[group.pk for group in touched if group not in remaining]).delete()
            cls.objects.bulk_update(remaining, ["leader", "examples", "messages"])

    @classmethod
    def forget_name(cls, participant: str) -> None:
        """Remove the notes that name a participant: as a word, so that `7` keeps a note about 17 messages."""
        name = re.compile(rf"(?<!\w){re.escape(participant)}(?!\w)", re.IGNORECASE)
        notes = cls.objects.exclude(note="").values_list("pk", "note")
        cls.objects.filter(pk__in=[key for key, note in notes if name.search(note)]).update(note="")


class CeInboxMessage(models.Model):
    """A message of a group, without its text."""

    id = models.BigAutoField(primary_key=True)
    group = models.ForeignKey(
        CeInboxGroup,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="The group of messages like it.",
    )
    turn = models.ForeignKey(
        "ce_sessions.CeConversationHistory",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        help_text="The turn; it may be gone.",
    )

    class Meta:
        db_table = "ce_inbox_message"
        verbose_name = "message of the inbox"
        verbose_name_plural = "messages of the inbox"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["group", "turn"], name="ce_inbox_message_once")]

    def __str__(self) -> str:
        return f"message of turn {self.turn_id}"


def make_fingerprint(content: str, secret: Any = None) -> str:
    """A keyed hash: nobody without the secret of the deployment can guess the words."""
    digest = sha256(content.encode()).hexdigest()
    return salted_hmac("convengine inbox group", digest, secret=secret, algorithm="sha256").hexdigest()


#: The order in words, on Home, on the week page, and in the inbox.
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
