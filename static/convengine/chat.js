"use strict";
/*
 * A conversation with the bot, on any page:
 *
 *     <script src="https://bot.example/chat.js" async></script>
 *
 * Attributes of the script (none is required):
 *     data-server      address of the bot's server; the origin of this script unless given
 *     data-token       a conversation token that the page's own server got for this visitor
 *     data-token-url   address on the page's own server that answers with such a token
 *     data-target      CSS selector of an element to fill; without it, a button opens a panel
 *     data-open        show the panel at the start
 *     data-lang        a language of TEXTS, such as pt or pt-BR, or another one whose texts the attributes give; unless given, the
 *                      language of the page, or English if TEXTS does not have it
 *     data-scheme      light or dark; what the visitor prefers unless given
 *     data-title, data-greeting, and data-text-… for each other text in TEXTS (data-text-open="Ask us")
 *
 * CSS variables of the page: --convengine-accent, --convengine-on-accent, --convengine-background, --convengine-text,
 * --convengine-bubble, --convengine-font, --convengine-radius, --convengine-width, --convengine-height, --convengine-z-index
 *
 * Event on `document` after each answer: convengine:answer, detail {conversationId, turnNo, turnId}
 *
 * Texts of answers are shown as texts, never as HTML. Styles are constructed sheets in a shadow root, so that a strict
 * Content-Security-Policy of the page needs no exception for them.
 */
