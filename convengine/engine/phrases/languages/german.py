"""German words for phrases."""

from convengine.engine.phrases.languages.language import Language

GERMAN = Language(
    code="de",
    stemmer="german",
    function_words="""
also dafür hierfür
der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem jener jene jenes
ich mich mir mein meine meinen meinem meiner meins du dich dir dein deine deinen deinem er ihn ihm sein seine seinen
seinem seiner sie ihr ihre ihren ihrem ihrer es wir uns unser unsere unseren euch euer eure man jemand etwas was
jemandem jemanden geworden bleibt bleiben kam
bin bist ist sind seid war waren wäre wären gewesen werde wird werden wurde wurden würde würden worden
habe hab habt hast hat haben hatte hatten hätte hätten gehabt kann kannst können könnt konnte konnten könnte könnten
muss musst müssen musste müsste soll sollen sollte sollten darf dürfen dürfte will willst wollen wollte möchte möchten
mag brauche brauch braucht brauchen bräuchte bräuchten ihnen wegen
in im an am auf aus bei beim bis durch für gegen mit nach neben ohne seit über um unter von vom vor zu zum zur
zwischen hinter als wie so dann wenn ob dass oder und aber denn weil
wer wen wem wessen welche welcher welches welchen
bitte danke hallo hey hi guten tag moin servus grüß gott sehr geehrte damen herren entschuldigung sorry ok okay ja
nur auch schon noch mal einmal eben jetzt gerade gern gerne vielleicht wohl eigentlich doch halt denn da hier dort
geht gehen gibt geben gib machen mache macht lassen lass sagen sag sagt wissen weiß weiss glaube denke hilfe helfen
möglich viel viele mehr sich selbst dazu davon damit daran darauf ne nen nem
hätt hätts würd müsst müsstet bräucht möcht wollt wollte wollten wär wärs gibts habts gehts isses mim aufm ausm
beim son sone nochn mach machs bins nochmal nochma moin tach brauchte brauchten benötige benötigen suche such
""",
    light_words="""
nicht wieviel
wann wo warum wieso weshalb wohin woher
heute morgen übermorgen gestern vorgestern vormittag nachmittag mittag abend nacht früh mittags abends
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag wochenende
januar februar märz april mai juni juli august september oktober november dezember
tag tage woche wochen monat monate jahr jahre stunde stunden minute minuten uhr
nächste nächsten nächster nächstes letzte letzten letzter letztes erste ersten bald sofort später früher schnell
halb viertel dreiviertel zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend
euro eur franken dollar
komme kommt kommen sehe sehen schauen passiert
""",
    vague_words="""
aktuell allerdings allgemein alt alte alten anders andere anderen anderes anfang anscheinend bekommen bereits besser
besonders bestimmt bisher bitten bringen deutlich direkt dringend einfach einige ende endlich ernsthaft erst falls fast
finden finde findet frage fragen fertig ganz ganze ganzen genau genug gesamt gleich groß gut gute guten halbe
hoffentlich info
informationen immer immerhin insgesamt irgendwann irgendwie irgendwo jedoch jeweils kaum klappt klein kleine komplett
kurz kürzlich lang lange langsam leider leicht letztens lieber manchmal meist meistens möglichst nämlich neu neue neuen
neues neuer nichts normal normalerweise nötig nun nächstes oft ordnung paar persönlich plötzlich problem probleme
richtig sache schade schlecht schlimm schwer sicher sonst stelle super teil trotzdem überhaupt überall ungefähr
unbedingt unten verschiedene völlig vorher während warte warten weiter weitere weiteren wenig wichtig wieder wirklich
wohin zurzeit zuerst zufrieden zusammen zusätzlich zwar
mutter mama vater papa eltern bruder schwester sohn tochter frau mann ehefrau ehemann partner freund freundin freunde
kind kinder baby familie tante onkel oma opa chef kollege kollegin nachbar nachbarin vermieter
rot blau grün schwarz weiß gelb braun grau
geburtstag weihnachten ostern urlaub ferien sommer winter frühling herbst
berlin hamburg münchen köln frankfurt stuttgart düsseldorf leipzig dresden hannover nürnberg bremen wien zürich bern
paris london rom madrid barcelona amsterdam prag mallorca
deutschland österreich schweiz frankreich spanien italien portugal griechenland türkei england niederlande polen
europa amerika usa
""",
    compounds="""
wie viel
wie viele
wie lange
wie lang
wie teuer
wie hoch
wie groß
wie weit
wie oft
e mail
ein loggen
an melden
""",
    irregular_forms="""
nicht nie niemals kein keine keinen keinem keiner keins
wieviel wieviele
wielange wielang
verlieren verloren verlor verliere
stehlen gestohlen gestohlene stahl geklaut
vergessen vergesse vergaß vergass
bezahlen zahlen bezahle bezahlt zahle zahlt gezahlt zahlung bezahlung
senden gesendet gesandt sende schicken schicke geschickt schickt
kaufen gekauft kaufe kauft
bestellen bestellt bestelle bestellung bestellungen
stornieren storniert storniere stornierung storno
absagen absage abgesagt abzusagen
verschieben verschoben verschiebe verschiebung
kündigen kündige gekündigt kündigung
buchen buche gebucht buchung buchungen
reservieren reserviere reserviert reservierung
liefern geliefert lieferung lieferungen liefert
überweisen überweise überwiesen überweisung überweisungen
sperren sperre gesperrt sperrung
ändern ändere geändert änderung
umziehen umgezogen umzug ziehe gezogen
öffnen öffnet geöffnet offen öffnungszeiten öffnungszeit
schließen schließt geschlossen
ankommen angekommen ankunft
zurückgeben zurückgegeben rückgabe zurückgebe
zurückschicken zurücksenden zurückgeschickt rücksendung retoure retournieren
erstatten erstattet erstattung rückerstattung zurückerstattung
zurücksetzen zurückgesetzt zurücksetzung
anmelden anmeldung angemeldet einloggen eingeloggt login
sprechen spreche gesprochen gespräch
fliegen fliege geflogen flug flüge
kosten kostet
vereinbaren vereinbart vereinbarung
zahn zähne zahnes
kind kinder kindes
mensch menschen
mann männer
haus häuser
arzt ärzte ärztin
schmerz schmerzen schmerzt
rechnung rechnungen
""",
    question_words="was wann wo wie wer wen wem wohin woher welche welcher welches welchen wieviel warum",
    requests="""
ich brauche
ich bräuchte
ich brauch
ich möchte
ich will
ich wollte
ich würde gern
ich würde gerne
ich hätte gern
ich hätte gerne
ich suche
ich benötige
wir brauchen
wir bräuchten
wir möchten
wir wollen
wir würden gern
wir würden gerne
wir hätten gern
wir hätten gerne
wir suchen
wir benötigen
kann ich
könnte ich
können wir
kann man
können sie
könnten sie
könnt ihr
könntet ihr
kannst du
könntest du
würden sie
würdet ihr
machen sie
macht ihr
brauche
bräuchte
hätte gern
hätte gerne
suche
bräucht
hätt gern
hätt gerne
würd gern
würd gerne
möchte
möcht
will
wollte
müsste
müsst
such
benötige
""",
    purposes="für weil da denn damit wegen zum zur zu nach mit am um im in an auf bei von vom ab dass wenn der die das",
    related_words="""
nacht nachts abend abends spät
kosten preis preise gebühr gebühren teuer tarif bezahlen wieteuer
paket päckchen sendung lieferung
mensch mitarbeiter berater person agent
stehlen klauen rauben
geldbeutel geldbörse portemonnaie brieftasche
erhöhen anheben steigern höher
senken verringern reduzieren
stornieren absagen widerrufen kündigen abbestellen
verschieben verlegen umbuchen ändern
erstatten zurückzahlen rückzahlung
passwort kennwort zugangsdaten
urlaub ferien
sperren blockieren einfrieren
entsperren freischalten aktivieren
verlieren verlegt verschwunden weg
kaputt defekt beschädigt
überweisen senden transferieren
geld guthaben bargeld
kontostand guthaben saldo
seltsam komisch merkwürdig verdächtig
unbekannt unberechtigt
telefon handy mobilnummer rufnummer telefonnummer
filiale büro geschäft laden praxis
ändern aktualisieren korrigieren anpassen bearbeiten
sprechen reden telefonieren
termin besuch untersuchung
buchen reservieren vereinbaren ausmachen
wohnung haus
schmerz weh
krank erkrankt
reparieren richten instandsetzen
auto wagen fahrzeug
rechnung beleg quittung
vertrag abo abonnement
internet wlan verbindung netz
fehler falsch störung
rabatt gutschein aktionscode
garantie gewährleistung
umtauschen tauschen austauschen
gepäck koffer tasche
versicherung krankenkasse
strom energie
heizung heizkörper
müll abfall tonne
adresse anschrift
registrieren anmelden
""",
    courtesies="bitte danke hallo hey hi guten tag morgen abend moin servus entschuldigung und",
    particles="denn mal eigentlich bitte so eben halt nochmal genau überhaupt dann",
    contractions="""
gibts gibt es
gehts geht es
isses ist es
wärs wäre es
habts habt ihr
kanns kann es
wos wo ist
""",
    inquiries="""
machen sie
macht ihr
nehmen sie
nehmt ihr
haben sie
habt ihr
gibt es
gibts
kann man
darf man
bieten sie
bietet ihr
ist das
ist es
sind sie
seid ihr
""",
    asking_words="wissen frage fragen ob sagen wüsste",
    denials="nicht kein keine keinen keiner keinem ohne nie",
    spellings="ß:ss ae:a oe:o ue:u",
)
