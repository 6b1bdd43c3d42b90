"use strict";
// Checks before a form is sent that its user is still signed in, so that no text is lost to the login page, and updates
// the form's CSRF token for a newer session. Without this script forms are sent as they are. `ceSending.post` sends a form
// without leaving the page.

(() => {
    const SIGNED_OUT = "Not sent: you are signed out. Your input is still here. ";
    const SILENT = "Not sent: the server does not answer. Your input is still here. Try again later.";
    const REFUSED = "Not sent: the server refused it. Your input is still here. Reload the page, and try again. ";
    const DRAFT_REQUIRED = 409;
    const asked = new WeakSet();
    let ready = null;

    // True for a signed-in user; undefined without an answer.
    async function isSignedIn() {
        const answer = await fetch("/admin/signed-in/", {redirect: "manual"}).catch(() => null);
        if (answer?.type === "opaqueredirect") return false;
        return answer?.ok ? true : undefined;
    }

    function tell(form, text) {
        const told = Object.assign(document.createElement("section"), {className: "ce-box ce-box-danger", tabIndex: -1});
        told.setAttribute("role", "alert");
        told.dataset.notSent = "";
        told.append(text);
        if (text === SIGNED_OUT) {
            const link = Object.assign(document.createElement("a"), {href: "/admin/", target: "_blank", rel: "noopener", textContent: "Sign in (opens in a new window)"});
            told.append(link, ", then send it again.");
        }
        form.prepend(told);
        told.focus();
    }

    const untell = (form) => form.querySelector(":scope > [data-not-sent]")?.remove();

    // Opens the answer as a page of its own: the question for a draft, with everything that was sent.
    function sendAsPage(form, data) {
        const inputs = new FormData(form);
        for (const [name, value] of data) {
            if (!inputs.has(name)) form.append(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
        }
        HTMLFormElement.prototype.submit.call(form);
    }

    // The response; null after saying in the form why it was not sent.
    async function post(form, data) {
        const response = await fetch(form.action, {method: "POST", body: data, redirect: "manual", headers: {"X-Requested-With": "fetch"}}).catch(() => null);
        untell(form);
        if (response?.ok) return response;
        if (response?.status === DRAFT_REQUIRED) sendAsPage(form, data);
        else tell(form, response?.type === "opaqueredirect" ? SIGNED_OUT : response ? REFUSED : SILENT);
        return null;
    }

    async function ask(form, submitter) {
        asked.add(form);
        const found = await isSignedIn();
        asked.delete(form);
        untell(form);
        if (!found) return tell(form, found === false ? SIGNED_OUT : SILENT);
        ready = form;
        form.requestSubmit(submitter);
    }

    // After a new sign-in in any window, the CSRF token in the form is outdated.
    document.addEventListener("formdata", ({formData}) => {
        const [, now] = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) || [];
        if (now && formData.has("csrfmiddlewaretoken")) formData.set("csrfmiddlewaretoken", now);
    });

    document.addEventListener("submit", (event) => {
        const form = event.target;
        // A form may have a field named `method`.
        if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.querySelector("input[type=password]")) return;
        // On the pages of the sign-in, nobody is signed in yet.
        if (document.body.classList.contains("login") || !form.querySelector("textarea, select, input:not([type=hidden])")) return;
        if (ready === form) {
            ready = null;
            return;
        }
        event.preventDefault();
        if (!asked.has(form)) ask(form, event.submitter);
    });
    globalThis.ceSending = {post};
})();
