"""The rows that an installation begins with; they become a release of origin MIGRATION when all migrations are done."""

from django.db import migrations

#: R38: a turn that was reset is not answered with "I did not understand". What can be asked for are the intents with a
#: display name; a greeting or a thank-you is given none. Where no intent has one, all are listed. A greeting gets a
#: greeting.
FALLBACK = (
    "{% if reset_reason is defined and reset_reason %}Starting fresh. How can I help you?"
    "{% elif small_talk is defined and small_talk %}{{ small_talk }}"
    "{% else %}Sorry, I did not understand that. Please say in other words what you would like to do."
    "{% if allowed_intents is defined and allowed_intents and allowed_intents is not string %} You can ask for: "
    '{% for intent in (allowed_intents | selectattr("displayName")) or allowed_intents %}{{ intent.name }}'
    "{% if not loop.last %}, {% endif %}{% endfor %}.{% endif %}{% endif %}"
)


def ship(apps, schema_editor):
    apps.get_model("config_admin", "CeResponse").objects.create(
        intent_code="UNKNOWN",
        state_code="UNKNOWN",
        output_format="TEXT",
        response_type="EXACT",
        exact_text=FALLBACK,
        description="The answer when nothing was understood, and after a reset.",
    )
    apps.get_model("config_admin", "CeConfig").objects.create(
        config_type="AgentIntentResolver", config_key="COLLISION_GAP_THRESHOLD", config_value="0.2"
    )


class Migration(migrations.Migration):
    dependencies = [("config_admin", "0001_initial")]

    operations = [migrations.RunPython(ship, migrations.RunPython.noop)]
