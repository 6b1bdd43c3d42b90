"""The column types of the configuration."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Trim

from config_admin.validation.columns import UNKNOWN_WORD, Bounds, ColumnProblem, Reference, declare_column
from convengine.engine.turn.enums import Vocabulary

Column = TypeVar("Column", bound="models.Field[Any, Any]")
PRIORITY_MAX = 1_000_000
_PRIORITY = ColumnProblem(
    "PRIORITY_RANGE", f"Priority must be a whole number from 0 to {PRIORITY_MAX}. Lower numbers come first."
)
CODE_FORMAT = RegexValidator(
    r"^[A-Z][A-Z0-9_]*$",
    "Use capital letters, digits and underscores, starting with a letter (for example CANCEL_ORDER).",
    "CODE_FORMAT",
)
NAME_FORMAT = RegexValidator(
    r"^[A-Za-z0-9_.-]{1,120}$", "Use only letters, digits, underscores, dots and hyphens.", "CODE_FORMAT"
)


if TYPE_CHECKING:
    _Text = models.CharField[Any, Any]
else:
    _Text = models.CharField


class _Normalised(_Text):
    """A text with one normalised spelling in forms, saves and look-ups."""

    def normalise(self, value: str) -> str:
        raise NotImplementedError

    def to_python(self, value: Any) -> Any:
        value = super().to_python(value)
        return self.normalise(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return self.normalise(value) if isinstance(value, str) else value

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = self.to_python(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, value)
        return value


class CodeField(_Normalised):
    """A code: trimmed, upper case, at most 120 characters."""

    default_validators = [CODE_FORMAT]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 120)
        super().__init__(*args, **kwargs)

    def normalise(self, value: str) -> str:
        return value.strip().upper()


class LowerField(_Normalised):
    """A name: trimmed, lower case."""

    def normalise(self, value: str) -> str:
        return value.strip().lower()


if TYPE_CHECKING:
    _Decimal = models.DecimalField[Any, Any]
else:
    _Decimal = models.DecimalField


class Decimals(_Decimal):
    """A number with a fixed scale. On SQLite, where any column may hold any text, such a text reads as null.

    The backend would raise for it, and so would every page with the table. Migrations know the plain field.
    """

    def select_format(self, compiler: Any, sql: str, params: Any) -> tuple[str, Any]:
        if compiler.connection.vendor != "sqlite":
            return super().select_format(compiler, sql, params)
        return f"CASE WHEN typeof({sql}) IN ('integer', 'real') THEN {sql} END", (*params, *params)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.DecimalField", args, kwargs


for _field in (CodeField, models.CharField):
    _field.register_lookup(Trim, "trim")


def word(
    vocabulary: type[Vocabulary],
    *,
    default: str | None = None,
    unknown: ColumnProblem | None = UNKNOWN_WORD,
    accepted: str = "",
    reference: Reference | None = None,
    **options: Any,
) -> "models.CharField[Any, Any]":
    """A column with one word of a vocabulary.

    The choices are a callable, so that a new word needs no migration. The database does not refuse other words: an old
    row with one is inactive and reported, and does not stop an upgrade.
    """
    if default is not None:
        options |= {"default": default, "db_default": default}
    choices: Callable[[], Any] = vocabulary.choices
    field: models.CharField[Any, Any] = models.CharField(max_length=64, choices=choices, **options)
    return declare_column(field, vocabulary=vocabulary, unknown=unknown, accepted=accepted, reference=reference)


def flag(default: bool, **options: Any) -> "models.BooleanField[Any, Any]":
    """A switch with a default that raw SQL gets too."""
    return models.BooleanField(default=default, db_default=default, **options)


def make_enabled_field() -> "models.BooleanField[Any, Any]":
    return flag(True, help_text="If disabled, the engine ignores it.")


def priority(
    default: int = 100, help_text: str = "Lower numbers come first. Equal numbers are ordered by ID."
) -> "models.IntegerField[Any, Any]":
    """The order among rows of equal specificity."""
    field: models.IntegerField[Any, Any] = models.IntegerField(
        default=default,
        db_default=default,
        validators=[MinValueValidator(0, _PRIORITY.text), MaxValueValidator(PRIORITY_MAX, _PRIORITY.text)],
        help_text=help_text,
    )
    return declare_column(field, bounds=Bounds(0, PRIORITY_MAX, _PRIORITY))


def document(*, default: Callable[[], Any] | None = None, **options: Any) -> "models.JSONField[Any, Any]":
    """A JSON column. Without a default it is required unless `null` is given."""
    if default is not None:
        options |= {
            "default": default,
            "db_default": models.Value(default(), output_field=models.JSONField()),
            "blank": True,
        }
    return models.JSONField(**options)


def optional_text(**options: Any) -> "models.TextField[Any, Any]":
    """A long text that may be absent."""
    return models.TextField(null=True, blank=True, **options)


def optional_name(**options: Any) -> "models.CharField[Any, Any]":
    """A short text that may be absent."""
    return models.CharField(null=True, blank=True, **options)


def note(help_text: str = "What this row is for. Shown wherever people see it.") -> "models.TextField[Any, Any]":
    """The description beside a row's id."""
    return mark_prose(optional_text(help_text=help_text))


def mark_prose(field: Column) -> Column:
    """A column with a text for people or a model, which names no row, field or tool."""
    owner: Any = field
    owner.is_prose = True
    return field


def not_blank(*columns: str, code: str = "SCOPE_BLANK", message: str | None = None) -> list[models.BaseConstraint]:
    """One CHECK per column: the trimmed value is not empty."""
    return [
        models.CheckConstraint(
            condition=~models.Q(**{f"{column}__trim": ""}),
            name=f"%(class)s_{column}_not_blank",
            violation_error_code=code,
            violation_error_message=message or "Enter a value, or ANY for all. It must not be empty.",
        )
        for column in columns
    ]
