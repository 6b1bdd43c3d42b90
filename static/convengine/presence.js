"use strict";
// Reports that a row's page is open, and shows who else has the row open and whether somebody changed it.

(() => {
    const BEAT = 15000;

    class Presence {
        constructor(place) {
            this.place = place;
            this.form = place.closest("form");
            this.doing = place.dataset.doing;
            const key = `ce-visit-${place.dataset.table}-${place.dataset.pk}`;
            // A window keeps its id for a row, so that saving and returning is one visit.
            this.visit = sessionStorage.getItem(key) || Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
            sessionStorage.setItem(key, this.visit);
            this.told = "";
            const edited = () => {
                if (this.doing !== "OPEN") return;
                this.doing = "CHANGING";
                this.say();
            };
            this.form.addEventListener("input", edited);
            this.form.addEventListener("change", edited);
            addEventListener("focus", () => this.say());
            document.addEventListener("visibilitychange", () => document.hidden || this.say());
            addEventListener("pagehide", () => this.leave());
            addEventListener("pageshow", (event) => event.persisted && this.say());
            setInterval(() => this.say(), BEAT);
            this.say();
            // Repeat soon, because the closing report of the page before may arrive after the first of this one.
            setTimeout(() => this.say(), 2000);
        }

        words(more) {
            const data = new FormData();
            const {table, pk} = this.place.dataset;
            const seen = this.form.elements.namedItem("_seen")?.value || "";
            const token = new FormData(this.form).get("csrfmiddlewaretoken");
            for (const [name, value] of Object.entries({csrfmiddlewaretoken: token, table, pk, visit: this.visit, doing: this.doing, seen, ...more})) data.set(name, value);
            return data;
        }

        async say() {
            const response = await fetch(this.place.dataset.url, {method: "POST", body: this.words({}), redirect: "manual"}).catch(() => null);
            // If the server cannot be reached, the page stays unchanged until it can.
            if (response?.ok) this.show(await response.json());
        }

        leave() {
            navigator.sendBeacon(this.place.dataset.url, this.words({leaving: "1"}));
        }

        show({others, news, history}) {
            const told = JSON.stringify([others, news]);
            if (told === this.told) return;
            this.told = told;
            this.place.replaceChildren();
            if (others.length) this.line("ce-presence-others", others.join(" "));
            if (!news) return;
            const link = Object.assign(document.createElement("a"), {href: history, target: "_blank", rel: "noopener", textContent: "Show the history (opens in a new window)"});
            this.line("ce-presence-news", `${news} `).append(link);
        }

        line(name, text) {
            const line = Object.assign(document.createElement("p"), {className: name, textContent: text});
            this.place.append(line);
            return line;
        }
    }

    document.addEventListener("DOMContentLoaded", () => {
        const place = document.getElementById("ce-presence");
        if (place) new Presence(place);
    });
})();
