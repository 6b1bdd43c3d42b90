"""Pages that try the unsaved form of a configuration row: `audit` implements them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from django.http import HttpRequest, HttpResponse

from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import ConfigurationName, UnsavedRows


@dataclass(frozen=True)
class UnsavedForm:
    """The form of a configuration row, before it is saved."""

    #: What the row is called: `Rule 7`, or `New rule`.
    title: str
    #: The row as a save would store it; none if the form has errors.
    rows: UnsavedRows
    #: Label and text of each error.
    errors: Sequence[tuple[str, str]] = ()


class WhatIf(Protocol):
    """Compares stored conversations on two configurations."""

    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        """The page that asks for the conversations, for a configuration on which a form lies unsaved."""


class Simulator(Protocol):
    """Plays conversations on any configuration, and stores nothing."""

    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        """The page of a conversation with a configuration on which a form lies unsaved."""


what_if: Callable[[], WhatIf] = partial(conf.load, "WHAT_IF")
simulator: Callable[[], Simulator] = partial(conf.load, "SIMULATOR")
