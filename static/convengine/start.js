"use strict";
// Start a flow: shows only the inputs of the chosen kind and of each field's type, and adds, removes and moves rows.
// Without this script all inputs are shown, and the buttons and boxes of the rows do the same on the server.

(() => {
    const form = document.querySelector(".ce-start");
    if (!form) return;
    const EXAMPLES = {
        date: ["today", "today+90d"], time: ["08:00", "18:00"], datetime: ["now+2h", "today+90d"],
        duration: ["PT15M", "PT4H"], number: ["1", "10"], money: ["1", "500"],
    };
    const LISTS = {currency: "currencies", country: "countries"};

    function showKind() {
        const chosen = form.querySelector("[name=kind]:checked")?.value;
        for (const part of form.querySelectorAll("[data-flows]")) {
            (part.closest(".ce-field") || part).hidden = !part.dataset.flows.split(" ").includes(chosen);
        }
    }

    function showType(row) {
        const type = row.querySelector("[name$=-type]")?.value;
        if (!type) return;
        for (const part of row.querySelectorAll("[data-types]")) {
            if (part.dataset.types) part.hidden = !part.dataset.types.split(" ").includes(type);
        }
        for (const bound of row.querySelectorAll("[name$=-min], [name$=-max]")) {
            bound.setAttribute("list", `bounds-${type}`);
            bound.autocomplete = "off";
            bound.placeholder = EXAMPLES[type]?.[bound.name.endsWith("-max") ? 1 : 0] || "";
        }
        for (const [name, list] of Object.entries(LISTS)) row.querySelector(`[name$=-${name}]`)?.setAttribute("list", list);
    }

    const removal = (row) => row.querySelector("[name$=-DELETE]");
    const shown = (rows) => [...rows.querySelectorAll("[data-row]")].filter((row) => !removal(row).checked);
    const say = (rows, text) => { rows.closest("section").querySelector("[data-news]").textContent = text; };

    function number(rows) {
        const kind = rows.dataset.rows === "field" ? "Field" : "Question";
        const all = shown(rows);
        all.forEach((row, index) => {
            const name = `${kind} ${index + 1}`;
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
    }

    function add(kind) {
        const total = form.elements.namedItem(`${kind}-TOTAL_FORMS`);
        const rows = form.querySelector(`[data-rows=${kind}]`);
        const empty = form.querySelector(`[data-empty=${kind}]`).innerHTML.replaceAll("__prefix__", total.value);
        rows.insertAdjacentHTML("beforeend", empty);
        total.value = Number(total.value) + 1;
        const row = rows.lastElementChild;
        prepare(row);
        number(rows);
        row.querySelector("input:not([type=hidden], [type=number], [type=checkbox]), textarea").focus();
    }

    function remove(row) {
        const rows = row.closest("[data-rows]");
        const all = shown(rows);
        const next = all[all.indexOf(row) + 1] || all[all.indexOf(row) - 1];
        removal(row).checked = true;
        row.hidden = true;
        number(rows);
        say(rows, "Removed.");
        (next?.querySelector("[data-remove]") || rows.closest("section").querySelector("[data-add]")).focus();
    }

    function move(button) {
        const row = button.closest("[data-row]");
        const rows = row.closest("[data-rows]");
        const all = shown(rows);
        const index = all.indexOf(row);
        if (button.dataset.move === "up") all[index - 1]?.before(row);
        else all[index + 1]?.after(row);
        number(rows);
        const other = row.querySelector(`[data-move=${button.dataset.move === "up" ? "down" : "up"}]`);
        (button.disabled ? other : button).focus();
        say(rows, `Now ${row.querySelector("[data-number]").textContent}.`);
    }

    form.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        if (button.dataset.add) {
            event.preventDefault();
            add(button.dataset.add);
        } else if (button.dataset.move) move(button);
        else if ("remove" in button.dataset) remove(button.closest("[data-row]"));
    });
    form.addEventListener("change", (event) => {
        if (event.target.name === "kind") showKind();
        if (event.target.name?.endsWith("-type")) showType(event.target.closest("[data-row]"));
    });
    form.querySelectorAll("[data-rows]").forEach((rows) => {
        rows.querySelectorAll("[data-row]").forEach(prepare);
        number(rows);
    });
    showKind();
})();
