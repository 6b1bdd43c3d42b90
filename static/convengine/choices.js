"use strict";
// The choices of a field as a small table. Its cells are kept in the text area as lines with tabs, which is what is sent;
// without this script, the area itself is filled in.

(() => {
    const COLUMNS = [["Choice", "flat"], ["Shown to users as", "Flat tyre"], ["Other words", "puncture, no air"]];

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    class Table {
        constructor(area) {
            this.area = area;
            area.choices = this;
            this.body = element("tbody");
            const heads = COLUMNS.map(([label]) => element("th", {scope: "col"}, label));
            const head = element("thead", {}, element("tr", {}, ...heads, element("td")));
            const table = element("table", {className: "ce-choices"}, head, this.body);
            table.setAttribute("aria-label", area.labels[0].textContent.trim());
            area.before(table);
            // The label of the area and the links of its errors lead to the first cell.
            area.classList.add("ce-off-screen");
            area.setAttribute("aria-hidden", "true");
            area.tabIndex = -1;
            area.addEventListener("focus", () => this.body.querySelector("input").focus());
            for (const cells of JSON.parse(area.dataset.choices)) this.add(cells);
            this.add();
            this.body.addEventListener("input", () => this.write());
            this.body.addEventListener("change", () => area.dispatchEvent(new Event("change", {bubbles: true})));
            this.body.addEventListener("paste", (event) => this.paste(event));
            this.body.addEventListener("click", (event) => event.target.closest("button") && this.remove(event.target.closest("tr")));
        }

        get rows() {
            return [...this.body.rows];
        }

        get values() {
            return this.rows.map((row) => this.read(row)[0]).filter(Boolean);
        }

        // A row with a value and nothing else.
        fill(value) {
            this.rows.at(-1).querySelector("input").value = value;
            this.write();
        }

        read(row) {
            return [...row.querySelectorAll("input")].map((input) => input.value.trim());
        }

        add(cells = []) {
            const row = element("tr");
            COLUMNS.forEach(([label, example], index) => {
                const input = element("input", {type: "text", value: cells[index] || ""});
                input.dataset.label = label;
                if (!this.body.rows.length && !cells.length) input.placeholder = example;
                const cell = element("td", {}, input);
                cell.dataset.column = label;
                row.append(cell);
            });
            row.append(element("td", {}, element("button", {type: "button", className: "ce-button"}, "Remove")));
            this.body.append(row);
            this.name();
        }

        // A blank row is always the last one; it has nothing to remove.
        name() {
            this.rows.forEach((row, index) => {
                for (const input of row.querySelectorAll("input")) input.setAttribute("aria-label", `${input.dataset.label}, row ${index + 1}`);
                const button = row.querySelector("button");
                button.setAttribute("aria-label", `Remove row ${index + 1}`);
                button.hidden = index === this.rows.length - 1;
            });
        }

        write() {
            if (this.read(this.rows.at(-1)).some(Boolean)) this.add();
            const filled = this.rows.map((row) => this.read(row)).filter((cells) => cells.some(Boolean));
            this.area.value = filled.map((cells) => cells.join("\t")).join("\n");
        }

        remove(row) {
            const next = row.nextElementSibling;
            row.remove();
            this.name();
            this.write();
            next.querySelector("input").focus();
            this.area.dispatchEvent(new Event("change", {bubbles: true}));
        }

        // Cells of a spreadsheet fill the table from the cell on in which they are pasted. Those behind the last column are
        // other words, too.
        paste(event) {
            const text = event.clipboardData.getData("text/plain").replace(/\r?\n$/, "");
            if (!/[\t\n]/.test(text)) return;
            event.preventDefault();
            const start = this.rows.indexOf(event.target.closest("tr"));
            const column = event.target.closest("td").cellIndex;
            text.split(/\r?\n/).forEach((line, index) => {
                if (start + index >= this.rows.length) this.add();
                const inputs = [...this.rows[start + index].querySelectorAll("input")].slice(column);
                const cells = line.split("\t").map((cell) => cell.trim());
                const rest = cells.splice(inputs.length - 1);
                if (rest.length) cells.push(rest.filter(Boolean).join(", "));
                cells.forEach((cell, offset) => (inputs[offset].value = cell));
            });
            this.write();
            this.area.dispatchEvent(new Event("change", {bubbles: true}));
        }
    }

    globalThis.ceChoices = {build: (area) => new Table(area)};
})();
