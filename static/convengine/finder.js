"use strict";
// The search box of Ctrl-K. Without this script it is a page with a form.

(() => {
    class Finder {
        constructor(box) {
            this.box = box;
            this.input = box.querySelector("input");
            this.list = box.querySelector("ul");
            this.status = box.querySelector("[role=status]");
            this.input.addEventListener("input", () => {
                clearTimeout(this.waiting);
                this.waiting = setTimeout(() => this.ask(), 120);
            });
            this.input.addEventListener("keydown", (event) => this.key(event));
            this.list.addEventListener("click", (event) => this.go(event.target.closest("li"), event));
            box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
        }

        open() {
            if (this.box.open) return;
            this.box.showModal();
            this.input.select();
            this.ask();
        }

        async ask() {
            this.asked?.abort();
            this.asked = new AbortController();
            const text = this.input.value.trim();
            if (!text) return this.show({hits: [], total: 0}, text);
            try {
                const answer = await fetch(`${this.box.dataset.url}?q=${encodeURIComponent(text)}`, {
                    headers: {Accept: "application/json"}, signal: this.asked.signal,
                });
                this.show(await answer.json(), text);
            } catch (error) {
                if (error.name !== "AbortError") this.status.textContent = "The search is not available. Try again.";
            }
        }

        show({hits, total}, text) {
            this.list.replaceChildren(...hits.map((hit, place) => this.item(hit, place)));
            this.input.setAttribute("aria-expanded", String(hits.length > 0));
            this.select(hits.length ? 0 : -1);
            if (!text) this.status.textContent = "";
            else if (!total) this.status.textContent = "Nothing contains all of these words. Use fewer words for more results.";
            else this.status.textContent = total > hits.length ? `${total} results, the best ${hits.length} are shown.` : `${total} result${total === 1 ? "" : "s"}.`;
        }

        item(hit, place) {
            const item = Object.assign(document.createElement("li"), {id: `ce-finder-${place}`});
            item.setAttribute("role", "option");
            item.dataset.url = hit.url;
            item.append(Object.assign(document.createElement("b"), {textContent: hit.name}), ` ${hit.about}${hit.enabled ? "" : " (disabled)"}`);
            if (hit.field) {
                const where = document.createElement("small");
                where.append(hit.field);
                if (hit.match) where.append(`: ${hit.before}`, Object.assign(document.createElement("mark"), {textContent: hit.match}), hit.after);
                item.append(where);
            }
            return item;
        }

        select(place) {
            this.at = place;
            [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
            const chosen = this.list.children[place];
            if (chosen) this.input.setAttribute("aria-activedescendant", chosen.id);
            else this.input.removeAttribute("aria-activedescendant");
            chosen?.scrollIntoView({block: "nearest"});
        }

        key(event) {
            const count = this.list.children.length;
            if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count) {
                event.preventDefault();
                this.select((this.at + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
            } else if (event.key === "Enter") {
                event.preventDefault();
                this.go(this.list.children[this.at], event);
            }
        }

        go(item, event) {
            if (!item) return;
            if (event.ctrlKey || event.metaKey) open(item.dataset.url, "_blank", "noopener");
            else {
                this.box.close();
                location.assign(item.dataset.url);
            }
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const box = document.getElementById("ce-finder");
        if (!box) return;
        const finder = new Finder(box);
        document.querySelectorAll("[data-find]").forEach((link) => link.addEventListener("click", (event) => {
            event.preventDefault();
            finder.open();
        }));
        document.addEventListener("keydown", (event) => {
            if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
                event.preventDefault();
                finder.open();
            }
        });
    });
})();
