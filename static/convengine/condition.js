"use strict";
// The condition of a rule as rows (field, operator, value) in groups, synchronised with the stored JSON. A text that the
// rows cannot represent stays unchanged.

(() => {
    const MAX_LEVELS = 3;
    const MODES = [
        ["and", "All of these hold"], ["or", "Any of these holds"],
        ["not and", "Not all of these hold"], ["not or", "None of these holds"],
    ];
    const TIMES = ["today", "tomorrow", "today+2d", "today+1w", "today-1d", "now", "now+2h", "now-30min"];
    const NUMBER = /^[+-]?\d{1,15}(\.\d{1,10})?$/;

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    function labelled(input, label) {
        input.setAttribute("aria-label", label);
        return input;
    }

    const options = (values) => values.map((value) => element("option", {value}));
    const listed = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);
    const spelled = (value) => (Array.isArray(value) ? value.join(", ") : value === undefined || value === null ? "" : String(value));
    const typed = (text, kind) => (kind === "number" && NUMBER.test(text.trim()) ? Number(text) : text.trim());

    class Builder {
        constructor(area, kind, intent) {
            this.area = area;
            this.kind = kind;
            this.intent = intent;
            const {operators, fields} = JSON.parse(area.dataset.condition);
            this.operators = operators;
            this.fields = fields;
            this.names = element("datalist", {id: `${area.id}_fields`});
            this.times = element("datalist", {id: `${area.id}_times`}, ...options(TIMES));
            this.told = element("p", {className: "ce-help"});
            this.told.setAttribute("aria-live", "polite");
            this.rows = element("div");
            this.json = element("button", {type: "button", className: "ce-button"});
            this.json.addEventListener("click", () => this.showJson(!this.asJson));
            this.box = element("div", {className: "ce-condition"}, this.rows, this.told, this.json, this.names, this.times);
            // The rows that say the same as the typed path, as the server reads it.
            this.convert = element("button", {type: "button", className: "ce-button", hidden: true}, "Edit as fields and values");
            this.convert.addEventListener("click", () => {
                area.value = this.offeredRows;
                kind.value = "CONDITION";
                for (const changed of [area, kind]) changed.dispatchEvent(new Event("change", {bubbles: true}));
                this.rows.querySelector("input, select")?.focus();
            });
            this.place = area.parentElement;
            area.before(this.box, this.convert);
            area.form.addEventListener("ce-rows", (event) => {
                this.offeredRows = event.detail;
                this.convert.hidden = kind.value !== "JSON_PATH" || !event.detail;
            });
            kind.addEventListener("change", () => this.show());
            this.intent?.addEventListener("change", () => this.offer());
            area.addEventListener("input", () => this.show());
            area.addEventListener("change", () => this.writing || this.show());
            document.addEventListener("click", (event) => {
                if (event.target.closest?.(`a[href="#${area.id}"]`) && !this.box.hidden) setTimeout(() => this.rows.querySelector("input, select")?.focus());
            });
            this.offer();
            this.show();
        }

        // --- the stored text ------------------------------------------------------------------------------------------

        // The outer group of the stored text: a new one for a text that is no JSON, null if rows cannot represent it.
        read() {
            const text = this.area.value.trim();
            if (!text.startsWith("{")) return {combinator: "and", rules: [{field: "", operator: "is", value: ""}]};
            try {
                const found = JSON.parse(text);
                const group = found.field === undefined ? found : {combinator: "and", rules: [found]};
                return this.isGroup(group, 1) ? group : null;
            } catch {
                return null;
            }
        }

        isGroup(found, level) {
            return level <= MAX_LEVELS && ["and", "or", undefined].includes(found?.combinator) && Array.isArray(found.rules)
                && found.rules.every((one) => (one?.rules ? this.isGroup(one, level + 1) : typeof one?.field === "string" && this.operator(one.operator)));
        }

        operator(name) {
            return this.operators.find((one) => one.name === name);
        }

        show() {
            const isRows = this.kind.value === "CONDITION";
            this.convert.hidden = this.convert.hidden || this.kind.value !== "JSON_PATH";
            this.box.hidden = !isRows;
            if (!isRows) {
                this.place.classList.remove("ce-as-rows");
                return;
            }
            const found = this.read();
            this.rows.hidden = found === null;
            this.json.hidden = found === null;
            this.told.textContent = found === null ? "This condition cannot be shown as rows. Correct the JSON below." : "";
            this.showJson(found === null || Boolean(this.asJson && !this.json.hidden));
            if (found === null || JSON.stringify(found) === this.shown) return;
            this.shown = JSON.stringify(found);
            this.rows.replaceChildren(this.group(found, 1));
        }

        showJson(shown) {
            this.asJson = shown;
            this.place.classList.toggle("ce-as-rows", !shown);
            this.json.textContent = shown ? "Hide the JSON" : "Show the JSON";
            this.json.setAttribute("aria-expanded", String(shown));
        }

        write() {
            const group = this.collect(this.rows.firstElementChild);
            this.shown = JSON.stringify(group);
            this.writing = true;
            this.area.value = JSON.stringify(group, null, 2);
            this.area.dispatchEvent(new Event("change", {bubbles: true}));
            this.writing = false;
        }

        collect(box) {
            const mode = box.querySelector(":scope > .ce-condition-head select").value;
            const rules = [...box.querySelector(":scope > .ce-condition-members").children].map((one) => (one.matches("fieldset") ? this.collect(one) : one.row()));
            return {combinator: mode.split(" ").pop(), not: mode.startsWith("not "), rules};
        }

        // --- groups ---------------------------------------------------------------------------------------------------

        group(found, level) {
            const mode = labelled(element("select", {}, ...MODES.map(([value, label]) => element("option", {value}, label))), level > 1 ? "Which rows of the group must hold" : "Which rows must hold");
            mode.value = `${found.not ? "not " : ""}${found.combinator || "and"}`;
            mode.addEventListener("change", () => this.write());
            const members = element("div", {className: "ce-condition-members"}, ...found.rules.map((one) => (one.rules ? this.group(one, level + 1) : this.row(one))));
            const head = element("div", {className: "ce-condition-head"}, mode);
            const add = element("button", {type: "button", className: "ce-button"}, "Add a condition");
            add.addEventListener("click", () => this.added(members, this.row({field: "", operator: "is", value: ""})));
            const foot = element("div", {className: "ce-condition-foot"}, add);
            if (level < MAX_LEVELS) {
                const nest = element("button", {type: "button", className: "ce-button"}, "Add a group");
                nest.addEventListener("click", () => this.added(members, this.group({combinator: "or", rules: [{field: "", operator: "is", value: ""}]}, level + 1)));
                foot.append(nest);
            }
            const box = element("fieldset", {className: "ce-condition-group"}, element("legend", {}, level > 1 ? "Group" : "Conditions"), head, members, foot);
            if (level > 1) foot.append(this.removal(box, "Remove the group", "Remove the group"));
            return box;
        }

        added(members, made) {
            members.append(made);
            this.write();
            made.querySelector(".ce-condition-field").focus();
        }

        removal(box, text, label) {
            const remove = labelled(element("button", {type: "button", className: "ce-button", title: label}, text), label);
            remove.addEventListener("click", () => {
                const members = box.parentElement;
                const next = members.parentElement.querySelector(":scope > .ce-condition-foot button");
                box.remove();
                // An empty group holds nothing: it keeps a row.
                if (!members.children.length) members.append(this.row({field: "", operator: "is", value: ""}));
                this.write();
                next.focus();
            });
            return remove;
        }

        // --- rows -----------------------------------------------------------------------------------------------------

        // Fields of the rule's intent, or of all forms for ANY, then the facts.
        offered() {
            const intent = (this.intent?.value || "").trim().toUpperCase();
            return this.fields.filter((one) => !one.intent || !intent || intent === "ANY" || one.intent === intent);
        }

        offer() {
            const seen = new Set();
            this.names.replaceChildren(...this.offered().filter((one) => !seen.has(one.name) && seen.add(one.name)).map((one) => element("option", {value: one.name, label: one.label || ""})));
        }

        known(name) {
            return this.offered().find((one) => one.name === name.trim());
        }

        row(found) {
            const field = labelled(element("input", {type: "text", value: found.field, autocomplete: "off", spellcheck: false, placeholder: "Field", className: "ce-code ce-condition-field"}), "Field");
            field.setAttribute("list", this.names.id);
            const operator = labelled(element("select"), "Operator");
            const values = element("span", {className: "ce-condition-values"});
            const row = element("div", {className: "ce-condition-row"}, field, operator, values);
            row.append(this.removal(row, "×", "Remove this condition"));
            let inputs = () => ({});
            const fill = (name) => {
                const kind = this.known(field.value)?.kind;
                const fit = this.operators.filter((one) => !kind || one.kinds.includes(kind) || one.name === name);
                operator.replaceChildren(...fit.map((one) => element("option", {value: one.name}, one.label)));
                operator.value = fit.some((one) => one.name === name) ? name : fit[0].name;
            };
            const ask = (value, source) => {
                inputs = this.inputs(values, this.operator(operator.value), this.known(field.value), value, source);
            };
            fill(found.operator);
            ask(found.value, found.valueSource);
            field.addEventListener("change", () => {
                const before = operator.value;
                const {value, valueSource} = inputs();
                fill(before);
                ask(value, valueSource);
                this.write();
            });
            operator.addEventListener("change", () => {
                const {value, valueSource} = inputs();
                ask(value, valueSource);
                this.write();
            });
            row.row = () => ({field: field.value.trim(), operator: operator.value, ...inputs()});
            return row;
        }

        // The inputs for a value; returns a function that reads them.
        inputs(place, operator, field, value, source) {
            const text = (label, shown, list, properties = {}) => {
                const input = labelled(element("input", {type: "text", value: shown, autocomplete: "off", spellcheck: false, ...properties}), label);
                if (list) input.setAttribute("list", list);
                input.addEventListener("input", () => this.write());
                return input;
            };
            const choices = this.choices(place, field);
            const {needs} = operator;
            if (needs === "NOTHING") {
                place.replaceChildren();
                return () => ({});
            }
            if (needs === "COUNT") {
                const count = text("Number", spelled(value), "", {type: "number", min: 0, className: "ce-number"});
                place.replaceChildren(count);
                return () => ({value: count.value === "" ? "" : Number(count.value)});
            }
            if (needs === "RANGE") {
                const ends = Array.isArray(value) ? value : listed(spelled(value));
                const list = field?.kind === "number" ? "" : this.times.id;
                const [low, high] = ["From", "To"].map((label, index) => text(label, spelled(ends[index]), list, {placeholder: label.toLowerCase()}));
                place.replaceChildren(low, element("span", {}, "and"), high);
                return () => ({value: [low, high].map((one) => typed(one.value, NUMBER.test(one.value.trim()) ? "number" : ""))});
            }
            if (operator.values.length) {
                const chosen = new Set((Array.isArray(value) ? value : listed(spelled(value))).map((one) => String(one).toLowerCase()));
                const boxes = operator.values.map((name) => element("input", {type: "checkbox", value: name, checked: chosen.has(name.toLowerCase())}));
                for (const box of boxes) box.addEventListener("change", () => this.write());
                place.replaceChildren(...boxes.map((box) => element("label", {className: "ce-condition-choice"}, box, ` ${box.value}`)));
                return () => ({value: boxes.filter((box) => box.checked).map((box) => box.value)});
            }
            if (needs === "LIST") {
                const list = text("Values, separated by commas", spelled(value), choices, {placeholder: "pain, cleaning"});
                place.replaceChildren(...this.datalist(place), list);
                return () => ({value: listed(list.value).map((one) => typed(one, field?.kind))});
            }
            const other = labelled(element("select", {}, element("option", {value: "value"}, "value"), element("option", {value: "field"}, "field")), "Compare with a value or a field");
            other.value = source === "field" ? "field" : "value";
            const list = () => (other.value === "field" ? this.names.id : needs === "TIME" ? this.times.id : choices);
            const input = text("Value", spelled(value), list(), {placeholder: needs === "TIME" ? "today+2d, 2026-12-05" : needs === "PATTERN" ? "pattern" : "value"});
            other.addEventListener("change", () => {
                input.setAttribute("list", list());
                this.write();
            });
            place.replaceChildren(...this.datalist(place), input, other);
            return () => (other.value === "field" ? {value: input.value.trim(), valueSource: "field"} : {value: needs === "TEXT" ? typed(input.value, field?.kind) : input.value.trim()});
        }

        // The id of the list of a field's known values.
        choices(place, field) {
            place.choices = null;
            if (!field) return "";
            if (field.list) return field.list;
            if (!field.values?.length) return field.kind === "date or time" ? this.times.id : "";
            Builder.count = (Builder.count || 0) + 1;
            place.choices = element("datalist", {id: `${this.area.id}_values${Builder.count}`}, ...options(field.values));
            return place.choices.id;
        }

        datalist(place) {
            return place.choices ? [place.choices] : [];
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const area = document.querySelector("textarea[data-condition]");
        const kind = document.getElementById("id_rule_type");
        if (area && kind) new Builder(area, kind, document.getElementById("id_intent_code"));
    });
    globalThis.ceCondition = {build: (area, kind, intent) => new Builder(area, kind, intent)};
})();
