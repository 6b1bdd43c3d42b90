"use strict";
// Refuses a pasted text that the server would not accept, before it is sent.

document.addEventListener("DOMContentLoaded", () => {
    const area = document.querySelector("textarea[data-most]");
    const most = Number(area?.dataset.most);
    area?.addEventListener("input", () => {
        const isTooLong = area.value.length > most;
        area.setCustomValidity(isTooLong ? `The text has more than ${most.toLocaleString("en")} characters. Split it into several parts.` : "");
        if (isTooLong) area.reportValidity();
    });
});
