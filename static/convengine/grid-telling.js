"use strict";
// Messages of a grid and its cells, and saving: everything or nothing.

globalThis.ceGrid = {
    made(name, attributes = {}, ...children) {
        const element = document.createElement(name);
        for (const [attribute, value] of Object.entries(attributes)) if (value !== null && value !== false) element.setAttribute(attribute, value);
        element.append(...children);
        return element;
    },
    // The name of a cell for assistive technology, where its text does not say all.
    name(cell, label) {
        if (label) cell.setAttribute("aria-label", label);
        else cell.removeAttribute("aria-label");
    },
    // The highest level among messages, or blank.
    worst: (found) => ["gone", "stale", "error", "warning", "note"].find((level) => found.some((one) => one.level === level)) || "",
    // A row from the server, with its name as the first cell.
    whole: ([name, seen, url, called, texts]) => [name, seen, url, [called, ...texts]],
};

// `find` goes to a cell, `redraw` and `repaint` show changes, `finish` ends the editing of a cell.
ceGrid.telling = ({about, columns, cells, part, find, redraw, repaint, finish}) => {
    const LISTED = 50, {made, worst, whole} = ceGrid;
    const told = part("told"), form = part("form");
    let isSaving = false;

    function say(kind, ...content) {
        told.className = `ce-box ce-box-${kind}`;
        told.replaceChildren(...content.map((one) => (typeof one === "string" ? made("p", {}, one) : one)));
        told.hidden = !content.length;
    }

    function button(text, act) {
        const found = made("button", {type: "button", class: "ce-button"}, text);
        found.addEventListener("click", act);
        return found;
    }

    function choose(one, message, theirs) {
        one.told = one.told.filter((each) => each !== message);
        if (theirs) cells.put([[one, message.column, message.theirs]]);
        listed();
        repaint();
    }

    // All messages of cells as a list with links.
    function listed() {
        const all = cells.rows.flatMap((one) => one.told.map((message) => ({one, message})));
        const level = worst(all.map(({message}) => message));
        if (!level) return say("info");
        const items = all.slice(0, LISTED).map(({one, message}) => {
            const name = `${about.row} ${one.now[0]}${message.column > 0 ? `, ${columns[message.column].label}` : ""}`;
            const choices = message.level === "stale" ? [button("Keep mine", () => choose(one, message, false)), button("Use theirs", () => choose(one, message, true))]
                : message.level === "gone" ? [button("Remove the row", () => { cells.drop(one); redraw(); listed(); })] : [];
            choices.forEach((choice) => choice.setAttribute("aria-label", `${choice.textContent}: ${name}`));
            const link = button(name, () => find(one, message.column));
            link.className = "ce-link";
            return made("li", {}, link, `: ${message.text}`, ...(choices.length ? [made("div", {class: "ce-buttons"}, ...choices)] : []));
        });
        const title = {gone: "Not saved: rows were deleted", stale: "Not saved: someone else changed the same cells", error: "Not saved: nothing was changed", warning: "Not saved yet: check these warnings first", note: "Someone else changed rows in the meantime. Your changes are kept. Check them and save again"}[level];
        say(level === "note" ? "info" : level === "warning" ? "warning" : "danger", made("h2", {}, title), made("ul", {}, ...items),
            ...(all.length > LISTED ? [`${all.length - LISTED} more are not shown. Choose “Rows with messages” above the grid.`] : []),
            ...(level === "warning" ? [button("Save anyway", () => save(all.map(({message}) => message.key)))] : []));
    }

    // --- saving -----------------------------------------------------------------------------------------------------

    async function save(confirmed = []) {
        finish();
        if (isSaving) return;
        const edits = cells.edits(), open = cells.rows.flatMap((one) => one.told).some(({level}) => level === "stale" || level === "gone");
        if (open) return listed();
        if (!Object.keys(edits).length) return say("info", "There are no changes to save.");
        const data = new FormData(form);
        data.set("edits", new Blob([JSON.stringify(edits)], {type: "application/json"}), "edits.json");
        data.set("confirmed", confirmed.join(" "));
        isSaving = true;
        say("info", "Saving …");
        const answer = await fetch(about.save, {method: "POST", body: data, redirect: "manual"}).catch(() => null);
        isSaving = false;
        if (answer?.type === "opaqueredirect") return say("danger", made("p", {}, "Not saved: you are signed out. Your changes are still here. ", made("a", {href: "/admin/", target: "_blank", rel: "noopener"}, "Sign in (opens in a new window)"), ", then save again."));
        if (!answer?.ok) return say("danger", answer ? `Not saved: the server rejected the request (${answer.status}). Your changes are still here.` : "Not saved: the server does not answer. Your changes are still here. Try again later.");
        took(await answer.json());
    }

    function took(found) {
        if (found.problem) {
            say("danger", found.problem);
            if (found.field) form.elements[found.field].focus();
        } else if (found.findings) {
            cells.judged(found.findings);
            cells.met(Object.entries(found.met).map(([name, one]) => [name, {...one, row: one.row && whole(one.row)}]));
            listed();
            told.querySelector("button")?.focus();
        } else saved(found);
        repaint();
    }

    function saved(found) {
        cells.saved(found.rows.map(whole), found.added, found.deleted);
        redraw();
        const release = found.release;
        const what = release ? made("p", {}, made("a", {href: release.url}, `Release ${release.number}`), " is active. Every conversation uses it from its next message on.") : found.draft || "There are no differences, so no release was created.";
        const more = [["Stored as Jinja2:", found.conversions], ["Findings:", found.told]].filter(([, lines]) => lines.length);
        say(found.told.length ? "warning" : "good", what, ...more.flatMap(([title, lines]) => [title, made("ul", {}, ...lines.map((one) => made("li", {}, one)))]),
            ...(found.told.length ? [made("p", {}, made("a", {href: found.health}, "Health"))] : []));
        told.setAttribute("tabindex", "-1");
        told.focus();
    }

    return {say, listed, save};
};
