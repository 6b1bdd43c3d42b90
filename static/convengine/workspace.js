"use strict";
// Edits a row of a workspace below its line, in a frame with its edit page. Without this script each row links to its
// edit page.

(() => {
    let open = null;

    class Here {
        constructor(button) {
            this.button = button;
            button.hidden = false;
            button.addEventListener("click", () => (open === this ? this.close() : this.show()));
        }

        show() {
            if (open && !open.close()) return;
            open = this;
            this.frame = Object.assign(document.createElement("iframe"), {
                src: this.button.dataset.here, title: this.button.ariaLabel, className: "ce-frame",
            });
            this.frame.addEventListener("load", () => this.loaded());
            const row = this.button.closest("tr");
            this.place = document.createElement(row ? "tr" : "div");
            const cell = row ? this.place.appendChild(document.createElement("td")) : this.place;
            if (row) cell.colSpan = row.cells.length;
            cell.append(this.frame);
            (row || this.button.closest(".ce-under")).after(this.place);
            this.button.setAttribute("aria-expanded", "true");
            this.edited = false;
        }

        loaded() {
            const inside = this.frame.contentDocument;
            const saved = inside?.querySelector("[data-saved]");
            if (saved) return this.saved(JSON.parse(saved.dataset.saved));
            inside?.addEventListener("input", () => { this.edited = true; });
            const first = inside?.querySelector("[aria-invalid=true]") || inside?.querySelector("form :is(input:not([type=hidden]), select, textarea)");
            first?.focus();
            this.frame.scrollIntoView({block: "nearest"});
        }

        saved(told) {
            open = null;
            sessionStorage.setItem("ce-saved-here", this.button.closest("tr")?.id || `${this.button.dataset.table}-${told.value}`);
            location.reload();
        }

        close() {
            if (this.edited && !confirm("Your changes are not saved. Close without saving?")) return false;
            this.place.remove();
            this.button.setAttribute("aria-expanded", "false");
            this.button.focus();
            open = null;
            return true;
        }
    }

    document.querySelectorAll("button[data-here]").forEach((button) => new Here(button));
    addEventListener("beforeunload", (event) => { if (open?.edited) event.preventDefault(); });

    // After a save the page is reloaded, and the user continues at the same row.
    const key = sessionStorage.getItem("ce-saved-here");
    sessionStorage.removeItem("ce-saved-here");
    const row = key && document.getElementById(key);
    (row?.querySelector("button[data-here]") || row?.querySelector("a"))?.focus();
})();
