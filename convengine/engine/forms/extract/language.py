"""English words around values: denials, corrections, questions, thanks."""

import re

from convengine.engine.text.words import FILLERS, split_list


def compile_alternatives(text: str) -> str:
    """An alternation of phrases, separated by commas or lines; a blank matches any white space."""
    phrases = (re.sub(r"\s+", r"\\s+", phrase.strip()) for phrase in re.split(r"[,\n]", text))
    return f"(?:{'|'.join(phrase for phrase in phrases if phrase)})"


#: Words too general to name a choice in passing; they count only as an answer.
VAGUE = FILLERS | split_list(
    """all any anything both different every few first good last many more most new next no none normal not
    nothing off ok old on one open other others same second some something two unknown yes"""
)

# --- denied, corrected, asked ------------------------------------------------------------------------------------

#: Denies the words up to a few words later; a bare `no` only the next word.
DENIES = re.compile(
    r"\b(?:\w+n't|"
    + compile_alternatives(
        """not, never, no longer, neither, nor, without, except, excluding, besides, cannot, avoid, hate, dont, doesnt
        didnt, isnt, wasnt, wont, cant, instead of, rather than, other than, anything but, anywhere but, everything but
        apart from, nicht, kein, keine, keinen, pas, jamais, nunca"""
    )
    + r")\b"
)
DENIES_NEXT = re.compile(r"\bno\s+(?:(?:more|longer)\s+)?$")
#: How many words a denial covers.
REACH = 5
#: Denies the words before it.
DENIED = re.compile(
    r"\s*(?:(?:is|was|are|were|'s)\s+(?:definitely\s+|certainly\s+)?(?:not|wrong|incorrect|false|out|no\s+longer)|"
    r"(?:is|was|are|wo|does|did)n'?t|no\s+longer|[:=]\s*no)\b"
)
#: Before something that the user has, or somebody of the user: "my daughter's".
OWNS = re.compile(r"\b(?:(?:my|our)(?:\s+\w+(?:'s|s|s'))?|his|her|their|meine?|unsere?)\s+$")
#: "A, no, B": B is meant.
CORRECTS = re.compile(
    r"\b(?:no\s*[,.!…–-]|no\s+(?:no|wait|sorry|actually|i\s+mean|make|it)\b|"
    + compile_alternatives(
        """nope, wait, sorry, actually, correction, oops, pardon, rather, i mean, i meant, make that, make it
        scratch that, on second thoughts?, but (?:i|we)(?:'d| would)? (?:want|like|need|prefer)"""
    )
    + r"\b)"
)
#: Between two values of one field: "dallas no irving".
BARE_NO = re.compile(r"[\s,.;!?–-]{0,12}\bno[\s,.;!?–-]{0,12}")
#: Between a value and its correction.
TO_CORRECTION = re.compile(
    r"[\s,.;!?…–-]{0,12}(?:\b"
    + compile_alternatives(
        """oh, er, err, um, uh, hm+, no, nope, wait, sorry, actually, correction, oops, pardon, or, rather, well, it's
        its, it is, please, i mean, i meant, make that, make it, make, scratch that, on second thoughts?, should be"""
    )
    + r"\b[\s,.;:!?…–-]{0,12})+"
)
#: A sentence that asks a question.
ASKS = re.compile(
    r"\s*(?:(?:and|but|so)\s+)?"
    + compile_alternatives(
        """what, why, who, whose, which, how much, how many, how long, how far, how big, how small, how heavy
        how old, how often, how soon, how late, how do, how can, how is, where is, where are, where do, where can
        when is, when do, when can, when will, is there, are there, do you, does, whats, hows, wheres, whos
        how's"""
    )
    + r"\b"
)
#: A clause in which users speak about themselves.
STATES = re.compile(
    r"\s*(?:(?:and|but|so|hi|hello|hallo|also)\s+)*(?:i|i'm|i've|i'd|we|we're|my|our|ich|wir|meine?|unsere?)\b"
)
#: A question that names what somebody wants, when it begins a form: "do you make cheesecakes?"
OFFERS = re.compile(
    r".*\b(?:(?:do|can)\s+you\s+(?:do|have|offer|make|sell|rent|sell)|have\s+you\s+got"
    r"|(?:machen|haben|bieten|verkaufen|vermieten)\s+sie|(?:macht|habt|verkauft|vermietet)\s+ihr|gibt\s+es)\b",
    re.DOTALL,
)
#: A question that is a request.
REQUESTS = re.compile(
    r".*\b(?:can|could|may|might|would|will|shall|should)\s+(?:you|i|we)\b|"
    r".*\b(?:kann|kannst|k[oö]nnen|k[oö]nnt|k[oö]nnte|k[oö]nnten|w[uü]rden|d[uü]rfte)\s+(?:ich|du|sie|wir|ihr|man)\b|"
    r".*\b(?:geht|ginge|klappt|w[aä]re)\s+(?:das|es)\b|.*\b(?:ist|is)\s+(?:das|that|it)\s+(?:m[oö]glich|possible)\b|"
    r".*\b(?:is|ist)\s+(?:it|es)\s+(?:already\s+|schon\s+)?(?:too\s+late|zu\s+sp[aä]t|ok|okay|in\s+ordnung)\b|"
    r"\s*(?:how|what)\s+about\b|.*\bplease\b|"
    r".*\b(?:is|are|ist|sind|habt|haben)\b.*\b(?:available|free|frei|verf[uü]gbar|zu\s+haben)\b|"
    r".*\b(?:are|is|do|have|gibt|habt|haben|sind)\b.*\b(?:places?|spaces?|spots?|slots?|left|pl[aä]tze?|termine?)\b",
    re.DOTALL,
)

