// Keeps colours from fading while they are compared. Marks the texts whose classes, own and around them, no page before
// had, and gives how many: all others are coloured like one that was looked at.
() => {
    const still = document.createElement("style");
    still.textContent = "* { transition: none !important }";
    document.head.append(still);
    const seen = new Set(JSON.parse(sessionStorage.seenClasses || "[]"));
    let count = 0;
    for (const element of document.querySelectorAll("body *")) {
        const says = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (!says && element.tagName !== "INPUT") continue;
        let classes = "";
        for (let one = element, level = 0; one && level < 4; one = one.parentElement, level++) {
            classes += `${one.tagName}.${one.getAttribute("class")} `;
        }
        if (seen.has(classes)) continue;
        seen.add(classes);
        element.dataset.unseen = "";
        count++;
    }
    sessionStorage.seenClasses = JSON.stringify([...seen]);
    return count;
}
