"""The groups of people who work with the product, and what each may do here (R18)."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

ROWS = (
    "ceintent", "ceintentclassifier", "cerule", "cestategraph", "cepolicy", "ceoutputschema", "ceprompttemplate",
    "ceresponse", "cecontainerconfig", "cependingaction", "cetool", "cemcptool", "cemcpdbtool", "cemcphttptool",
    "cemcpplanner", "cemcpsqlguardrail", "ceconfig", "ceverbose",
)
SERVERS = ("cemcpserver",)
EDIT = ("view", "add", "change", "delete")


def names(actions, models):
    return {f"{action}_{model}" for action in actions for model in models}


SEE = names(["view"], (*ROWS, *SERVERS, "cerelease"))
GROUPS = {
    "analyst": SEE | names(EDIT, ROWS),
    "config_admin": SEE | names(EDIT, (*ROWS, *SERVERS)) | {"roll_back_release", "import_configuration"},
    "qa": SEE,
    "integrator": set(),
    "operator": {"view_cerelease"},
}


def make_groups(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("config_admin"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for name, codenames in GROUPS.items():
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        group.permissions.add(
            *permissions.filter(content_type__app_label="config_admin", codename__in=codenames)
        )


class Migration(migrations.Migration):
    dependencies = [
        ("config_admin", "0002_shipped_rows"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
