"""Which stored searches are about a participant: certainly, maybe, or not."""

import pytest

from audit.erasure.searches import ParticipantMatch, match_search

NO, MAYBE, YES = ParticipantMatch.NO, ParticipantMatch.MAYBE, ParticipantMatch.YES
LIST_OF_PEOPLE, OTHER_PAGE = "/admin/ce_sessions/ceconversation/", "/admin/audit/ceaudit/find/"
ANNA, MAIL, PHONE = "Anna Schmidt-Müller", "anna@example.org", "491701234567"


@pytest.mark.parametrize(
    ("participant", "search", "path", "match"),
    [
        # The whole name, in any spelling.
        (ANNA, "participant=ANNA++schmidt-muller", OTHER_PAGE, YES),
        (ANNA, "remote_jid=anna+schmidt-m%C3%BCller", OTHER_PAGE, YES),
        (ANNA, "q=anna+schmidt-m%C3%BCller", OTHER_PAGE, YES),
        (ANNA, "q=anna+schmidt-m%C3%BCller", LIST_OF_PEOPLE, YES),
        (ANNA, "text=Anna+Schmidt-M%C3%BCller", "", YES),
        (ANNA, "Anna Schmidt-Müller", "", YES),
        (ANNA, "intent=FEES&q=fees&participant=anna+schmidt-muller", OTHER_PAGE, YES),
        ("7", "participant=7", OTHER_PAGE, YES),
        # A part of the name.
        (ANNA, "participant=anna+schmidt", OTHER_PAGE, MAYBE),
        (ANNA, "participant=chmid", OTHER_PAGE, MAYBE),
        (ANNA, "q=schmidt", LIST_OF_PEOPLE, MAYBE),
        (ANNA, "q=schmidt", OTHER_PAGE, MAYBE),
        (ANNA, "participant=an", OTHER_PAGE, NO),
        (ANNA, "q=an", OTHER_PAGE, NO),
        # Somebody else, whose name has the participant's or shares a word.
        ("anna", "participant=joanna", OTHER_PAGE, NO),
        ("anna", "participant=anna.schmidt@example.org", OTHER_PAGE, NO),
        ("anna", "q=joanna", LIST_OF_PEOPLE, NO),
        (ANNA, "participant=anna+bell", OTHER_PAGE, NO),
        (ANNA, "participant=mueller", OTHER_PAGE, NO),
        # Words with the name or with a part of it.
        (MAIL, "text=refund+for+anna", OTHER_PAGE, MAYBE),
        (MAIL, "q=refund+for+ANNA@example.org", OTHER_PAGE, MAYBE),
        (MAIL, "query=anna.schmidt@mail.test", OTHER_PAGE, MAYBE),
        ("anna", "q=refund+for+joanna", OTHER_PAGE, MAYBE),
        (ANNA, "inbox anna", "", MAYBE),
        (MAIL, "q=refund+fees", OTHER_PAGE, NO),
        # Phone numbers.
        (PHONE, "participant=%2B49+170+1234567", OTHER_PAGE, YES),
        (PHONE, "q=0049-170-1234567", OTHER_PAGE, YES),
        (PHONE, "participant=0170+1234567", OTHER_PAGE, MAYBE),
        (PHONE, "participant=170", OTHER_PAGE, MAYBE),
        (PHONE, "q=call+01701234567+back", OTHER_PAGE, MAYBE),
        ("01701234567", "q=call+491701234567+back", OTHER_PAGE, MAYBE),
        (PHONE, "participant=%2B49+171", OTHER_PAGE, NO),
        # Times, states, codes and numbers.
        ("7", "since=2026-11-07T00:00:00&until=2026-11-07T23:59:59", OTHER_PAGE, NO),
        ("7", "release=7&ms=7", OTHER_PAGE, NO),
        ("2026-11-07", "since=2026-11-07", OTHER_PAGE, NO),
        ("ok", "status=OK", OTHER_PAGE, NO),
        ("anna", "intent=ANNA&anna=1", OTHER_PAGE, NO),
        ("participant", "participant=bell", OTHER_PAGE, NO),
    ],
)
def test_a_search_means_a_participant_certainly_maybe_or_not(
    participant: str, search: str, path: str, match: ParticipantMatch
) -> None:
    assert match_search(search, path, participant) is match
