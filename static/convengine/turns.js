"use strict";
// Pages of past turns: events, filters and cards open in place. Without this script each is its own page.

(() => {
    async function part(address) {
        const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
        return response?.ok ? response.text() : null;
    }

    function resolveAddress(address, name) {
        const url = new URL(address, location.href);
        url.searchParams.set("part", name);
        url.hash = "";
        return url;
    }

    async function openEvent(link) {
        const row = link.closest("tr");
        const open = row.nextElementSibling;
        if (open?.classList.contains("ce-opened")) {
            open.remove();
            link.setAttribute("aria-expanded", "false");
            return;
        }
        const text = await part(resolveAddress(link.href, "event"));
        if (text === null) {
            location.href = link.href;
            return;
        }
        const made = document.createElement("tr");
        made.className = "ce-opened";
        const cell = made.insertCell();
        cell.colSpan = row.cells.length;
        cell.innerHTML = text;
        row.after(made);
        link.setAttribute("aria-expanded", "true");
    }

    // A card of the timeline, and other details, fetch their content once.
    document.addEventListener("toggle", async (event) => {
        const card = event.target;
        if (!card.open || !card.dataset?.details || card.dataset.done) return;
        card.dataset.done = "true";
        const place = card.querySelector("summary + div");
        place.setAttribute("aria-busy", "true");
        const text = await part(resolveAddress(card.dataset.details, card.dataset.part || "details"));
        place.removeAttribute("aria-busy");
        if (text !== null) place.insertAdjacentHTML("beforeend", text);
        else delete card.dataset.done;
    }, true);

    // The filter of a turn that is open in place.
    document.addEventListener("submit", async (event) => {
        const card = event.target.matches(".ce-in-turn") && event.target.closest("details[data-details]");
        if (!card) return;
        event.preventDefault();
        const address = resolveAddress(event.target.action, "details");
        for (const [name, value] of new FormData(event.target)) address.searchParams.set(name, value);
        const text = await part(address);
        if (text === null) return;
        const place = card.querySelector("summary + div");
        while (place.children.length > 1) place.lastElementChild.remove();
        place.insertAdjacentHTML("beforeend", text);
        place.querySelector(".ce-in-turn input").focus();
    });

    document.addEventListener("click", (event) => {
        const link = event.target.closest("a[data-event]");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
        event.preventDefault();
        openEvent(link);
    });
})();
