"""Start a flow, and edit it later: the flow document as a form, with a preview of its rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing import reasons
from config_admin.editing.condition_fields import describe_operators
from config_admin.editing.context import get_editor_context
from config_admin.editing.countries import DIFFERENT, list_countries
from config_admin.editing.given_messages import read_given_messages
from config_admin.editing.links import flow_page_url, row_url, workspace_url
from config_admin.editing.live_checks import find_configuration
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.editing.workspace_return import FLOW
from config_admin.flows.advice import (
    NameAdvice,
    describe_assumed_country,
    describe_few_phrases,
    describe_overlaps,
    describe_single_phrasing,
    list_names,
    replace_field,
)
from config_admin.flows.bounds import EXAMPLES, OFFERED
from config_admin.flows.compared_phrases import ComparedPhrases, describe_new_phrases
from config_admin.flows.document import ASKING, FlowKind, FlowRefused, Values, find_refusal_problems
from config_admin.flows.field_kinds import TYPE_HINTS
from config_admin.flows.forms import (
    LONGEST_PHRASE,
    TEXTS,
    list_filled,
    list_spoken_initial,
    read_document,
    read_translations,
)
from config_admin.flows.languages import speak_flow
from config_admin.flows.mapping import find_part, normalise_flow
from config_admin.flows.page_forms import CARD_LISTS, PageForms, SavingProblem, list_values, sort_forms
from config_admin.flows.reading import (
    FlowReading,
    describe_no_flow,
    find_flow_of_question,
    list_workspace_languages,
    read_flow,
    read_languages,
)
from config_admin.flows.saving import create_flow, list_flow_rights, list_rights, plan_flow, store_country, update_flow
from config_admin.flows.schema_form import split_lines, spoken_name
from config_admin.flows.summary import SummaryPart, describe_changes, summarise_flow
from config_admin.flows.translations.catalogue import SpokenText, TextState, list_spoken_texts
from config_admin.flows.unsaved_flow import (
    SuggestedMessage,
    find_overlaps,
    lay_flow_over,
    place_flow,
    suggest_messages,
)
from config_admin.releases.active import snapshots
from config_admin.releases.compile import row_of
from config_admin.releases.restore_rows import Wanted
from config_admin.releases.tree import RowDifference
from config_admin.releases.working_copy import write_outside
from config_admin.transfer.apply_import import ImportFailed, ImportRefused
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.validation.built_in_texts import find_built_in_text
from config_admin.validation.labels import column_label, name_language, row_title, table_label, table_title
from config_admin.validation.stored_columns import control_plane
from config_admin.workplace.intent_overview import describe_row
from convengine.engine.forms.settings import COUNTRY
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.text.difference import Difference
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.naming import name_by_words
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.access_log import access_log
from convengine.server.interfaces.inbox import inbox
from convengine.server.interfaces.unsaved_form import UnsavedForm, simulator

#: How many stored messages that nobody understood are compared with the flow.
_COMPARED = 300
#: Buttons that only change the page; `_check` is sent by the page itself, for advice on what was typed.
_SUGGEST, _COMPARE, _ADD_PHRASES, _SAVE = "_suggest", "_compare", "_add_phrases", "_save"
#: Its value is `old=new`: the field to replace in all texts, and the field to write instead, or nothing.
_MEND = "_mend"
_HOLE = "To be mended: a field was taken out of this text. Read its sentences again."
_CHECK = "_check"
#: Messages that ask for a person.
_WISHES_FOR_A_PERSON = ("can I speak to a person", "kann ich mit einem Menschen sprechen")
#: A longer list of fields or questions is folded to its headings.
_MOST_OPEN_CARDS = 3


class PreviewRow(NamedTuple):
    """A row of the preview; `change` is added, changed or deleted."""

    change: str
    text: str
    note: str


@page(
    "start/",
    of="config_admin.CeIntent",
    right="config_admin.add_ceintent",
    entry=SidebarEntry("Intents", "Start a flow", "Create an intent with everything it needs.", 1),
)
def start(request: HttpRequest) -> HttpResponse:
    """The form of a new flow, its preview, and its result."""
    for right in list_flow_rights("add"):
        require_right(request, right)
    return _FlowPage(request, None).respond()


@page("<path:intent>/flow/", of="config_admin.CeIntent")
def edit(request: HttpRequest, intent: str) -> HttpResponse:
    for right in list_flow_rights("change", "add", "delete"):
        require_right(request, right)
    reading = read_flow(get_editor_context(request).snapshot, intent)
    if reading is None:
        why = describe_no_flow(get_editor_context(request).snapshot, intent)
        raise Http404(f"{code(intent)} is no flow. {why} Edit its rows on its workspace.")
    return _FlowPage(request, reading).respond()


@page("start/talk/", of="config_admin.CeIntent", right="config_admin.add_ceintent", methods=["POST"])
def talk_to_new_flow(request: HttpRequest) -> HttpResponse:
    """A conversation with a new flow as it stands on the page."""
    return _FlowPage(request, None).talk()


@page("<path:intent>/flow/talk/", of="config_admin.CeIntent", methods=["POST"])
def talk_to_flow(request: HttpRequest, intent: str) -> HttpResponse:
    """A conversation with an existing flow as it stands on the page. One that is gone meanwhile is a new one."""
    for right in list_flow_rights("change", "add", "delete"):
        require_right(request, right)
    return _FlowPage(request, read_flow(get_editor_context(request).snapshot, intent)).talk()


def find_editable_flow(request: HttpRequest, intent: str) -> str:
    """The address at which this user may edit the flow of an intent, or the FAQ flow that has it as a question.

    Blank if there is no such flow, or the user lacks a right to one of its tables.
    """
    user: Any = request.user
    if not user.has_perms(list_flow_rights("change", "add", "delete")):
        return ""
    snapshot = get_editor_context(request).snapshot
    flow_code = find_flow_of_question(snapshot, intent) or (code(intent) if read_flow(snapshot, intent) else "")
    return flow_page_url(flow_code) if flow_code else ""


class _FlowPage:
    def __init__(self, request: HttpRequest, reading: FlowReading | None) -> None:
        self.request, self.reading = request, reading
        self.snapshot = get_editor_context(request).snapshot
        self.stored: Values = reading.document if reading else {}
        self._code = str(self.stored.get("code", ""))
        self._stored_names = [field["name"] for field in self.stored.get("fields", ())]
        self._country_of_customers = str(live_settings.read(self.snapshot, COUNTRY).value)
        self._switches_on = "switch_on" in request.POST
        #: The languages of the workspace, and the stored texts in all of them.
        self._languages = list_workspace_languages(self.snapshot)
        self._spoken = read_languages(self.snapshot, reading) if reading else {}
        self._others = {language: name_language(language) for language in self._languages[1:]}
        self._options = {"snapshot": self.snapshot, "flow_code": self._code, "languages": self._others}
        self._digest = sha256(dumps(self._spoken).encode()).hexdigest()[:16] if reading else ""
        self.problems: list[SavingProblem] = []
        #: Removed fields that texts still name.
        self.gone_fields: list[str] = []
        #: Texts that a field was just taken out of.
        self.left_texts: set[str] = set()
        self.preview: list[tuple[str, list[PreviewRow]]] = []
        #: The flow, or what an edit changes in it, in the words of the page.
        self.summary: list[SummaryPart] = []
        self.changes: list[Difference] = []
        self.suggested: list[SuggestedMessage] = []
        self.compared: ComparedPhrases | None = None
        #: True when errors of the inputs are shown.
        self.is_checked = False

    def respond(self) -> HttpResponse:
        """The page, or a redirect to the workspace of a stored flow."""
        if self.request.method != "POST":
            return self._render(self._open())
        bound = self._bind()
        post = self.request.POST
        if _CHECK in post:
            return self._render(bound)
        if _SUGGEST in post:
            self._suggest_messages(bound)
        if _COMPARE in post:
            flow = bound.read_phrases(self.stored)
            after = self._lay_over(flow) if flow["phrases"] else None
            self.compared = describe_new_phrases(self.snapshot, after or self.snapshot)
        if {_SUGGEST, _COMPARE, _ADD_PHRASES, _MEND, *(cards.add_button for cards in CARD_LISTS)} & set(post):
            return self._render(self._reopen(bound))
        self.is_checked = True
        if self._is_usable(bound) and (document := self._read(bound)):
            if _SAVE in post and self._may_save() and self._store(document, bound):
                return self._leave(document["code"])
            self._show_preview(document)
        return self._render(bound)

    def _read(self, forms: PageForms) -> Values:
        """The document of valid forms, in all languages."""
        return read_translations(read_document(*forms, stored=self.stored), *forms, self._languages)

    def talk(self) -> HttpResponse:
        """A conversation with the flow as it stands on the page, switched on. Nothing is stored."""
        bound = self._bind()
        title = str(bound.flow["title"].value() or "").strip()
        rows_of_flow: Wanted = {}
        if self._is_usable(bound):
            document = self._read(bound)
            try:
                rows_of_flow = place_flow(self.snapshot, self.reading, {**document, "enabled": True})
            except FlowRefused as refused:
                self.problems += [SavingProblem(problem) for problem in refused.problems]
        errors = [("", problem.text) for problem in self.problems]
        form = UnsavedForm(f"“{title}”" if title else "This flow", rows_of_flow, errors)
        return simulator().show(self.request, form, find_configuration(self.request))

    # --- the forms ----------------------------------------------------------------------------------------------

    def _open(self) -> PageForms:
        """The inputs of the stored flow.

        Of a new one: the kind that a link to the page chooses, and the messages of the inbox that become phrases.
        """
        values, *cards_given = list_spoken_initial(self._spoken, self._languages[1:] if self.stored else ())
        if not values:
            kind, given = self.request.GET.get("kind"), read_given_messages(self.request)
            values = {"kind": kind} if kind in list(FlowKind) else {}
            if given:
                values["phrases"] = "\n".join(shorten_line(message.text, LONGEST_PHRASE) for message in given)
                values["title"] = name_by_words([message.text for message in given])
        return PageForms.show(values, cards_given, "" if self.stored else "field", **self._options)

    def _bind(self) -> PageForms:
        initial = {"code": self._code, "locale": self.stored.get("locale", "")} if self.stored else None
        return PageForms.bind(self.request.POST, initial=initial, **self._options)

    def _reopen(self, bound: PageForms) -> PageForms:
        """The inputs without their errors, and with one more field or question if that was asked for."""
        post = self.request.POST
        values = {name: bound.flow[name].value() for name in bound.flow.fields}
        if _ADD_PHRASES in post:
            values["phrases"] = "\n".join(split_lines("\n".join([values["phrases"], *post.getlist("message")])))
        cards_given = [list_values(formset) for _, formset in bound.list_cards()]
        if _MEND in post:
            self._mend_texts(post[_MEND], values, cards_given)
        added = next((cards.prefix for cards in CARD_LISTS if cards.add_button in post), "")
        return PageForms.show(values, cards_given, added, **self._options)

    def _mend_texts(self, order: str, values: Values, cards_given: list[list[Values]]) -> None:
        """Write another field in the place of one in all texts, or take it out of them."""
        old, _, new = order.partition("=")
        texts = [(values, name) for name in self._list_spoken_names(TEXTS)]
        for cards, listed in zip(CARD_LISTS, cards_given, strict=True):
            texts += [(given, name) for given in listed for name in self._list_spoken_names(cards.texts)]
        for given, name in texts:
            before = str(given[name] or "")
            given[name] = replace_field(before, old, new)
            if not new and given[name] != before:
                self.left_texts.add(given[name])

    def _list_spoken_names(self, names: Sequence[str]) -> list[str]:
        """The names of the inputs of these texts in all languages."""
        return [*names, *(spoken_name(name, language) for name in names for language in self._others)]

    def _is_usable(self, forms: PageForms) -> bool:
        """True when the forms can become a flow; otherwise the problems are noted. A flow that collects needs a
        field.
        """
        if not forms.are_valid():
            self.problems += list(forms.list_problems())
            return False
        if self._asks_country(forms) and not forms.flow.cleaned_data["customers_country"]:
            forms.flow.add_error("customers_country", "Choose one from the list. It is asked only once.")
            self.problems += list(forms.list_problems())
            return False
        self._find_gone_fields(forms)
        if self.gone_fields:
            return False
        self._refuse_misspelled_names(forms)
        if not forms.are_valid():
            self.problems += list(forms.list_problems())
            return False
        kind = forms.flow.cleaned_data["kind"]
        if kind not in ASKING:
            return True
        if kind == FlowKind.collect and not list_filled(forms.fields):
            self.problems.append(SavingProblem("Enter at least one field to collect.", "fields-title"))
            return False
        flow = read_document(*forms, stored=self.stored)
        for form, item in zip(list_filled(forms.refusals), flow["not_allowed"], strict=True):
            for key, problem in find_refusal_problems(item, flow["fields"]):
                form.add_error(key, problem)
        self.problems += list(forms.list_problems())
        return not self.problems

    def _find_gone_fields(self, forms: PageForms) -> None:
        """Fields that were removed and that texts still name: nothing would be shown in their place."""
        advice = self._make_name_advice(forms)
        for text in forms.list_texts():
            for name in advice.list_gone_fields(str(text.value() or "")):
                message = f"“{text.label}” still names the field “{name}”, which is gone."
                self.problems.append(SavingProblem(message, text.id_for_label))
                self.gone_fields.append(name)

    def _refuse_misspelled_names(self, forms: PageForms) -> None:
        """Note an error at each text with a name that is almost that of a field. A task may store any name."""
        if forms.flow.cleaned_data["task"]:
            return
        advice = self._make_name_advice(forms)
        for text in forms.list_texts():
            for problem in advice.find_misspelled(str(text.value() or "")):
                text.form.add_error(text.name, problem)

    def _make_name_advice(self, forms: PageForms) -> NameAdvice:
        return NameAdvice(self.snapshot, self._code, self._stored_names, forms.list_named_fields())

    # --- phrases ------------------------------------------------------------------------------------------------

    def _suggest_messages(self, bound: PageForms) -> None:
        """Suggest stored messages that were not understood. The read is logged. It needs the right to read turns."""
        require_right(self.request, READ_TURNS)
        flow = bound.read_phrases(self.stored)
        snapshot = self._lay_over(flow)
        if not (flow["phrases"] and snapshot):
            return
        write_outside(lambda: access_log().log_row_access(self.request, None))
        stored = inbox().list_messages_not_understood(_COMPARED)
        new = (text for text in stored if text not in flow["phrases"])
        self.suggested = suggest_messages(snapshot, flow["code"], new)

    def _lay_over(self, flow: Values | None) -> Snapshot | None:
        """The configuration with a flow. Returns None for one that cannot be saved."""
        try:
            return lay_flow_over(self.snapshot, self.reading, {**flow, "enabled": True}) if flow else None
        except FlowRefused:
            return None

    # --- advice -------------------------------------------------------------------------------------------------

    def _advise(self, forms: PageForms) -> None:
        """Attach to each input what is doubtful in it, and to texts the names that they can use."""
        if self.request.method == "POST":
            # With many phrases this takes a second: a page that is opened asks for it afterwards.
            self._warn_of_overlaps(forms)
        names = list_names(str(forms.flow["kind"].value()), forms.list_named_fields())
        advice = self._make_name_advice(forms)
        for text in forms.list_texts():
            written = str(text.value() or "")
            text.names = names
            _warn(text, [*advice.check_text(written), *([_HOLE] if written in self.left_texts else [])])
        for form in forms.list_fields("pattern"):
            form.advise_on_pattern()
        for form in forms.list_fields("text"):
            form.advise_on_text()
        locale = str(forms.flow["locale"].value() or live_settings.read(self.snapshot, LOCALE).value)
        for form in forms.list_phones_without_country():
            _warn(form["country"], [describe_assumed_country(self._country_of_customers, locale)])
        self._advise_on_translations(forms)

    def _advise_on_translations(self, forms: PageForms) -> None:
        """Attach to each text of another language why somebody should read it again, or the built-in one."""
        stored = {language: [text for text in self._list_stored(language) if text.note] for language in self._others}
        for first, language, text in forms.list_spoken():
            value, source = (str(field.value() or "") for field in (text, first))
            text.suggested = "" if value else find_built_in_text(source, self._languages[0], language)
            notes = [each.note for each in stored[language] if value and each.text.endswith(value)]
            _warn(text, [*getattr(text, "warnings", ()), *notes])

    def _list_stored(self, language: str) -> Iterator[SpokenText]:
        """The texts of the stored flow, with their translations in a language."""
        own = {(row.table, row.pk) for row in self.reading.stored.values()} if self.reading else set()
        listed = list_spoken_texts(self.snapshot, language) if own else []
        return (text for text in listed if (text.row.table, text.row.pk) in own)

    def _list_languages(self) -> Iterator[tuple[str, str, str]]:
        """The languages to choose from, and how many texts each of them lacks or has to read again."""
        for language in self._languages[1:] and self._languages[:1]:
            yield "", name_language(language), ""
        for language, name in self._others.items():
            counts = Counter(text.state for text in self._list_stored(language))
            again = counts[TextState.CHANGED] + counts[TextState.DRAFT]
            named = {"missing": counts[TextState.MISSING], "to read again": again}
            yield language, name, ", ".join(f"{count} {state}" for state, count in named.items() if count)

    def _asks_country(self, forms: PageForms) -> bool:
        """True for a phone field that names no country, while the workspace has none."""
        user: Any = self.request.user
        if self._country_of_customers or not user.has_perms(list_rights([rows.Config.table], "add", "change")):
            return False
        return forms.flow["kind"].value() in ASKING and bool(forms.list_phones_without_country())

    def _warn_of_overlaps(self, forms: PageForms) -> None:
        """Show warnings below the phrases and questions that are few or that other intents match too."""
        flow = forms.read_phrases(self.stored)
        snapshot = self._lay_over(flow) or self.snapshot
        phrases, questions = flow["phrases"], flow["questions_and_answers"]
        overlaps = find_overlaps(snapshot, flow["code"], phrases)
        _warn(forms.flow["phrases"], [*describe_few_phrases(phrases), *describe_overlaps(self.snapshot, overlaps)])
        for form, item in zip(forms.list_questions(), questions, strict=True):
            overlaps = find_overlaps(snapshot, flow["code"], item["questions"])
            proposed, short_name = name_by_words(item["questions"]), cast("Any", form["short_name"])
            short_name.suggested = proposed if proposed != short_name.value() else ""
            warnings = [*describe_single_phrasing(item["questions"]), *describe_overlaps(self.snapshot, overlaps)]
            _warn(form["questions"], warnings)

    # --- saving -------------------------------------------------------------------------------------------------

    def _may_save(self) -> bool:
        """A reason was given, and nobody else changed the flow since the page was opened."""
        if self.reading and self.request.POST.get("_digest") != self._digest:
            self.problems.append(
                SavingProblem(
                    "Somebody else changed this flow since you opened the page. Check the preview, and save again."
                )
            )
        return bool(reasons.read_reason(self.request)) and not self.problems

    def _store(self, document: Values, forms: PageForms) -> bool:
        """Create or update the flow, and the country if it was asked for. Returns False if there are problems."""
        author, reason = self.request.user.get_username(), reasons.read_reason(self.request)
        try:
            with record_request(self.request):
                if self.reading:
                    update_flow(document, author=author, reason=reason, switch_on=self._switches_on)
                else:
                    create_flow(document, author=author, reason=reason)
                if self._asks_country(forms) and (country := forms.flow.cleaned_data["customers_country"]):
                    store_country(country)
                messages.success(self.request, describe_new_release())
        except ImportRefused as refused:
            self.problems += list(_describe_errors(refused.plan))
        except (FlowRefused, ImportFailed) as refused:
            self.problems.append(SavingProblem(str(refused)))
        return not self.problems

    def _leave(self, flow_code: str) -> HttpResponse:
        """The redirect to the page of the stored flow, or to its workspace for users who may not edit it."""
        user: Any = self.request.user
        url = workspace_url(flow_code)
        if user.has_perms(list_flow_rights("change", "add", "delete")) and read_flow(snapshots.current(), flow_code):
            url = f"{flow_page_url(flow_code)}?saved=1"
        if self.request.headers.get("X-Requested-With") == "fetch":
            return HttpResponse(status=204, headers={"X-Redirect": url})
        return HttpResponseRedirect(url)

    def _show_preview(self, document: Values) -> None:
        """Show what saving would change, or the problems that prevent it."""
        try:
            plan = plan_import(plan_flow(self.snapshot, self.reading, document, switch_on=self._switches_on))
        except FlowRefused as refused:
            self.problems += [SavingProblem(problem) for problem in refused.problems]
            return
        self.problems += [problem for problem in _describe_errors(plan) if problem not in self.problems]
        self.preview = [
            (table_title(table), [_describe_difference(table, each) for each in differences])
            for table, differences in plan.differences.items()
        ]
        if self.reading:
            self.changes = list(self._list_changes(document))
        else:
            first = next(iter(self._languages), "")
            self.summary = summarise_flow(speak_flow(document, first, first))

    def _list_changes(self, document: Values) -> Iterator[Difference]:
        """What changes in the first language, then what changes in each other one besides."""
        first = describe_changes(self.stored, normalise_flow(document))
        yield from first
        for language, name in self._others.items():
            flows = (speak_flow(flow, language, self._languages[0]) for flow in (self._spoken, document))
            for change in describe_changes(*map(normalise_flow, flows)):
                if change not in first:
                    yield replace(change, label=f"{change.label} ({name})")

    # --- the page -----------------------------------------------------------------------------------------------

    def _render(self, forms: PageForms) -> HttpResponse:
        """The page with the forms, the problems, the preview and what was tried."""
        self._advise(forms)
        is_missing = _SAVE in self.request.POST and not reasons.read_reason(self.request)
        context = {
            "title": f"Edit the flow {self.stored['title']}" if self.stored else "Start a flow",
            "form": forms.flow,
            "fields": sort_forms(forms.fields),
            "field_set": forms.fields,
            "refusals": forms.refusals,
            "field_titles": [field["title"] for field in forms.list_named_fields()],
            "deciders": forms.list_deciders(),
            "countries": list_countries().values(),
            "different_countries": DIFFERENT,
            "asks_country": self._asks_country(forms),
            "condition": {"operators": describe_operators(), "fields": list(forms.list_condition_fields())},
            "questions": forms.questions,
            "languages": list(self._list_languages()),
            "language": self.request.POST.get("_language", ""),
            "languages_url": f"{reverse('admin:config_admin_ceresponse_languages')}?{urlencode({'q': self._code})}",
            "kinds": [(kind.value, kind.label, kind.help) for kind in FlowKind],
            "asking": " ".join(ASKING),
            "offered": OFFERED,
            "bound_examples": EXAMPLES,
            "type_hints": TYPE_HINTS,
            "is_checked": self.is_checked,
            "most_open_cards": _MOST_OPEN_CARDS,
            "problems": self.problems,
            "gone_fields": list(dict.fromkeys(self.gone_fields)),
            "new_fields": [each for each in forms.list_named_fields() if each["name"] not in self._stored_names],
            "preview": self.preview,
            "summary": self.summary,
            "changes": self.changes,
            "is_unchanged": bool(self.reading) and self.is_checked and not self.preview and not self.problems,
            "suggested": self.suggested,
            "was_suggested": _SUGGEST in self.request.POST,
            "compared": self.compared,
            "may_suggest": self.request.user.has_perm(READ_TURNS),
            "talk_url": _talk_url(self._code),
            "flow_code": self._code,
            "is_on": self.stored.get("enabled", True),
            "switch_url": self._code and reverse("admin:config_admin_ceintent_switch", args=[self._code]),
            "workspace_url": workspace_url(self._code) if self._code else "",
            "digest": self._digest,
            "kept": list(_list_kept(self.reading)) if self.reading else [],
            "is_off": bool(self.reading and self.reading.is_off),
            "switches_on": self._switches_on,
            "is_saved": "saved" in self.request.GET,
            "hand_overs": list(_list_hand_overs(self.snapshot)),
            "with_questions": " ".join(
                kind.value for kind in FlowKind if kind is not FlowKind.handover or forms.list_questions()
            ),
            "returning": _list_returning_intents(self.snapshot, self.reading),
            "reason": reasons.read_reason(self.request),
            "reason_missing": reasons.explain_blank_reason(self.request) if is_missing else "",
        }
        return TemplateResponse(self.request, "config_admin/start.html", context)


def _talk_url(flow_code: str) -> str:
    """Where somebody talks to a flow as it stands on its page."""
    if flow_code:
        return reverse("admin:config_admin_ceintent_flow_talk", args=[flow_code])
    return reverse("admin:config_admin_ceintent_start_talk")


def _warn(bound_field: Any, warnings: list[str]) -> None:
    bound_field.warnings = warnings


def _list_returning_intents(snapshot: Snapshot, reading: FlowReading | None) -> list[tuple[str, str]]:
    """The intents of other pages that are answered in between, with their workspaces."""
    own = (reading.document["code"], *reading.question_codes) if reading else ()
    listed = [row for row in snapshot.enabled_rows(rows.Intent) if row.returns and row.intent_code not in own]
    return [(row.name, workspace_url(row.intent_code)) for row in listed]


def _list_hand_overs(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """The intents that a wish for a person leads to, with their workspaces."""
    matches = (match_phrases(snapshot, text) for text in _WISHES_FOR_A_PERSON)
    codes = dict.fromkeys(match.intent for matched in matches for match in matched.hits)
    for row in filter(None, (snapshot.row(rows.Intent, intent_code) for intent_code in codes)):
        yield row.name, workspace_url(row.intent_code)


def _list_kept(reading: FlowReading) -> Iterator[tuple[str, str, str]]:
    """What saving does not touch: the row, its link, and why."""
    query = urlencode({FLOW: reading.document["code"]})
    for row in reading.other_rows:
        url = f"{row_url(row.table, row.pk)}?{query}"
        yield row_title(row), url, "made by hand" if row.enabled else "disabled"
    for row, columns in reading.list_changed_columns():
        url = f"{row_url(row.table, row.pk)}?{query}"
        names = ", ".join(column_label(row.table, name) for name in columns)
        yield row_title(row), url, f"other values: {names}" if names else "disabled"
    for table, values in reading.missing:
        yield table_label(table).capitalize(), "", f"deleted or replaced by hand: {values.get('description', '')}"


# --- rows and problems in words -----------------------------------------------------------------------------------


def _describe_difference(table: str, difference: RowDifference) -> PreviewRow:
    """A changed row in the preview, with its changed columns or what it says."""
    content = difference.after if difference.after is not None else difference.before
    text, note = describe_row(row_of(control_plane()[table](**(content or {}))))
    if difference.fields:
        note = ", ".join(column_label(table, name) for name in difference.fields)
    return PreviewRow(difference.how, text, "" if note.endswith(text) else note)


#: The headings of the lists of a document; other parts have an input.
_HEADINGS = {"fields": "fields-title", "not_allowed": "refusals-title"}


def _describe_errors(plan: ImportPlan) -> Iterator[SavingProblem]:
    for error in plan.errors:
        finding = error.finding
        row = plan.placed.wanted.get(finding.table, {}).get(finding.row) or {}
        part = find_part(finding.table, row, finding.field or "") if row else "code"
        anchor = _HEADINGS.get(part, f"id_{part}")
        label = f"{table_label(finding.table)}: {column_label(finding.table, finding.field or '')}"
        yield SavingProblem(f"{label[:1].upper()}{label[1:]}: {finding.message}", anchor)
