"""Pages of the admin are declared where they are written: their address, their methods, their place in the sidebar."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from inspect import signature
from pkgutil import walk_packages
from typing import Any, TypeVar

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.db.models import BinaryField
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path
from django.views.decorators.http import require_http_methods
from unfold.admin import ModelAdmin

from convengine.server.admin_site.missing_rights import require_right
from convengine.server.database.replica import reads_record

V = TypeVar("V", bound=Callable[..., Any])
#: A page with this right asks for the right to view the model.
VIEW = "view"
#: Modules with such a name, or whose name ends so, declare pages of the admin and calls of the API.
_KINDS = frozenset({"admin", "page", "pages", "view", "views", "api"})


@dataclass(frozen=True)
class SidebarEntry:
    """The entry of a page in the sidebar: its section, title and help."""

    section: str
    title: str
    help: str
    #: Among the entries of its section; the last by default.
    position: int = 99


@dataclass(frozen=True)
class Page:
    """A page below the list of a model."""

    route: str
    #: The end of the name of its address: `admin:<app>_<model>_<name>`.
    name: str
    view: Callable[..., Any]
    methods: Sequence[str] = ()
    #: True if it reads the record from the replica, where there is one.
    from_replica: bool = False
    #: The right that it asks for, or `VIEW`; blank if the view decides, and the sidebar asks for `VIEW`.
    right: str = ""
    entry: SidebarEntry | None = None


#: The pages that are functions, by model.
_PAGES: defaultdict[str, list[Page]] = defaultdict(list)


def page(
    route: str,
    *,
    of: str = "",
    name: str = "",
    methods: Sequence[str] = (),
    from_replica: bool = False,
    right: str = "",
    entry: SidebarEntry | None = None,
) -> Callable[[V], V]:
    """Declare a view as the page at `route` below the list of the model `of`, or of the admin whose method it is.

    Its name comes from the words of the route, unless it is given. A function whose first parameter is `model_admin`
    gets the admin.
    """
    name = name or "_".join(filter(None, re.sub("<[^>]*>", "", route).replace("-", "_").split("/")))

    def declare(view: V) -> V:
        declared = Page(route, name, view, methods, from_replica, right, entry)
        if of:
            _PAGES[of].append(declared)
        else:
            view.admin_page = declared  # type: ignore[attr-defined]
        return view

    return declare


class PagesAdmin(ModelAdmin):
    """The admin of a model with the pages that are declared for it."""

    def get_urls(self) -> list[Any]:
        """Routes of words come before routes with values, which could take them."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(known.route, self.admin_site.admin_view(self._wrap(known)), name=f"{prefix}_{known.name}")
            for known in sorted(self.list_pages(), key=lambda known: known.route.startswith("<"))
        ]
        return [*own, *super().get_urls()]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """The list. Raises IncorrectLookupParameters for a value that only the database refuses."""
        try:
            changelist: ChangeList = super().get_changelist_instance(request)
            return changelist
        except (DataError, OverflowError) as error:
            raise IncorrectLookupParameters(error) from error

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Nobody filters by bytes: no text in an address is a value of theirs."""
        column = lookup.partition("__")[0]
        bytes_columns = {field.name for field in self.opts.concrete_fields if isinstance(field, BinaryField)}
        return column not in bytes_columns and super().lookup_allowed(lookup, value, request)

    def list_pages(self) -> list[Page]:
        """The pages that are declared for the model, and as methods of this class."""
        methods = [getattr(getattr(type(self), name, None), "admin_page", None) for name in dir(type(self))]
        return [*_PAGES[self.opts.label], *filter(None, methods)]

    def _wrap(self, known: Page) -> Callable[..., Any]:
        """The view with its rules; a template gets the context of every page, and the model's `opts`."""
        takes_admin = next(iter(signature(known.view).parameters)) in ("self", "model_admin")
        view = partial(known.view, self) if takes_admin else known.view

        @wraps(known.view)
        def respond(request: HttpRequest, *args: Any, **options: Any) -> HttpResponseBase:
            if known.right == VIEW and not self.has_view_permission(request):
                raise PermissionDenied
            if known.right not in ("", VIEW):
                require_right(request, known.right)
            response: HttpResponseBase = view(request, *args, **options)
            if isinstance(response, TemplateResponse):
                own = {"opts": self.opts, **(response.context_data or {})}
                response.context_data = own if "available_apps" in own else self.admin_site.each_context(request) | own
            return response

        wrapped = reads_record(respond) if known.from_replica else respond
        return require_http_methods(known.methods)(wrapped) if known.methods else wrapped


def import_declarations(package: str) -> None:
    """Import the modules of the package that declare pages and calls."""
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        if module.name.rpartition(".")[2].rpartition("_")[2] in _KINDS:
            import_module(module.name)
