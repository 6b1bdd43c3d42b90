"""Optional values that a message takes away: "drop the note", "den Hinweis bitte weglassen" (R109)."""

from collections.abc import Collection

from convengine.engine.forms.form import Field, Form
from convengine.engine.values import Kind, ReadingSituation
from convengine.engine.values.choices import stem_words
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.tokens import TokenText, fold_text

_MAX_LENGTH = 80


def find_emptied_field(
    form: Form, text: str, held: Collection[str], situation: ReadingSituation, asked_path: str | None
) -> str | None:
    """The only optional field that a message names, to leave it out, and about which it says nothing else."""
    if len(text) > _MAX_LENGTH:
        return None
    optional = [
        field
        for field in form.leaves
        if field.path in held
        and field.path != asked_path
        and not (field.required or field.depth or field.spec.kind is Kind.YES_NO)
    ]
    for local in list_situations(situation) if optional else ():
        language = get_language(local.locale)
        tokens = language.read_tokens(text)
        named = [field for field in optional if _leaves_out(field, tokens, language)]
        if len(named) == 1:
            return named[0].path
    return None


def _leaves_out(field: Field, tokens: TokenText, language: Language) -> bool:
    """True for the name of a field with a word that leaves it out, and small words."""
    names = {*field.spec.words, *language.words["kind_names"].get(field.spec.kind.value, ())}
    stems = {stem for name in names for stem in stem_words(fold_text(name), language)}
    words = [token.text for token in tokens.tokens]
    own = [word for word in words if len(word) > 1 and stems.issuperset(stem_words(word, language))]
    others = [word for word in words if word not in own]
    if not own or not all(
        any(language.is_in(table, word) for table in ("emptying_words", "beside_emptying", "fillers"))
        for word in others
    ):
        return False
    start = tokens.offsets[words.index(own[0])]
    is_led = PhraseSet(language.words["emptying_leads"]).match_end(tokens.text, start) > 0
    is_denied = any(language.is_in("denials", word) for word in others)  # "Don't forget the note"
    has_tail = any(PhraseSet(language.words["emptying_tails"]).match_start(tokens.text, at) for at in tokens.offsets)
    return is_led or has_tail or (not is_denied and any(language.is_in("emptying_words", word) for word in others))
