"""Rows of type SEMANTIC had an example on each line; each example becomes a phrase, which trains the classifier."""

from typing import Any

from django.db import migrations


def make_phrases(apps: Any, schema_editor: Any) -> None:
    """One row for each example; the first keeps the row and its number."""
    classifiers = apps.get_model("config_admin", "CeIntentClassifier").objects
    for row in classifiers.filter(rule_type="SEMANTIC").order_by("pk"):
        examples = [line.strip() for line in row.pattern.splitlines() if line.strip()] or [row.pattern]
        for example in examples:
            row.rule_type, row.pattern = "PHRASE", example
            row.save()
            row.pk, row._state.adding = None, True


class Migration(migrations.Migration):
    dependencies = [("config_admin", "0005_evaluation")]

    operations = [migrations.RunPython(make_phrases, migrations.RunPython.noop)]
