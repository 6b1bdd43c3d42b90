"""Rows of any table: something in every column that needs it."""

import uuid
from collections.abc import Callable
from decimal import Decimal
from itertools import count
from typing import Any

from django.db import models
from django.utils import timezone

#: Of texts as short as these two random ones in some thousands would be the same now and then.
NUMBERS = count(1)

SAMPLES: tuple[tuple[Any, Callable[[], Any]], ...] = (
    (models.UUIDField, uuid.uuid4),
    (models.DateTimeField, timezone.now),
    (models.BooleanField, bool),
    (models.IntegerField, lambda: 1),
    (models.DecimalField, lambda: Decimal(1)),
    (models.JSONField, dict),
    (models.Field, lambda: f"x{next(NUMBERS):07x}"),
)


def build_row(model: type[models.Model], **given: Any) -> Any:
    """A row that could be stored; rows that it belongs to are the first that there are, or made."""
    for field in model._meta.concrete_fields:
        optional = field.has_default() or field.null or isinstance(field, models.AutoField) or field.name in given
        if not optional:
            other: Any = field.related_model
            given[field.name] = _sample(field) if other is None else other.objects.first() or store_row(other)
    return model(**given)


def store_row(model: type[models.Model], **given: Any) -> Any:
    """A row that is stored."""
    row = build_row(model, **given)
    row.save()
    return row


def _sample(field: Any) -> Any:
    return next(make() for kind, make in SAMPLES if isinstance(field, kind))
