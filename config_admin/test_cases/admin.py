"""Admin of tests: the list, the editor, and the way in and out."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.views import ChangeList

from config_admin.editing.context import get_editor_context
from config_admin.test_cases import run_pages
from config_admin.test_cases.documents import (
    TestRefused,
    build_full_document,
    check_document,
    drop_configuration,
    rename_in_notes,
    split_tags,
    store_test,
)
from config_admin.test_cases.editor import (
    ANSWER,
    FIELD,
    MODES,
    NEW_KINDS,
    Editor,
    accept_observed,
    make_blank_turn,
    offer_observed,
    open_editor,
    read_editor,
)
from config_admin.test_cases.models import CeTestCase, CeTestResult
from config_admin.test_cases.run_pages import RUN
from config_admin.test_cases.runs import SelectedTests, count_tags, list_folders
from config_admin.test_cases.transfer import FILE_ACCEPT, LARGEST_IMPORT, export_tests, import_files
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.codec import to_strict
from convengine.engine.turn.scope import UNKNOWN
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.json_text import read_json
from convengine.files.table_text import decode
from convengine.play.expectations import find_misses
from convengine.play.in_memory import MemoryPlayer
from convengine.play.loading import parse_yaml
from convengine.play.personal_data import describe_personal_data, leave_memory_out
from convengine.server.admin_site.configuration_choice import get_current_name, list_choices, read_name_for
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.read_only import NewestFirst
from convengine.server.admin_site.record_columns import badge_column
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import named_configurations

RESULT_LOOKS = {"PASSED": "success", "FAILED": "danger", "NONE": "default", "ERASED": "warning"}
RESULT_LABELS = {True: ("PASSED", "Passed"), False: ("FAILED", "Failed"), None: ("NONE", "Not run")}
#: Messages that a new test may have at once, and results that the page of a test shows.
_MESSAGES, _RESULTS = 50, 10
#: Bytes of a scenario file that fills the form.
_LARGEST_FILE = 2_000_000


class FolderFilter(admin.SimpleListFilter):
    title, parameter_name = "folder", "folder"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(folder, folder) for folder in list_folders()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        folder = self.value()
        return queryset.filter(pk__in=SelectedTests(folder=folder).query().values("pk")) if folder else queryset


class TagFilter(admin.SimpleListFilter):
    title, parameter_name = "tag", "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(tag, f"{tag} ({count})") for tag, count in count_tags()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(tags__tag=self.value()) if self.value() else queryset


class ResultFilter(admin.SimpleListFilter):
    title, parameter_name = "latest result", "result"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("passed", "Passed"), ("failed", "Failed"), ("none", "Not run")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = {"passed": True, "failed": False}
        if self.value() in wanted:
            return queryset.filter(latest_passed=wanted[str(self.value())])
        return queryset.filter(latest_passed=None) if self.value() == "none" else queryset


class TestList(NewestFirst):
    """The tests in their order, paged by key, with actions."""

    __test__ = False

    def get_results(self, request: HttpRequest) -> None:
        """Read the page; its tests can be chosen for an action."""
        super().get_results(request)
        self.paginator.labels = ("First page", "Next page")
        self.show_admin_actions = True


@admin.register(CeTestCase)
class TestCaseAdmin(PagesAdmin):
    __test__ = False
    list_before_template = "config_admin/test_list_links.html"
    list_display = ("title", "folder", "tag_names", "result_label", "latest_configuration", "owner", "changed_at")
    list_filter = (FolderFilter, TagFilter, ResultFilter)
    search_fields = ("title", "name")
    ordering = ("folder", "title", "test_case_id")
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    actions = ("run_selected", "export_selected")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list without counting."""
        return TestList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With tags and newest results, in two queries."""
        newest = CeTestResult.objects.filter(test_case=OuterRef("pk")).order_by("-result_id")
        tests: QuerySet[Any] = (
            super()
            .get_queryset(request)
            .defer("document")
            .annotate(latest_passed=Subquery(newest.values("passed")[:1]))
            .annotate(latest_title=Subquery(newest.values("run__configuration_title")[:1]))
            .prefetch_related("tags")
        )
        return tests

    @admin.display(description="tags")
    def tag_names(self, case: CeTestCase) -> str:
        return ", ".join(sorted(tag.tag for tag in case.tags.all())) or "–"

    @badge_column(RESULT_LOOKS, "latest result")
    def result_label(self, case: Any) -> tuple[str, str]:
        """The newest result, on any configuration."""
        word, label = RESULT_LABELS[case.latest_passed] if case.erased_at is None else ("ERASED", "Erased")
        return word, label

    @admin.display(description="on")
    def latest_configuration(self, case: Any) -> str:
        """What the newest result is of."""
        return shorten_line(case.latest_title, 40) if case.latest_title else "–"

    @page("<int:test_case_id>/again/", methods=["POST"])
    def again_view(self, request: HttpRequest, test_case_id: int) -> HttpResponse:
        require_right(request, RUN)
        return _start(request, SelectedTests(cases=[test_case_id]))

    def has_run_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(RUN))

    @admin.action(description="Run", permissions=["run"])
    def run_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        """Run the selected tests on the configuration of the session."""
        selection = SelectedTests(cases=sorted(queryset.order_by().values_list("pk", flat=True))[:5000])
        return run_pages.start(request, get_current_name(request), selection, list_url())

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """By number: the log and the notes of the gate outlive the test, and its title may quote a person."""
        cases = list(queryset)
        for case in cases:
            title = f"Test {case.pk}"
            rename_in_notes(case.title, title)
            case.title = title
        return super().log_deletions(request, cases)

    @admin.action(description="Export", permissions=["view"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        keys = list(queryset.order_by().values_list("pk", flat=True))
        return export_tests(CeTestCase.objects.filter(pk__in=keys))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        may_run = self.has_run_permission(request)
        return super().changelist_view(request, {"may_run": may_run, **(extra_context or {})})

    # --- the editor ---------------------------------------------------------------------------------------------

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """A new test: from messages, a file, or a document that another page posts as `document` with a `title`."""
        require_right(request, "config_admin.add_cetestcase")
        if request.method != "POST":
            return self._render_start(request)
        if "do" in request.POST:
            return self._work(request, None)
        try:
            full, dropped = _read_posted(request)
        except TestRefused as refused:
            return self._render_start(request, str(refused))
        if dropped:
            names = ", ".join(dropped)
            messages.info(request, f"Left out, because a test runs on your configuration: {names}.")
        if request.POST.get("without_memory"):
            full = {**leave_memory_out(full), "why": f"{full.get('why') or ''} Its memory is left out.".strip()}
        if is_recorded := "document" in request.POST and not request.POST.get("title"):
            _prepare_recorded(request, full)
        editor = open_editor(full, request.POST.get("folder", ""))
        problem = _offer(request, editor, is_new=True, is_recorded=is_recorded)
        return self._render(request, editor, None, problem=problem)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The test in its editor, with its newest results."""
        case = CeTestCase.objects.filter(pk=parse_whole_number(str(object_id)) or 0).first()
        if case is None:
            gone: HttpResponse = self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
            return gone
        require_right(request, "config_admin.view_cetestcase")
        if request.method == "POST":
            require_right(request, "config_admin.change_cetestcase")
            if request.POST.get("do") == "accept":
                return self._accept(request, case)
            return self._work(request, case)
        return self._render(request, open_editor(build_full_document(case), case.folder), case)

    def _work(self, request: HttpRequest, case: CeTestCase | None) -> HttpResponse:
        """Save, play, or add a turn."""
        editor, wish = read_editor(request.POST), request.POST.get("do")
        if wish == "add":
            editor.turns.append(make_blank_turn())
            return self._render(request, editor, case)
        if wish == "play":
            return self._render(request, editor, case, problem=_offer(request, editor))
        try:
            document = editor.build_document()
            name = {"id": case.name} if case else {}
            user = request.user.get_username()
            stored = store_test({**document, **name}, editor=user, folder=editor.folder, case=case)
        except TestRefused as refused:
            return self._render(request, editor, case, problem=str(refused))
        if wish == "run" and self.has_run_permission(request):
            return _start(request, SelectedTests(cases=[stored.pk]))
        messages.success(request, f"The test “{stored.title}” is saved.")
        return HttpResponseRedirect(test_url(stored.pk))

    def _accept(self, request: HttpRequest, case: CeTestCase) -> HttpResponse:
        """The stored test in its editor, unsaved, with what it gives now in place of what it does not give."""
        editor = open_editor(build_full_document(case), case.folder)
        problem = _offer(request, editor)
        for turn in editor.turns:
            accept_observed(turn)
        problem = problem or _offer(request, editor)
        if not problem:
            messages.info(request, "The test expects what it gives now. Read it, then save it.")
        return self._render(request, editor, case, problem=problem)

    def _render_start(self, request: HttpRequest, problem: str = "") -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "New test",
            "opts": self.opts,
            "problem": problem,
            "choices": list_choices(request),
            "sent": request.POST,
            "accept": FILE_ACCEPT,
        }
        return TemplateResponse(request, "config_admin/test_new.html", context)

    def _render(
        self, request: HttpRequest, editor: Editor, case: CeTestCase | None, *, problem: str = ""
    ) -> HttpResponse:
        user: Any = request.user
        is_erased = case is not None and case.erased_at is not None
        results = case.results.select_related("run").order_by("-result_id")[:_RESULTS] if case else []
        context = {
            **self.admin_site.each_context(request),
            "title": case.title if case else "New test",
            "opts": self.opts,
            "original": case,
            "case": case,
            "editor": editor,
            "modes": MODES.items(),
            "problem": problem,
            "personal_data": _describe_personal_data(editor),
            "choices": list_choices(request),
            "chosen": request.POST.get("configuration", get_current_name(request)),
            "may_change": not is_erased and user.has_perm(f"config_admin.{'change' if case else 'add'}_cetestcase"),
            "may_delete": case is not None and self.has_delete_permission(request, case),
            "may_run": self.has_run_permission(request),
            "results": results,
        }
        return TemplateResponse(request, "config_admin/test_case.html", context)

    # --- files --------------------------------------------------------------------------------------------------

    @page("import/", methods=["POST"])
    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Store the tests of uploaded files."""
        require_right(request, "config_admin.add_cetestcase")
        user: Any = request.user
        files = [(file.name or "", file.read(LARGEST_IMPORT + 1)) for file in request.FILES.getlist("files")]
        report = import_files(
            files,
            editor=user.get_username(),
            folder=request.POST.get("folder", ""),
            may_change=user.has_perm("config_admin.change_cetestcase"),
        )
        if report.test_names:
            messages.success(request, f"Imported: {report.describe()}.")
        elif files and not report.refused:
            messages.info(request, f"{report.describe()}.")
        for name, problem in report.refused[:20]:
            messages.error(request, f"{name}: {problem}")
        if not files:
            messages.error(request, "Choose at least one scenario file, or an archive of such files.")
        return HttpResponseRedirect(list_url())

    @page("export/")
    def export_view(self, request: HttpRequest) -> HttpResponse:
        """All tests as an archive of scenario files."""
        require_right(request, "config_admin.view_cetestcase")
        return export_tests(CeTestCase.objects.all())


def list_url() -> str:
    return reverse("admin:config_admin_cetestcase_changelist")


def test_url(test_case_id: int) -> str:
    return reverse("admin:config_admin_cetestcase_change", args=[test_case_id])


def _describe_personal_data(editor: Editor) -> str:
    """What the test on the page holds; blank for a form that is no test."""
    try:
        return describe_personal_data(editor.build_document())
    except TestRefused:
        return ""


def _start(request: HttpRequest, selection: SelectedTests) -> HttpResponse:
    """Run tests on the configuration that was sent."""
    return run_pages.start(request, request.POST.get("configuration", "live"), selection, list_url())


def _read_upload(data: bytes) -> str:
    """The text of a file. Raises TestRefused."""
    if len(data) > _LARGEST_FILE:
        raise TestRefused(f"A file has at most {_LARGEST_FILE // 1_000_000} MB. Split it.")
    try:
        return decode(data)
    except Unreadable as problem:
        raise TestRefused(str(problem)) from None


def _read_posted(request: HttpRequest) -> tuple[dict[str, Any], list[str]]:
    """The document of a request, and what was left out of it. Raises TestRefused."""
    sent = request.POST
    head = {"title": sent.get("title", "").strip(), "covers": split_tags(sent.get("tags", ""))}
    text = sent.get("document", "").strip()
    if file := request.FILES.get("file"):
        text = _read_upload(file.read(_LARGEST_FILE + 1)).strip()
    if not text:
        lines = [line.strip() for line in sent.get("messages", "").splitlines() if line.strip()]
        if not lines:
            raise TestRefused("Enter at least one message, or choose a scenario file.")
        if len(lines) > _MESSAGES:
            raise TestRefused(f"Enter at most {_MESSAGES} messages, one a line; add further turns later.")
        turns = [{"user": line} for line in lines]
        return {"title": head["title"] or lines[0], "covers": head["covers"], "turns": turns}, []
    try:
        read = read_json if text.startswith("{") else parse_yaml
        document = to_strict(read_apart(text.encode(), read, text))
    except (ValueError, TypeError) as error:
        raise TestRefused(f"The scenario cannot be read: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("turns"), list):
        raise TestRefused("This is not a scenario: the key `turns` is missing.")
    full, dropped = drop_configuration(document)
    full = {**full, **{key: value for key, value in head.items() if value}}
    check_document({"id": "test", "title": "Test", **full})
    return full, dropped


def _prepare_recorded(request: HttpRequest, full: dict[str, Any]) -> None:
    """Name the test of a conversation after its flow, and expect the answer only of its last turn."""
    expected = [turn.get("expect") or {} for turn in full["turns"]]
    for expect in expected[:-1]:
        expect.pop("response", None)
    intents = (expect.get("intent") for expect in reversed(expected))
    intent = next((intent for intent in intents if isinstance(intent, str) and intent != UNKNOWN), "")
    name = get_intent_name(get_editor_context(request).snapshot, intent)
    texts = [name, *(str(turn["user"]) for turn in full["turns"][:1] if turn.get("user"))]
    full["title"] = shorten_line(": ".join(filter(None, texts)), 80)


def _offer(request: HttpRequest, editor: Editor, *, is_new: bool = False, is_recorded: bool = False) -> str:
    """Play the form on the chosen configuration, and offer what its turns gave; returns why that is impossible."""
    try:
        document = editor.build_document()
        scenario = check_document({"id": "test", "title": "Test", **document})
        name = read_name_for(request, request.POST.get("configuration") or get_current_name(request))
        player = MemoryPlayer(scenario, named_configurations().read(name), database_time())
    except (ValueError, LookupError) as refused:
        return str(refused)
    for turn, (given, played) in zip(editor.turns, player.play_all(), strict=True):
        misses, checked = list(find_misses(given.expect, played.seen)), frozenset[str]()
        if is_new and not given.expect:
            checked = NEW_KINDS | ({ANSWER} if turn is editor.turns[-1] else frozenset())
        elif is_recorded and not misses:
            checked = frozenset({FIELD})
        offer_observed(turn, played.seen, misses, checked)
    return ""
