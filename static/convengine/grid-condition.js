"use strict";
// The condition of a row of the grid, edited as rows of field, operator and value in a dialog.

// `apply` stores new texts of cells; `back` returns the focus to the cell. `paths` has the rows that say what a JSON path does.
ceGrid.conditions = ({about, columns, dialog, apply, back}) => {
    const {column, kind, intent, paths, ...offered} = about.condition;
    const index = (name) => columns.findIndex((one) => one.name === name);
    const form = dialog.querySelector("form"), title = dialog.querySelector("h2");
    const {text, intent: intentInput, kind: kindInput} = form.elements;
    let builder = null, edited = null;

    function build() {
        // The lists that the editor names, as on the form of a row.
        for (const name of ["intent_code", "state_code"]) {
            const options = columns[index(name)].options.map((value) => ceGrid.made("option", {value}));
            dialog.append(ceGrid.made("datalist", {id: `id_${name}_options`}, ...options));
        }
        text.dataset.condition = JSON.stringify(offered);
        return ceCondition.build(text, kindInput, intentInput);
    }

    const isKind = (one, name) => one.now[index(kind)].trim().toUpperCase() === name;
    const rowsOfPath = (one) => (isKind(one, "JSON_PATH") ? paths[one.now[index(column)]] : undefined);
    // A path may be edited as text, too.
    const fits = (one, at, asText) => at === index(column) && (isKind(one, "CONDITION") || (!asText && rowsOfPath(one) !== undefined));

    function open(one) {
        edited = one;
        title.textContent = `Condition of ${about.row.toLowerCase()} ${one.now[0]}`;
        text.value = rowsOfPath(one) ?? one.now[index(column)];
        intentInput.value = one.now[index(intent)];
        builder ??= build();
        builder.showJson(false);
        for (const input of [intentInput, text]) input.dispatchEvent(new Event("change"));
        dialog.returnValue = "";
        dialog.showModal();
        (form.querySelector(".ce-condition-field") ?? text).focus();
    }

    dialog.addEventListener("close", () => {
        if (dialog.returnValue === "apply" && text.value !== edited.now[index(column)]) apply(edited, [index(kind), "CONDITION"], [index(column), text.value]);
        back();
    });
    return {fits, open};
};