# --- around an answer --------------------------------------------------------------------------------------------

_MOVES = r"(?:(?:i|we)(?:'m|'re|\s+am|\s+are|\s+will\s+be)?\s+)?(?:moving|relocating|heading|travell?ing)\s+(?:to|into)"
#: Words before an answer that do not belong to it.
LEAD_IN = re.compile(
    rf"(?:(?:{_MOVES}|"
    + compile_alternatives(
        """oh, ok, okay, er, err, um, uh, hm+, ah, well, sure, hi, hello, hey, so, yes, yeah, yep, sorry, wait, actually
        please, just, maybe, probably, perhaps, about, around, approximately, roughly, i think, i guess, i believe
        i would say, i'd say, i'd like, i would like, i'll take, i will take, i want, i need, i choose, i prefer, i pick
        i mean, i meant, let's say, let's go with, let's take, make it, make that, it's, its, it is, that's, that is
        that would be, it would be, it should be, this is, i am, i'm, i live in, we live in, i go to, we go to, from, in
        at, on, to, use, take, go with, the answer is, here it is, here you go, of course"""
    )
    + r")\b[\s,.:!…–-]*)+"
)
#: Introduces a mood as well as a name: "I'm tired".
PERSON = re.compile(r".*\b(?:i|we)(?:'m|'re|\s+am|\s+are)\s+")
COURTESY = re.compile(
    r"[\s,.!…–-]{0,12}\b"
    + compile_alternatives(
        """would be great, would be good, would be fine, would be nice, would be perfect, would be lovely
        please, pls, plz, thx, ty, cheers, ok, okay, thanks a lot, thanks so much, many thanks, thanks
        thank you so much, thank you, if possible"""
    )
    + r"$"
)
#: Answers without information.
SAYS_NOTHING = re.compile(
    r".*\b"
    + compile_alternatives(
        """don't know, dont know, do not know, no idea, not sure, no clue, can't remember, cannot remember, can't say
        don't remember, don't have, do not have, dont have, what do you mean, why do you, rather not, none of your
        tell you later, let me check, let me see, give me a, one moment, hold on, wait a, i forgot, can you, could you
        would you, do you, who are you, what is, what's"""
    )
    + r"\b.*|"
    + compile_alternatives(
        """what, why, who, which, when, where, how, huh, pardon, help, cancel, stop, quit, exit, skip, back, menu, next
        idk, dunno, same, tbd, unknown, n/a
        nevermind, never mind, none, nothing, go back, start over, forget it, no thanks, no thank you, not now, agent
        human, good morning, good afternoon, good evening, leave me alone"""
    )
    + r"\b.{0,20}|"
    + compile_alternatives("hi, hello, hey, thanks, thank you, ok, okay, hm+, um, uh, later, bye, goodbye")
    + r"\b.{0,12}",
    re.DOTALL,
)
#: Names of fields whose values are sentences.
PROSE = split_list(
    """reason summary description comment comments note notes message details text feedback question issue problem
    request explanation remark remarks subject complaint instructions"""
)
SENTENCE = split_list(
    """i i'm i'd i've i'll you we we're they he she want wants need needs would could should is are was were does did
    have has had don't doesn't didn't isn't can't my your"""
)
#: First words of commands, not of names or ids.
COMMANDS = split_list(
    """move send go cancel call ship deliver change use put take bring let give show tell make get come do stop start
    book order transfer switch pay check add remove delete open close connect talk speak"""
)
#: Beginnings of answers without information, where a free text is expected.
KNOWS_NOTHING = re.compile(
    r"(?:i\s+)?(?:really\s+|just\s+)?(?:don't|dont|do\s+not|can't|cannot)\s+(?:know|remember|understand|say)\b"
    r"|(?:no\s+(?:idea|clue)|not\s+sure|idk|dunno|weiss\s+(?:ich\s+)?nicht|keine\s+ahnung|ich\s+weiss\s+(?:es\s+)?nicht)\b"
)
#: Words of fields whose values are names, never sentences.
NAMED = split_list("name names surname firstname lastname city town country vorname nachname ort stadt land")
YES = split_list("yes y yep yeah yup sure ok okay correct true right on absolutely definitely")
NO = split_list("no n nope nah not false off never")

