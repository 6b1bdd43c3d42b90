"use strict";
// A conversation in place: messages are sent, and answers appended, without loading the page. Without this script each
// message loads the page.

(() => {
    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    const parse = (text) => new DOMParser().parseFromString(text, "text/html").body;

    class Talk {
        // The page's own conversation is in its address; that of a panel is not.
        constructor(box, isPage) {
            this.box = box;
            this.isPage = isPage;
            this.isBusy = false;
            box.addEventListener("submit", (event) => {
                event.preventDefault();
                this.send(event.target);
            });
            box.addEventListener("click", (event) => {
                const link = event.target.closest("[data-talk-new]");
                if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
                event.preventDefault();
                this.begin(link.href);
            });
            // A busy browser may drop `autofocus`.
            if (isPage && document.activeElement === document.body) this.input.focus({preventScroll: true});
        }

        get input() {
            return this.box.querySelector("[name=message]");
        }

        // A new conversation.
        async begin(address) {
            if (this.isBusy) return;
            const response = await fetch(address, {headers: {"X-Requested-With": "fetch"}, redirect: "manual"}).catch(() => null);
            if (!response?.ok) {
                location.href = address;
                return;
            }
            const parts = parse(await response.text());
            // The browser would scroll to it.
            parts.querySelector("[autofocus]").removeAttribute("autofocus");
            this.box.replaceChildren(...parts.childNodes);
            if (this.isPage) history.pushState(null, "", address);
            this.input.focus({preventScroll: true});
        }

        async send(form) {
            const input = this.input;
            const text = input.value;
            if (this.isBusy || !text.trim()) return;
            const data = new FormData(form);
            const pending = this.append(text);
            input.value = "";
            this.setBusy(true);
            const response = await globalThis.ceSending.post(form, data);
            const parts = response && parse(await response.text());
            this.setBusy(false);
            if (parts) this.show(parts, pending);
            if (!parts || parts.querySelector("[data-talk-error] > *")) {
                if (!pending.dataset.turn) pending.remove();
                input.value ||= text;
            }
            input.focus();
        }

        // The message, and a sign that the answer is not there yet.
        append(text) {
            const said = element("p", {className: "ce-user"}, element("span", {className: "ce-hidden"}, "You: "), text);
            const waiting = element("p", {className: "ce-desk ce-muted"}, "Waiting for the answer …");
            const pending = element("li", {}, said, waiting);
            this.box.querySelector(".ce-chat").append(pending);
            this.reveal(pending);
            return pending;
        }

        // The input sticks to the lower edge and may cover the last turn.
        reveal(turn) {
            const covered = turn.getBoundingClientRect().bottom + 16 - this.box.querySelector(".ce-say").getBoundingClientRect().top;
            if (covered > 0) (this.box.closest(".ce-talk-beside") || window).scrollBy(0, covered);
        }

        setBusy(isBusy) {
            this.isBusy = isBusy;
            this.box.querySelector(".ce-say button").setAttribute("aria-disabled", String(isBusy));
            this.box.querySelector(".ce-chat").setAttribute("aria-busy", String(isBusy));
        }

        show(parts, pending) {
            for (const name of ["head", "about", "error", "why"]) {
                this.box.querySelector(`[data-talk-${name}]`).replaceChildren(...parts.querySelector(`[data-talk-${name}]`).childNodes);
            }
            this.input.toggleAttribute("aria-invalid", false);
            const form = this.box.querySelector(".ce-say");
            form.action = parts.querySelector(".ce-say").getAttribute("action");
            if (this.isPage) history.replaceState(null, "", `${form.action}#last`);
            this.showTurns(parts, pending);
        }

        // The last turn completes the waiting message, so that only the answer is read aloud.
        showTurns(parts, pending) {
            const chat = this.box.querySelector(".ce-chat");
            const added = [...parts.querySelectorAll("[data-turn]")].filter((turn) => !chat.querySelector(`[data-turn="${turn.dataset.turn}"]`));
            if (!added.length) return;
            const last = added.pop();
            pending.before(...added);
            chat.querySelector("#last")?.removeAttribute("id");
            pending.id = "last";
            pending.dataset.turn = last.dataset.turn;
            pending.lastElementChild.remove();
            pending.append(...[...last.children].slice(1));
            this.reveal(pending);
        }
    }

    const opened = new WeakMap();

    // Opens a new conversation in an element.
    async function open(box, address) {
        if (!opened.has(box)) opened.set(box, new Talk(box, false));
        await opened.get(box).begin(address);
    }

    document.querySelectorAll("[data-talk]").forEach((box) => new Talk(box, true));
    if (document.querySelector("[data-talk]")) addEventListener("popstate", () => location.reload());
    globalThis.ceTalk = {open};
})();
