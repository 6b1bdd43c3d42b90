"""Addresses of the manual's entries, for forms and templates.

The reference is imported at first use, because it reads the admin, which imports this.
"""

from typing import Any

from django.urls import reverse


def entry_url(anchor: str) -> str:
    """The address of an entry on its page, or of a search for it if it does not exist."""
    from config_admin.manual.reference import index_entries

    location = index_entries().get(anchor)
    if location is None:
        return f"{reverse('manual')}?q={anchor.rpartition('.')[2]}"
    return f"{reverse('manual_reference', args=[location.chapter.slug])}#{anchor}"


def describe_entries_of_form(opts: Any) -> dict[str, Any]:
    """For the script of forms: the entries of the table and of its fields, by field name."""
    from config_admin.manual.reference import index_entries

    table = opts.db_table
    if table not in index_entries():
        return {}
    anchors = {field.name: f"{table}.{field.name}" for field in opts.get_fields()}
    fields = {
        name: {"anchor": anchor, "url": entry_url(anchor), "title": index_entries()[anchor].entry.title}
        for name, anchor in anchors.items()
        if anchor in index_entries()
    }
    return {"table": table, "url": entry_url(table), "fields": fields}