# --- names and their values --------------------------------------------------------------------------------------

#: Between a field name and its value.
EXPLICIT = re.compile(r"\s*(?:[:=]|->|→)\s*|\s+[–-]\s+")
#: "change the NAME to …": the verb before the name, and the word after it.
CHANGES = re.compile(r"\b(?:change|set|update|correct|replace|[aä]nder[ent]?|[aä]ndern|setzen?|korrigieren?)\b")
CHANGED_TO = re.compile(r"\s+(?:(?:in)?to|(?:(?:bitte|doch|mal|lieber)\s+)*(?:auf|in|zu))\s+(?=\S)")
#: The same for values that can be recognised by their kind …
SOFT = re.compile(
    r"(?:'s)?(?: +(?:is|was|are|be|will|would|should|must|shall|of|to|as|at|on|for|equals|number|nr|code|"
    r"i|we|need|want|like|have|about|around|approximately|approx|roughly|only|just|now|exactly|currently|it|the|a|"
    r"actually|it's|i'd|please|"
    r"ist|sind|lautet|ware|soll|sollte|sein|wird|etwa|ungefahr|circa|ca|rund|am|um|auf|fur|ab)\b\.?)* +#?"
)
#: … and for free text.
NAMING = re.compile(
    r"(?:'s)?(?P<verb>(?: +(?:is|was|are|equals|number|no|nr|code|id|to|as|should be|will be|ist|lautet)\b\.?)*) +#?"
)
#: Last words of a name that only say that it is a number or a code.
GENERIC = split_list("id ids number no nr num code ref reference key")
#: Words that describe a thing and are not its value: "my phone is broken".
DESCRIBES = VAGUE | split_list(
    """able about absent afraid alone already also always angry annoyed annoying anxious available away back bad
    badly beautiful because best better big bored broken busy but calm can cheap clear closed confidential
    confused confusing correct could curious damaged dead defective desperate did difficult disappointed does
    down dropped easy empty enough exhausted expensive far fast faulty fine free frustrated full furious give
    given glad gone great had happy hard has have hello here hi high horrible how huge hungry if ill impatient
    important impossible incorrect invalid just lagging large like little locked lonely long lost low mad may
    might mine missing misspelled misspelt mistyped spelled spelt much must nearby need needs nervous nice noisy noted
    obsolete obvious optional or outdated over perfect personal pissed please pleased possible private public puzzled
    quite ready really required right sad satisfied scared secret shocked short should sick silent slow small
    so soon sorry still stolen strange stressed stuck stupid sufficient surprised tell terrible thanks there
    thirsty thx tiny tired told too true unavailable unclear unhappy unsure unusual up upset useless valid
    very want weak weird well what when where who why will worried would wrong yet yours"""
)

# --- numbers -----------------------------------------------------------------------------------------------------

#: Names of counted things, and of money.
COUNTS = split_list("count quantity qty pieces units size")
MONEY = split_list(
    """amount price budget cost costs salary income fee fees payment premium sum money deposit rent revenue balance
    limit wage value loan usd eur gbp inr dollar dollars euro euros pound pounds rupee rupees rs"""
)
_UNIT_FAMILIES = (
    "second sec minute min hour hr day night week fortnight month year yr",
    "g gram kg kilo kilogram ton tonne lb pound ounce oz stone",
    "mm cm m km meter metre kilometer kilometre mile inch foot feet yard",
    "l liter litre ml gallon",
    "percent percentage pct",
    "degree celsius fahrenheit",
)
#: Unit of measure: the number of its family.
UNITS = {unit: number for number, family in enumerate(_UNIT_FAMILIES) for unit in split_list(family)}
#: Words allowed right before a number without other explanation …
BEFORE_NUMBER = split_list(
    "of about around approximately approx roughly exactly need want borrow pay spend lend loan request"
)
#: … and only if there is no other number.
BEFORE_ONLY_NUMBER = split_list("for get take order buy book is be it's like only just say please make that would with")
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
NUMBER_WORDS = dict(zip((*_ONES, *_TENS), (*range(21), *range(30, 100, 10)), strict=True))
