"""Words of turns are folded otherwise ("Straße" as "strasse"): the job indexes all turns again."""

from typing import Any, ClassVar

from django.db import migrations


def delete_words(apps: Any, schema_editor: Any) -> None:
    """Until the job comes to a turn, the search reads its texts."""
    apps.get_model("audit", "CeTurnText").objects.all().delete()


class Migration(migrations.Migration):
    """An empty index of words."""

    dependencies: ClassVar = [("audit", "0003_steps_as_a_list")]
    operations: ClassVar = [migrations.RunPython(delete_words, migrations.RunPython.noop)]
