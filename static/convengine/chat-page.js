// The page with the chat: after each answer it shows why the bot answered as it did, for users of the admin.
const reasons = document.querySelector("[data-why]");

async function showReasons({ detail }) {
    const address = reasons.dataset.why.replace(/0{8}-.*\/turn\/0\//, `${detail.conversationId}/turn/${detail.turnNo}/`);
    const response = await fetch(`${address}?part=account`);
    if (response.ok && !response.redirected) {
        reasons.innerHTML = await response.text();
    } else {
        reasons.textContent = response.status === 403 ? "Your user may not read turns." : "Sign in again to see why.";
    }
}

if (reasons) {
    document.addEventListener("convengine:answer", showReasons);
}
