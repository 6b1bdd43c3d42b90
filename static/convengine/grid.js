"use strict";
// The grid: draws the visible rows, and handles moving, editing and pasting by mouse and keyboard.

(() => {
    const frame = document.querySelector(".ce-grid");
    if (!frame) return;
    const HIGH = 34, AROUND = 10, MOST_ADDED = 1000;
    const about = JSON.parse(document.getElementById("ce-grid-about").textContent);
    const key = {name: about.keyName, label: about.key, help: "Opens the form of the row.", fixed: true, typed: about.mayAdd && about.keyTyped, number: about.keyNumber, options: []};
    const columns = [key, ...about.columns.map((column) => ({...column, fixed: column.fixed || !about.mayEdit}))];
    const cells = ceCells(columns);
    const part = (name) => document.querySelector(`[data-grid="${name}"]`);
    const [find, only, sort, status, form] = ["find", "only", "sort", "status", "form"].map(part);
    const {made, worst, whole} = ceGrid;
    const {say, listed, save} = ceGrid.telling({about, columns, cells, part, find: show, redraw: refresh, repaint: paintAll, finish: () => close(true)});
    const dialog = part("condition");
    const conditions = dialog && ceGrid.conditions({about, columns, dialog, apply: (one, ...texts) => changed(cells.put(texts.map((text) => [one, ...text]))), back: () => go(at.row, at.column)});
    const leave = "You have unsaved changes.";
    let shown = [], at = {row: 0, column: 1}, from = at, editor = null, isLoading = true, drawn = new Map();

    // --- drawing ----------------------------------------------------------------------------------------------------

    const wide = (column) => (column.wide ? 320 : column.truth || column.number ? 88 : 176);
    const left = columns.map((_, index) => columns.slice(0, index).reduce((sum, column) => sum + wide(column), 0));
    frame.style.setProperty("--ce-columns", columns.map((column) => `${wide(column)}px`).join(" "));
    frame.setAttribute("aria-colcount", columns.length);
    const head = made("div", {role: "row", "aria-rowindex": 1, class: "ce-grid-row ce-grid-head"}, ...columns.map((column, index) =>
        made("div", {role: "columnheader", "aria-colindex": index + 1, class: "ce-cell", title: column.help || null, "data-sort": index}, column.label)));
    const body = made("div", {role: "rowgroup", class: "ce-grid-body"});
    const tip = made("div", {class: "ce-tip", id: "ce-grid-tip", hidden: ""});
    frame.replaceChildren(made("div", {role: "rowgroup"}, head), body, tip);
    frame.append(...columns.map((column, index) => (column.options.length && !column.fixed ? made("datalist", {id: `ce-options-${index}`}, ...column.options.map((option) => made("option", {value: option}))) : "")));

    const block = () => ({top: Math.min(at.row, from.row), bottom: Math.max(at.row, from.row), first: Math.min(at.column, from.column), last: Math.max(at.column, from.column)});
    const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
    // What saving does to a row that is new or deleted; shown at its key.
    const fate = (one) => (one.isRemoved ? "Saving deletes this row." : one.isNew ? "Saving adds this row." : "");
    function messages(one, column) {
        const told = one.told.filter((each) => each.column === column || (column === 0 && each.column < 0));
        return column === 0 && fate(one) ? [...told, {column: 0, level: "note", text: fate(one)}] : told;
    }
    const short = (text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text).replaceAll("\n", " ⏎ ");

    function paint(index) {
        const one = shown[index], element = drawn.get(index), area = block();
        element.classList.toggle("ce-grid-changed", cells.isChanged(one));
        element.classList.toggle("ce-grid-new", one.isNew);
        element.classList.toggle("ce-grid-removed", one.isRemoved);
        [...element.children].forEach((cell, column) => {
            const level = worst(messages(one, column)), text = short(one.now[column]);
            if (cell.textContent !== text) cell.textContent = text;
            const isIn = index >= area.top && index <= area.bottom && column >= area.first && column <= area.last;
            const isAt = index === at.row && column === at.column;
            cell.className = `ce-cell${level ? ` ce-cell-${level}` : ""}${one.now[column] !== one.base[column] ? " ce-cell-edited" : ""}${columns[column].number ? " ce-cell-number" : ""}`;
            cell.setAttribute("aria-selected", isIn);
            cell.setAttribute("aria-readonly", cells.isFixed(one, column));
            if (!column) ceGrid.name(cell, fate(one) ? `${one.now[0]} ${fate(one)}` : "");
            cell.setAttribute("tabindex", isAt ? 0 : -1);
            cell.toggleAttribute("aria-invalid", level === "error" || level === "stale" || level === "gone");
            if (isAt && level) cell.setAttribute("aria-describedby", tip.id);
            else cell.removeAttribute("aria-describedby");
        });
    }

    function line(index) {
        const element = made("div", {role: "row", "aria-rowindex": index + 2, class: "ce-grid-row", style: `top: ${index * HIGH}px`}, ...columns.map((_, number) =>
            made("div", {role: number ? "gridcell" : "rowheader", "aria-colindex": number + 1, "data-column": number})));
        element.dataset.row = index;
        return element;
    }

    // The visible rows, and the focused one.
    function render() {
        const first = Math.max(0, Math.floor(frame.scrollTop / HIGH) - AROUND), last = Math.min(shown.length, Math.ceil((frame.scrollTop + frame.clientHeight) / HIGH) + AROUND);
        const wanted = new Set(Array.from({length: Math.max(0, last - first)}, (_, step) => first + step));
        if (at.row < shown.length) wanted.add(at.row);
        for (const [index, element] of drawn) if (!wanted.has(index)) { element.remove(); drawn.delete(index); }
        for (const index of wanted) {
            if (drawn.has(index)) continue;
            const next = Math.min(...[...drawn.keys()].filter((other) => other > index));
            const element = line(index);
            drawn.set(index, element);
            body.insertBefore(element, drawn.get(next) || null);
            paint(index);
        }
    }

    function paintAll() {
        drawn.forEach((_, index) => paint(index));
        showTip();
        count();
    }

    function showTip() {
        const one = shown[at.row], found = one ? messages(one, at.column) : [];
        tip.hidden = !found.length || Boolean(editor);
        tip.replaceChildren(...found.map((each) => made("p", {class: `ce-tip-${each.level}`}, each.text)));
        const most = frame.scrollLeft + frame.clientWidth - tip.offsetWidth - 8;
        Object.assign(tip.style, {top: `${(at.row + 2) * HIGH}px`, left: `${Math.max(frame.scrollLeft, Math.min(left[at.column], most))}px`});
    }

    function count() {
        const edits = cells.rows.filter((one) => !one.isNew && !one.isRemoved && cells.isEdited(one));
        const all = cells.rows.filter(cells.isShown).length, changed = cells.rows.filter(cells.isChanged);
        const added = changed.filter((one) => one.isNew).length, removed = changed.filter((one) => one.isRemoved).length;
        const number = edits.reduce((sum, one) => sum + one.now.filter((text, column) => text !== one.base[column]).length, 0);
        const area = block(), chosen = (area.bottom - area.top + 1) * (area.last - area.first + 1);
        const parts = [isLoading ? `${all} rows so far …` : `${shown.length === all ? "" : `${shown.length} of `}${plural(all, "row")}`];
        if (number) parts.push(`${plural(number, "cell")} edited in ${plural(edits.length, "row")}`);
        if (added) parts.push(`${plural(added, "row")} added`);
        if (removed) parts.push(`${plural(removed, "row")} deleted`);
        if (chosen > 1) parts.push(`${chosen} cells selected`);
        status.textContent = parts.join(" · ");
        if (about.mayEdit) {
            part("undo").disabled = !cells.canUndo();
            part("redo").disabled = !cells.canRedo();
        }
        const rowsIn = shown.slice(area.top, area.bottom + 1), many = rowsIn.length > 1 ? `${rowsIn.length} rows` : "row";
        if (about.mayAdd) part("add").textContent = `Add ${many}`;
        if (about.mayDelete) part("remove").textContent = `${rowsIn.length && rowsIn.every((one) => one.isRemoved) ? "Keep" : "Delete"} ${many}`;
        if (about.mayDelete) part("remove").disabled = !rowsIn.length;
    }

    // --- which rows, in which order ---------------------------------------------------------------------------------

    function refresh() {
        const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean), here = shown[at.row];
        const fits = (one) => words.every((word) => one.now.some((text) => text.toLowerCase().includes(word)));
        const keep = {"": () => true, edited: cells.isChanged, told: (one) => one.told.length > 0}[only.value];
        shown = cells.rows.filter((one) => !one.isNew && keep(one) && fits(one));
        const [by, down] = sort.value.split(" "), column = columns[by];
        if (by) shown.sort((one, other) => (column.number ? one.now[by] - other.now[by] : one.now[by].localeCompare(other.now[by])) * (down ? -1 : 1));
        // New rows come last, whatever the filter and the order.
        shown.push(...cells.rows.filter((one) => one.isNew && cells.isShown(one)));
        const index = Math.max(0, shown.indexOf(here));
        at = from = {row: index, column: at.column};
        const hadFocus = body.contains(document.activeElement);
        drawn.clear();
        body.replaceChildren();
        body.style.height = `${shown.length * HIGH}px`;
        frame.setAttribute("aria-rowcount", shown.length + 1);
        // A grid without rows has nothing to focus.
        part("none").hidden = !(frame.hidden = !isLoading && !shown.length);
        part("none").textContent = cells.rows.length ? "No row matches." : about.mayAdd ? "There are no rows yet. Choose “Add row”." : "There are no rows yet.";
        render();
        paintAll();
        if (hadFocus) go(at.row, at.column);
    }

    async function load() {
        let next = "";
        do {
            const answer = await fetch(next ? `${about.rows}&after=${encodeURIComponent(next)}` : about.rows).catch(() => null);
            if (!answer?.ok) {
                say("danger", "The rows could not be loaded. Reload the page.");
                break;
            }
            const found = await answer.json();
            cells.add(found.rows.map(whole));
            next = found.next;
            isLoading = Boolean(next);
            refresh();
        } while (next);
        isLoading = false;
        frame.setAttribute("aria-busy", "false");
        refresh();
    }

    // Go to a cell, even if its row is filtered out.
    function show(one, column) {
        if (!shown.includes(one)) {
            find.value = only.value = "";
            refresh();
        }
        go(shown.indexOf(one), Math.max(column, 0));
    }

    // --- moving -----------------------------------------------------------------------------------------------------

    function go(row, column, extend = false) {
        at = {row: Math.min(Math.max(row, 0), Math.max(shown.length - 1, 0)), column: Math.min(Math.max(column, 0), columns.length - 1)};
        if (!extend) from = at;
        const top = at.row * HIGH, high = frame.clientHeight - HIGH, keyWide = wide(key);
        if (top < frame.scrollTop) frame.scrollTop = top;
        else if (top + HIGH > frame.scrollTop + high) frame.scrollTop = top + HIGH - high;
        if (at.column && left[at.column] - keyWide < frame.scrollLeft) frame.scrollLeft = left[at.column] - keyWide;
        else if (left[at.column] + wide(columns[at.column]) > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = left[at.column] + wide(columns[at.column]) - frame.clientWidth;
        render();
        paintAll();
        drawn.get(at.row)?.children[at.column].focus({preventScroll: true});
    }

    const page = () => Math.max(1, Math.floor(frame.clientHeight / HIGH) - 2);
    const ways = {
        ArrowUp: (all) => [all ? 0 : at.row - 1, at.column], ArrowDown: (all) => [all ? shown.length : at.row + 1, at.column],
        ArrowLeft: (all) => [at.row, all ? 0 : at.column - 1], ArrowRight: (all) => [at.row, all ? columns.length : at.column + 1],
        Home: (all) => [all ? 0 : at.row, 0], End: (all) => [all ? shown.length : at.row, columns.length],
        PageUp: () => [at.row - page(), at.column], PageDown: () => [at.row + page(), at.column],
    };

    body.addEventListener("keydown", (event) => {
        if (editor || !shown.length) return;
        const command = event.ctrlKey || event.metaKey, letter = event.key.toLowerCase();
        const act = ways[event.key] ? () => go(...ways[event.key](command), event.shiftKey)
            : command && letter === "z" ? () => (event.shiftKey ? redo() : undo())
            : command && letter === "y" ? redo
            : command && letter === "d" ? fill
            : command && letter === "a" ? () => { from = {row: 0, column: 0}; go(shown.length, columns.length, true); }
            : command && event.key === "Enter" ? add
            : command && event.key === "Delete" ? remove
            : command || event.altKey ? null
            : event.key === "Enter" || event.key === "F2" ? () => open(null, event.key === "F2")
            : event.key === " " && columns[at.column].truth ? toggle
            : event.key === "Insert" ? add
            : event.key === "Delete" || event.key === "Backspace" ? clear
            : event.key === "Escape" ? () => go(at.row, at.column)
            : null;
        if (act) {
            event.preventDefault();
            act();
        } else if (event.key.length === 1 && !command && !event.altKey) open("");
    });

    const findCell = (event) => {
        const cell = event.target.closest?.("[data-column]");
        return cell && body.contains(cell) ? [+cell.parentElement.dataset.row, +cell.dataset.column] : null;
    };
    let isHeld = false;
    body.addEventListener("pointerdown", (event) => {
        const found = findCell(event);
        if (!found || event.button || editor?.element.contains(event.target)) return;
        event.preventDefault();
        close(true);
        isHeld = true;
        go(...found, event.shiftKey);
    });
    body.addEventListener("pointerover", (event) => { const found = isHeld && findCell(event); if (found) go(...found, true); });
    addEventListener("pointerup", () => { isHeld = false; });
    body.addEventListener("dblclick", (event) => { if (findCell(event)) open(); });
    body.addEventListener("focusin", (event) => {
        const found = findCell(event);
        if (found && (found[0] !== at.row || found[1] !== at.column)) go(...found);
    });
    frame.addEventListener("scroll", render);
    addEventListener("resize", render);

    // --- editing ----------------------------------------------------------------------------------------------------

    function changed(passed = 0, note = "") {
        paintAll();
        const notes = [passed ? `${passed} ${passed === 1 ? "cell" : "cells"} cannot be changed here and were not changed.` : "", note].filter(Boolean);
        if (notes.length) say("warning", notes.join(" "));
        else listed();
    }

    function toggle() {
        const one = shown[at.row];
        changed(cells.put([[one, at.column, one.now[at.column] === "yes" ? "no" : "yes"]]));
    }

    // Open the editor of the cell, with its text or with a replacement.
    function open(text = null, asText = text !== null) {
        const one = shown[at.row], column = columns[at.column];
        if (one.isRemoved) return say("info", "Saving deletes this row. To edit it, choose “Keep row” first.");
        if (!at.column && one.isNew && column.fixed && !column.typed) return say("info", "The row gets its number when it is saved.");
        if (!at.column && !one.isNew) return void window.open(one.url, "_blank", "noopener");
        if (cells.isFixed(one, at.column)) return say("info", about.mayEdit ? `${column.label} cannot be changed, because other rows may refer to it.` : "You do not have the permission to change these rows.");
        if (column.truth && text === null) return toggle();
        if (conditions?.fits(one, at.column, asText)) return conditions.open(one);
        const label = `${column.label} of ${about.row} ${one.now[0]}`;
        const element = column.options.length || column.number ? made("input", {list: column.options.length ? `ce-options-${at.column}` : null}) : made("textarea", {rows: 1});
        for (const [name, value] of Object.entries({class: "ce-grid-editor", "aria-label": label, spellcheck: "false", autocomplete: "off"})) element.setAttribute(name, value);
        element.value = text ?? one.now[at.column];
        Object.assign(element.style, {top: `${at.row * HIGH}px`, left: `${left[at.column]}px`, minWidth: `${wide(column)}px`});
        editor = {element, one, column: at.column};
        body.append(element);
        element.addEventListener("keydown", typed);
        element.addEventListener("blur", () => close(true));
        showTip();
        element.focus({preventScroll: true});
        if (text === null) element.setSelectionRange(element.value.length, element.value.length);
    }

    function typed(event) {
        event.stopPropagation();
        const isNewLine = event.key === "Enter" && (event.shiftKey || event.altKey) && editor.element.tagName === "TEXTAREA";
        if (event.isComposing || !["Enter", "Escape", "Tab"].includes(event.key)) return;
        event.preventDefault();
        if (isNewLine) return editor.element.setRangeText("\n", editor.element.selectionStart, editor.element.selectionEnd, "end");
        close(event.key !== "Escape");
        const step = event.shiftKey ? -1 : 1;
        go(at.row + (event.key === "Enter" ? step : 0), at.column + (event.key === "Tab" ? step : 0));
    }

    function close(keep) {
        if (!editor) return;
        const {element, one, column} = editor;
        editor = null;
        element.remove();
        if (keep) changed(cells.put([[one, column, element.value]]));
        else paintAll();
    }

    const inBlock = () => {
        const area = block();
        return shown.slice(area.top, area.bottom + 1).map((one) => [one, Array.from({length: area.last - area.first + 1}, (_, step) => area.first + step)]);
    };

    function fill() {
        const area = block(), isOne = area.top === area.bottom, source = shown[isOne ? area.top - 1 : area.top];
        if (!source) return say("info", "There is no row above. Select several rows to fill them with the value of the first one.");
        changed(cells.put(inBlock().filter(([one]) => one !== source).flatMap(([one, across]) => across.map((column) => [one, column, source.now[column]]))));
    }

    const clear = () => changed(cells.put(inBlock().flatMap(([one, across]) => across.filter((column) => !columns[column].truth).map((column) => [one, column, ""]))));

    // As many new rows as are selected; the first editable cell of the first one has the focus.
    function add() {
        if (!about.mayAdd) return;
        const area = block(), number = shown.length ? area.bottom - area.top + 1 : 1;
        if (number > MOST_ADDED) return say("info", `At most ${MOST_ADDED} rows can be added at once. Select fewer rows.`);
        const {made: [first]} = cells.create(number);
        refresh();
        go(shown.indexOf(first), columns.findIndex((_, column) => !cells.isFixed(first, column)));
        changed();
    }

    function remove() {
        if (!about.mayDelete || !shown.length) return;
        const area = block(), chosen = shown.slice(area.top, area.bottom + 1);
        cells.remove(chosen, !chosen.every((one) => one.isRemoved));
        refresh();
        if (shown.length) go(Math.min(area.top, shown.length - 1), at.column);
        else (part("add") ?? find).focus();
        changed();
    }

    function paste(text) {
        const found = ceBlock.read(text), area = block();
        const across = Math.max(...found.map((cellsOf) => cellsOf.length));
        const times = (size, chosen) => (chosen % size === 0 ? chosen : size);
        const down = times(found.length, area.bottom - area.top + 1), wideTo = times(across, area.last - area.first + 1);
        let beyond = 0, passed = 0;
        const wanted = (rows) => {
            const block = [];
            for (let row = 0; row < down; row++) for (let column = 0; column < wideTo; column++) {
                const value = found[row % found.length][column % across], one = rows[area.top + row];
                if (value === undefined) continue;
                if (one && columns[area.first + column]) block.push([one, area.first + column, value]);
                else beyond += 1;
            }
            return block;
        };
        // Lines beyond the last row become new rows.
        const missing = about.mayAdd ? Math.min(Math.max(0, area.top + down - shown.length), MOST_ADDED) : 0;
        if (missing) {
            passed = cells.create(missing, (rows) => wanted([...shown, ...rows])).passed;
            refresh();
        } else passed = cells.put(wanted(shown));
        from = {row: area.top, column: area.first};
        go(area.top + down - 1, area.first + wideTo - 1, true);
        changed(passed, beyond ? `${beyond} ${beyond === 1 ? "cell" : "cells"} were not pasted, because they are beyond the last row or column.` : "");
    }

    const isHere = () => !editor && body.contains(document.activeElement);
    document.addEventListener("paste", (event) => {
        if (!isHere() || !about.mayEdit) return;
        event.preventDefault();
        paste(event.clipboardData.getData("text/plain"));
    });
    for (const name of ["copy", "cut"]) document.addEventListener(name, (event) => {
        if (!isHere()) return;
        event.preventDefault();
        event.clipboardData.setData("text/plain", ceBlock.write(inBlock().map(([one, across]) => across.map((column) => one.now[column]))));
        if (name === "cut" && about.mayEdit) clear();
    });

    function back(step) {
        if (step?.some(([, column]) => column < 0)) refresh();
        const first = step?.[0] && shown.indexOf(step[0][0]);
        if (step?.length && first >= 0) go(first, Math.max(step[0][1], 0));
        changed();
    }
    const undo = () => back(cells.undo()), redo = () => back(cells.redo());

    find.addEventListener("input", refresh);
    only.addEventListener("change", refresh);
    sort.addEventListener("change", refresh);
    head.addEventListener("click", (event) => {
        const by = event.target.dataset.sort;
        if (by === undefined) return;
        sort.value = sort.value === by ? `${by} down` : by;
        refresh();
    });
    sort.append(...columns.flatMap((column, by) => [made("option", {value: by}, column.label), made("option", {value: `${by} down`}, `${column.label}, descending`)]));
    form?.addEventListener("submit", (event) => { event.preventDefault(); save(); });
    for (const [name, act] of Object.entries({undo, redo, fill, add, remove})) part(name)?.addEventListener("click", () => { close(true); act(); });
    addEventListener("beforeunload", (event) => { if (cells.rows.some(cells.isChanged)) { event.preventDefault(); event.returnValue = leave; } });
    load();
})();
