"use strict";
// Shows only the fields of the chosen flow. Without this script all are shown, and unneeded ones are ignored.

(() => {
    const fit = () => {
        const chosen = document.querySelector("[name=flow]:checked")?.value;
        document.querySelectorAll("[data-flows]").forEach((one) => {
            (one.closest(".ce-field") || one).hidden = !one.dataset.flows.split(" ").includes(chosen);
        });
    };
    document.querySelectorAll("[name=flow]").forEach((one) => one.addEventListener("change", fit));
    fit();
})();
