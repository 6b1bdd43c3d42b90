"use strict";
// Edit pages with answers before saving: errors at their fields, the rule sentence, and tests of patterns, paths and
// templates. Without this script, the errors appear on saving.

(() => {
    const WAIT = 350;

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    // --- checks ----------------------------------------------------------------------------------------------------

    class Judge {
        constructor(asked) {
            this.asked = asked;
            this.form = asked.closest("form");
            this.sentence = document.getElementById("ce-sentence");
            this.touched = new Set();
            this.number = 0;
            const edited = (event) => {
                if (!event.target.name || event.target.closest(".ce-try")) return;
                this.touched.add(event.target.name);
                clearTimeout(this.timer);
                this.timer = setTimeout(() => this.ask(), WAIT);
            };
            this.form.addEventListener("input", edited);
            this.form.addEventListener("change", edited);
            if (this.sentence) this.ask();
        }

        sent() {
            const data = new FormData(this.form);
            data.set("_pk", this.asked.dataset.pk);
            return data;
        }

        async ask() {
            const number = ++this.number;
            const response = await fetch(this.asked.dataset.judge, {method: "POST", body: this.sent(), redirect: "manual"}).catch(() => null);
            if (!response?.ok || number !== this.number) return;
            const told = await response.json();
            if (this.sentence && told.sentence) this.sentence.textContent = told.sentence;
            this.form.dispatchEvent(new CustomEvent("ce-rows", {detail: told.rows || null}));
            for (const name of this.touched) this.show(name, told.errors[name] || [], told.warnings[name] || []);
        }

        // The text, and the code with a link to the manual, if there is one.
        said(told) {
            if (!told.code) return [told.text];
            const link = element("a", {className: "ce-code-of", href: told.url}, told.code);
            link.dataset.entry = told.anchor;
            return [told.text, " ", link];
        }

        show(name, errors, warnings) {
            const input = this.form.elements.namedItem(name);
            if (!input?.id) return;
            const group = input.parentElement.closest(".grow") || input.parentElement;
            let list = document.getElementById(`${input.id}_live`);
            if (!list) {
                list = element("ul", {id: `${input.id}_live`, className: "ce-live"});
                list.setAttribute("aria-live", "polite");
                group.append(list);
                input.setAttribute("aria-describedby", [input.getAttribute("aria-describedby"), list.id].filter(Boolean).join(" "));
            }
            // Replace the server's answer to an earlier text.
            group.querySelectorAll(`:scope > .text-red-600, #${input.id}_warning`).forEach((old) => old.remove());
            list.replaceChildren(
                ...errors.map((told) => element("li", {className: "ce-live-error"}, ...this.said(told))),
                ...warnings.map((told) => element("li", {className: "ce-live-warning"}, ...this.said(told))),
            );
            for (const told of [input, group.querySelector(".ce-editor .cm-content")]) {
                told?.setAttribute("aria-invalid", String(errors.length > 0));
                told?.setAttribute("aria-describedby", input.getAttribute("aria-describedby"));
            }
        }
    }

    // --- try it here -----------------------------------------------------------------------------------------------

    let turns = null;
    const shared = {text: "", turn: ""};

    class Box {
        constructor(input, judge) {
            this.input = input;
            this.judge = judge;
            const id = `${input.id}_try`;
            this.text = element("input", {type: "text", id: `${id}_text`, placeholder: "a message of a user"});
            this.turn = element("select", {id: `${id}_turn`}, element("option", {value: ""}, "none: the typed text alone"));
            this.result = element("div", {id: `${id}_result`});
            this.result.setAttribute("aria-live", "polite");
            const button = element("button", {type: "button", className: "ce-button"}, "Try");
            const fields = element("div", {className: "ce-try-fields"}, element("label", {htmlFor: this.text.id}, "Message"), this.text);
            this.values = element("input", {type: "text", id: `${id}_values`, placeholder: "date=2026-12-05; guests=4; params.vip=true"});
            if ("condition" in input.dataset) fields.append(element("label", {htmlFor: this.values.id}, "Values"), this.values);
            if (judge.asked.dataset.turns) fields.append(element("label", {htmlFor: this.turn.id}, "or a stored turn"), this.turn);
            fields.append(button);
            const box = element("details", {className: "ce-try"}, element("summary", {}, "Preview"), fields, this.result);
            const [other, wanted] = input.dataset.try.split(":");
            const chosen = other && judge.form.elements.namedItem(other);
            if (chosen) {
                const fit = () => { box.hidden = chosen.value !== wanted; };
                chosen.addEventListener("change", fit);
                fit();
            }
            const editor = input.parentElement.querySelector(":scope > .ce-editor");
            (input.closest(".ce-picker") || editor || input).after(box);
            box.addEventListener("toggle", () => box.open && this.opened());
            button.addEventListener("click", () => this.run());
            for (const typed of [this.text, this.values]) {
                typed.addEventListener("keydown", (event) => {
                    if (event.key !== "Enter") return;
                    event.preventDefault();
                    this.run();
                });
            }
        }

        async opened() {
            this.text.value ||= shared.text;
            const url = this.judge.asked.dataset.turns;
            if (!url || this.turn.options.length > 1) return;
            const intent = this.judge.form.elements.namedItem("intent_code")?.value || "";
            turns ||= fetch(`${url}?intent=${encodeURIComponent(intent)}`, {redirect: "manual"}).then((response) => (response.ok ? response.json() : {turns: []}));
            const found = (await turns).turns;
            this.turn.append(...found.map((one) => element("option", {value: one.value}, one.label)));
            if (!found.length) this.turn.options[0].textContent = "no stored turns yet";
            this.turn.value = shared.turn;
        }

        async run() {
            const data = this.judge.sent();
            shared.text = this.text.value;
            shared.turn = this.turn.value;
            data.set("_field", this.input.name);
            data.set("_text", this.text.value);
            data.set("_values", this.values.value);
            data.set("_turn", this.turn.value);
            this.result.setAttribute("aria-busy", "true");
            const response = await fetch(this.judge.asked.dataset.tryUrl, {method: "POST", body: data, redirect: "manual"}).catch(() => null);
            this.result.removeAttribute("aria-busy");
            // The page's template has escaped the texts.
            if (response?.ok) this.result.innerHTML = await response.text();
            else this.result.textContent = "The preview is not available, because the server did not answer. Try again.";
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const asked = document.getElementById("ce-form");
        if (!asked) return;
        const judge = new Judge(asked);
        if (asked.dataset.tryUrl) judge.form.querySelectorAll("[data-try]").forEach((input) => new Box(input, judge));
    });

    // --- a conversation beside the form, whose script is loaded when it is opened --------------------------------------

    document.addEventListener("click", async (event) => {
        const button = event.target.closest("[data-simulate]");
        if (!button) return;
        event.preventDefault();
        await import(button.dataset.simulate);
        globalThis.ceSimulator.toggle(button, button.form);
    });
})();
