"use strict";
// The help panel beside a form: the manual's entry of a field, an error, or a link. F1 opens it for the focused field,
// Escape closes it, and the focus returns. Without this script, the links open the manual's pages.

(() => {
    const ENTRY = "/docs/entry/";

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    class Panel {
        constructor() {
            this.asker = null;
            this.past = [];
            this.text = element("div", {className: "ce-side-text ce-prose"});
            this.text.setAttribute("aria-live", "polite");
            this.back = element("button", {type: "button", className: "ce-button", hidden: true}, "Back");
            const close = element("button", {type: "button", className: "ce-button ce-right"}, "Close");
            const whole = element("a", {className: "ce-link", href: "/docs/", target: "_blank"}, "Whole manual");
            this.box = element("aside", {className: "ce-side", hidden: true}, element("div", {className: "ce-side-head"}, this.back, whole, close), this.text);
            this.box.setAttribute("aria-label", "Manual");
            document.body.append(this.box);
            close.addEventListener("click", () => this.close());
            this.back.addEventListener("click", () => { this.past.pop(); this.show(this.past.pop()); });
            document.addEventListener("keydown", (event) => {
                if (event.key !== "Escape" || this.box.hidden || event.defaultPrevented) return;
                if (document.querySelector("dialog[open], .ce-suggestions:not([hidden])")) return;
                event.preventDefault();
                this.close();
            });
        }

        open(anchor, asker) {
            if (!this.box.contains(asker)) {
                this.asker = asker;
                this.past = [];
            }
            return this.show(anchor);
        }

        async show(anchor) {
            const response = await fetch(`${ENTRY}${anchor.split("/").map(encodeURIComponent).join("/")}/`, {redirect: "manual"}).catch(() => null);
            if (!response?.ok) {
                this.text.replaceChildren(element("p", {}, "The manual is not available at the moment."));
            } else {
                this.text.innerHTML = await response.text();
                this.past.push(anchor);
            }
            this.back.hidden = this.past.length < 2;
            this.box.hidden = false;
            document.documentElement.classList.add("ce-side-open");
            this.text.scrollTop = 0;
            this.text.querySelector("h2")?.focus();
        }

        close() {
            this.box.hidden = true;
            document.documentElement.classList.remove("ce-side-open");
            this.asker?.focus();
        }
    }

    // The label of a field, not those of its choices. Read-only pages have no field, so the text identifies it.
    function labelOf(name, title) {
        const row = document.querySelector(`.field-${CSS.escape(name)}`);
        if (row) return [...row.querySelectorAll("label")].find((one) => one.htmlFor === `id_${name}` || !one.htmlFor);
        const said = (label) => label.textContent.trim().replace(/[:*]$/, "").toLowerCase();
        return [...document.querySelectorAll("#main form label:not([for])")].find((one) => said(one) === title.toLowerCase());
    }

    // A question mark beside the label of each field with an entry. It is not in the Tab order, so that filling in a form
    // needs one Tab per field; F1 does the same.
    function ask(panel, known) {
        for (const [name, entry] of Object.entries(known.fields)) {
            const label = labelOf(name, entry.title);
            if (!label || label.parentElement.querySelector(":scope > .ce-ask")) continue;
            const told = element("span", {className: "ce-hidden"}, ` Manual: ${entry.title}`);
            const link = element("a", {className: "ce-ask", href: entry.url, tabIndex: -1}, element("span", {ariaHidden: "true"}, "?"), told);
            link.dataset.entry = entry.anchor;
            label.after(link);
        }
        document.addEventListener("keydown", (event) => {
            if (event.key !== "F1" || event.ctrlKey || event.altKey || event.metaKey) return;
            const name = Object.keys(known.fields).find((one) => event.target.closest?.(`.field-${CSS.escape(one)}`));
            event.preventDefault();
            panel.open(known.fields[name]?.anchor ?? known.table, event.target);
        });
    }

    document.addEventListener("DOMContentLoaded", () => {
        const panel = new Panel();
        const told = document.getElementById("ce-manual-fields");
        if (told) ask(panel, JSON.parse(told.textContent));
        document.addEventListener("click", (event) => {
            const link = event.target.closest?.("a[data-entry]");
            if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.closest(".ce-manual")) return;
            event.preventDefault();
            panel.open(link.dataset.entry, link);
        });
    });
})();
