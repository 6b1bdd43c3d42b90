"""The pages that rename, duplicate, switch, export and delete a topic: a preview, a reason, one release."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.confirmation import ConfirmationQuestion, Refusal, confirm_rows, link_rows
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import flow_page_url, workspace_url
from config_admin.flows.topics.changes import (
    INTENT,
    CodeRefused,
    TopicChange,
    check_new_code,
    delete_topic,
    duplicate_topic,
    rename_topic,
    switch_topic,
)
from config_admin.flows.topics.topic import Topic, export_topic, find_topic, list_needed_tools
from config_admin.releases.renamed_intents import filter_open_conversations
from config_admin.releases.restore_rows import restore_rows
from config_admin.transfer.files import CONTENT_TYPES, YAML
from config_admin.transfer.natural_keys import Contents
from config_admin.validation.labels import row_title, table_title
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import ROW_TYPE_OF, Rule
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page

#: How many names a list has.
NAMED = 12
#: How many conversations are counted.
COUNTED = 100


class NameForm(forms.Form):
    """The new code and the title of a topic."""

    code = forms.CharField(
        label="Code", max_length=120, help_text="A letter, then letters, digits and underscores. They become capitals."
    )
    title = forms.CharField(
        label="Title", max_length=400, required=False, help_text="Shown to users. If empty, the title stays the same."
    )

    def __init__(self, *args: Any, snapshot: Snapshot, topic: Topic, may_stay: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self._snapshot, self._topic, self._may_stay = snapshot, topic, may_stay

    def clean_code(self) -> str:
        try:
            return check_new_code(self._snapshot, self._topic, self.cleaned_data["code"], may_stay=self._may_stay)
        except CodeRefused as refused:
            raise forms.ValidationError(str(refused)) from None


@page("<path:intent>/rename/", of="config_admin.CeIntent")
def rename(request: HttpRequest, intent: str) -> HttpResponse:
    """Ask for the new name, show what changes, and rename."""
    require_right(request, "config_admin.change_ceintent")
    topic, snapshot = _find_topic(request, intent)
    form = _read_name(request, snapshot, topic, may_stay=True)
    if not form.is_valid():
        about = "A new code is written into every row that names it. Past turns keep the old one and find the intent."
        return _ask_name(request, topic, form, f"Rename {topic.intent.name}", about)
    new, title = form.cleaned_data["code"], form.cleaned_data["title"]
    question = ConfirmationQuestion(
        title=f"Rename {topic.intent.name} to {title or new}",
        intro=f"Give the intent {topic.code} the title “{title or topic.intent.name}”? Its code stays.",
        answer="Rename",
        back_url=workspace_url(topic.code),
        inputs=[("code", new), ("title", title)],
        reason=f"Change the title of {topic.code}",
    )
    if new != topic.code:
        question.intro = f"Rename the intent {topic.code} to {new}? All rows that name it change in one release."
        question.notes = [
            *_note_questions(snapshot, topic),
            *_note_rows("Rows of other intents that change too", snapshot, topic.references),
            *_note_mentions(snapshot, topic),
        ]
        question.warnings = _warn_of_conversations(topic, f"Open conversations go on under {new}.")
        question.reason = f"Rename {topic.code} to {new}"
    return _confirm(request, question, rename_topic(snapshot, topic, new, title), new)


@page("<path:intent>/duplicate/", of="config_admin.CeIntent")
def duplicate(request: HttpRequest, intent: str) -> HttpResponse:
    """Ask for the name of the copy, show its rows, and make it."""
    require_right(request, "config_admin.add_ceintent")
    topic, snapshot = _find_topic(request, intent)
    form = _read_name(request, snapshot, topic, may_stay=False)
    if not form.is_valid():
        about = (
            "All rows of the intent are copied under the new code. The copied phrases are off until you change them."
        )
        return _ask_name(request, topic, form, f"Duplicate {topic.intent.name}", about)
    new, title = form.cleaned_data["code"], form.cleaned_data["title"]
    question = ConfirmationQuestion(
        title=f"Duplicate {topic.intent.name} as {title or new}",
        intro=f"Copy all {topic.count} row{pluralize(topic.count)} of “{topic.intent.name}” to {new}? The copied "
        "phrases are off, because they would compete with the original ones. Rows of other intents do not lead to the "
        "copy yet.",
        answer="Duplicate",
        back_url=workspace_url(topic.code),
        inputs=[("code", new), ("title", title)],
        notes=[
            *_note_questions(snapshot, topic),
            *_note_rows("Rows of other intents that name the original", snapshot, topic.references),
        ],
        reason=f"Duplicate {topic.code} as {new}",
    )
    return _confirm(request, question, duplicate_topic(snapshot, topic, new, title), new)


@page("<path:intent>/switch/", of="config_admin.CeIntent")
def switch(request: HttpRequest, intent: str) -> HttpResponse:
    require_right(request, "config_admin.change_ceintent")
    topic, snapshot = _find_topic(request, intent)
    question = _describe_switch(snapshot, topic)
    from_page = request.POST.get("at_once", "")
    if from_page in _RETURNS:
        question.back_url = _RETURNS[from_page](request, topic.code)
        question.inputs = [(name, request.POST[name]) for name in ("at_once", "list_query") if name in request.POST]
    # A button of another page says all of it, unless there is a warning.
    if from_page and not question.warnings and "reason" not in request.POST:
        held: Any = request
        held.POST = request.POST.copy()
        held.POST["reason"] = question.reason
    response = _confirm(request, question, switch_topic(topic, enabled=not topic.intent.enabled), topic.code)
    return HttpResponseRedirect(question.back_url) if isinstance(response, HttpResponseRedirect) else response


def _describe_switch(snapshot: Snapshot, topic: Topic) -> ConfirmationQuestion:
    """What switching means: off for a topic that is on, and the other way round."""
    enabled, name = not topic.intent.enabled, topic.intent.name
    count = topic.count - len(topic.codes)
    if enabled:
        others = f" Its {count} other row{pluralize(count, ' stays as it is,s stay as they are')}." if count else ""
        intro = f"Switch “{name}” on? Users can begin it again.{others}"
    else:
        intro = (
            f"Switch “{name}” off? No conversation begins it until it is on again. Conversations that are in it "
            "finish it. The rows stay as they are."
        )
    counts = [(control_plane()[table]._meta, len(rows)) for table, rows in topic.own.items() if table != INTENT]
    counted = [f"{count} {opts.verbose_name if count == 1 else opts.verbose_name_plural}" for opts, count in counts]
    return ConfirmationQuestion(
        title=f"Switch {name} {'on' if enabled else 'off'}",
        intro=intro,
        answer=f"Switch {'on' if enabled else 'off'}",
        back_url=workspace_url(topic.code),
        notes=[
            Refusal(f"Rows that take {'part again' if enabled else 'no part'}: {', '.join(counted) or 'none'}."),
            *_note_questions(snapshot, topic),
            *_note_rows("Rows of other intents that name it", snapshot, topic.references),
        ],
        warnings=[] if enabled else _warn_of_rules(snapshot, topic),
        reason=f"Switch {topic.code} {'on' if enabled else 'off'}",
    )


def _list_url(request: HttpRequest, _: str) -> str:
    """The list of intents with the search, filters and page that it had. Encoded anew, a query leads nowhere else."""
    query = QueryDict(request.POST.get("list_query", "")).urlencode()
    return reverse("admin:config_admin_ceintent_changelist") + (f"?{query}" if query else "")


#: Where the pages are whose buttons switch at once.
_RETURNS: Mapping[str, Callable[[HttpRequest, str], str]] = {
    "flow": lambda _, topic_code: flow_page_url(topic_code),
    "list": _list_url,
}


@page("<path:intent>/delete_all/", of="config_admin.CeIntent")
def delete(request: HttpRequest, intent: str) -> HttpResponse:
    """Delete the topic with all its rows, unless other rows name it."""
    require_right(request, "config_admin.delete_ceintent")
    topic, snapshot = _find_topic(request, intent)
    naming = _link_rows(snapshot, topic.references)
    others = len(naming)
    question = ConfirmationQuestion(
        title=f"Delete {topic.intent.name}",
        intro=f"Delete “{topic.intent.name}” with all its rows? The releases keep them; undo the release to get them "
        "back.",
        answer=f"Delete {topic.count} row{pluralize(topic.count)}",
        back_url=workspace_url(topic.code),
        danger=True,
        refusals=[
            Refusal(
                f"{others} row{pluralize(others)} of other intents still name{pluralize(others, 's,')} {topic.code}. "
                "Change or delete them first, or switch the intent off instead:",
                naming[:NAMED],
            )
        ]
        if others
        else [],
        notes=[*_note_questions(snapshot, topic), *_note_mentions(snapshot, topic)],
        warnings=[
            *_warn_of_conversations(topic, "Open conversations find no rows of it at their next message."),
            *(f"The draft “{draft.title}” changes rows of it." for draft in topic.list_drafts()),
        ],
        reason=f"Delete {topic.code}",
    )
    return _confirm(request, question, delete_topic(topic), "")


@page("<path:intent>/export/", of="config_admin.CeIntent")
def export(request: HttpRequest, intent: str) -> HttpResponse:
    """What an export contains and what it lacks; `?download=1` is the file."""
    require_right(request, "config_admin.view_ceintent")
    topic, snapshot = _find_topic(request, intent)
    if "download" in request.GET:
        return HttpResponse(
            export_topic(topic),
            content_type=CONTENT_TYPES[YAML],
            headers={"Content-Disposition": f'attachment; filename="{topic.code.lower()}.{YAML}"'},
        )
    needed = link_rows(list_needed_tools(snapshot, topic))
    lacking = [Refusal(f"Tools that it calls and that do not belong to it: {len(needed)}", needed)] if needed else []
    context = {
        "title": f"Export {topic.intent.name}",
        "code": topic.code,
        "counts": [(table_title(table), len(members)) for table, members in topic.own.items() if members],
        "lacking": [*lacking, *_note_rows("Rows of other intents that name it", snapshot, topic.references)],
        "back_url": workspace_url(topic.code),
    }
    return TemplateResponse(request, "config_admin/topic_export.html", context)


def _find_topic(request: HttpRequest, intent: str) -> tuple[Topic, Snapshot]:
    snapshot = get_editor_context(request).snapshot
    topic = find_topic(snapshot, intent)
    if topic is None:
        raise Http404(f"The intent {code(intent)} does not exist.")
    return topic, snapshot


def _read_name(request: HttpRequest, snapshot: Snapshot, topic: Topic, *, may_stay: bool) -> NameForm:
    """The form with the names of the request; unbound when the page is opened."""
    sent = request.POST if request.method == "POST" else request.GET
    initial = {"code": topic.code, "title": topic.intent.display_name or ""}
    return NameForm(
        sent if "code" in sent else None, snapshot=snapshot, topic=topic, may_stay=may_stay, initial=initial
    )


def _ask_name(request: HttpRequest, topic: Topic, form: NameForm, title: str, about: str) -> HttpResponse:
    context = {"title": title, "form": form, "about": about, "back_url": workspace_url(topic.code)}
    return TemplateResponse(request, "config_admin/topic_name.html", context)


def _confirm(request: HttpRequest, question: ConfirmationQuestion, change: TopicChange, target: str) -> HttpResponse:
    """Show the preview; once it is confirmed with a reason, store the rows as one release."""
    question.refusals = [*question.refusals, *map(Refusal, change.problems)]
    question.unchanged = "Nothing would change. Choose another code or title."
    if change.renamed:
        question.renamed = {table_title(INTENT): f"{len(change.renamed)} renamed"}
    list_url = reverse("admin:config_admin_ceintent_changelist")
    store = partial(restore_rows, change.wanted, checked=False)
    preview = confirm_rows(request, question, change.wanted, store, control_plane()[INTENT]._meta)
    return preview or HttpResponseRedirect(workspace_url(target) if target else list_url)


def _note_rows(text: str, snapshot: Snapshot, by_table: Contents) -> list[Refusal]:
    links = _link_rows(snapshot, by_table)
    return [Refusal(f"{text}: {len(links)}", links[:NAMED])] if links else []


def _note_questions(snapshot: Snapshot, topic: Topic) -> list[Refusal]:
    questions = {INTENT: {name: topic.own[INTENT][name] for name in topic.question_codes}}
    return _note_rows("Questions in between, which go with it", snapshot, questions)


def _note_mentions(snapshot: Snapshot, topic: Topic) -> list[Refusal]:
    text = f"Texts with the word {topic.code} that are not changed. Check whether they mean the intent"
    return _note_rows(text, snapshot, topic.mentions)


def _link_rows(snapshot: Snapshot, by_table: Contents) -> list[tuple[str, str]]:
    stored = (snapshot.row(ROW_TYPE_OF[table], pk) for table, members in by_table.items() for pk in members)
    return link_rows(row for row in stored if row is not None)


def _warn_of_rules(snapshot: Snapshot, topic: Topic) -> list[str]:
    """The enabled rules of other intents that lead to the topic."""
    named = [snapshot.row(Rule, pk) for pk in topic.references.get(Rule.table, {})]
    leading = [rule for rule in named if rule and rule.enabled and code(rule.action) == RuleAction.SET_INTENT]
    return [
        f"The rule “{row_title(rule)}” leads to it. While it is off, the conversation stays where it is."
        for rule in leading
    ]


def _warn_of_conversations(topic: Topic, what: str) -> list[str]:
    """A warning if conversations are open in the intent; `what` is a sentence about what happens to them."""
    count = len(filter_open_conversations(topic.code).values_list("pk", flat=True)[: COUNTED + 1])
    if not count:
        return []
    counted = f"More than {COUNTED}" if count > COUNTED else f"{count}"
    return [f"{counted} open conversation{' is' if count == 1 else 's are'} in this intent. {what}"]
