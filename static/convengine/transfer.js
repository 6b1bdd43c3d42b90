"use strict";
// The progress of an import, then its result. Without this script the page waits.

(() => {
    const STAGES = {read: "Reading", judged: "Checking", written: "Writing"};
    const LOST = "The connection was lost. Check the list of releases to see whether the file was imported.";
    const page = document.querySelector(".ce-transfer");

    function createHtml(name, properties = {}, ...children) {
        const element = Object.assign(document.createElement(name), properties);
        element.append(...children);
        return element;
    }

    function show(html) {
        const found = new DOMParser().parseFromString(html, "text/html").querySelector(".ce-transfer");
        page.replaceChildren(...(found ? document.importNode(found, true).childNodes : []));
        const told = page.querySelector("[data-focus]") || page.querySelector("h2");
        if (!told) return;
        if (!told.matches("input")) told.tabIndex = -1;
        told.focus();
    }

    function tell(kind, ...content) {
        page.querySelector("[data-told]")?.remove();
        const told = createHtml("section", {className: `ce-box ce-box-${kind}`, tabIndex: -1}, ...content);
        told.dataset.told = "";
        told.setAttribute("role", "alert");
        page.prepend(told);
        told.focus();
    }

    function progress() {
        const text = createHtml("p", {}, "Sending the file …"), bar = createHtml("progress", {className: "ce-progress", max: 1});
        bar.setAttribute("aria-label", "Progress");
        const card = createHtml("section", {className: "ce-card"}, text, bar);
        text.setAttribute("role", "status");
        page.prepend(card);
        return {
            card,
            tell({stage, done, of}) {
                text.textContent = `${STAGES[stage] || stage}: ${done} of ${of} rows`;
                // Writing is one step without a count.
                if (stage === "written" && done < of) bar.removeAttribute("value");
                else [bar.max, bar.value] = [Math.max(of, 1), done];
            },
        };
    }

    function imported({told, url}) {
        const parts = [createHtml("p", {}, told)];
        if (url) parts.push(createHtml("p", {}, createHtml("a", {href: url}, "Show the changes")));
        parts.push(createHtml("p", {}, createHtml("a", {href: location.pathname}, "Choose another file")));
        page.replaceChildren();
        tell(url ? "good" : "info", ...parts);
    }

    async function follow(answer, bar) {
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "", last = null;
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
            const lines = (rest + part.value).split("\n");
            rest = lines.pop();
            for (const line of lines) {
                last = JSON.parse(line);
                if (last.stage) bar.tell(last);
            }
        }
        return last;
    }

    async function send(form, submitter) {
        const data = new FormData(form, submitter), bar = progress();
        page.querySelectorAll("button").forEach((button) => { button.disabled = true; });
        const headers = {Accept: "application/x-ndjson"};
        const answer = await fetch(location.pathname, {method: "POST", body: data, headers, redirect: "manual"}).catch(() => null);
        const isFollowed = answer?.ok && answer.headers.get("Content-Type").includes("ndjson");
        const last = isFollowed ? await follow(answer, bar).catch(() => null) : null;
        bar.card.remove();
        page.querySelectorAll("button").forEach((button) => { button.disabled = false; });
        if (last?.told) imported(last);
        else if (last?.page) show(last.page);
        else if (last?.problem) tell("danger", last.problem);
        else if (answer?.ok && !isFollowed) show(await answer.text());
        else if (answer?.type === "opaqueredirect") tell("danger", "Not sent: you are signed out. ", createHtml("a", {href: "/admin/", target: "_blank", rel: "noopener"}, "Sign in (opens in a new window)"), ", then send it again.");
        else tell("danger", LOST);
    }

    page.addEventListener("submit", (event) => {
        if (event.target.getAttribute("method") !== "post") return;
        event.preventDefault();
        page.querySelector("[data-told]")?.remove();
        send(event.target, event.submitter);
    });
})();
