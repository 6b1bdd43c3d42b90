"use strict";
// The cells of a grid, their edits, and blocks of cells as text. This file draws nothing.

globalThis.ceCells = (columns) => {
    const rows = [], byKey = new Map();
    const done = [], undone = [];
    let added = 0;
    const row = ([key, seen, url, texts]) => ({key, seen, url, base: texts, now: [...texts], told: [], isNew: false, isRemoved: false});
    // In a step, this column stands for the row itself: false while it exists, true when it is deleted.
    const ROW = -1;

    function add(some) {
        for (const one of some.map(row)) {
            rows.push(one);
            byKey.set(one.key, one);
        }
    }

    const isFixed = (one, column) => one.isRemoved || (one.isNew && columns[column].typed ? false : columns[column].fixed);

    // Set texts of cells: [[row, column, text]]. Skips read-only cells and returns how many those were.
    function put(wanted, before = []) {
        const free = wanted.filter(([one, column]) => !isFixed(one, column));
        const step = free.filter(([one, column, text]) => one.now[column] !== text).map(([one, column, text]) => [one, column, one.now[column], text]);
        keep([...before, ...step]);
        return wanted.length - free.length;
    }

    function keep(step) {
        if (!step.length) return;
        done.push(step);
        undone.length = 0;
        step.forEach(([one, column, , value]) => write(one, column, value));
    }

    // Makes new rows and fills in cells, which a function of the rows gives, as one step. Returns the rows, and how many
    // of the cells were read-only.
    function create(number, fill = () => []) {
        const made = Array.from({length: number}, () => {
            added += 1;
            const texts = columns.map((column, index) => (index ? column.initial : column.typed ? "" : `new ${added}`));
            return {...row([`new-${added}`, "", "", texts]), isNew: true};
        });
        for (const one of made) {
            rows.push(one);
            byKey.set(one.key, one);
        }
        return {made, passed: put(fill(made), made.map((one) => [one, ROW, true, false]))};
    }

    // Delete rows, or take that back.
    const remove = (some, isRemoved) => keep(some.filter((one) => one.isRemoved !== isRemoved).map((one) => [one, ROW, one.isRemoved, isRemoved]));

    function write(one, column, text) {
        if (column === ROW) {
            one.isRemoved = text;
            one.told = [];
            return;
        }
        one.now[column] = text;
        one.told = one.told.filter((told) => told.column !== column);
    }

    // Undo or redo one step; returns its cells, or null.
    function step(from, to, before) {
        const found = from.pop();
        if (!found) return null;
        to.push(found);
        found.forEach(([one, column, was, text]) => write(one, column, before ? was : text));
        return found;
    }

    const isEdited = (one) => one.now.some((text, column) => text !== one.base[column]);
    const isShown = (one) => !(one.isNew && one.isRemoved);
    const isChanged = (one) => (one.isNew ? !one.isRemoved : one.isRemoved || isEdited(one));

    function edits() {
        const changed = rows.filter(isChanged).map((one) => {
            if (one.isRemoved) return [one.key, {seen: one.seen, deleted: true}];
            const cells = columns.map(({name}, column) => [name, column]).filter(([, column]) => one.now[column] !== one.base[column]);
            const texts = Object.fromEntries(cells.map(([name, column]) => [name, one.now[column]]));
            return [one.key, one.isNew ? {new: true, cells: texts} : {seen: one.seen, cells: texts}];
        });
        return Object.fromEntries(changed);
    }

    // Findings of the server by cell.
    function judged(findings) {
        for (const one of rows) one.told = one.told.filter(({level}) => level === "stale" || level === "gone");
        for (const {row: key, field, severity, message, key: mark} of findings) {
            const column = columns.findIndex(({name}) => name === field);
            byKey.get(key)?.told.push({column, level: severity === "ERROR" ? "error" : "warning", text: message, key: mark});
        }
    }

    // Rows that somebody else changed: their changes are merged and marked; the user chooses if both changed a cell.
    function met(found) {
        for (const [key, {who, when, row: theirs}] of found) {
            const mine = byKey.get(key);
            mine.told = [];
            if (theirs === null) {
                mine.told.push({column: -1, level: "gone", text: `${who} deleted this row (${when}). Your changes to it cannot be saved.`});
                continue;
            }
            const [, seen, , texts] = theirs;
            texts.forEach((text, column) => {
                const was = mine.base[column];
                if (text === was) return;
                if (mine.now[column] === was) mine.told.push({column, level: "note", text: `${who} changed this in the meantime (${when}). The previous value was “${was}”.`});
                else if (mine.now[column] !== text) mine.told.push({column, level: "stale", theirs: text, text: `${who} changed this in the meantime (${when}) to “${text}”. Your value is “${mine.now[column]}”. The previous value was “${was}”.`});
                if (mine.now[column] === was) mine.now[column] = text;
                mine.base[column] = text;
            });
            mine.seen = seen;
        }
    }

    // The stored rows. `made` gives the keys of new rows, `deleted` those of deleted ones.
    function saved(some, made, deleted) {
        for (const [name, key] of Object.entries(made)) {
            const one = byKey.get(name), [, , url] = some.find(([of]) => of === key);
            byKey.delete(name);
            byKey.set(key, Object.assign(one, {key, url, isNew: false}));
        }
        for (const key of deleted) drop(byKey.get(key));
        for (const [key, seen, , texts] of some) {
            const one = byKey.get(key);
            Object.assign(one, {seen, base: texts, now: [...texts], told: []});
        }
        for (const one of rows) one.told = one.told.filter(({level}) => level !== "note" && level !== "warning");
    }

    function drop(one) {
        rows.splice(rows.indexOf(one), 1);
        byKey.delete(one.key);
        // Undo and redo skip deleted rows.
        for (const steps of [done, undone]) steps.forEach((found, place) => { steps[place] = found.filter(([of]) => of !== one); });
    }

    return {
        rows, byKey, add, put, create, remove, edits, judged, met, saved, drop, isChanged, isEdited, isFixed, isShown,
        undo: () => step(done, undone, true), redo: () => step(undone, done, false),
        canUndo: () => done.length > 0, canRedo: () => undone.length > 0,
    };
};

// A block of cells in the clipboard format of spreadsheets: tabs, lines, and quotes around cells that contain either.
globalThis.ceBlock = {
    read(text) {
        const block = [[""]];
        let quoted = false, fresh = true;
        const plain = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
        for (let place = 0; place < plain.length; place++) {
            const sign = plain[place], line = block.at(-1);
            if (quoted && sign === '"' && plain[place + 1] === '"') line[line.length - 1] += plain[place++];
            else if (sign === '"' && (quoted || (fresh && closes(plain, place)))) quoted = !quoted;
            else if (!quoted && sign === "\t") line.push("");
            else if (!quoted && sign === "\n") block.push([""]);
            else line[line.length - 1] += sign;
            fresh = !quoted && (sign === "\t" || sign === "\n");
        }
        return block;

        // True for a quote with a closing quote before a tab, a line's end, or the end; other quotes are plain text.
        function closes(all, from) {
            for (let place = from + 1; place < all.length; place++) {
                if (all[place] !== '"') continue;
                if (all[place + 1] === '"') place++;
                else return place + 1 === all.length || all[place + 1] === "\t" || all[place + 1] === "\n";
            }
            return false;
        }
    },
    write: (block) => block.map((line) => line.map((text) => (/[\t\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join("\t")).join("\n"),
};
