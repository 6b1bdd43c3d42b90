"""English words for phrases."""

from convengine.engine.phrases.languages.language import Language

ENGLISH = Language(
    code="en",
    stemmer="english",
    function_words="""
btw
a an the this that these those some any each every all both such same own other
i me my mine myself we us our ours you your yours yourself u ur he him his she her hers it its they them their one
someone somebody something anything everything thing things stuff
am is are was were be been being do does did done doing have has had having will would shall should can could may
might must ill im ive id its youre youve youd theyre weve wed were thats whats wheres hows theres heres lets
to of in on at by for from with without into onto about over under up down out off as than then so if or and but
because until till while between through during per via before after
what which who whom whose how
please pls plz thanks thank thx hi hello hallo hiya hey dear sir madam sorry ok okay yes well just now also too very
really actually maybe perhaps still already yet even only again currently quite kindly anyway
want wanna need needs needed like would love wish hope try trying going gonna gotta got get gets getting let make
making looking here there
tell say know think thought wonder wondering believe guess ask asking help possible able way
kind sort bit lot much many more most wan na ll re ve
r ya gimme lemme gotta wot lookin gettin wudnt wud cud cld shd abt dya couldya wouldya guys folks yall yous
""",
    light_words="""
when where why not
today tomorrow tonight yesterday morning afternoon evening night noon midnight lunchtime tmrw tmr
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun weekend weekends weekday weekdays
january february march april may june july august september october november december
day days week weeks month months year years hour hours minute minutes
next last first second third ago since soon asap later earlier early
half quarter past one two three four five six seven eight nine ten eleven twelve twenty hundred thousand
euro euros eur dollar dollars usd quid pound pounds gbp bucks
keep use using used come came coming see look say says said go goes happen happened
""",
    vague_words="""
able about absolutely again ago almost along already although always another around away back bad badly basically
because become better big bring brought call called carefully certain certainly clearly complete completely couple
current daily dear definitely different difficult directly double during easily easy either else end enough especially
exactly exact extra extremely fact far fast feel few final finally fine finish first following forward found free
frequently friendly full fully further general generally given good great happy hard hardly help her however idea
immediately important including indeed instead interested issue it'd item keep kept kind large lately latest least
little local long longer look low main manage matter mean meant maybe mention middle mind moment mostly much nearly
never new nice none normally nothing number obviously often old online open opposite ordinary original otherwise own
part particular particularly pass people perfect person personal place plan plus point possible possibly prefer pretty
previous problem process properly put quick quickly rather real reason recent recently regarding regular relevant rest
right run same second seem seems set several short show similar simple simply since situation small somehow sometime
sometimes somewhere special specific start started still stop stuck such suddenly suppose supposed sure taken talk
terrible terribly that'd thing though through time times together total totally trouble true turn type under
unfortunately unless upcoming urgent urgently usual usually various versus via wait whatever whenever wherever whether
while whole within without wondering word work working world worry worth wrong yet
recommend suggestion suggest info information details detail advice advise explain option options question answer
somewhat awful annoying damn bloody hell god
mum mom mother dad father parents brother sister son daughter wife husband partner boyfriend girlfriend friend friends
kid kids child children baby family aunt uncle cousin grandma grandpa grandmother grandfather boss colleague roommate
neighbour neighbor landlord guy man woman lady boy girl
red blue green black white yellow brown grey gray pink purple orange
birthday christmas easter holiday holidays vacation weekend summer winter spring autumn
john jane mike michael david peter paul mary maria anna sarah tom bob james robert lisa laura susan mark chris daniel
smith jones brown miller johnson williams
london paris berlin rome madrid barcelona amsterdam vienna munich hamburg frankfurt dublin lisbon oslo stockholm
copenhagen helsinki athens prague budapest warsaw zurich geneva brussels milan istanbul moscow dubai tokyo beijing
shanghai sydney melbourne toronto vancouver montreal york chicago boston miami dallas houston seattle denver atlanta
angeles francisco vegas orlando philadelphia phoenix detroit manchester edinburgh glasgow
england britain uk ireland scotland germany france spain italy portugal greece turkey austria switzerland netherlands
belgium denmark sweden norway finland poland russia europe america usa canada mexico brazil argentina china japan india
australia africa egypt morocco thailand iceland israel korea vietnam indonesia texas california florida hawaii
""",
    compounds="""
how much
how many
how long
how late
how big
how often
how far
log in
log on
log out
sign up
sign in
sign on
sign out
check in
check out
check up
any more
no longer
phone number
pick up
give back
send back
pay back
call back
cash machine
e mail
top up
set up
opt out
""",
    irregular_forms="""
lose lost losing loses loss
steal stole stolen stealing
forget forgot forgotten forgetting
pay paid paying pays payment payments
send sent
buy bought
come came
go went gone
break broke broken
leave left
find found
give gave given
take took taken
make made
speak spoke spoken
write wrote written
choose chose chosen
receive received recieve recieved
owe owes owed
fly flew flown flying
fall fell fallen
hold held
keep kept
sell sold
spend spent
feel felt
eat ate eaten
drive drove driven
begin began begun
know knew known
see saw seen
hear heard
teach taught
bring brought
catch caught
cancel cancelled canceled cancelling canceling cancellation cancels
deliver delivery delivered deliveries
transfer transferred transferring
refund refunded refunding refunds
withdraw withdrew withdrawn withdrawal
arrive arrival arrived arrives
open opening opened opens
close closing closed closes
tooth teeth
foot feet
child children kid kids
person people persons
woman women
man men
bill billed billing
apply application applied applying
reserve reservation
register registration registered
activate activation
explain explanation
compare comparison
complain complaint complaints
log login loggin logon signin signon
signup
not no never cannot cant dont doesnt didnt wont wouldnt couldnt isnt arent wasnt werent hasnt havent hadnt
exchange swap swapped swapping
expensive expense
higher high highest
cheap cheaper cheapest
big bigger biggest
low lower lowest
late later latest
""",
    question_words="what whats what's when where wheres where's how hows how's who whos which why",
    requests="""
i need
i want
i would like
i should like
i'd like
i would love
i'd love
id like
i'm looking for
im looking for
i am looking for
we need
we want
we would like
we should like
we'd like
we'd love
we're looking for
we are looking for
can i have
can i get
can i book
can i order
can we have
can we get
can we book
can you
can someone
can somebody
could i have
could i get
could i book
could we have
could we get
could you
could someone
could somebody
would you
may i have
please send
do you do
is it possible to
i was hoping to
i was wondering if you could
would like
id love
need
want
wanna
looking for
after a
""",
    purposes="for because since to with on at from in so as when where who which that by",
    related_words="""
night evening late
buy purchase order
luggage baggage suitcase bag
price cost fee charge rate tariff pricing expensive
parcel package shipment delivery mail post
track follow locate
human person agent operator representative advisor employee staff
steal nick rob snatch
wallet purse handbag
increase raise higher bigger extend
decrease lower reduce cut
cancel undo revoke terminate stop end
reschedule postpone move shift delay
refund reimburse reimbursement repayment
password passcode
pin passcode
vacation holiday leave
block freeze lock disable deactivate suspend
unblock unlock unfreeze enable activate
lose miss misplace disappear
find locate search
break damage defective faulty crack
payment transaction charge debit
flight plane fly airline airplane
money cash funds
weird strange odd suspicious unusual
recognise recognize identify
recognise know
unknown unauthorised unauthorized unfamiliar
deposit pay put
email mail address
telephone phone mobile cell number
office branch shop store location
tyre tire
edit update change correct modify amend adjust alter
talk speak chat
bot robot machine chatbot
visit appointment consultation meeting
slot opening availability
book reserve schedule arrange
deadline due
join register signup enrol enroll
apartment flat house home
hurt pain ache sore
doctor physician gp
medicine medication drug pill
ill sick unwell
repair fix mend
car van vehicle auto
bike bicycle cycle
wire transfer send
photo picture image
receipt invoice bill
job position vacancy work
salary wage pay paycheck
contract agreement subscription plan membership
quit leave terminate cancel
internet wifi broadband connection network
slow lag
mistake error wrong
question query
begin start
finish end complete
discount voucher coupon promo code
warranty guarantee
exchange replace swap
return giveback sendback
restaurant diner
table seat
room bed
hotel accommodation
taxi cab ride
insurance coverage cover policy
claim accident
loan credit mortgage
balance amount total
limit maximum cap
statement history
rent lease
meter reading
electricity power energy
heating boiler radiator
water leak pipe
garbage trash waste rubbish bin
lesson class course
exam test
school college university
book novel
meal food dish
hungry eat
recipe cook
film movie
song music track
document form paper
sign signature
name surname
street address
login access account
""",
    courtesies="please thanks thank hi hello hey good morning afternoon evening sorry ok okay and",
    particles="please just actually then though exactly anyway guys folks",
    contractions="""
whats what is
wheres where is
hows how is
whos who is
whens when is
its it is
thats that is
theres there is
youre you are
theyre they are
r are
u you
ur your
wot what
dont do not
doesnt does not
cant can not
""",
    inquiries="""
do you
does it
does the
does your
did you
is there
are there
is it
is the
are you
are the
have you
has the
""",
    asking_words="know wonder wondering ask asking question tell whether if",
    denials="not never without cannot cant dont doesnt didnt wont wouldnt couldnt isnt arent wasnt",
    spellings="ize:ise",
)
