"use strict";
// The progress of the check. Without this script a link reloads the page.

(() => {
    const bar = document.querySelector(".ce-progress");
    const part = document.getElementById("health-part");

    async function refresh() {
        const response = await fetch(location.href).catch(() => null);
        const page = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html");
        const now = page && page.querySelector(".ce-progress");
        if (page && !now) {
            location.reload();
            return;
        }
        if (now && now.value !== bar.value) {
            bar.value = now.value;
            part.textContent = page.getElementById("health-part").textContent;
        }
        setTimeout(refresh, 1000);
    }

    if (bar) setTimeout(refresh, 700);
})();
