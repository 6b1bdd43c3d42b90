"use strict";
// The simulator in place: lines are played without loading the page, on its own page and in a panel beside a form.
// Without this script each button loads the page.

(() => {
    const parse = (text) => new DOMParser().parseFromString(text, "text/html").body;

    class Simulator {
        // `status` is read aloud; `list` gives the fields of a form that is tried, as [name, value].
        // `isFocused`: the first view gets the focus.
        constructor(box, status, list = () => [], isFocused = true) {
            this.isFocused = isFocused;
            this.box = box;
            this.status = status;
            this.list = list;
            this.isBusy = false;
            box.addEventListener("submit", (event) => {
                if (event.target.id === "sim_test" || event.submitter?.name === "try-download") return;
                event.preventDefault();
                this.send(event.target, event.submitter);
            });
            box.addEventListener("change", (event) => {
                // Another configuration, or another time, is tried at once.
                if (["try-on", "try-at", "try-channel"].includes(event.target.name) && box.querySelector("[name=try-line]")) this.send(event.target.form);
            });
        }

        get input() {
            return this.box.querySelector("[name=try-message]");
        }

        async send(form, submitter) {
            if (this.isBusy) return;
            const isMessage = submitter?.name === "try-send";
            const data = new FormData(form);
            if (submitter?.name) data.append(submitter.name, submitter.value);
            for (const [name, value] of this.list()) data.append(name, value);
            this.setBusy(true);
            const response = await globalThis.ceSending.post(form, data);
            this.setBusy(false);
            if (response) this.show(parse(await response.text()), submitter, isMessage);
        }

        setBusy(isBusy) {
            this.isBusy = isBusy;
            this.box.setAttribute("aria-busy", String(isBusy));
            if (isBusy) this.status.textContent = "";
        }

        show(parts, submitter, isMessage) {
            const nameOf = (details) => details.dataset.key || details.querySelector("summary").textContent;
            const opened = [...this.box.querySelectorAll("details[open]")].map(nameOf);
            // The browser would scroll to it.
            parts.querySelector("[autofocus]")?.removeAttribute("autofocus");
            this.box.replaceChildren(...parts.childNodes);
            for (const details of this.box.querySelectorAll("details")) {
                if (opened.includes(nameOf(details))) details.open = true;
            }
            const last = this.box.querySelector("#last");
            const alert = this.box.querySelector("[role=alert]");
            this.status.textContent = (alert || last?.querySelector("[data-sim-answer]"))?.textContent || "Nothing is said yet.";
            if (!submitter && !this.isFocused) return;
            const same = submitter && !isMessage && [...this.box.querySelectorAll(`[name="${submitter.name}"]`)].find((button) => button.value === submitter.value);
            (same || this.input).focus({preventScroll: true});
            if (isMessage && last) this.reveal(last);
        }

        // The input sticks to the lower edge and may cover the last turn.
        reveal(turn) {
            const covered = turn.getBoundingClientRect().bottom + 16 - this.box.querySelector(".ce-say").getBoundingClientRect().top;
            if (covered > 0) (this.box.closest(".ce-scrolls") || window).scrollBy(0, covered);
        }

        // The first view: nothing is said yet.
        async open(address) {
            const form = Object.assign(document.createElement("form"), {action: address, method: "post"});
            const token = document.querySelector("[name=csrfmiddlewaretoken]")?.value;
            form.append(Object.assign(document.createElement("input"), {type: "hidden", name: "csrfmiddlewaretoken", value: token || ""}));
            this.box.replaceChildren(form);
            await this.send(form);
            this.isFocused = true;
        }
    }

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    // A conversation in an element, with a form as it stands.
    async function open(box, address, {list, isFocused}) {
        const status = element("p", {className: "ce-hidden"});
        status.setAttribute("role", "status");
        box.before(status);
        await new Simulator(box, status, list, isFocused).open(address);
    }

    // The panel beside a form, which tries the form as it stands.
    let drawer = null;

    function toggle(button, form) {
        if (drawer) return drawer.close();
        const box = element("div");
        const status = element("p", {className: "ce-hidden"});
        status.setAttribute("role", "status");
        const shut = element("button", {type: "button", className: "ce-button ce-right", textContent: "Close"});
        const head = element("div", {className: "ce-head"}, element("b", {textContent: "Try before saving"}), shut);
        const aside = element("aside", {className: "ce-drawer ce-scrolls"}, head, status, box);
        aside.setAttribute("aria-label", "Try before saving");
        const list = () => [...new FormData(form)].filter(([name, value]) => name !== "csrfmiddlewaretoken" && typeof value === "string");
        const close = () => {
            aside.remove();
            document.body.classList.remove("ce-has-drawer");
            button.setAttribute("aria-expanded", "false");
            button.focus();
            drawer = null;
        };
        shut.addEventListener("click", close);
        aside.addEventListener("keydown", (event) => {
            if (event.key === "Escape") close();
        });
        // The form must not be left.
        aside.addEventListener("click", (event) => {
            const link = event.target.closest("a[href]");
            if (link) Object.assign(link, {target: "_blank", rel: "noopener"});
        });
        document.body.append(aside);
        document.body.classList.add("ce-has-drawer");
        button.setAttribute("aria-expanded", "true");
        drawer = {close};
        new Simulator(box, status, list).open(button.formAction);
    }

    for (const box of document.querySelectorAll("[data-simulator]")) {
        const simulator = new Simulator(box, document.querySelector("[data-sim-status]"));
        // A busy browser may drop `autofocus`.
        if (document.activeElement === document.body) simulator.input.focus({preventScroll: true});
    }
    globalThis.ceSimulator = {open, toggle};
})();
