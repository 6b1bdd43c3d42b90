"use strict";
// A JSON schema as a table of fields, synchronised with the JSON: either may be edited, and keys without a column stay
// unchanged.

(() => {
    const TYPES = {string: "Text", integer: "Whole number", number: "Number", boolean: "Yes or no", array: "List", object: "Group of fields"};
    const FORMATS = {
        "": "–", date: "Date", time: "Time", "date-time": "Date and time", duration: "Duration", email: "E-mail", phone: "Phone",
        money: "Money", postcode: "Postcode", iban: "IBAN", uri: "Web address", uuid: "UUID",
    };
    // Formats that the engine reads, and that JSON Schema does not know, or reads in another way.
    const KINDS = ["time", "duration", "money", "postcode", "iban"];

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    const listed = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);

    // A choice or an example converted to the type of the field.
    function typed(text, type) {
        if (type === "integer" || type === "number") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
        return type === "boolean" && ["true", "false"].includes(text) ? text === "true" : text;
    }

    // `red = crimson, scarlet; blue = navy`
    function readSynonyms(text) {
        const pairs = text.split(";").map((one) => one.split("=")).filter((one) => one.length === 2 && one[0].trim());
        return Object.fromEntries(pairs.map(([value, words]) => [value.trim(), listed(words)]));
    }

    const saySynonyms = (found) => Object.entries(found).map(([value, words]) => `${value} = ${[words].flat().join(", ")}`).join("; ");

    function put(field, key, value) {
        if (value === undefined || value === "" || (Array.isArray(value) && !value.length)) delete field[key];
        else field[key] = value;
    }

    function putFormat(field, format) {
        put(field, "x-kind", KINDS.includes(format) ? format : undefined);
        put(field, "format", KINDS.includes(format) ? undefined : format);
        if (format === "money" && field.type === "string") field.type = "number";
    }

    // How each column is stored in the schema of a field.
    const COLUMNS = [
        {
            label: "Question", hint: "What is your name?", get: (field) => (typeof field["x-ask"] === "string" ? field["x-ask"] : ""),
            set: (field, text) => put(field, "x-ask", text),
        },
        {
            label: "Format", choices: FORMATS, get: (field) => field["x-kind"] || field.format || "", set: putFormat,
        },
        {
            label: "Choices", hint: "small, medium, large", get: (field) => (Array.isArray(field.enum) ? field.enum.join(", ") : ""),
            set: (field, text) => put(field, "enum", listed(text).map((one) => typed(one, field.type))),
        },
        {
            label: "Example", hint: "12345", get: (field) => (Array.isArray(field.examples) ? field.examples.join(", ") : ""),
            set: (field, text) => put(field, "examples", listed(text).map((one) => typed(one, field.type))),
        },
        {
            label: "Also called", hint: "order no, number", get: (field) => [field["x-labels"] || []].flat().join(", "),
            set: (field, text) => put(field, "x-labels", listed(text)),
        },
        {
            label: "Synonyms of choices", hint: "large = big, huge", get: (field) => saySynonyms(field["x-synonyms"] || {}),
            set: (field, text) => put(field, "x-synonyms", Object.keys(readSynonyms(text)).length ? readSynonyms(text) : undefined),
        },
    ];

    class Table {
        constructor(area) {
            this.area = area;
            this.body = element("tbody");
            this.told = element("p", {className: "ce-help"});
            this.told.setAttribute("aria-live", "polite");
            const heads = ["Name", "Type", "Required", ...COLUMNS.map((column) => column.label), ""];
            const head = element("tr", {}, ...heads.map((text) => element("th", {scope: "col"}, text || element("span", {className: "ce-hidden"}, "Remove"))));
            this.table = element("table", {className: "ce-table ce-grid"}, element("caption", {className: "ce-hidden"}, "Fields to collect"), element("thead", {}, head), this.body);
            this.add = element("button", {type: "button", className: "ce-button"}, "Add a field");
            this.add.addEventListener("click", () => this.added());
            area.before(element("div", {className: "ce-fields"}, element("div", {className: "ce-scroll"}, this.table), this.told, this.add));
            area.addEventListener("input", () => this.show());
            this.show();
        }

        // The document of the JSON; null if the table cannot show it.
        get schema() {
            const text = this.area.value.trim();
            if (!text || text === "null" || text === "{}") return {type: "object", properties: {}};
            try {
                const found = JSON.parse(text);
                const fields = found?.properties ?? {};
                return found && typeof found === "object" && !Array.isArray(found) && Object.values(fields).every((one) => one && typeof one === "object") ? found : null;
            } catch {
                return null;
            }
        }

        show() {
            const schema = this.schema;
            this.add.disabled = schema === null;
            this.told.textContent = schema === null ? "The JSON below cannot be shown as a table of fields. Correct it there." : "";
            if (schema === null) {
                this.table.parentElement.hidden = true;
                return;
            }
            this.body.replaceChildren(...Object.keys(schema.properties ?? {}).map((name) => this.row(name, schema)));
            // Column heads alone are useless, and could not be scrolled by keyboard.
            this.table.parentElement.hidden = !this.body.children.length;
            if (!this.body.children.length) this.told.textContent = "No field yet.";
        }

        row(name, schema) {
            const field = schema.properties[name];
            const row = element("tr", {});
            const labels = [];
            const called = (wanted) => {
                row.dataset.name = wanted;
                labels.forEach(([input, label]) => input.setAttribute("aria-label", `${label} of ${wanted}`));
            };
            const cell = (input, label, changed, event = "change") => {
                labels.push([input, label]);
                row.append(element("td", {}, input));
                input.addEventListener(event, () => changed(input, row.dataset.name));
            };
            cell(element("input", {type: "text", value: name, spellcheck: false, className: "ce-code"}), "Name", (input, now) => {
                if (this.renamed(input, now)) called(input.value);
            });
            const type = Array.isArray(field.type) ? field.type.find((one) => one !== "null") : field.type;
            cell(this.select(TYPES, type || "string"), "Type", (input, now) => this.changed(now, (found) => {
                found.type = Array.isArray(found.type) && found.type.includes("null") ? [input.value, "null"] : input.value;
            }));
            cell(element("input", {type: "checkbox", checked: (schema.required || []).includes(name)}), "Required", (input, now) => this.required(now, input.checked));
            for (const column of COLUMNS) {
                const text = column.get(field);
                const input = column.choices ? this.select(column.choices, text) : element("input", {type: "text", value: text, placeholder: column.hint});
                cell(input, column.label, (input, now) => this.changed(now, (found) => column.set(found, input.value)));
            }
            cell(element("button", {type: "button", className: "ce-button", title: "Remove"}, "×"), "Removal", (input, now) => this.removed(now), "click");
            called(name);
            return row;
        }

        // `choices`: values, or values with their labels.
        select(choices, value) {
            const labels = Array.isArray(choices) ? Object.fromEntries(choices.map((one) => [one, one])) : choices;
            const known = {...labels, ...(value in labels ? {} : {[value]: value})};
            const made = element("select", {}, ...Object.entries(known).map(([one, label]) => element("option", {value: one}, label)));
            made.value = value;
            return made;
        }

        // --- from the table to the JSON -------------------------------------------------------------------------------

        write(change) {
            const schema = this.schema;
            schema.type ??= "object";
            schema.properties ??= {};
            change(schema);
            this.area.value = JSON.stringify(schema, null, 2);
            this.area.dispatchEvent(new Event("change", {bubbles: true}));
        }

        changed(name, change) {
            this.write((schema) => change(schema.properties[name]));
        }

        required(name, needed) {
            this.write((schema) => {
                const others = (schema.required || []).filter((one) => one !== name);
                put(schema, "required", needed ? [...others, name] : others);
            });
        }

        // True when the field has this name now. The row stays, so that the focus is not lost.
        renamed(input, name) {
            const wanted = input.value.trim();
            if (!wanted || (wanted !== name && wanted in this.schema.properties)) {
                this.told.textContent = wanted ? `The field ${wanted} already exists. Choose another name.` : "A field needs a name.";
                input.value = name;
                return false;
            }
            input.value = wanted;
            this.told.textContent = "";
            this.write((schema) => {
                schema.properties = Object.fromEntries(Object.entries(schema.properties).map(([key, field]) => [key === name ? wanted : key, field]));
                if (schema.required) schema.required = schema.required.map((one) => (one === name ? wanted : one));
            });
            return true;
        }

        removed(name) {
            this.write((schema) => {
                delete schema.properties[name];
                put(schema, "required", (schema.required || []).filter((one) => one !== name));
            });
            this.show();
            this.add.focus();
        }

        added() {
            const taken = this.schema.properties ?? {};
            let number = Object.keys(taken).length + 1;
            while (`field${number}` in taken) number += 1;
            this.write((schema) => { schema.properties[`field${number}`] = {type: "string"}; });
            this.show();
            const name = this.body.lastElementChild.querySelector("input");
            name.focus();
            name.select();
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const area = document.querySelector("textarea[data-fields]");
        if (area) new Table(area);
    });
})();
