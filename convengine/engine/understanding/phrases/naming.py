"""A name for messages that mean the same: the telling words that most of them share."""

from collections import Counter, defaultdict
from collections.abc import Collection

from convengine.engine.understanding.phrases.terms import detect_languages

#: How many words a name has at most.
_MOST = 3


def name_by_words(texts: Collection[str]) -> str:
    """The commonest telling words of some texts, at most three, in their usual order.

    A blank text if no word tells anything.
    """
    counts: Counter[str] = Counter()
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    positions: defaultdict[str, list[float]] = defaultdict(list)
    language = detect_languages(" ".join(texts))[0]
    for text in texts:
        #: Each telling word with how it is written; words that say when or how many tell nothing.
        terms: dict[str, str] = {}
        telling = {word.term for word in language.read(text) if not word.light}
        for word in language.list_content(text):
            typed = text[word.start : word.end]
            if word.key not in language.small and (term := language.find_term(word.key, typed.casefold())) in telling:
                terms[term] = typed
        counts.update(terms.keys())
        for position, (term, spelling) in enumerate(terms.items()):
            # The first word of a sentence has a capital that is not its own.
            spellings[term][spelling] += 2 if not text.startswith(spelling) else 1
            positions[term].append(position / len(terms))
    commonest = sorted(counts, key=lambda term: (-counts[term], sum(positions[term]) / counts[term]))[:_MOST]
    shared = [term for term in commonest if 2 * counts[term] > counts[commonest[0]]]
    shared.sort(key=lambda term: sum(positions[term]) / counts[term])
    name = " ".join(spellings[term].most_common(1)[0][0] for term in shared)
    return name[:1].upper() + name[1:]
