"""Where the manual keeps its entries; what forms and templates know of it.

The reference is imported when it is first asked: it reads the admin's own words, while the admin is imported before
them, and renders with every template library as it is.
"""

from typing import Any

from django.urls import reverse


def entry_url(anchor: str) -> str:
    """The address of an entry on its page. Whatever has no entry leads to the search for it."""
    from config_admin.manual.reference import places

    place = places().get(anchor)
    if place is None:
        return f"{reverse('manual')}?q={anchor.rpartition('.')[2]}"
    return f"{reverse('manual_reference', args=[place.chapter.slug])}#{anchor}"


def entries_of_form(opts: Any) -> dict[str, Any]:
    """For the script of forms: the entry of the table, and of each field that has one, by the field's name."""
    from config_admin.manual.reference import places

    table = opts.db_table
    if table not in places():
        return {}
    anchors = {field.name: f"{table}.{field.name}" for field in opts.get_fields()}
    fields = {
        name: {"anchor": anchor, "url": entry_url(anchor), "title": places()[anchor].entry.title}
        for name, anchor in anchors.items()
        if anchor in places()
    }
    return {"table": table, "url": entry_url(table), "fields": fields}
