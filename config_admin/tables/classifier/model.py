"""`ce_intent_classifier`: phrases, which find an intent by text, before a model."""

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.classifier.checks import SAVE_CHECKS
from config_admin.tables.model_fields import CodeField, make_enabled_field, not_blank, note, priority, word
from config_admin.validation.columns import REGEX, LanguageByWord, NaturalKey, Problem, Reference, declare_column
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.scope import ANY, UNKNOWN


class CeIntentClassifier(ControlPlaneRow):
    """A pattern that means an intent. Intent and state are its result, not a filter."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "rule_type", "pattern"))

    classifier_id = models.BigAutoField("id", primary_key=True)
    intent_code = declare_column(
        CodeField("resulting intent", help_text="The intent that this phrase leads to."),
        reference=Reference.INTENT,
        refused=Problem("CLASSIFIER_INTENT", "Choose the intent of this phrase. ANY and UNKNOWN are not allowed here."),
    )
    state_code = declare_column(
        CodeField(
            "resulting state",
            default="UNKNOWN",
            db_default="UNKNOWN",
            help_text="The state in which the conversation starts. ANY keeps the current state.",
        ),
        reference=Reference.STATE,
        reserved=(UNKNOWN, ANY),
    )
    rule_type = word(
        ClassifierType,
        unknown=Problem("RULE_TYPE", "Choose {one_of}.{hint}"),
        verbose_name="match type",
    )
    pattern = declare_column(
        models.TextField(
            help_text="For a phrase: a sentence as users type it. Upper and lower case are treated as equal."
        ),
        required=Problem("PATTERN_BLANK", "Enter a pattern."),
        language=LanguageByWord("rule_type", {"REGEX": REGEX}),
    )
    priority = priority(help_text="If several phrases of the intent match, the lowest number sets the state.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent_classifier"
        verbose_name = "phrase"
        indexes = [index("ce_classifier_order", "enabled", "priority")]
        constraints = not_blank("intent_code", "state_code")
