"use strict";
// The live timeline of a conversation: shows a running turn, and adds its card when it is stored.

(() => {
    const place = document.getElementById("ce-live");
    const turns = document.getElementById("ce-turns");
    if (!place || !turns || !window.EventSource) return;

    const runs = place.querySelector("[data-runs]");
    const state = place.querySelector("[data-state]");
    const said = place.querySelector("[data-said]");
    const STAGES = [
        "USER_INPUT", "STEP_ENTER", "ASSISTANT_OUTPUT", "PIPELINE_TIMING", "ENGINE_KNOWN_FAILURE",
        "ENGINE_UNKNOWN_FAILURE", "SESSION_LIFECYCLE",
    ];
    const STEPS = JSON.parse(place.dataset.steps);
    // A hidden page closes its connection, because a browser has six per host.
    const HIDDEN_MS = 20_000;
    let source = null;
    let lastId = place.dataset.after;
    let wait = 1000;
    let timer = 0;
    let over = false;
    let fetching = null;

    const tell = (text) => { if (state.textContent !== text) state.textContent = text; };
    // Characters that cannot be seen, and could make a text read otherwise than it is.
    const reveal = (text) => text.replace(
        /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g,
        (char) => `[U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
    const part = (name) => runs.querySelector(`[data-${name}]`);
    // A step of a deployment by its name: `CustomerLookupStep` as `Customer lookup`.
    const inWords = (step) => {
        const words = STEPS[step] ?? step.replace(/Step$/, "").replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
        return words.replace(/\b(mcp|llm|db|api)\b/gi, (word) => word.toUpperCase());
    };

    function open() {
        clearTimeout(timer);
        if (source || over || document.hidden) return;
        const url = new URL(place.dataset.stream, location.href);
        url.searchParams.set("after", lastId);
        url.searchParams.set("stages", STAGES.join(","));
        source = new EventSource(url, { withCredentials: true });
        source.addEventListener("CONNECTED", () => {
            wait = 1000;
            tell("Live");
        });
        for (const name of [...STAGES, "TURN_FAILED", "VERBOSE"]) source.addEventListener(name, heard);
        source.addEventListener("STREAM_CLOSED", closed);
        source.onerror = () => {
            // The browser reconnects by itself, unless it was refused.
            tell("Reconnecting …");
            if (source?.readyState === EventSource.CLOSED) again();
        };
    }

    function close() {
        source?.close();
        source = null;
    }

    function again() {
        close();
        wait = Math.min(wait * 2, 60_000);
        clearTimeout(timer);
        timer = setTimeout(open, wait);
    }

    function closed(event) {
        const { reason } = JSON.parse(event.data);
        if (reason === "TIME_OVER" || reason === "STREAM_TOO_SLOW") {
            again();
            return;
        }
        over = true;
        close();
        tell(reason.startsWith("SESSION_") ? "The session has ended." : "Live updates stopped. Reload the page.");
    }

    function heard(event) {
        if (event.lastEventId) lastId = event.lastEventId;
        const told = JSON.parse(event.data);
        const { payload } = told;
        if (event.type === "TURN_FAILED" || event.type === "PIPELINE_TIMING") {
            part("step").textContent = event.type === "TURN_FAILED" ? "The turn was not stored." : "Finished.";
            catchUp(told.turnNo);
            return;
        }
        if (event.type === "SESSION_LIFECYCLE") {
            if (told.turnNo === null) catchUp();
            return;
        }
        if (turns.querySelector(`#turn-${told.turnNo}`)) return;
        if (runs.dataset.turn !== String(told.turnNo)) begin(told.turnNo);
        if (event.type === "USER_INPUT") part("user").textContent = reveal(payload.text ?? "–");
        else if (event.type === "STEP_ENTER") part("step").textContent = inWords(payload.step);
        else if (event.type === "VERBOSE") part("progress").textContent = reveal(told.verbose.text ?? "");
        else if (event.type === "ASSISTANT_OUTPUT") {
            const shown = typeof payload.output === "string" ? payload.output : JSON.stringify(payload.output);
            part("answer").textContent = reveal(shown);
            part("answer").hidden = false;
        } else part("progress").textContent = payload.errorCode ? `Failed (${payload.errorCode}).` : "Failed.";
    }

    function begin(turnNo) {
        runs.dataset.turn = turnNo;
        runs.hidden = false;
        part("number").textContent = `Turn ${turnNo} is running`;
        for (const name of ["user", "step", "progress", "answer"]) part(name).textContent = "";
        part("answer").hidden = true;
        const numbers = document.querySelector("[data-turn-numbers]");
        if (numbers) numbers.textContent = `${numbers.textContent.split(";")[0]}; turn ${turnNo} is running`;
    }

    // Fetch the cards of stored turns, and retry for one that is missing.
    async function catchUp(turnNo = 0) {
        if (fetching) {
            fetching.then(() => catchUp(turnNo));
            return;
        }
        fetching = (async () => {
            for (let times = 0; times < 8; times += 1) {
                if (await added() >= turnNo) break;
                await new Promise((done) => { setTimeout(done, 250); });
            }
        })();
        await fetching;
        fetching = null;
        if (Number(runs.dataset.turn) <= newest()) runs.hidden = true;
    }

    function newest() {
        return Number([...turns.querySelectorAll("[id^=turn-]")].at(-1)?.id.slice(5) ?? place.dataset.last);
    }

    async function added() {
        const url = new URL(location.pathname, location.href);
        url.searchParams.set("after", newest());
        const response = await fetch(url).catch(() => null);
        if (!response?.ok || response.redirected) return newest();
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const head = page.querySelector("[data-live-head]");
        if (head) document.querySelector("[data-live-head]").replaceChildren(...head.childNodes);
        const there = [...page.querySelectorAll("#ce-turns > li")];
        if (!there.some((one) => one.id.startsWith("turn-"))) return newest();
        const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
        turns.querySelector(".ce-empty")?.remove();
        const cards = there.filter((one) => !one.id || !turns.querySelector(`#${one.id}`));
        turns.append(...cards);
        const numbers = cards.filter((one) => one.id).map((one) => one.id.slice(5));
        said.textContent = numbers.length > 1 ? `${numbers.length} turns were added.` : `Turn ${numbers[0]} was added.`;
        // Keep the position of readers who have scrolled up.
        if (atEnd) place.scrollIntoView({ block: "end" });
        return newest();
    }

    let hiding = 0;
    document.addEventListener("visibilitychange", () => {
        clearTimeout(hiding);
        if (document.hidden) hiding = setTimeout(() => { close(); tell("Paused while the page is hidden."); }, HIDDEN_MS);
        else open();
    });
    addEventListener("pagehide", close);
    addEventListener("pageshow", open);
    addEventListener("online", () => { close(); open(); });
    open();
})();
