"""The finders of all sorts. What those of a deployment find is added for each message (`own_finders`)."""

from collections.abc import Mapping

from convengine.engine.understanding.kinds.choices import ChoiceFinder
from convengine.engine.understanding.kinds.clock import ClockFinder
from convengine.engine.understanding.kinds.contacts import EmailFinder, IbanFinder, PhoneFinder, PostcodeFinder
from convengine.engine.understanding.kinds.date_times import MomentFinder
from convengine.engine.understanding.kinds.days import DayFinder
from convengine.engine.understanding.kinds.lengths import LengthFinder
from convengine.engine.understanding.kinds.numbers import NumberFinder
from convengine.engine.understanding.kinds.patterns import PatternFinder
from convengine.engine.understanding.kinds.persons import PersonFinder
from convengine.engine.understanding.kinds.yes_no import YesNoFinder
from convengine.engine.understanding.span import Finder, Sort

FINDERS: Mapping[Sort, Finder] = {
    Sort.DAY: DayFinder(),
    Sort.CLOCK: ClockFinder(),
    Sort.MOMENT: MomentFinder(),
    Sort.LENGTH: LengthFinder(),
    Sort.NUMBER: NumberFinder(),
    Sort.EMAIL: EmailFinder(),
    Sort.PHONE: PhoneFinder(),
    Sort.POSTCODE: PostcodeFinder(),
    Sort.IBAN: IbanFinder(),
    Sort.PATTERN: PatternFinder(),
    Sort.OPTION: ChoiceFinder(),
    Sort.PERSON: PersonFinder(),
    Sort.YES_NO: YesNoFinder(),
}
