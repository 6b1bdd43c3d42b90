"""The data of a change set: author, reason, and the rows to compare."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models

from config_admin.releases import head
from config_admin.releases.models import CeRelease, Origin

Author = AbstractBaseUser | str | None


def name_author(author: Any) -> str:
    """The name of a user, or the text itself."""
    return str(author.get_username() if isinstance(author, AbstractBaseUser) else author or "")


@dataclass
class ChangeSet:
    """Rows that may have changed together. The release compares them."""

    origin: Origin
    author: Author = None
    reason: str = ""
    #: Opened by a write itself, without an author and a reason.
    implicit: bool = False
    #: It is unknown what was written: all rows of all tables are compared.
    everything: bool = False
    id: UUID = field(default_factory=uuid4)
    #: Primary keys by table.
    touched: dict[str, set[Any]] = field(default_factory=dict)
    #: Tables whose rows are all compared.
    touched_tables: set[str] = field(default_factory=set)
    #: Who changed a row, by table and primary key, where it was not the author.
    editors: Mapping[tuple[str, Any], int] = field(default_factory=dict)
    #: The new codes of intents that it renames, by the old ones.
    renamed_intents: dict[str, str] = field(default_factory=dict)
    #: It stops a gradual release: neither a draft nor the end of that release is needed.
    is_stop: bool = False
    #: Its release, once it is made.
    release: CeRelease | None = None
    #: The head's write counter after the last recorded write; another value means a write outside of the ORM.
    counter: int = 0
    _depth: int = 0

    @property
    def author_name(self) -> str:
        return name_author(self.author)

    @property
    def tables(self) -> set[str]:
        """The tables to compare, unless it is all of them."""
        return self.touched.keys() | self.touched_tables

    def touch(self, model: type[models.Model], pks: Iterable[Any]) -> None:
        """Mark rows that may have changed."""
        pk = model._meta.pk
        assert pk is not None
        self.touched.setdefault(model._meta.db_table, set()).update(pk.to_python(value) for value in pks)

    def touch_table(self, model: type[models.Model]) -> None:
        """Mark a table where any row may have changed."""
        self.touched_tables.add(model._meta.db_table)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Around one write of the ORM, to account for the counter."""
        self._depth += 1
        try:
            if self._depth == 1:
                self.account(head.read_write_counter())
            yield
            if self._depth == 1:
                self.counter = head.read_write_counter()
        finally:
            self._depth -= 1

    def account(self, counter: int) -> None:
        """Compare the head's write counter with the recorded writes; on a gap, everything is compared."""
        self.everything |= counter != self.counter
        self.counter = counter