(() => {
    // "unread" has a form for one message and a form for several; {} stands for what the chat fills in.
    const TEXTS = {
        en: {
            title: "Chat",
            greeting: "Hello! How can I help you?",
            open: "Open chat",
            close: "Close chat",
            unread: "new message|new messages",
            log: "Conversation",
            field: "Your message",
            placeholder: "Write a message",
            send: "Send",
            use: "Use this",
            offers: "Answers to choose from",
            offered: "Answers to choose from: {}",
            user: "You",
            bot: "Bot",
            person: "Staff",
            passedOn: "Your message was passed on",
            withPerson: "A person is answering you",
            waiting: "Waiting for the answer",
            good: "Good answer",
            bad: "Bad answer",
            helped: "This helped",
            noneHelped: "None of these helped",
            restart: "Start again",
            restartQuestion: "Start again? The bot will forget this conversation.",
            cancel: "Cancel",
            offline: "You are offline. The chat continues automatically when you are online again.",
            unreachable: "No connection to the server. Trying again …",
            busy: "The server is busy. Trying again …",
            crowded: "Many people are writing right now. One moment, please.",
            failed: "The server does not answer. Nothing is lost.",
            retry: "Try again",
            refused: "Your message was not answered.",
            tooLong: "It is too long. Please shorten it.",
            unreadable: "The bot cannot read it. Please write it differently.",
            broken: "The bot has a fault. Please try again later.",
            ended: "This conversation has ended.",
            expired: "This chat has expired. Reload the page to continue.",
            unavailable: "The chat is not available on this page.",
            notRated: "The rating was not stored. Try again later.",
            missing: "Please fill in this field.",
            allowed: "Allowed: {}",
            malformed: "Please check this entry.",
        },
        de: {
            title: "Chat",
            greeting: "Guten Tag! Wie kann ich helfen?",
            open: "Chat öffnen",
            close: "Chat schließen",
            unread: "neue Nachricht|neue Nachrichten",
            log: "Gespräch",
            field: "Ihre Nachricht",
            placeholder: "Nachricht schreiben",
            send: "Senden",
            use: "Übernehmen",
            offers: "Antworten zur Auswahl",
            offered: "Antworten zur Auswahl: {}",
            user: "Sie",
            bot: "Bot",
            person: "Mitarbeiter",
            passedOn: "Ihre Nachricht wurde weitergegeben",
            withPerson: "Ein Mensch antwortet Ihnen",
            waiting: "Die Antwort kommt gleich",
            good: "Gute Antwort",
            bad: "Schlechte Antwort",
            helped: "Das hat geholfen",
            noneHelped: "Nichts davon hat geholfen",
            restart: "Neu beginnen",
            restartQuestion: "Neu beginnen? Der Bot vergisst dieses Gespräch.",
            cancel: "Abbrechen",
            offline: "Sie sind offline. Der Chat geht von selbst weiter, sobald Sie wieder online sind.",
            unreachable: "Keine Verbindung zum Server. Neuer Versuch …",
            busy: "Der Server ist ausgelastet. Neuer Versuch …",
            crowded: "Gerade schreiben viele Menschen. Einen Moment bitte.",
            failed: "Der Server antwortet nicht. Es geht nichts verloren.",
            retry: "Noch einmal versuchen",
            refused: "Ihre Nachricht wurde nicht beantwortet.",
            tooLong: "Sie ist zu lang. Bitte kürzen Sie sie.",
            unreadable: "Der Bot kann sie nicht lesen. Bitte schreiben Sie sie anders.",
            broken: "Der Bot hat einen Fehler. Bitte versuchen Sie es später noch einmal.",
            ended: "Dieses Gespräch ist beendet.",
            expired: "Dieser Chat ist abgelaufen. Laden Sie die Seite neu, um fortzufahren.",
            unavailable: "Der Chat ist auf dieser Seite nicht verfügbar.",
            notRated: "Die Bewertung wurde nicht gespeichert. Versuchen Sie es später noch einmal.",
            missing: "Bitte füllen Sie dieses Feld aus.",
            allowed: "Erlaubt: {}",
            malformed: "Bitte prüfen Sie diese Angabe.",
        },
        es: {
            title: "Chat",
            greeting: "Hola, ¿en qué puedo ayudarle?",
            open: "Abrir el chat",
            close: "Cerrar el chat",
            unread: "mensaje nuevo|mensajes nuevos",
            log: "Conversación",
            field: "Su mensaje",
            placeholder: "Escriba un mensaje",
            send: "Enviar",
            use: "Aceptar",
            offers: "Respuestas para elegir",
            offered: "Respuestas para elegir: {}",
            user: "Usted",
            bot: "Bot",
            person: "Equipo",
            passedOn: "Su mensaje se ha transmitido",
            withPerson: "Le responde una persona",
            waiting: "Esperando la respuesta",
            good: "Buena respuesta",
            bad: "Mala respuesta",
            helped: "Esto me ayuda",
            noneHelped: "Nada de esto me ayuda",
            restart: "Empezar de nuevo",
            restartQuestion: "¿Empezar de nuevo? El bot olvidará esta conversación.",
            cancel: "Cancelar",
            offline: "No hay conexión a internet. El chat continuará solo en cuanto vuelva la conexión.",
            unreachable: "Sin conexión con el servidor. Nuevo intento…",
            busy: "El servidor está ocupado. Nuevo intento…",
            crowded: "Hay muchas personas escribiendo ahora. Un momento, por favor.",
            failed: "El servidor no responde. No se ha perdido nada.",
            retry: "Reintentar",
            refused: "Su mensaje no ha recibido respuesta.",
            tooLong: "Es demasiado largo. Acórtelo, por favor.",
            unreadable: "El bot no puede leerlo. Escríbalo de otra forma, por favor.",
            broken: "El bot tiene un fallo. Inténtelo más tarde, por favor.",
            ended: "Esta conversación ha terminado.",
            expired: "Este chat ha caducado. Recargue la página para continuar.",
            unavailable: "El chat no está disponible en esta página.",
            notRated: "La valoración no se ha guardado. Inténtelo más tarde.",
            missing: "Rellene este campo, por favor.",
            allowed: "Valores permitidos: {}",
            malformed: "Revise este dato, por favor.",
        },
        fr: {
            title: "Chat",
            greeting: "Bonjour\u00a0! Comment puis-je vous aider\u00a0?",
            open: "Ouvrir le chat",
            close: "Fermer le chat",
            unread: "nouveau message|nouveaux messages",
            log: "Conversation",
            field: "Votre message",
            placeholder: "Écrivez un message",
            send: "Envoyer",
            use: "Valider",
            offers: "Réponses au choix",
            offered: "Réponses au choix\u00a0: {}",
            user: "Vous",
            bot: "Bot",
            person: "Équipe",
            passedOn: "Votre message a été transmis",
            withPerson: "Une personne vous répond",
            waiting: "La réponse arrive",
            good: "Bonne réponse",
            bad: "Mauvaise réponse",
            helped: "C’est utile",
            noneHelped: "Rien de cela n’est utile",
            restart: "Recommencer",
            restartQuestion: "Recommencer\u00a0? Le bot oubliera cette conversation.",
            cancel: "Annuler",
            offline: "Vous êtes hors ligne. Le chat reprendra de lui-même dès que vous serez de nouveau en ligne.",
            unreachable: "Pas de connexion au serveur. Nouvelle tentative…",
            busy: "Le serveur est occupé. Nouvelle tentative…",
            crowded: "Beaucoup de personnes écrivent en ce moment. Un instant, s’il vous plaît.",
            failed: "Le serveur ne répond pas. Rien n’est perdu.",
            retry: "Réessayer",
            refused: "Votre message est resté sans réponse.",
            tooLong: "Il est trop long. Veuillez le raccourcir.",
            unreadable: "Le bot ne peut pas le lire. Veuillez l’écrire autrement.",
            broken: "Le bot a un problème. Veuillez réessayer plus tard.",
            ended: "Cette conversation est terminée.",
            expired: "Ce chat a expiré. Rechargez la page pour continuer.",
            unavailable: "Le chat n’est pas disponible sur cette page.",
            notRated: "L’évaluation n’a pas été enregistrée. Veuillez réessayer plus tard.",
            missing: "Veuillez remplir ce champ.",
            allowed: "Valeurs possibles\u00a0: {}",
            malformed: "Veuillez vérifier cette saisie.",
        },
        it: {
            title: "Chat",
            greeting: "Salve! Come posso aiutarLa?",
            open: "Apri la chat",
            close: "Chiudi la chat",
            unread: "nuovo messaggio|nuovi messaggi",
            log: "Conversazione",
            field: "Il Suo messaggio",
            placeholder: "Scriva un messaggio",
            send: "Invia",
            use: "Conferma",
            offers: "Risposte tra cui scegliere",
            offered: "Risposte tra cui scegliere: {}",
            user: "Lei",
            bot: "Bot",
            person: "Operatore",
            passedOn: "Il Suo messaggio è stato inoltrato",
            withPerson: "Le risponde una persona",
            waiting: "In attesa della risposta",
            good: "Risposta utile",
            bad: "Risposta non utile",
            helped: "Questo mi aiuta",
            noneHelped: "Niente di questo mi aiuta",
            restart: "Ricomincia",
            restartQuestion: "Ricominciare? Il bot dimenticherà questa conversazione.",
            cancel: "Annulla",
            offline: "Manca la connessione a Internet. La chat riprenderà da sola quando la connessione tornerà.",
            unreachable: "Nessuna connessione al server. Nuovo tentativo…",
            busy: "Il server è occupato. Nuovo tentativo…",
            crowded: "In questo momento scrivono molte persone. Un attimo, per favore.",
            failed: "Il server non risponde. Nulla è andato perso.",
            retry: "Riprova",
            refused: "Il Suo messaggio non ha ricevuto risposta.",
            tooLong: "È troppo lungo. Lo accorci, per favore.",
            unreadable: "Il bot non riesce a leggerlo. Lo scriva in un altro modo, per favore.",
            broken: "Il bot ha un problema. Riprovi più tardi, per favore.",
            ended: "Questa conversazione è terminata.",
            expired: "Questa chat è scaduta. Ricarichi la pagina per continuare.",
            unavailable: "La chat non è disponibile in questa pagina.",
            notRated: "La valutazione non è stata salvata. Riprovi più tardi.",
            missing: "Compili questo campo, per favore.",
            allowed: "Valori ammessi: {}",
            malformed: "Controlli questo dato, per favore.",
        },
        pt: {
            title: "Chat",
            greeting: "Olá! Como posso ajudar?",
            open: "Abrir o chat",
            close: "Fechar o chat",
            unread: "mensagem nova|mensagens novas",
            log: "Conversa",
            field: "Mensagem",
            placeholder: "Escreva uma mensagem",
            send: "Enviar",
            use: "Confirmar",
            offers: "Respostas para escolher",
            offered: "Respostas para escolher: {}",
            user: "Visitante",
            bot: "Bot",
            person: "Atendimento",
            passedOn: "A mensagem foi encaminhada",
            withPerson: "Uma pessoa responde agora",
            waiting: "À espera da resposta",
            good: "Boa resposta",
            bad: "Má resposta",
            helped: "Isto ajudou",
            noneHelped: "Nada disto ajudou",
            restart: "Recomeçar",
            restartQuestion: "Recomeçar? O bot esquecerá esta conversa.",
            cancel: "Cancelar",
            offline: "Sem internet. O chat continua automaticamente quando a internet voltar.",
            unreachable: "Sem acesso ao servidor. Nova tentativa…",
            busy: "O servidor está ocupado. Nova tentativa…",
            crowded: "Muitas pessoas escrevem neste momento. Um instante, por favor.",
            failed: "O servidor não responde. Nada se perdeu.",
            retry: "Tentar novamente",
            refused: "A mensagem ficou sem resposta.",
            tooLong: "É longa demais. Encurte-a, por favor.",
            unreadable: "O bot não consegue ler a mensagem. Escreva-a de outra forma, por favor.",
            broken: "O bot tem um problema. Tente mais tarde, por favor.",
            ended: "Esta conversa terminou.",
            expired: "Este chat expirou. Recarregue a página para continuar.",
            unavailable: "O chat não está disponível nesta página.",
            notRated: "A avaliação não foi guardada. Tente mais tarde.",
            missing: "Preencha este campo, por favor.",
            allowed: "Valores permitidos: {}",
            malformed: "Verifique este dado, por favor.",
        },
        nl: {
            title: "Chat",
            greeting: "Goedendag! Waarmee kan ik u helpen?",
            open: "Chat openen",
            close: "Chat sluiten",
            unread: "nieuw bericht|nieuwe berichten",
            log: "Gesprek",
            field: "Uw bericht",
            placeholder: "Schrijf een bericht",
            send: "Versturen",
            use: "Overnemen",
            offers: "Antwoorden om uit te kiezen",
            offered: "Antwoorden om uit te kiezen: {}",
            user: "U",
            bot: "Bot",
            person: "Medewerker",
            passedOn: "Uw bericht is doorgegeven",
            withPerson: "Een medewerker geeft u antwoord",
            waiting: "Het antwoord komt eraan",
            good: "Goed antwoord",
            bad: "Slecht antwoord",
            helped: "Dit heeft geholpen",
            noneHelped: "Niets hiervan heeft geholpen",
            restart: "Opnieuw beginnen",
            restartQuestion: "Opnieuw beginnen? De bot vergeet dit gesprek.",
            cancel: "Annuleren",
            offline: "U bent offline. De chat gaat vanzelf verder zodra u weer online bent.",
            unreachable: "Geen verbinding met de server. Nieuwe poging…",
            busy: "De server heeft het druk. Nieuwe poging…",
            crowded: "Er schrijven nu veel mensen. Een ogenblik, alstublieft.",
            failed: "De server antwoordt niet. Er gaat niets verloren.",
            retry: "Opnieuw proberen",
            refused: "Uw bericht is niet beantwoord.",
            tooLong: "Het is te lang. Maak het korter, alstublieft.",
            unreadable: "De bot kan het niet lezen. Schrijf het anders, alstublieft.",
            broken: "De bot heeft een storing. Probeer het later opnieuw, alstublieft.",
            ended: "Dit gesprek is beëindigd.",
            expired: "Deze chat is verlopen. Laad de pagina opnieuw om verder te gaan.",
            unavailable: "De chat is op deze pagina niet beschikbaar.",
            notRated: "De beoordeling is niet opgeslagen. Probeer het later opnieuw.",
            missing: "Vul dit veld in, alstublieft.",
            allowed: "Toegestaan: {}",
            malformed: "Controleer dit gegeven, alstublieft.",
        },
    };

    // Lengths are in em of the visitor's own font size: what the page sets for itself does not reach in here.
    const buildStyle = (darkMedia) => `
        :host { display: contents !important; }
        .root {
            all: initial;
            --accent: var(--convengine-accent, #8200db);
            --on-accent: var(--convengine-on-accent, #fff);
            --background: var(--convengine-background, #fff);
            --text: var(--convengine-text, #1b1f24);
            --bubble: var(--convengine-bubble, #eef1f5);
            --muted: #545d68; --line: #7d8590; --person: #fff3d1; --error: #fdecea; --error-text: #8c1d18;
            color: var(--text);
            color-scheme: light;
            font-family: var(--convengine-font, system-ui, sans-serif);
            line-height: 1.45;
            overflow-wrap: anywhere;
        }
        @media ${darkMedia} {
            .root {
                --background: var(--convengine-background, #1b1f24);
                --text: var(--convengine-text, #e8ebef);
                --bubble: var(--convengine-bubble, #2d333b);
                --muted: #a9b2bd; --line: #768390; --person: #43391c; --error: #4a1f1c; --error-text: #ffd9d5;
                color-scheme: dark;
            }
        }
        .floating { position: fixed; inset-block-end: 1em; inset-inline-end: 1em; z-index: var(--convengine-z-index, 2147483000); pointer-events: none; }
        .floating > * { pointer-events: auto; }
        .filling { display: block; block-size: 100%; min-block-size: 20em; }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        .unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        button, input, textarea { margin: 0; font: inherit; color: inherit; }
        button {
            display: inline-flex; align-items: center; justify-content: center; gap: .5em;
            min-inline-size: 2.5em; min-block-size: 2.5em; padding: .25em .75em;
            border: 1px solid var(--line); border-radius: 1.25em; background: var(--background); cursor: pointer;
            text-align: start;
        }
        button:hover { text-decoration: underline; }
        button[aria-disabled=true] { opacity: .55; cursor: default; text-decoration: none; }
        :focus-visible { outline: 2px solid var(--text); outline-offset: 2px; }
        svg { flex: none; inline-size: 1.25em; block-size: 1.25em; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }

        .launcher {
            float: inline-end; min-block-size: 3em; padding: .5em 1.1em;
            border-color: var(--on-accent); border-radius: 1.5em; background: var(--accent); color: var(--on-accent);
            box-shadow: 0 2px 10px #0005;
        }
        .count { padding: 0 .5em; border-radius: 1em; background: var(--on-accent); color: var(--accent); font-weight: 600; }
        .panel { display: flex; flex-direction: column; overflow: hidden auto; background: var(--background); border: 1px solid var(--line); }
        .floating .panel {
            inline-size: min(var(--convengine-width, 24em), calc(100vw - 2em));
            block-size: min(var(--convengine-height, 40em), calc(100vh - 6em));
            margin-block-end: 1em; border-radius: var(--convengine-radius, .75em); box-shadow: 0 6px 30px #0004;
        }
        .filling .panel { block-size: 100%; min-block-size: inherit; border-radius: var(--convengine-radius, .75em); }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: .25em; padding-block: .4em; padding-inline: 1em .5em; background: var(--accent); color: var(--on-accent); }
        header :focus-visible { outline-color: var(--on-accent); outline-offset: -3px; }
        h2 { flex: 1; min-inline-size: 4em; margin: 0; font-size: 1.1em; }
        header button { border-color: transparent; background: none; padding-inline: .6em; }
        .with-person { flex-basis: 100%; order: 1; padding-block-end: .2em; font-size: .9em; }

        /* Reversed, so that browsers keep the end in view when the list or its content changes its size. */
        .log { display: flex; flex-direction: column-reverse; flex: 1 0 5em; block-size: 5em; overflow: hidden auto; overscroll-behavior: contain; }
        .list { margin-block-end: auto; padding: 1em 1em .25em; }
        .log:focus-visible { outline-offset: -3px; }
        .item { display: flex; flex-direction: column; align-items: flex-start; margin-block-end: .75em; }
        .item.user { align-items: flex-end; }
        .bubble {
            max-inline-size: 88%; margin: 0; padding: .5em .8em; overflow: hidden;
            border: 1px solid transparent; border-radius: .9em; background: var(--bubble);
            white-space: pre-wrap; unicode-bidi: plaintext;
        }
        .user .bubble { background: var(--accent); color: var(--on-accent); }
        .person .bubble { background: var(--person); border-color: var(--line); }
        .author { margin-block-end: .15em; color: var(--muted); font-size: .85em; font-weight: 600; }
        .bubble a { color: inherit; unicode-bidi: isolate; }
        .cards { display: flex; flex-direction: column; align-items: flex-start; gap: .4em; inline-size: 88%; margin-block: .4em; }
        .card { inline-size: 100%; padding: .5em .8em; border: 1px solid var(--line); border-radius: .6em; }
        .card p { margin: 0 0 .4em; }
        .card a { color: inherit; }
        .cards button { min-block-size: 2em; font-size: .9em; }
        .cards button[aria-pressed=true] { border-color: var(--text); background: var(--text); color: var(--background); }
        .rating { display: flex; gap: .25em; margin-block-start: .15em; }
        .rating button { min-inline-size: 1.9em; min-block-size: 1.9em; padding: .2em; border-color: transparent; color: var(--muted); }
        .rating button[aria-pressed=true] { border-color: var(--text); background: var(--text); color: var(--background); }
        .rating svg { inline-size: 1em; block-size: 1em; }
        .down svg { rotate: 180deg; }

        .typing { display: flex; gap: .3em; padding: 0 1.25em .75em; }
        .typing span { inline-size: .5em; block-size: .5em; border: 1px solid var(--line); border-radius: 50%; background: var(--muted); }
        .alert { display: flex; flex-wrap: wrap; align-items: center; gap: .5em; padding: .6em 1em; background: var(--error); color: var(--error-text); border-block-start: 1px solid; }
        .alert:empty { padding: 0; border: 0; }
        .alert.is-quiet { background: var(--bubble); color: var(--text); }
        .alert button { color: var(--text); }
        .offers { display: flex; flex-wrap: wrap; align-items: end; gap: .5em; flex: 0 1 auto; min-block-size: 4em; max-block-size: 12em; padding: .75em 1em .25em; overflow: auto; }
        .offers p { flex-basis: 100%; margin: 0; }
        .offers form { display: flex; flex-wrap: wrap; align-items: end; gap: .5em; inline-size: 100%; }
        .offers label { display: flex; flex-direction: column; flex: 1 1 9em; min-inline-size: 0; font-size: .9em; }
        .composer { display: flex; align-items: end; gap: .5em; padding: .75em 1em 1em; }
        input, textarea { min-block-size: 2.5em; padding: .5em .75em; border: 1px solid var(--line); border-radius: .6em; background: var(--background); }
        input { inline-size: 100%; font-size: max(1em, 16px); }
        textarea { flex: 1; min-inline-size: 0; max-block-size: 8em; resize: none; font-size: max(1em, 16px); }
        textarea::placeholder { color: var(--muted); opacity: 1; }
        .primary { border-color: var(--line); background: var(--accent); color: var(--on-accent); }
        textarea:placeholder-shown { direction: inherit; }
        .composer .primary { padding: .5em; border-radius: 50%; }
        [dir=rtl] .composer svg { scale: -1 1; }

        @media (max-width: 30em), (max-height: 30em) {
            .floating .panel {
                position: fixed; inset: var(--offset, 0) 0 auto; inline-size: 100vw; block-size: var(--height, 100%);
                margin: 0; border: 0; border-radius: 0;
            }
            .is-open .launcher { visibility: hidden; }
        }
        @media (prefers-reduced-motion: no-preference) {
            .log { scroll-behavior: smooth; }
            .typing { animation: appear .3s .3s backwards; }
            .typing span { animation: pulse 1.2s infinite; }
            .typing span:nth-child(2) { animation-delay: .2s; }
            .typing span:nth-child(3) { animation-delay: .4s; }
            @keyframes appear { from { opacity: 0; } }
            @keyframes pulse { 40% { opacity: .3; transform: translateY(-.15em); } }
        }
        @media (forced-colors: active) {
            .bubble, header, .primary, .launcher { border: 1px solid; }
            .user .bubble { border-style: dashed; }
            .rating button[aria-pressed=true], .cards button[aria-pressed=true] { forced-color-adjust: none; background: Highlight; color: HighlightText; }
        }
        @media print { .floating { display: none; } }
    `;

    const ICONS = {
        chat: "M4 4h16v12H9l-5 4z",
        close: "M6 6l12 12M18 6L6 18",
        send: "M4 4l17 8-17 8 3-8zM7 12h14",
        thumb: "M7 11l4-8a2 2 0 0 1 3 2v4h5a2 2 0 0 1 2 2.3l-1.2 7A2 2 0 0 1 18 20H7zM7 11H3v9h4",
    };
    // Inputs by format of the field that the bot asks for, and how many characters of its bounds they take.
    const INPUTS = {
        date: ["date", 10], time: ["time", 5], "date-time": ["datetime-local", 16],
        email: ["email"], phone: ["tel"], tel: ["tel"], integer: ["number"], number: ["number"],
    };
    // Why a message is not answered, by the server's code, or by the status of a proxy. Another code is a fault of the bot.
    const REASONS = {
        MESSAGE_TOO_LARGE: "tooLong", REQUEST_TOO_LARGE: "tooLong", 413: "tooLong", VALIDATION_ERROR: "unreadable",
        FORBIDDEN: "unavailable", 403: "unavailable", NOT_FOUND: "unavailable", 404: "unavailable",
    };
    const RIGHT_TO_LEFT = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"];
    const LINK = /(?<![\p{L}\p{N}])(?:https?:\/\/|mailto:|tel:)[^\s<>"\p{C}]+/giu;
    const PROTOCOLS = ["http:", "https:", "mailto:", "tel:"];
    const CONTROL_CHARACTERS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
    const API = "/api/v1/";
    const POLL_MS = 3000;
    // The server answers again what it answered to an Idempotency-Key for so long.
    const KEY_LIFETIME_MS = 24 * 3600 * 1000;
    const REQUEST_TIMEOUT_MS = 70000;
    const LONGEST_PAUSE_MS = 15000;
    const LONGEST_WAIT_MS = 60000;
    // How long a server that answers with errors is asked again before the visitor is.
    const PATIENCE_MS = 90000;
    // How long a visitor waits without a word where there are many.
    const SILENCE_MS = 3000;

    const sheetOf = (text) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return sheet;
    };

    function make(name, attributes = {}, ...children) {
        const element = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) element.setAttribute(key, value);
        element.append(...children);
        return element;
    }

    function makeButton(attributes, onClick, ...children) {
        const button = make("button", {type: "button", ...attributes}, ...children);
        button.addEventListener("click", onClick);
        return button;
    }

    function makeIcon(name) {
        const namespace = "http://www.w3.org/2000/svg";
        const icon = document.createElementNS(namespace, "svg");
        icon.setAttribute("viewBox", "0 0 24 24");
        icon.setAttribute("aria-hidden", "true");
        icon.append(document.createElementNS(namespace, "path"));
        icon.firstChild.setAttribute("d", ICONS[name]);
        return icon;
    }

    // The language of a locale such as "pt-BR".
    const languageOf = (locale) => locale.split("-")[0];

    // The locale in its canonical form, or null.
    function readLocale(text) {
        try {
            return Intl.getCanonicalLocales(text.replaceAll("_", "-"))[0];
        } catch {
            return null;
        }
    }

    // A bound of an input as it is read in a locale.
    function writeBound(type, bound, locale) {
        if (type === "number") return new Intl.NumberFormat(locale).format(bound);
        const styles = {date: {dateStyle: "long"}, time: {timeStyle: "short"}, "datetime-local": {dateStyle: "long", timeStyle: "short"}}[type];
        const date = new Date(`${type === "time" ? "1970-01-01T" : ""}${bound}${type === "date" ? "" : "Z"}`);
        return new Intl.DateTimeFormat(locale, {...styles, timeZone: "UTC"}).format(date);
    }

    // The address that a link may have, or null. An address with a user name could pass for another one.
    function readAddress(text) {
        try {
            const address = new URL(text);
            return PROTOCOLS.includes(address.protocol) && !address.username && !address.password ? address.href : null;
        } catch {
            return null;
        }
    }

    // The text as nodes: links where the text has addresses, and nothing else.
    function renderText(text) {
        const nodes = [];
        let end = 0;
        for (const match of text.matchAll(LINK)) {
            const address = match[0].replace(/[.,;:!?'’”)\]}*_]+$/, "");
            const href = readAddress(address);
            if (!href) continue;
            nodes.push(text.slice(end, match.index), make("a", {href, dir: "ltr", target: "_blank", rel: "noopener noreferrer"}, address));
            end = match.index + address.length;
        }
        return [...nodes, text.slice(end)];
    }

    // What is said of a card where only text is shown.
    const writeCard = ({titles, quote, link}) => [titles.join(" › "), `“${quote}”`, link].filter(Boolean).join("\n").replace(CONTROL_CHARACTERS, "");

    // The text before the cards of an answer, and the text after them; null if the text does not have them all.
    function splitAtCards(text, cards) {
        const written = cards.map(writeCard).join("\n\n");
        const start = cards.length ? text.indexOf(written) : -1;
        return start < 0 ? null : [text.slice(0, start), text.slice(start + written.length)].map((part) => part.trim());
    }

    // A key that no other message has; `crypto.randomUUID` is missing on pages without HTTPS.
    const makeKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

    // What outlives a reload of this tab: token, conversation, the message without an answer, whether the panel is open.
    class Store {
        constructor(name) {
            this.name = name;
            this.values = {};
            try {
                this.values = JSON.parse(sessionStorage.getItem(name)) || {};
            } catch { /* The page forbids storage: a reload begins a new conversation. */ }
        }

        update(changes) {
            Object.assign(this.values, changes);
            try {
                sessionStorage.setItem(this.name, JSON.stringify(this.values));
            } catch { /* As above. */ }
        }
    }

    // The server: requests are repeated until they are answered, and an expired token is renewed once.
    class Connection {
        constructor(server, options, store, onTrouble) {
            Object.assign(this, {server, options, store, onTrouble});
        }

        get canRenew() {
            return Boolean(this.options.tokenUrl || !this.options.token);
        }

        // Gets a token for the conversation of the last one, or for a new one. Gives the failed answer, if it is one.
        async renew() {
            const {tokenUrl} = this.options;
            const {token, hasEnded} = this.store.values;
            const address = tokenUrl ? new URL(tokenUrl, location.href) : `${this.server}${API}chat/token`;
            const body = tokenUrl ? {token: token ?? null, ended: Boolean(hasEnded)} : {token};
            const answer = await this.request(address, {body, isTokenCall: true, credentials: tokenUrl ? "same-origin" : "omit"});
            if (answer.status === 400 && token) {
                // The last token may be of a server or a key that is no more.
                this.store.update({token: undefined});
                return this.renew();
            }
            if (!answer.ok) return answer;
            this.store.update({token: answer.body.token, hasEnded: undefined});
            return null;
        }

        // Gives the last answer. There is always one: without a connection, it waits.
        async request(address, options = {}) {
            const start = Date.now();
            let renewed = options.isTokenCall;
            let isTroubled = false;
            let crowdTimer;
            const report = (trouble) => {
                isTroubled = true;
                this.onTrouble(trouble);
            };
            for (let attempt = 1; ; attempt++) {
                const answer = await this.fetchJson(address, options);
                if (answer.status === 401 && !renewed && this.canRenew) {
                    renewed = true;
                    if (!(await this.renew())) continue;
                }
                if (!isTemporary(answer) || (answer.status && Date.now() - start > PATIENCE_MS)) {
                    clearTimeout(crowdTimer);
                    if (isTroubled) this.onTrouble(null);
                    return answer;
                }
                if (answer.status === 429) crowdTimer ??= setTimeout(report, SILENCE_MS, "crowded");
                // A turn that is still running is no trouble.
                else if (answer.status !== 409 && (attempt > 1 || !navigator.onLine)) report(answer.status ? "busy" : navigator.onLine ? "unreachable" : "offline");
                const pause = Math.min(LONGEST_PAUSE_MS, 500 * 2 ** attempt) * (0.75 + Math.random() / 2);
                await sleepUntilOnline(Math.max(pause, Math.min(LONGEST_WAIT_MS, answer.retryAfter * 1000)));
            }
        }

        // One attempt. Without a whole answer, its status is 0.
        async fetchJson(address, {body, key, isTokenCall, credentials = "omit"}) {
            const headers = {Accept: "application/json"};
            if (body) headers["Content-Type"] = "application/json";
            if (key) headers["Idempotency-Key"] = key;
            if (!isTokenCall) headers.Authorization = `Bearer ${this.store.values.token}`;
            const abort = new AbortController();
            const timer = setTimeout(() => abort.abort(), REQUEST_TIMEOUT_MS);
            try {
                const response = await fetch(isTokenCall ? address : `${this.server}${API}conversation/${address}`, {
                    method: body ? "POST" : "GET", headers, credentials, body: body && JSON.stringify(body), signal: abort.signal,
                });
                const token = response.headers.get("X-Conversation-Token");
                // A proxy answers failures with a page of its own.
                const answer = await response.json().catch((error) => (response.ok ? Promise.reject(error) : {}));
                if (token) this.store.update({token});
                return {ok: response.ok, status: response.status, body: answer, retryAfter: Number(response.headers.get("Retry-After")) || 0};
            } catch {
                return {ok: false, status: 0, body: {}, retryAfter: 0};
            } finally {
                clearTimeout(timer);
            }
        }
    }

    // Ends early when the browser is online again.
    function sleepUntilOnline(milliseconds) {
        return new Promise((resolve) => {
            setTimeout(resolve, milliseconds);
            addEventListener("online", resolve, {once: true});
        });
    }

    // True where the same request may succeed later.
    function isTemporary({status, body}) {
        if (status === 0 || status === 429) return true;
        return status >= 500 ? body.recoverable !== false : body.recoverable === true;
    }

    class Chat {
        constructor(script) {
            const options = script.dataset;
            // data-lang may name a language that TEXTS does not have: such a page gives the texts itself.
            const pageLocale = readLocale(document.documentElement.lang) || "en";
            this.locale = readLocale(options.lang ?? "") || (languageOf(pageLocale) in TEXTS ? pageLocale : "en");
            this.texts = {...(TEXTS[languageOf(this.locale)] || TEXTS.en)};
            for (const key of Object.keys(this.texts)) {
                const text = options[key === "title" || key === "greeting" ? key : `text${key[0].toUpperCase()}${key.slice(1)}`];
                if (text !== undefined) this.texts[key] = text;
            }
            const server = (options.server || new URL(script.src).origin).replace(/\/+$/, "");
            this.target = options.target ? document.querySelector(options.target) : null;
            if (options.target && !this.target) console.warn(`ConvEngine chat: no element matches data-target="${options.target}".`);
            this.options = options;
            this.store = new Store(`convengine:${server}:${options.target || ""}`);
            this.connection = new Connection(server, options, this.store, (trouble) => this.tell(trouble && this.texts[trouble], {isQuiet: trouble === "crowded"}));
            // A stored message from before is one of the conversation that the tab had then.
            this.startedAt = Date.now();
            this.lastTurnNo = 0;
            this.unread = 0;
            this.build();
            this.watchPage();
            if (this.target || (this.store.values.isOpen ?? "open" in options)) this.open({hasFocus: false});
            else if (this.store.values.token) this.begin();
        }

        // --- the elements ------------------------------------------------------------------------------------------------

        build() {
            const {texts} = this;
            this.notice = make("span", {class: "with-person", hidden: ""});
            this.restartButton = makeButton({}, () => this.askRestart(), texts.restart);
            this.list = make("div", {class: "list"});
            this.log = make("div", {class: "log", role: "log", "aria-live": "polite", "aria-label": texts.log, tabindex: 0}, this.list);
            this.typing = make("div", {class: "typing", hidden: "", "aria-hidden": "true"}, make("span"), make("span"), make("span"));
            this.alert = make("div", {class: "alert", role: "alert"});
            this.offers = make("div", {class: "offers", role: "group", "aria-label": texts.offers, hidden: ""});
            this.field = make("textarea", {id: "field", rows: 1, dir: "auto", placeholder: texts.placeholder, autocomplete: "off", enterkeyhint: "send"});
            this.sendButton = make("button", {class: "primary", "aria-label": texts.send, title: texts.send}, makeIcon("send"));
            this.composer = make("form", {class: "composer"}, make("label", {for: "field", class: "unseen"}, texts.field), this.field, this.sendButton);
            this.panel = make("div", {class: "panel", id: "panel", role: this.target ? "region" : "dialog", "aria-labelledby": "title", hidden: ""},
                make("header", {}, make("h2", {id: "title"}, texts.title), this.notice, this.restartButton), this.log, this.typing, this.alert, this.offers, this.composer);
            this.status = make("div", {class: "unseen", role: "status"});
            this.root = make("div", {class: this.target ? "root filling" : "root floating", lang: this.locale, dir: RIGHT_TO_LEFT.includes(languageOf(this.locale)) ? "rtl" : "ltr"}, this.panel, this.status);
            if (!this.target) this.buildLauncher();
            this.listen();
            this.addGreeting();

            const host = document.createElement("convengine-chat");
            const shadow = host.attachShadow({mode: "open"});
            const darkMedia = {light: "not all", dark: "all"}[this.options.scheme] || "(prefers-color-scheme: dark)";
            shadow.adoptedStyleSheets = [sheetOf(buildStyle(darkMedia))];
            shadow.append(this.root);
            (this.target || document.body).append(host);
        }

        buildLauncher() {
            this.launcherLabel = make("span", {}, this.texts.open);
            this.count = make("span", {class: "count", hidden: ""});
            this.launcher = makeButton({class: "launcher", "aria-expanded": "false", "aria-controls": "panel"},
                () => (this.panel.hidden ? this.open({hasFocus: true}) : this.close()), makeIcon("chat"), this.launcherLabel, this.count);
            this.root.append(this.launcher);
            const close = makeButton({"aria-label": this.texts.close, title: this.texts.close}, () => this.close(), makeIcon("close"));
            this.restartButton.after(close);
        }

        listen() {
            this.composer.addEventListener("submit", (event) => {
                event.preventDefault();
                this.send(this.field.value, this.field);
            });
            this.field.addEventListener("input", () => this.fitField());
            this.field.addEventListener("keydown", (event) => this.onFieldKey(event));
            this.log.addEventListener("keydown", (event) => this.onLogKey(event));
            this.panel.addEventListener("keydown", (event) => {
                if (event.key !== "Escape" || event.isComposing) return;
                if (this.isRestartAsked) this.cancelRestart();
                else if (this.launcher) this.close();
                else return;
                event.stopPropagation();
            });
        }

        // Enter sends; Page Up and Page Down scroll the conversation; arrow up in an empty field goes there.
        onFieldKey(event) {
            if (event.isComposing) return;
            const pages = {PageUp: -1, PageDown: 1}[event.key];
            if (event.key === "Enter" && !event.shiftKey) this.composer.requestSubmit();
            else if (pages) this.log.scrollBy(0, pages * this.log.clientHeight * 0.9);
            else if (event.key === "ArrowUp" && !this.field.value) this.log.focus();
            else return;
            event.preventDefault();
        }

        // Enter goes back to the field, and so does writing.
        onLogKey(event) {
            if (event.target !== this.log || event.ctrlKey || event.metaKey || event.altKey) return;
            if (event.key === "Enter") event.preventDefault();
            else if (event.key.length !== 1 || event.key === " ") return;
            this.field.focus();
        }

        watchPage() {
            document.addEventListener("visibilitychange", () => this.schedulePoll());
            // The keyboard of a phone covers a part of the page; the panel takes what remains.
            const fit = () => {
                const isZoomed = visualViewport.scale > 1.01;
                this.root.style.setProperty("--height", isZoomed ? "100%" : `${visualViewport.height}px`);
                this.root.style.setProperty("--offset", isZoomed ? "0" : `${visualViewport.offsetTop}px`);
            };
            visualViewport?.addEventListener("resize", fit);
            visualViewport?.addEventListener("scroll", fit);
        }

        fitField() {
            this.field.style.height = "auto";
            this.field.style.height = `${this.field.scrollHeight + 2}px`;
        }

        open({hasFocus}) {
            this.panel.hidden = false;
            this.root.classList.add("is-open");
            this.launcher?.setAttribute("aria-expanded", "true");
            this.countUnread(0);
            this.store.update({isOpen: true});
            this.scrollToEnd();
            if (hasFocus) this.field.focus();
            this.begin();
        }

        close() {
            this.panel.hidden = true;
            this.root.classList.remove("is-open");
            this.launcher.setAttribute("aria-expanded", "false");
            this.countUnread(0);
            this.store.update({isOpen: false});
            this.launcher.focus();
        }

        countUnread(count) {
            this.unread = count;
            if (!this.launcher) return;
            this.launcherLabel.textContent = this.panel.hidden ? this.texts.open : this.texts.close;
            this.count.hidden = !count;
            this.count.replaceChildren(String(count), make("span", {class: "unseen"}, ` ${this.nameUnread(count)}`));
        }

        nameUnread(count) {
            const forms = this.texts.unread.split("|");
            return new Intl.PluralRules(this.locale).select(count) === "one" ? forms[0] : forms.at(-1);
        }

        // An alert, with a button if something can be done; null takes it away.
        tell(text, {label, action, isQuiet} = {}) {
            this.alert.classList.toggle("is-quiet", Boolean(isQuiet));
            if (!text) return this.alert.replaceChildren();
            const run = () => {
                this.tell(null);
                this.field.focus();
                action();
            };
            this.alert.replaceChildren(make("span", {}, text), ...(action ? [makeButton({}, run, label)] : []));
        }

        // --- the list ----------------------------------------------------------------------------------------------------

        addGreeting() {
            if (this.texts.greeting) this.addMessage({speaker: "bot", text: this.texts.greeting}, {isNew: false});
        }

        // Only what is new is announced: the log leaves out parts that are not live.
        addMessage({speaker, text, turnId, cards = []}, {isNew}) {
            const shownText = String(text ?? "").replace(CONTROL_CHARACTERS, "");
            if (!shownText.trim()) return null;
            const author = speaker === "person" ? make("span", {class: "author"}, this.texts.person) : make("span", {class: "unseen"}, `${this.texts[speaker]}:`);
            const makeBubble = (part) => make("p", {class: "bubble", dir: "auto"}, ...renderText(part));
            const [before, after] = splitAtCards(shownText, cards) || [];
            const parts = before === undefined ? [makeBubble(shownText)] : [before && makeBubble(before), this.makeCards(cards, turnId), after && makeBubble(after)];
            const item = make("div", {class: `item ${speaker}`, "aria-live": isNew ? null : "off"}, author, ...parts.filter(Boolean));
            if (speaker === "bot" && turnId && before === undefined) item.append(this.makeRating(turnId));
            const isAtEnd = this.log.scrollTop > -80;
            this.list.insertBefore(item, this.pendingItem);
            if (isAtEnd) this.scrollToEnd(item);
            if (isNew && this.panel.hidden) {
                this.countUnread(this.unread + 1);
                this.status.textContent = `${this.unread} ${this.nameUnread(this.unread)}`;
            }
            return item;
        }

        // The beginning of a long answer stays in view.
        scrollToEnd(item) {
            const height = item ? this.list.getBoundingClientRect().bottom - item.getBoundingClientRect().top + 12 : 0;
            this.log.scrollTop = Math.min(0, this.log.clientHeight - height);
        }

        makeRating(turnId) {
            const thumbs = [["good", "THUMBS_UP", "up"], ["bad", "THUMBS_DOWN", "down"]].map(([name, feedbackType, direction]) => ({
                rating: feedbackType, feedbackType,
                button: make("button", {type: "button", class: direction, "aria-label": this.texts[name], title: this.texts[name]}, makeIcon("thumb")),
            }));
            this.rateBy(turnId, thumbs);
            return make("div", {class: "rating", "aria-live": "off"}, ...thumbs.map(({button}) => button));
        }

        // The sections of documents, each with a button that says that it helped, and one that says that none did.
        makeCards(cards, turnId) {
            const choices = cards.map(({titles, document}, index) => ({
                rating: index + 1, feedbackType: "THUMBS_UP", metadata: {document, section: titles.join(" > "), place: index + 1},
                button: make("button", {type: "button"}, this.texts.helped, make("span", {class: "unseen"}, `: ${titles.at(-1)}`)),
            }));
            const none = {rating: 0, feedbackType: "THUMBS_DOWN", metadata: {place: 0}, button: make("button", {type: "button"}, this.texts.noneHelped)};
            this.rateBy(turnId, [...choices, none]);
            const boxes = cards.map(({titles, quote, link}, index) => make(
                "div", {class: "card"}, make("p", {dir: "auto"}, make("strong", {}, titles.join(" › "))),
                make("p", {dir: "auto"}, `“${quote}”`), ...(link ? [make("p", {dir: "auto"}, ...renderText(link))] : []),
                choices[index].button,
            ));
            return make("div", {class: "cards"}, ...boxes, none.button);
        }

        // Each button gives its rating; the one of the stored `rating` is pressed.
        rateBy(turnId, choices) {
            const show = () => choices.forEach(({button, rating}) => button.setAttribute("aria-pressed", this.store.values.ratings?.[turnId] === rating));
            const rate = async ({rating, feedbackType, metadata}) => {
                const {conversationId, ratings} = this.store.values;
                if (ratings?.[turnId] === rating) return;
                this.store.update({ratings: {...ratings, [turnId]: rating}});
                show();
                const answer = await this.connection.request("feedback", {body: {conversationId, feedbackType, messageId: turnId, ...(metadata && {metadata})}});
                if (answer.ok) return;
                this.store.update({ratings: {...this.store.values.ratings, [turnId]: ratings?.[turnId]}});
                show();
                this.tell(this.texts.notRated);
            };
            for (const choice of choices) choice.button.addEventListener("click", () => rate(choice));
            show();
        }

        clear() {
            this.list.replaceChildren();
            this.pendingItem = null;
            this.addGreeting();
        }

        // --- what the bot asks -------------------------------------------------------------------------------------------

        showWithPerson({withPerson, personAnswers}) {
            this.isWithPerson = Boolean(withPerson);
            this.notice.hidden = !withPerson;
            this.notice.textContent = withPerson ? this.texts[personAnswers ? "withPerson" : "passedOn"] : "";
            this.schedulePoll();
        }

        // The buttons or the input for what the last answer asked, unless a later turn is shown.
        showReport() {
            this.isRestartAsked = false;
            const {report} = this.store.values;
            const {asked, confirm, choices} = report?.turnNo === this.lastTurnNo ? report : {};
            const labels = confirm ? [confirm.yes, confirm.no] : (choices || asked?.options || []).map((option) => option.label ?? option.value);
            const buttons = labels.map((label) => makeButton({dir: "auto"}, () => this.send(String(label), this.log), String(label)));
            const input = asked && !labels.length ? this.makeInput(asked) : null;
            this.showOffers(...buttons, ...(input ? [input] : []));
            this.status.textContent = labels.length ? this.texts.offered.replace("{}", labels.join(", ")) : "";
        }

        showOffers(...elements) {
            this.offers.replaceChildren(...elements);
            this.offers.hidden = !elements.length;
        }

        // A form with the input for the asked field, or null where the text field is all that it needs.
        makeInput({title, type, format, min, max}) {
            const [inputType, length] = INPUTS[format] || INPUTS[type] || [];
            if (!inputType) return null;
            const bound = (value) => (value === null || value === undefined ? null : String(value).slice(0, length));
            const input = make("input", {
                type: inputType, min: bound(min), max: bound(max), required: "", step: type === "number" ? "any" : null,
                autocomplete: {email: "email", tel: "tel"}[inputType] || "off",
            });
            const form = make("form", {}, make("label", {}, make("span", {dir: "auto"}, title || this.texts.field), input), make("button", {class: "primary"}, this.texts.use));
            // The browser would say it in its own language.
            input.addEventListener("invalid", () => input.setCustomValidity(this.explainEntry(input)));
            input.addEventListener("input", () => input.setCustomValidity(""));
            form.addEventListener("submit", (event) => {
                event.preventDefault();
                this.send(input.value, this.log);
            });
            return form;
        }

        explainEntry({type, min, max, validity}) {
            const {texts, locale} = this;
            if (validity.rangeUnderflow || validity.rangeOverflow) {
                return texts.allowed.replace("{}", [min, max].map((bound) => (bound ? writeBound(type, bound, locale) : "…")).join(" – "));
            }
            return validity.valueMissing && !validity.badInput ? texts.missing : texts.malformed;
        }

        askRestart() {
            if (this.isDelivering) return;
            this.isRestartAsked = true;
            const question = make("p", {id: "question"}, this.texts.restartQuestion);
            const confirm = makeButton({class: "primary", "aria-describedby": "question"}, () => this.restart(), this.texts.restart);
            this.showOffers(question, confirm, makeButton({}, () => this.cancelRestart(), this.texts.cancel));
            confirm.focus();
        }

        cancelRestart() {
            this.showReport();
            this.restartButton.focus();
        }

        restart() {
            this.field.focus();
            this.isRestartAsked = false;
            this.pendingItem?.remove();
            this.pendingItem = null;
            this.post({reset: true});
        }

        // --- messages ----------------------------------------------------------------------------------------------------

        send(text, nextFocus) {
            if (this.store.values.pending) return this.goOn();
            if (!text.trim()) return;
            if (nextFocus === this.field) {
                this.field.value = "";
                this.fitField();
            }
            // The pressed button goes: the focus must not go with it. The field would bring the keyboard of a phone.
            (matchMedia("(pointer: coarse)").matches ? nextFocus : this.field).focus();
            this.post({message: text});
        }

        // The message is stored with its key first, so that after a reload the same request is repeated.
        post(body) {
            this.store.update({pending: {key: makeKey(), body, at: Date.now()}});
            this.showPending();
            this.goOn();
        }

        goOn() {
            if (!this.isReady) this.begin();
            else if (!this.isDelivering) this.deliver();
        }

        // A message that will not succeed goes back to where it can be changed.
        giveBack(text) {
            this.store.update({pending: null});
            this.pendingItem?.remove();
            this.pendingItem = null;
            this.field.value ||= text || "";
            this.fitField();
        }

        showPending() {
            const {pending} = this.store.values;
            if (!pending.body.reset) this.pendingItem = this.addMessage({speaker: "user", text: pending.body.message}, {isNew: false});
            this.showOffers();
            this.showWaiting(true);
        }

        showWaiting(isWaiting) {
            this.typing.hidden = !isWaiting;
            for (const button of [this.sendButton, this.restartButton]) button.setAttribute("aria-disabled", isWaiting);
            this.status.textContent = isWaiting ? this.texts.waiting : "";
            if (isWaiting) this.scrollToEnd();
        }

        async deliver() {
            const {key, body} = this.store.values.pending;
            this.tell(null);
            this.isDelivering = true;
            this.showWaiting(true);
            const answer = await this.connection.request("message", {body, key});
            this.isDelivering = false;
            this.showWaiting(false);
            // The transcript had the answer, or the page's server has begun another conversation.
            if (this.store.values.pending?.key !== key) return;
            if (answer.ok) await this.receive(answer.body, body);
            else this.explainFailure(answer, body);
        }

        async receive(answer, body) {
            const {turnNo, turnId, conversationId} = answer;
            const isOther = conversationId !== this.store.values.conversationId;
            this.store.update({pending: null, conversationId, ...(isOther && {since: 0, ratings: {}}), ...(body.reset && {since: turnNo})});
            if (body.reset) this.clear();
            if (body.reset || isOther) this.lastTurnNo = turnNo - 1;
            if (turnNo === this.lastTurnNo + 1) {
                this.pendingItem = null;
                this.addMessage({speaker: "bot", text: answer.reply, turnId, cards: answer.stateReport?.cards || []}, {isNew: true});
                this.lastTurnNo = turnNo;
            } else {
                // It is shown already, or there is more to show: a person wrote, or another tab.
                this.pendingItem?.remove();
                this.pendingItem = null;
                await this.load({isNew: true});
            }
            this.store.update({report: {...answer.stateReport, turnNo}});
            this.showWithPerson(answer.stateReport || {});
            this.showReport();
            document.dispatchEvent(new CustomEvent("convengine:answer", {detail: {conversationId, turnNo, turnId}}));
        }

        explainFailure(answer, body) {
            const {texts} = this;
            const {errorCode, message} = answer.body;
            if (answer.status === 401) return this.tell(texts.expired);
            if (isTemporary(answer)) return this.tell(texts.failed, {label: texts.retry, action: () => this.deliver()});
            const hasEnded = errorCode === "CONVERSATION_CLOSED";
            if (hasEnded && this.connection.canRenew && this.endedId !== this.store.values.conversationId) return this.beginAnother();
            this.giveBack(body.message);
            this.showReport();
            if (hasEnded) {
                this.showWithPerson({});
                this.tell(texts.ended, {isQuiet: true});
                return;
            }
            console.warn("ConvEngine chat:", answer.status, errorCode, message);
            const reason = REASONS[errorCode ?? answer.status];
            this.tell(`${texts.refused} ${reason ? texts[reason] : `${texts.broken} (${errorCode ?? `HTTP ${answer.status}`})`}`);
        }

        // Sends the message that the ended conversation refused in a new one, below what was said.
        beginAnother() {
            const {pending: {body}, conversationId} = this.store.values;
            this.endedId = conversationId;
            this.pendingItem?.remove();
            this.pendingItem = null;
            for (const rating of this.list.querySelectorAll(".rating")) rating.remove();
            this.store.update({token: undefined, hasEnded: true, pending: null});
            this.isReady = this.hasBegun = false;
            if (body.reset) this.begin();
            else this.post(body);
        }

        // --- the conversation so far -------------------------------------------------------------------------------------

        // Nothing is asked of the server before somebody opens the chat, or goes on with a conversation.
        async begin() {
            if (this.hasBegun) return;
            this.hasBegun = true;
            const {options, store} = this;
            const isNewToken = options.token && options.token !== store.values.source;
            if (isNewToken) store.update({token: options.token, source: options.token});
            // Who owns the page says at each load whose conversation this is.
            const failure = options.tokenUrl || !store.values.token ? await this.connection.renew() : null;
            const answer = failure || (await this.load({isNew: false}));
            if (!answer.ok) {
                const {texts} = this;
                this.showWaiting(false);
                this.hasBegun = false;
                if (isTemporary(answer)) return this.tell(texts.failed, {label: texts.retry, action: () => this.begin()});
                if (store.values.pending?.at > this.startedAt) this.giveBack(store.values.pending.body.message);
                console.warn("ConvEngine chat:", answer.status, answer.body.message);
                return this.tell(answer.status === 401 ? texts.expired : texts.unavailable);
            }
            this.isReady = true;
            if (store.values.pending) await this.resume();
        }

        async resume() {
            const {pending} = this.store.values;
            if (Date.now() - pending.at > KEY_LIFETIME_MS) return this.giveBack(pending.body.message);
            if (!this.pendingItem) this.showPending();
            await this.deliver();
        }

        // Shows what came after the last shown turn.
        async load({isNew}) {
            const {store} = this;
            const after = Math.max(this.lastTurnNo, (store.values.since || 0) - 1);
            const answer = await this.connection.request(`transcript?after=${after}`);
            if (!answer.ok) return answer;
            const {conversationId, messages, lastTurnNo} = answer.body;
            if (conversationId !== store.values.conversationId) {
                const {pending} = store.values;
                store.update({conversationId, pending: pending?.at < this.startedAt ? null : pending, since: 0, report: null, ratings: {}});
                this.lastTurnNo = 0;
                if (!store.values.pending?.body.message || !this.endedId) this.clear();
                this.endedId = null;
                if (after) return this.load({isNew});
            }
            // A turn was answered while this was on its way.
            if (lastTurnNo < this.lastTurnNo) return answer;
            const added = messages.filter(({turnNo}) => turnNo > this.lastTurnNo);
            for (const message of added) this.addMessage(message, {isNew: isNew && message.speaker !== "user"});
            this.lastTurnNo = lastTurnNo;
            if (answer.body.withPerson !== undefined) this.showWithPerson(answer.body);
            if ((added.length || !isNew) && !store.values.pending) this.showReport();
            return answer;
        }

        // What a person writes is asked for while somebody can read it.
        schedulePoll() {
            clearTimeout(this.pollTimer);
            if (!this.isWithPerson || document.hidden) return;
            this.pollTimer = setTimeout(async () => {
                if (!this.store.values.pending) await this.load({isNew: true});
                this.schedulePoll();
            }, POLL_MS);
        }
    }

    const script = document.currentScript;
    if (document.body && document.readyState !== "loading") new Chat(script);
    else addEventListener("DOMContentLoaded", () => new Chat(script));
})();
