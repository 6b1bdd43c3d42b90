"use strict";
// The progress of what the server works on. Reads the page again until it shows the result; without this script, a link
// reloads it.

(() => {
    const PAUSE = 1000;
    const bar = document.getElementById("ce-progress-bar");
    const text = document.getElementById("ce-progress-text");

    async function refresh() {
        // Without the query, which chooses results.
        const response = await fetch(location.pathname).catch(() => null);
        // A redirect leads to another page, such as that which signs in.
        const page = response?.ok && !response.redirected && new DOMParser().parseFromString(await response.text(), "text/html");
        const now = page && page.getElementById(bar.id);
        if (page && !now) {
            // A page with something to fill in says that it is done, and keeps what was typed.
            if (!bar.dataset.done) return location.reload();
            text.textContent = bar.dataset.done;
            return bar.remove();
        }
        if (now && now.outerHTML !== bar.outerHTML) {
            bar.max = now.max;
            if (now.hasAttribute("value")) bar.value = now.value;
            text.textContent = page.getElementById(text.id).textContent;
        }
        setTimeout(refresh, PAUSE);
    }

    if (bar) setTimeout(refresh, PAUSE);
})();
