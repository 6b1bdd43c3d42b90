"""Read-only admin pages of the record: newest first, paged by key, never counted."""

from typing import Any

from django.contrib.admin import ShowFacets, display
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import OperationalError, connection
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.views import ChangeList

from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.record_columns import conversation_link
from convengine.server.database.unreadable import mark_unreadable, read_row, read_rows
from convengine.server.interfaces.access_log import access_log

#: The right to open conversations.
CONVERSATIONS = "ce_sessions.view_ceconversation"
#: The query parameter with the row before the page.
BEFORE = "before"


class PageByKey(Paginator):
    template_name = "convengine/older.html"
    #: The address of the next page, or blank.
    older = ""
    #: The address of the first page; blank on the first page.
    newest = ""
    #: What the links to the first and to the next page are called.
    labels = ("Newest", "Older")


class NewestFirst(ChangeList):
    """A list that reads one page and one row more, from the end of the last page."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.request = request
        super().__init__(request, *args, **kwargs)

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """The filters without the page's position."""
        return {name: value for name, value in super().get_filters_params(params).items() if name != BEFORE}

    def get_results(self, request: HttpRequest) -> None:
        """Read the page; `paginator` knows its neighbours."""
        size = self.list_per_page
        wanted = self._behind(request.GET.get(BEFORE))[: size + 1]
        rows = read_rows(wanted) if isinstance(wanted, QuerySet) else list(wanted)
        self.result_list = rows[:size]
        self.paginator = PageByKey(self.result_list, size)
        if len(rows) > size:
            self.paginator.older = self.get_query_string({BEFORE: rows[size - 1].pk})
        if BEFORE in request.GET:
            self.paginator.newest = self.get_query_string(remove=[BEFORE])
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False

    def _behind(self, pk: str | None) -> Any:
        """The rows after one in the list's order; all rows if it does not exist."""
        try:
            last = self.root_queryset.filter(pk=pk).first() if pk else None
        except (ValueError, ValidationError):
            last = None
        if last is None:
            return self.queryset
        wanted, level = Q(), Q()
        for name in self.model_admin.get_ordering(self.request):
            column, way = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
            value = getattr(last, column)
            wanted |= level & Q(**{f"{column}__{way}": value})
            level &= Q(**{column: value})
        return self.queryset.filter(wanted)


class ReadOnlyAdmin(PagesAdmin):
    """No adding, changing or deleting. `ordering` names indexed columns, the primary key last."""

    actions = None
    list_per_page = 15
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    sortable_by = ()
    list_filter_submit = True
    #: Whether the rows contain people's words or data, so that each access is logged.
    is_of_people = False

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """The list, with access logging."""
        changelist = super().get_changelist_instance(request)
        if self.is_of_people:
            access_log().log_row_access(request, None)
        return changelist

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """A row, with access logging."""
        row = self.find_row(request, object_id, from_field)
        if row is not None and self.is_of_people and self.has_view_permission(request, row):
            access_log().log_row_access(request, row)
        return row

    def find_row(self, request: HttpRequest, object_id: str, from_field: str | None) -> Any:
        if connection.vendor != "sqlite":
            return super().get_object(request, object_id, from_field)
        try:
            row = super().get_object(request, object_id, from_field)
        except (TypeError, AttributeError, OperationalError):
            row = None
        return read_row(self.model, object_id) if row is None else mark_unreadable(row)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list without counting."""
        return NewestFirst

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The page of a row, without a history link."""
        return super().change_view(request, object_id, form_url, {"show_history": False} | (extra_context or {}))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes rows here; retention does."""
        return False


class ByConversation(ReadOnlyAdmin):
    """Rows of conversations. The search takes an id, which an index finds, and nothing else."""

    is_of_people = True
    #: Indexed columns to compare with the id.
    search_fields: tuple[str, ...] = ("conversation_id",)
    search_help_text = "Conversation ID"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The rows of exactly this id; none for a text that is no id."""
        wanted = search_term.strip()
        if not wanted:
            return queryset, False
        try:
            for column in self.search_fields:
                matches = queryset.filter(**{column: wanted})
                if matches.exists():
                    return matches, False
        except ValidationError:
            pass
        return queryset.none(), False

    @display(description="conversation")
    def conversation_page(self, row: Any) -> SafeString:
        return conversation_link(row.conversation_id)

    @display(description="conversation")
    def conversation_name(self, row: Any) -> str:
        """Its id, for users who may not open it."""
        return str(row.conversation_id)

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns without links that this user may not open."""
        return self._for(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The fields without links that this user may not open."""
        return self._for(request, super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The read-only fields without links that this user may not open."""
        return self._for(request, super().get_readonly_fields(request, obj))

    def _for(self, request: HttpRequest, names: Any) -> Any:
        if request.user.has_perm(CONVERSATIONS):
            return names
        return tuple("conversation_name" if name == "conversation_page" else name for name in names)
