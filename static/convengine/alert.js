"use strict";
// Shows what an alert rule would have done, while its form is filled.

document.addEventListener("DOMContentLoaded", () => {
    const PAUSE = 500;
    const preview = document.getElementById("alert-preview");
    const form = preview?.closest("form");
    if (!form) return;
    let timer = 0;
    let latest = 0;

    const show = async () => {
        const number = ++latest;
        preview.setAttribute("aria-busy", "true");
        const response = await fetch(preview.dataset.url, {method: "POST", body: new FormData(form), redirect: "manual"}).catch(() => null);
        // A later change has its own answer.
        if (number !== latest) return;
        preview.removeAttribute("aria-busy");
        if (response?.ok) preview.innerHTML = await response.text();
    };
    form.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(show, PAUSE);
    });
    document.getElementById("alert-preview-button")?.closest("p").remove();
});
