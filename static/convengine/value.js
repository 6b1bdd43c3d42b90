"use strict";
// The editor of an action's value: fields for names and values, synchronised with the stored text. A text that the
// fields cannot represent stays unchanged.

(() => {
    const LABELS = {
        params: ["Parameter", "Value"], context: ["Context field", "Value"],
        path: ["Parameter", "Path in the facts"], preference: ["Preference", "Value"],
    };
    const MANY = new Set(["params", "context"]);

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    // The parsed value of a plain text, with the engine's grammar.
    function scalar(text) {
        const word = text.trim();
        if (["null", "true", "false"].includes(word) || /^[+-]?[0-9]{1,15}(\.[0-9]{1,15})?$/.test(word)) return JSON.parse(word.replace(/^\+/, "").replace(/^(-?)0+(?=[0-9])/, "$1"));
        if (/^[[{"]/.test(word)) {
            try { return JSON.parse(word); } catch { /* a text that only begins so */ }
        }
        return word;
    }

    function spelled(value) {
        return typeof value === "string" && scalar(value) === value ? value : JSON.stringify(value);
    }

    // [[name, value], …] of a stored text; null if the fields cannot represent it.
    function read(text, many) {
        const trimmed = text.trim();
        if (!trimmed) return [];
        if (many && /^[[{]/.test(trimmed)) {
            let found;
            try { found = JSON.parse(trimmed); } catch { return null; }
            const entries = Array.isArray(found) ? found : "key" in found ? [found] : Object.entries(found).map(([key, value]) => ({key, value}));
            if (!entries.every((entry) => typeof entry?.key === "string")) return null;
            return entries.map((entry) => [entry.key, spelled(entry.value ?? null)]);
        }
        const colon = trimmed.indexOf(":");
        return [colon < 0 ? [trimmed, many ? "true" : ""] : [trimmed.slice(0, colon).trim(), trimmed.slice(colon + 1).trim()]];
    }

    function written(pairs, many) {
        const named = pairs.filter(([name, value]) => name.trim() || value.trim());
        if (!named.length) return "";
        if (named.length === 1) {
            const [name, value] = named[0];
            if (!many && !value.trim()) return name.trim();
            if (!many || !/^[[{"]/.test(value.trim())) return `${name.trim()}:${value.trim()}`;
        }
        return JSON.stringify(Object.fromEntries(named.map(([name, value]) => [name.trim(), scalar(value)])));
    }

    class Editor {
        constructor(input, action) {
            this.input = input;
            this.action = action;
            this.options = [...input.closest(".ce-picker").querySelectorAll("datalist option")].map((one) => ({value: one.value, group: one.dataset.group}));
            this.names = element("datalist", {id: `${input.id}_names`});
            this.ids = element("datalist", {id: `${input.id}_ids`});
            this.rows = element("div", {className: "ce-pairs"});
            this.add = element("button", {type: "button", className: "ce-button"}, "Add another");
            this.add.addEventListener("click", () => this.row("", "").focus());
            this.box = element("div", {className: "ce-value"}, this.rows, this.add, this.names, this.ids);
            this.box.setAttribute("role", "group");
            this.box.setAttribute("aria-label", "Value, part by part");
            input.closest(".ce-picker").after(this.box);
            action.addEventListener("change", () => this.show());
            input.addEventListener("input", () => this.show());
            input.addEventListener("change", () => this.writing || this.show());
            this.show();
        }

        get kind() {
            return this.action.selectedOptions[0]?.dataset.editor || "";
        }

        get pairs() {
            return [...this.rows.children].map((row) => [...row.querySelectorAll("input")].map((field) => field.value));
        }

        show() {
            const many = MANY.has(this.kind);
            const found = this.kind in LABELS ? read(this.input.value, many) : null;
            this.box.hidden = found === null;
            if (found === null) return;
            this.add.hidden = !many;
            const wanted = found.length ? found : [["", ""]];
            this.offer(wanted[0][0]);
            // Do not replace a focused field.
            if (this.shown === this.kind && JSON.stringify(wanted) === JSON.stringify(this.pairs)) return;
            this.shown = this.kind;
            this.rows.replaceChildren();
            wanted.forEach(([name, value]) => this.row(name, value));
        }

        // Names for the first field; for options `kind:id`, kinds, and for the second field the ids of the kind.
        offer(name) {
            const mine = this.options.filter((one) => one.group === this.action.value).map((one) => one.value.split(":"));
            const fill = (list, found) => list.replaceChildren(...[...new Set(found)].map((value) => element("option", {value})));
            fill(this.names, mine.map(([kind]) => kind));
            fill(this.ids, mine.filter(([kind, ...id]) => kind === name.trim() && id.length).map(([, ...id]) => id.join(":")));
        }

        row(name, value) {
            const fields = LABELS[this.kind].map((label, place) => {
                const field = element("input", {type: "text", value: place ? value : name, autocomplete: "off", spellcheck: false, placeholder: label, className: "ce-code"});
                field.setAttribute("aria-label", label);
                field.setAttribute("list", place ? this.ids.id : this.names.id);
                field.addEventListener("input", () => this.write());
                return field;
            });
            const row = element("div", {className: "ce-pair"}, ...fields);
            if (MANY.has(this.kind)) {
                const remove = element("button", {type: "button", className: "ce-button", title: "Remove"}, "×");
                remove.setAttribute("aria-label", "Remove");
                remove.addEventListener("click", () => {
                    row.remove();
                    this.write();
                    this.add.focus();
                });
                row.append(remove);
            }
            this.rows.append(row);
            return fields[0];
        }

        write() {
            this.writing = true;
            this.input.value = written(this.pairs, MANY.has(this.kind));
            if (this.kind === "preference") this.offer(this.pairs[0][0]);
            this.input.dispatchEvent(new Event("change", {bubbles: true}));
            this.writing = false;
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const input = document.getElementById("id_action_value");
        const action = document.getElementById("id_action");
        if (input?.closest(".ce-picker") && action) new Editor(input, action);
    });
})();
