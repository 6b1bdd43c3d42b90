"use strict";
// Start a flow: shows only the inputs of the chosen kind and of each field's type, adds, removes and moves rows, gives
// advice while somebody types, and sends and shows everything in place. Beside it is a conversation with the flow as it
// stands on the page.
// Without this script all inputs are shown, and the buttons and boxes do the same on the server.

(() => {
    const form = document.querySelector(".ce-start");
    if (!form) return;
    const EXAMPLES = {
        date: ["today", "in 90 days"], time: ["08:00", "18:00"], datetime: ["in 2 hours", "in 90 days"],
        duration: ["15 minutes", "4 hours"], number: ["1", "10"], money: ["1", "500"],
    };
    // As `get_bound_labels` does on the server.
    const TIMES = ["date", "time", "datetime"];
    const BOUNDS = {min: ["On or after", "At least"], max: ["On or before", "At most"]};
    const WAIT = 300;
    const LISTS = {currency: "currencies", country: "countries"};

    function showKind() {
        const chosen = form.querySelector("[name=kind]:checked")?.value;
        for (const part of form.querySelectorAll("[data-flows]")) {
            (part.closest(".ce-field") || part).hidden = !part.dataset.flows.split(" ").includes(chosen);
        }
    }

    // Beside each text stands the same one in the chosen language.
    function showLanguage(part) {
        const chosen = form.querySelector("[name=_language]:checked")?.value;
        if (chosen) part.querySelectorAll("textarea[data-choices]:not([lang])").forEach((area) => offerChoices(area, chosen));
        for (const spoken of part.querySelectorAll("[data-language]")) spoken.hidden = spoken.dataset.language !== chosen;
    }

    // A choice that is new in the first language can be translated.
    function offerChoices(area, language) {
        const other = form.elements.namedItem(`${area.name}_${language}`);
        const known = other?.choices.values;
        for (const value of area.choices.values) if (known && !known.includes(value)) other.choices.fill(value);
    }

    function showType(row) {
        const type = row.querySelector("[name$=-type]")?.value;
        if (!type) return;
        for (const part of row.querySelectorAll("[data-types]")) {
            if (part.dataset.types) part.hidden = !part.dataset.types.split(" ").includes(type);
        }
        for (const bound of row.querySelectorAll("[name$=-min], [name$=-max]")) {
            const name = bound.name.split("-").at(-1);
            bound.labels[0].textContent = BOUNDS[name][TIMES.includes(type) ? 0 : 1];
            bound.setAttribute("list", `bounds-${type}`);
            bound.autocomplete = "off";
            bound.placeholder = EXAMPLES[type]?.[name === "max" ? 1 : 0] || "";
        }
        for (const [name, list] of Object.entries(LISTS)) row.querySelector(`[name$=-${name}]`)?.setAttribute("list", list);
    }

    // As `make_code` does on the server, until somebody writes a code of their own.
    function suggestCode() {
        const [title, input] = ["title", "code"].map((name) => form.elements.namedItem(name));
        if (input.disabled || input.dataset.own || (input.value && input.value !== input.dataset.made)) return;
        const plain = title.value.replaceAll("ß", "ss").normalize("NFKD").replace(/[^\x00-\x7f]/g, "");
        const words = plain.match(/[A-Za-z0-9]+/g) || [];
        while (words.length > 1 && words.join("_").length > 50) words.pop();
        const made = words.join("_").toUpperCase();
        input.value = input.dataset.made = /^[A-Z]/.test(made) ? made : "";
    }

    const removal = (row) => row.querySelector("[name$=-DELETE]");
    const shown = (rows) => [...rows.querySelectorAll("[data-row]")].filter((row) => !removal(row).checked);
    const say = (rows, text) => { rows.closest("section").querySelector("[data-news]").textContent = text; };

    function number(rows) {
        const all = shown(rows);
        all.forEach((row, index) => {
            const name = `${rows.dataset.noun} ${index + 1}`;
            row.querySelector("[data-number]").textContent = name;
            const order = row.querySelector("[name$=-ORDER]");
            if (order) order.value = index + 1;
            for (const button of row.querySelectorAll("button")) button.setAttribute("aria-label", `${button.textContent}: ${name}`);
            const [up, down] = ["up", "down"].map((way) => row.querySelector(`[data-move=${way}]`));
            if (up) up.disabled = index === 0;
            if (down) down.disabled = index === all.length - 1;
        });
    }

    function prepare(row) {
        row.querySelectorAll(".ce-plain").forEach((part) => { part.hidden = true; });
        row.querySelectorAll("[data-move], [data-remove]").forEach((button) => { button.hidden = false; });
        row.hidden = removal(row).checked;
        showType(row);
        showCondition(row.querySelector("textarea[data-condition]"));
        row.querySelectorAll("textarea[data-choices]").forEach(globalThis.ceChoices.build);
        showLanguage(row);
    }

    // --- conditions: rows of field, operator and value, which offer the fields of the page -------------------------

    const ROWS = {value: "CONDITION", addEventListener() {}};
    const readOffers = () => form.querySelector("#condition-offers").textContent;
    let builders = [];

    function showCondition(area) {
        if (!area) return;
        area.dataset.condition = readOffers();
        builders.push(globalThis.ceCondition.build(area, ROWS, null));
    }

    function offerFields() {
        const {fields} = JSON.parse(readOffers());
        for (const builder of builders) {
            builder.fields = fields;
            builder.offer();
        }
    }

    // The values of the field that is named in *Ask only if*.
    function offerDeciderValues(input) {
        const title = input.closest("[data-row]").querySelector("[name$=-only_if]").value.trim().toLowerCase();
        const {fields} = JSON.parse(readOffers());
        const decider = fields.find(({name, label}) => [name, label].some((text) => text?.toLowerCase() === title));
        const values = decider?.kind === "yes or no" ? ["yes", "no"] : decider?.values || [];
        form.querySelector("#flow-decider-values").replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), {value})));
    }

    function add(kind) {
        const total = form.elements.namedItem(`${kind}-TOTAL_FORMS`);
        const rows = form.querySelector(`[data-rows=${kind}]`);
        const empty = form.querySelector(`[data-empty=${kind}]`).innerHTML.replaceAll("__prefix__", total.value);
        rows.insertAdjacentHTML("beforeend", empty);
        showSaving();
        total.value = Number(total.value) + 1;
        const row = rows.lastElementChild;
        prepare(row);
        number(rows);
        advise();
        row.querySelector("input:not([type=hidden], [type=number], [type=checkbox]), textarea:not([data-condition])").focus();
    }

    function remove(row) {
        const rows = row.closest("[data-rows]");
        const all = shown(rows);
        const next = all[all.indexOf(row) + 1] || all[all.indexOf(row) - 1];
        removal(row).checked = true;
        row.hidden = true;
        showSaving();
        number(rows);
        say(rows, "Removed.");
        (next?.querySelector("[data-remove]") || rows.closest("section").querySelector("[data-add]")).focus();
        advise();
    }

    function move(button) {
        const row = button.closest("[data-row]");
        const rows = row.closest("[data-rows]");
        const all = shown(rows);
        const index = all.indexOf(row);
        if (button.dataset.move === "up") all[index - 1]?.before(row);
        else all[index + 1]?.after(row);
        showSaving();
        number(rows);
        const other = row.querySelector(`[data-move=${button.dataset.move === "up" ? "down" : "up"}]`);
        (button.disabled ? other : button).focus();
        say(rows, `Now ${row.querySelector("[data-number]").textContent}.`);
    }

    // --- in place -------------------------------------------------------------------------------------------------

    const parse = (text) => new DOMParser().parseFromString(text, "text/html").querySelector(".ce-start");
    let timer = 0;
    let checks = 0;
    let isBusy = false;

    // Advice on what was typed: warnings, and the names that texts can use.
    function advise() {
        clearTimeout(timer);
        timer = setTimeout(check, WAIT);
    }

    async function check() {
        const data = new FormData(form);
        data.set("_check", "1");
        const number = ++checks;
        const response = await fetch(form.action, {method: "POST", body: data, redirect: "manual"}).catch(() => null);
        if (!response?.ok || isBusy) return;
        const answer = parse(await response.text());
        if (number !== checks || isBusy) return;
        for (const part of answer.querySelectorAll("[data-advice]")) {
            const old = form.querySelector(`[data-advice="${CSS.escape(part.dataset.advice)}"]`);
            makeButtons(part);
            part.querySelectorAll("details").forEach((details, index) => {
                details.open = Boolean(old?.querySelectorAll("details")[index]?.open);
            });
            if (old && old.innerHTML !== part.innerHTML) old.replaceChildren(...part.childNodes);
        }
        for (const part of answer.querySelectorAll("[data-asked]")) form.querySelector(`[data-asked="${CSS.escape(part.dataset.asked)}"]`).hidden = part.hidden;
        offerFields();
    }

    // Names become buttons with the titles of their fields, which write them into the text.
    function makeButtons(part) {
        for (const name of part.querySelectorAll("span[data-insert]")) {
            const button = Object.assign(document.createElement("button"), {type: "button", className: "ce-flow-name", title: "Insert into the text"});
            Object.assign(button.dataset, name.dataset);
            button.append(name.dataset.title || name.textContent);
            name.replaceWith(button);
        }
    }

    function insert(button) {
        const text = button.closest(".ce-field").querySelector("textarea, input, select");
        if (text.matches("select")) {
            text.value = button.dataset.insert;
            text.dispatchEvent(new Event("change", {bubbles: true}));
            text.focus();
            return;
        }
        if ("whole" in button.dataset) text.select();
        else keepName(button);
        text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, "end");
        text.dispatchEvent(new Event("input", {bubbles: true}));
        text.focus();
        advise();
    }

    // A field that a text names keeps its name, also when its title changes before the first save.
    function keepName({dataset: {insert, title}}) {
        const plain = (text) => text.trim().replace(/^(the|a|an|your)\s+/i, "").toLowerCase();
        const input = title && [...form.querySelectorAll("[data-rows=field] [name$=-title]")].find((each) => plain(each.value) === plain(title));
        const name = input?.closest("[data-row]").querySelector("[name$=-name]");
        if (name && !name.value) name.value = insert.replace(/[{}\s]/g, "");
    }

    function focusNews(part) {
        const news = part.querySelector("[data-focus]");
        if (!news) return;
        if (!news.matches("input")) news.tabIndex = -1;
        news.focus();
    }

    async function send(submitter) {
        if (isBusy) return;
        isBusy = true;
        clearTimeout(timer);
        const data = new FormData(form);
        if (submitter?.name) data.set(submitter.name, submitter.value);
        form.setAttribute("aria-busy", "true");
        const response = await globalThis.ceSending.post(form, data);
        const address = response?.headers.get("X-Redirect");
        const answer = response && !address && parse(await response.text());
        if (address) {
            location.href = address;
            return;
        }
        form.removeAttribute("aria-busy");
        isBusy = false;
        if (!answer) return;
        showSaving();
        if (["_suggest", "_compare"].includes(submitter?.name)) {
            form.querySelector("#tried").replaceWith(answer.querySelector("#tried"));
            focusNews(form.querySelector("#tried"));
        } else {
            const open = listOpen();
            form.replaceChildren(...answer.childNodes);
            prepareAll();
            listBodies().forEach((body, index) => { body.open ||= open.has(index); });
            focusNews(form);
        }
    }

    // Cards that somebody has opened stay open.
    const listBodies = () => [...form.querySelectorAll("[data-rows] .ce-flow-body")];
    const listOpen = () => new Set([...listBodies().entries()].filter(([, body]) => body.open).map(([index]) => index));

    function prepareAll() {
        builders = [];
        form.querySelectorAll("[data-rows]").forEach((rows) => {
            rows.querySelectorAll("[data-row]").forEach(prepare);
            number(rows);
        });
        makeButtons(form);
        showKind();
        form.querySelectorAll("[data-languages]").forEach((part) => { part.hidden = false; });
        showLanguage(form);
    }

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        send(event.submitter);
    });
    form.addEventListener("click", (event) => {
        // The link of an error shows the language of its input.
        const link = event.target.closest("a[href^='#']");
        const language = link && document.getElementById(link.hash.slice(1))?.closest("[data-language]")?.dataset.language;
        if (language) {
            form.querySelector(`[name=_language][value=${language}]`).checked = true;
            showLanguage(form);
        }
        const button = event.target.closest("button");
        if (!button) return;
        if (button.dataset.add) {
            event.preventDefault();
            add(button.dataset.add);
        } else if (button.dataset.move) move(button);
        else if (button.dataset.insert) insert(button);
        else if ("remove" in button.dataset) remove(button.closest("[data-row]"));
    });
    form.addEventListener("focusin", (event) => {
        if (event.target.name?.endsWith("-only_if_value")) offerDeciderValues(event.target);
    });
    form.addEventListener("change", (event) => {
        if (event.target.name === "_language") {
            showLanguage(form);
            return;
        }
        showSaving();
        if (event.target.name === "kind") showKind();
        if (event.target.name?.endsWith("-type")) showType(event.target.closest("[data-row]"));
        if (event.target.name && event.target.name !== "reason") advise();
    });
    form.addEventListener("input", (event) => {
        if (event.target.name !== "_language") showSaving();
        if (event.target.name === "code") event.target.dataset.own = event.target.value && "yes";
        if (event.target.name === "title") suggestCode();
        if (/-(title|examples|pattern|tried|questions|short_name)$/.test(event.target.name)) advise();
    });
    // The reason is asked for once there is something to save.
    const showSaving = () => form.classList.remove("ce-is-unchanged");
    if (form.dataset.opened) form.classList.add("ce-is-unchanged");
    prepareAll();
    suggestCode();
    if (form.elements.namedItem("phrases").value.trim()) advise();

    // --- the conversation beside the form ---------------------------------------------------------------------------

    const beside = document.querySelector(".ce-talk-beside");
    if (!beside) return;
    const list = () => [...new FormData(form)].filter(([name, value]) => name !== "csrfmiddlewaretoken" && typeof value === "string");
    const talk = beside.querySelector("[data-talk]");
    globalThis.ceSimulator.open(talk, talk.dataset.talk, {list, isFocused: "focus" in beside.dataset});
    // The form must not be left.
    beside.addEventListener("click", (event) => {
        const link = event.target.closest("a[href]");
        if (link) Object.assign(link, {target: "_blank", rel: "noopener"});
    });
})();
