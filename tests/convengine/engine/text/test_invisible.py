import pytest

from convengine.engine.text.invisible import reveal_invisible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay \u202e001\u202c euros", "pay [RLO]001[PDF] euros"),
        ("a\u200bb\ufeff\u00ad", "a[ZWSP]b[BOM][SHY]"),
        ("a\x07b\x00", "a[U+0007]b[U+0000]"),
        ("\u3164", "[HANGUL FILLER]"),
        ("line\nline\ttab", "line\nline\ttab"),
        ("👩\u200d💻 שלום مرحبا", "👩\u200d💻 שלום مرحبا"),
    ],
)
def test_invisible_characters_are_named_and_all_others_stay(text: str, shown: str) -> None:
    assert reveal_invisible(text) == shown
