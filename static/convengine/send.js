"use strict";
// Sends the only form of a page as if its button were pressed.
document.querySelector("button").click();
