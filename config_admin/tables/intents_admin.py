"""Admin of `ce_intent`, and of the texts that lead to intents or stop a turn: `ce_intent_classifier`, `ce_policy`."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.db.models import Case, Model, Value, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.editing.links import row_url, workspace_url
from config_admin.flows.page import find_editable_flow
from config_admin.tables.base_admin import IntentFilter, InUseFilter, RowAdmin, StateFilter
from config_admin.tables.classifier import CeIntentClassifier
from config_admin.tables.intent import CeIntent
from config_admin.tables.policy import CePolicy
from config_admin.workplace.renamed import redirect_to_renamed
from config_admin.workplace.workspace import workspace
from convengine.engine.rules.pattern_examples import describe_examples
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.enums import PolicyType
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import excerpt_column
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.phrase_models.live import is_live_being_made
from convengine.server.sessions.models import CeConversationHistory

_LONGEST = 60


def name_pattern(row: Any) -> str:
    """The description of a row, else texts that its pattern matches, else the pattern."""
    examples = describe_examples(row.pattern or "") if code(row.rule_type) == REGEX and not row.description else ""
    return examples or shorten_line(row.description or row.pattern, _LONGEST) or "-"


@admin.display(description="pattern")
def show_pattern(row: Any) -> str:
    """The pattern, unless the name of the row is the pattern."""
    shown = shorten_line(row.pattern, _LONGEST)
    return "" if shown == name_pattern(row) else shown


class IntentList(ChangeList):
    """The list of intents; each links to its workspace."""

    def url_for_result(self, result: Model) -> str:
        """The link of an intent's name."""
        return workspace_url(result.pk)


@admin.register(CeIntent)
class IntentAdmin(RowAdmin):
    """The goals of users."""

    sections = (
        ("Intent", ("intent_code", "display_name", "description", "llm_hint")),
        ("Dialogue", ("returns",)),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("name", "in_use", "switch_button", "intent_code", "priority", "about")
    search_fields = ("intent_code", "display_name", "description")
    ordering = ("priority", "intent_code")
    fixed_fields = ("intent_code",)
    save_as = False
    about = excerpt_column("description", "applies when", 90)

    @admin.display(description="name", ordering="display_name")
    def name(self, row: CeIntent) -> str:
        """The display name, or the code."""
        return str(row)

    @admin.display(description="switch")
    def switch_button(self, row: CeIntent) -> SafeString | str:
        """The button that switches the intent with all that belongs to it, off or on."""
        if code(row.intent_code) == UNKNOWN:
            return ""
        word = "off" if row.enabled else "on"
        return format_html(
            '<button type="submit" class="ce-button" name="at_once" value="list" formaction="{}" '
            'aria-label="Switch {}: {}">Switch {}</button>',
            reverse("admin:config_admin_ceintent_switch", args=[row.pk]),
            word,
            row,
            word,
        )

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Without the buttons where nothing may be changed."""
        may_switch = self.has_change_permission(request) and IS_POPUP_VAR not in request.GET
        return [name for name in super().get_list_display(request) if may_switch or name != "switch_button"]

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ChangeList]:
        """The list with links to workspaces."""
        return IntentList

    @page("<path:intent>/workspace/")
    def workspace_view(self, request: HttpRequest, intent: str) -> HttpResponse:
        response = workspace(request, intent)
        if isinstance(response, TemplateResponse):
            response.context_data = {**(response.context_data or {}), "flow_url": find_editable_flow(request, intent)}
        return response

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        """The page of an intent that had this code, if there is one."""
        response: HttpResponse
        try:
            response = redirect_to_renamed(request, code(unquote(object_id)), partial(row_url, self.opts.db_table))
        except Http404:
            response = super()._get_obj_does_not_exist_redirect(request, opts, object_id)
        return response

    def response_post_save_add(self, request: HttpRequest, obj: CeIntent) -> HttpResponse:
        """Continue with the workspace of a new intent."""
        return HttpResponseRedirect(workspace_url(obj.pk))


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
    wording = staticmethod(show_pattern)

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


#: Policies that a model judges come after all others.
_MODEL_LAST = Case(When(rule_type=PolicyType.LLM.value, then=Value(1)), default=Value(0))


@admin.register(CePolicy)
class PolicyAdmin(RowAdmin):
    """What is never processed; the first match stops the turn."""

    sections = (
        ("Condition", ("rule_type", "pattern")),
        ("Answer", ("response_text",)),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("policy", "in_use", "rule_type", "answer", "priority", "wording")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "response_text", "description")
    ordering = (_MODEL_LAST.asc(), "priority", "policy_id")
    answer = excerpt_column("response_text", "answer")
    wording = staticmethod(show_pattern)

    @admin.display(description="policy", ordering="pattern")
    def policy(self, row: CePolicy) -> str:
        """The description, or what users write."""
        return name_pattern(row)
