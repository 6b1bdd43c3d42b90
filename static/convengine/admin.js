"use strict";
// Pickers with suggestions, choices with help, copy buttons, and tables as blocks on small screens. Without this script
// the fields still work, with the browser's own list of suggestions and plain selects, and wide tables are scrolled.

(() => {
    const LIMIT = 200;
    let pickers = 0;

    class Picker {
        constructor(input) {
            this.input = input;
            this.options = [...input.list.options].map((option) => ({
                value: option.value, label: option.textContent, help: option.dataset.help || "", group: option.dataset.group || "",
            }));
            input.removeAttribute("list");
            this.list = document.createElement("ul");
            this.list.className = "ce-suggestions";
            this.list.id = `ce-suggestions-${++pickers}`;
            this.list.setAttribute("role", "listbox");
            this.list.setAttribute("aria-label", "Suggestions");
            this.list.hidden = true;
            this.help = document.createElement("p");
            this.help.className = "ce-help";
            this.help.setAttribute("aria-live", "polite");
            input.after(this.list);
            input.closest(".ce-picker").append(this.help);
            for (const [name, value] of Object.entries({role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id})) {
                input.setAttribute(name, value);
            }
            this.depends = input.dataset.depends ? document.getElementById(input.dataset.depends) : null;
            this.depends?.addEventListener("change", () => this.explain());
            this.depends?.addEventListener("input", () => this.explain());
            input.addEventListener("click", () => this.open(""));
            input.addEventListener("input", () => { this.open(input.value); this.explain(); });
            input.addEventListener("keydown", (event) => this.key(event));
            input.addEventListener("blur", () => this.close());
            this.list.addEventListener("mousedown", (event) => {
                event.preventDefault();
                const item = event.target.closest("li");
                if (item) this.choose(item.dataset.value);
            });
            if (!("quiet" in input.dataset)) this.explain();
        }

        get fitting() {
            const group = this.depends?.value.trim().toUpperCase();
            return this.options.filter((option) => !option.group || option.group.toUpperCase() === group);
        }

        open(text) {
            const wanted = text.trim().toLowerCase();
            const found = this.fitting.filter((option) => `${option.value} ${option.label}`.toLowerCase().includes(wanted)).slice(0, LIMIT);
            this.list.replaceChildren(...found.map((option, place) => {
                const item = document.createElement("li");
                item.id = `${this.list.id}-${place}`;
                item.setAttribute("role", "option");
                item.setAttribute("aria-selected", "false");
                item.dataset.value = option.value;
                item.textContent = option.value;
                if (option.label) item.append(Object.assign(document.createElement("small"), {textContent: option.label}));
                return item;
            }));
            this.at = -1;
            this.list.hidden = !found.length;
            this.input.setAttribute("aria-expanded", String(!this.list.hidden));
            this.input.removeAttribute("aria-activedescendant");
        }

        close() {
            this.list.hidden = true;
            this.input.setAttribute("aria-expanded", "false");
            this.input.removeAttribute("aria-activedescendant");
        }

        move(step) {
            const items = this.list.children;
            if (!items.length) return;
            items[this.at]?.setAttribute("aria-selected", "false");
            this.at = (this.at + step + items.length) % items.length;
            items[this.at].setAttribute("aria-selected", "true");
            items[this.at].scrollIntoView({block: "nearest"});
            this.input.setAttribute("aria-activedescendant", items[this.at].id);
        }

        key(event) {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                if (this.list.hidden) this.open("");
                this.move(event.key === "ArrowDown" ? 1 : -1);
            } else if (event.key === "Enter" && !this.list.hidden && this.at >= 0) {
                event.preventDefault();
                this.choose(this.list.children[this.at].dataset.value);
            } else if (event.key === "Escape" && !this.list.hidden) {
                event.stopPropagation();
                this.close();
            }
        }

        choose(value) {
            this.input.value = value;
            this.input.dispatchEvent(new Event("change", {bubbles: true}));
            this.close();
            this.explain();
        }

        explain() {
            const value = this.input.value.trim().toUpperCase();
            const chosen = this.fitting.find((option) => option.value.toUpperCase() === value);
            this.help.textContent = chosen ? chosen.help : "";
        }
    }

    function explainChoice(select) {
        const help = Object.assign(document.createElement("p"), {className: "ce-help"});
        help.setAttribute("aria-live", "polite");
        select.parentElement.after(help);
        const show = () => { help.textContent = select.selectedOptions[0]?.dataset.help || ""; };
        select.addEventListener("change", show);
        show();
    }

    // Keyboard access to the sidebar's button and the user menu, which the admin's frame offers to a mouse only.
    const PRESSED = [
        ["#main .material-symbols-outlined[x-on\\:click*=sidebar]", "Places"],
        ["#nav-sidebar .material-symbols-outlined[x-on\\:click*=sidebar]", "Close"],
        ["#nav-sidebar div[x-on\\:click*=openUserLinks]", "Your account"],
    ];

    function pressable(element, name) {
        for (const [attribute, value] of Object.entries({role: "button", tabindex: "0", "aria-label": name})) {
            element.setAttribute(attribute, value);
        }
        element.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            element.click();
            // The opened menu comes before this element, where keyboard users would not find it.
            if (name === "Places") requestAnimationFrame(() => document.querySelector("#nav-sidebar-apps a")?.focus());
        });
    }

    // A search that filters the page while the user types; without this script its button does.
    function filter(input) {
        // A filtered page does not contain the hits of other words.
        if (input.value) return;
        const found = document.querySelector("[data-found]");
        const narrow = () => {
            const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
            const items = [...document.querySelectorAll(input.dataset.filter)];
            for (const item of items) item.hidden = !words.every((word) => item.dataset.text.includes(word));
            for (const group of document.querySelectorAll(".ce-family")) {
                group.open = words.length > 0;
                group.hidden = ![...group.querySelectorAll(input.dataset.filter)].some((item) => !item.hidden);
            }
            const shown = items.filter((item) => !item.hidden).length;
            found.textContent = `${shown} of ${items.length} shown.`;
            document.querySelector("[data-none]").hidden = shown > 0 || !items.length;
        };
        input.addEventListener("input", narrow);
    }

    function copy(button) {
        const source = document.getElementById(button.dataset.copy);
        const told = document.querySelector("[data-copied]");
        button.addEventListener("click", async () => {
            source.select();
            try {
                await navigator.clipboard.writeText(source.value);
                told.textContent = "Copied.";
            } catch {
                told.textContent = "Press Ctrl+C to copy.";
            }
        });
    }

    // A table that is wider than a small screen shows each row as a block, whose cells have the names of their columns.
    const NARROW = matchMedia("(max-width: 640px)");
    const ROLES = [["thead, tbody", "rowgroup"], ["tr", "row"], ["thead th", "columnheader"], ["tbody th", "rowheader"], ["td", "cell"]];

    function listStackable() {
        return [...document.querySelectorAll(".ce-scroll > table.ce-table")].filter((table) => table.tHead?.rows.length === 1 && !table.querySelector("[rowspan], [colspan]"));
    }

    function stack(table) {
        table.classList.remove("ce-stack");
        if (!NARROW.matches || table.parentElement.scrollWidth <= table.parentElement.clientWidth + 1) return;
        if (!table.hasAttribute("role")) {
            table.setAttribute("role", "table");
            for (const [selector, role] of ROLES) table.querySelectorAll(selector).forEach((part) => part.setAttribute("role", role));
            const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
            for (const body of table.tBodies) for (const row of body.rows) [...row.cells].forEach((cell, column) => { cell.dataset.column = names[column] || ""; });
        }
        table.classList.add("ce-stack");
    }

    // The skip link leads to the first field of a form, else to the content.
    function skip(event) {
        const fields = document.querySelectorAll("#content form :is(input:not([type=hidden]):not([type=checkbox]), select, textarea, [contenteditable=true])");
        const first = [...fields].find((field) => field.checkVisibility() && !field.disabled);
        if (!first) return;
        event.preventDefault();
        first.focus();
    }

    // Leaving a form with texts that were typed and not sent is asked about.
    function guard(form) {
        let isEdited = false;
        form.addEventListener("input", () => { isEdited = true; });
        form.addEventListener("submit", () => { isEdited = false; });
        addEventListener("beforeunload", (event) => { if (isEdited) event.preventDefault(); });
    }

    document.addEventListener("DOMContentLoaded", () => {
        document.querySelector("[data-skip]")?.addEventListener("click", skip);
        // Names of icons are letters of a font, which screen readers should skip.
        document.querySelectorAll(".material-symbols-outlined:not([x-on\\:click])").forEach((icon) => icon.setAttribute("aria-hidden", "true"));
        document.querySelectorAll("a[x-on\\:click*=showActions]").forEach((menu) => menu.setAttribute("aria-label", "More"));
        for (const [selector, name] of PRESSED) document.querySelectorAll(selector).forEach((found) => pressable(found, name));
        document.getElementById("searchbar-submit")?.setAttribute("aria-label", "Search");
        document.querySelectorAll(".ce-picker input[list]").forEach((input) => new Picker(input));
        document.querySelectorAll("select[data-choice]").forEach(explainChoice);
        document.querySelectorAll("[data-copy]").forEach(copy);
        // On small screens each cell shows the name of its column.
        document.querySelectorAll("#result_list [data-label]").forEach((cell) => { cell.dataset.label = cell.dataset.label.replace(/^./, (letter) => letter.toUpperCase()); });
        listStackable().forEach(stack);
        NARROW.addEventListener("change", () => listStackable().forEach(stack));
        // The newest end of a chart that is wider than the screen.
        document.querySelectorAll("[data-newest-last]").forEach((box) => { box.scrollLeft = box.scrollWidth; });
        document.querySelectorAll("[data-filter]").forEach(filter);
        document.querySelectorAll("form[data-unsaved]").forEach(guard);
        // The page's entry in a sidebar that is longer than the screen, also when a phone opens it.
        const here = document.querySelector('.ce-nav [aria-current="page"]');
        if (here) new ResizeObserver(() => here.scrollIntoView({ block: "nearest" })).observe(here);
        document.querySelectorAll("[data-select]").forEach((input) => input.select());
        const told = document.querySelector("[data-focus], .errornote");
        // After the load, because until then the browser moves the focus while it scrolls to the fragment.
        const first = document.querySelector(".ce-edit :is(input:not([type=hidden]), select, textarea)");
        if (first && !told) addEventListener("load", () => setTimeout(() => first.focus()));
        // In a frame, the page around it sets the focus.
        if (told && window === window.parent) {
            if (!told.matches("input")) told.tabIndex = -1;
            told.focus();
            // Django's own script focuses the first field of a new row.
            addEventListener("load", () => setTimeout(() => told.focus()));
        }
    });
})();
