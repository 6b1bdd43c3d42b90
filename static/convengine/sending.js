"use strict";
// Asks before a form is sent whether its user is still signed in, so that what was typed is not lost to the login page, and
// gives the form the secret of a session that began meanwhile. Without this script forms are sent as they are.

(() => {
    const SIGNED_OUT = "Not sent: you are signed out. What you typed stands here. ";
    const SILENT = "Not sent: the server does not answer. What you typed stands here; try again in a moment.";
    const asked = new WeakSet();
    let ready = null;

    // True for somebody who is signed in; undefined when there is no answer.
    async function isSignedIn() {
        const answer = await fetch("/admin/signed-in/", {redirect: "manual"}).catch(() => null);
        if (answer?.type === "opaqueredirect") return false;
        return answer?.ok ? true : undefined;
    }

    function tell(form, isSignedOut) {
        const told = Object.assign(document.createElement("section"), {className: "ce-box ce-box-danger", tabIndex: -1});
        told.setAttribute("role", "alert");
        told.dataset.notSent = "";
        told.append(isSignedOut ? SIGNED_OUT : SILENT);
        if (isSignedOut) {
            const link = Object.assign(document.createElement("a"), {href: "/admin/", target: "_blank", rel: "noopener", textContent: "Sign in (in another window)"});
            told.append(link, ", then send it again.");
        }
        form.prepend(told);
        told.focus();
    }

    async function ask(form, submitter) {
        asked.add(form);
        const found = await isSignedIn();
        asked.delete(form);
        form.querySelector(":scope > [data-not-sent]")?.remove();
        if (!found) return tell(form, found === false);
        ready = form;
        form.requestSubmit(submitter);
    }

    // Whoever signs in anew, in whichever window, has another secret than the one that stands in the form.
    document.addEventListener("formdata", ({formData}) => {
        const [, now] = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) || [];
        if (now && formData.has("csrfmiddlewaretoken")) formData.set("csrfmiddlewaretoken", now);
    });

    document.addEventListener("submit", (event) => {
        const form = event.target;
        // A form may have a field that is called `method`.
        if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.querySelector("input[type=password]")) return;
        if (!form.querySelector("textarea, select, input:not([type=hidden])")) return;
        if (ready === form) {
            ready = null;
            return;
        }
        event.preventDefault();
        if (!asked.has(form)) ask(form, event.submitter);
    });
})();
