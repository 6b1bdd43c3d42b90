"use strict";
// Shows the progress of a what-if run, and the results when it has ended.

(() => {
    const PAUSE = 1000;
    const bar = document.getElementById("what-if-bar");
    const text = document.getElementById("what-if-text");

    const ask = async () => {
        try {
            const response = await fetch("?progress=1", {headers: {Accept: "application/json"}});
            if (!response.ok) return;
            const progress = await response.json();
            if (!progress.open) {
                location.reload();
                return;
            }
            text.textContent = progress.text;
            if (progress.turns) {
                bar.max = progress.turns;
                bar.value = progress.done;
            }
        } catch {
            // The server does not answer at the moment.
        }
        setTimeout(ask, PAUSE);
    };
    setTimeout(ask, PAUSE);
})();
