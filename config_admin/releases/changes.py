"""What a change set knows: who, why, and which rows to look at."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models

from config_admin.releases import head
from config_admin.releases.models import CeRelease, Origin

Author = AbstractBaseUser | str | None


@dataclass
class ChangeSet:
    """Rows changed together. What really changed is found by comparison, when the release is made."""

    origin: Origin
    author: Author = None
    reason: str = ""
    #: Opened by a write itself, not by code that says who and why.
    implicit: bool = False
    #: Nobody knows what was written: every row of every table is looked at.
    everything: bool = False
    id: UUID = field(default_factory=uuid4)
    #: Primary keys by table.
    touched: dict[str, set[Any]] = field(default_factory=dict)
    #: Tables of which every row is looked at.
    touched_tables: set[str] = field(default_factory=set)
    #: The release made of it, once it is made.
    release: CeRelease | None = None
    #: The head's write counter after the last recorded write; another value now means a write past the ORM.
    counter: int = 0
    _depth: int = 0

    @property
    def author_name(self) -> str:
        """The author as text: a user's name, or what the caller gave."""
        return self.author.get_username() if isinstance(self.author, AbstractBaseUser) else self.author or ""

    @property
    def tables(self) -> set[str]:
        """The tables with rows to look at, unless it is all of them."""
        return self.touched.keys() | self.touched_tables

    def touch(self, model: type[models.Model], pks: Iterable[Any]) -> None:
        """Say which rows may have changed."""
        pk = model._meta.pk
        assert pk is not None
        self.touched.setdefault(model._meta.db_table, set()).update(pk.to_python(value) for value in pks)

    def touch_table(self, model: type[models.Model]) -> None:
        """Say that any row of a table may have changed."""
        self.touched_tables.add(model._meta.db_table)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Around one write of the ORM, so that the counter's moves inside are accounted for."""
        self._depth += 1
        try:
            if self._depth == 1:
                self.account(head.written())
            yield
            if self._depth == 1:
                self.counter = head.written()
        finally:
            self._depth -= 1

    def account(self, counter: int) -> None:
        """Compare the head's write counter with the writes that were recorded; a gap makes everything suspect."""
        self.everything |= counter != self.counter
        self.counter = counter
