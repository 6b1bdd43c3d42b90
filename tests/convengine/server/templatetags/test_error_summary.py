"""The summary of errors names each field in the order of the page, and links to it."""

from django import forms

from convengine.server.templatetags.error_summary import form_error_summary, summarize_errors


class Booking(forms.Form):
    """A number field and a text field."""

    guests = forms.IntegerField(label="Guests", error_messages={"invalid": "Enter a whole number. Digits only."})
    name = forms.CharField(label="Name")


def test_each_error_names_its_field_and_links_to_it() -> None:
    summary = form_error_summary(Booking({"guests": "many"}))

    assert summary.startswith("2 errors: ")
    assert '<a class="underline" href="#id_guests">“Guests”: Enter a whole number</a>; ' in summary
    assert summary.endswith('<a class="underline" href="#id_name">“Name” is required</a>.')


def test_a_form_without_errors_has_no_summary() -> None:
    assert not summarize_errors([Booking({"guests": "2", "name": "Ada"}), Booking()])


def test_the_forms_of_a_form_set_are_included() -> None:
    bookings = forms.formset_factory(Booking, min_num=1, extra=0)
    data = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "0", "form-0-guests": "2"}

    assert 'href="#id_form-0-name"' in form_error_summary(bookings(data))
