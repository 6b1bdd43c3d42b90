"use strict";
// Only what the chosen flow needs is shown. Without this script everything is, and what a flow does not need is not used.

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
