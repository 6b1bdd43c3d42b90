// Saves a chart as a PNG: the SVG of the server, drawn on a canvas at twice its size.
"use strict";
(() => {
    const SCALE = 2;

    async function save(button) {
        const image = new Image();
        image.src = button.dataset.picture;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = image.naturalWidth * SCALE;
        canvas.height = image.naturalHeight * SCALE;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(blob);
            link.download = button.dataset.name;
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
        });
    }

    for (const button of document.querySelectorAll("[data-picture]")) {
        button.hidden = false;
        button.addEventListener("click", () => save(button));
    }
})();
