"""Admin of `ce_intent_classifier`."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.classifier.model import CeIntentClassifier
from config_admin.tables.list_columns import name_pattern, show_pattern
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.phrase_models.live import is_live_being_made
from convengine.server.sessions.models import CeConversationHistory

_BEING_MADE = (
    "The live phrases are many, so their classifier is being made in the background. Until then, the last one answers, "
    "and new phrases count by their likeness in meaning."
)


@admin.register(CeIntentClassifier)
class ClassifierAdmin(RowAdmin):
    """Texts that lead to an intent. Intent and state are the result here, so ANY is no intent."""

    sections = (
        ("Condition", ("rule_type", "pattern")),
        ("Result", ("intent_code", "state_code")),
        ("Availability", ("priority", "enabled", "description")),
    )
    is_scoped = True
    list_display = ("phrase", "in_use", "intent_code", "state_code", "rule_type", "priority", "wording")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "description")
    ordering = ("priority", "classifier_id")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """With `message_of`, the pattern is the message of that turn, if the user may read turns."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        number = parse_whole_number(str(initial.pop("message_of", "")))
        if number is not None and request.user.has_perm(READ_TURNS):
            turn = CeConversationHistory.objects.filter(pk=number).only("user_input").first()
            initial["pattern"] = ((turn and turn.user_input) or "").strip()
        return initial

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Say when the classifier of very many phrases is not made yet; a save leads here."""
        if is_live_being_made():
            self.message_user(request, _BEING_MADE, messages.INFO)
        return super().changelist_view(request, extra_context)

    @admin.display(description="phrase", ordering="pattern")
    def phrase(self, row: CeIntentClassifier) -> str:
        """The description, or what users write."""
        return name_pattern(row)

    @admin.display(description="pattern")
    def wording(self, row: CeIntentClassifier) -> str:
        """The pattern, where the first column does not show it."""
        return show_pattern(row)
