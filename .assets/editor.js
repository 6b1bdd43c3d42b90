// Editors with syntax colour, marks and completion over the text areas of forms. The text area stays what is sent: an editor
// writes into it at every change, and takes over what others write there.
import {autocompletion, closeBrackets} from "@codemirror/autocomplete";
import {json, jsonParseLinter} from "@codemirror/lang-json";
import {sql} from "@codemirror/lang-sql";
import {HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting} from "@codemirror/language";
import {linter} from "@codemirror/lint";
import {Compartment, EditorState} from "@codemirror/state";
import {EditorView, minimalSetup} from "codemirror";
import {tags} from "@lezer/highlight";

// --- languages -------------------------------------------------------------------------------------------------------

// A language of patterns: the first that fits at a place names the piece.
const language = (rules) => StreamLanguage.define({
    token(stream) {
        for (const [pattern, name] of rules) if (stream.match(pattern)) return name;
        stream.next();
        return null;
    },
});

const path = language([
    [/^'(?:[^'\\]|\\.)*'|^"(?:[^"\\]|\\.)*"/, "string"],
    [/^\/(?:[^/\\]|\\.)+\/[a-z]*/, "regexp"],
    [/^(?:true|false|null)\b/, "atom"],
    [/^(?:in|nin|contains|anyof|noneof|subsetof|all|size|empty)\b/, "keyword"],
    [/^-?[0-9]+(?:\.[0-9]+)?/, "number"],
    [/^[$@]/, "keyword"],
    [/^(?:==|!=|<=|>=|=~|&&|\|\||[<>!])/, "operator"],
    [/^[A-Za-z_][\w-]*/, "propertyName"],
    [/^[[\](){}?*.,:]/, "bracket"],
]);

const regex = language([
    [/^\\[bBdDsSwWAzpP]/, "keyword"],
    [/^\\./, "string"],
    [/^\[\^?\]?(?:[^\]\\]|\\.)*\]/, "string"],
    [/^\((?:\?(?:[imsU-]+[:)]|:|P?<\w+>))?/, "bracket"],
    [/^[)|]/, "bracket"],
    [/^(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??/, "operator"],
    [/^[$^.]/, "atom"],
]);

// Text with `{{ … }}` and `{% … %}` in it; what stands between the braces is coloured piece by piece.
const template = StreamLanguage.define({
    startState: () => ({inside: ""}),
    token(stream, state) {
        if (!state.inside) {
            if (stream.match(/^\{#.*?#\}/)) return "comment";
            const opened = stream.match(/^\{\{-?|^\{%-?/);
            if (opened) {
                state.inside = opened[0].startsWith("{{") ? "}}" : "%}";
                return "bracket";
            }
            if (!stream.match(/^[^{]+/)) stream.next();
            return null;
        }
        if (stream.match(state.inside === "}}" ? /^-?\}\}/ : /^-?%\}/)) {
            state.inside = "";
            return "bracket";
        }
        if (stream.match(/^'(?:[^'\\]|\\.)*'|^"(?:[^"\\]|\\.)*"/)) return "string";
        if (stream.match(/^-?[0-9]+(?:\.[0-9]+)?/)) return "number";
        if (stream.match(/^(?:if|elif|else|endif|for|endfor|in|set|not|and|or|is|defined|none|None)\b/)) return "keyword";
        if (stream.match(/^(?:true|false|True|False)\b/)) return "atom";
        if (stream.match(/^[A-Za-z_]\w*/)) return "propertyName";
        if (!stream.match(/^[|+\-*/<>=!~]+/)) {
            stream.next();
            return null;
        }
        return "operator";
    },
});

const colours = HighlightStyle.define([
    {tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--ce-good)"},
    {tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--ce-warn)"},
    {tag: [tags.keyword, tags.operator], color: "var(--ce-bad)"},
    {tag: tags.propertyName, color: "var(--ce-note)"},
    {tag: tags.comment, color: "var(--ce-muted)", fontStyle: "italic"},
    {tag: [tags.bracket, tags.punctuation], color: "var(--ce-muted)"},
]);

const theme = EditorView.theme({
    "&": {border: "1px solid var(--ce-line)", borderRadius: "6px", background: "var(--ce-paper)", color: "var(--ce-strong)", fontSize: ".8125rem"},
    "&.cm-focused": {outline: "2px solid var(--ce-main)", outlineOffset: "-1px"},
    ".cm-scroller": {fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", lineHeight: "1.5", minHeight: "5.5rem", maxHeight: "36rem", overflow: "auto"},
    ".cm-content": {caretColor: "var(--ce-strong)", padding: ".5rem .25rem"},
    ".cm-cursor": {borderLeftColor: "var(--ce-strong)"},
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {background: "color-mix(in srgb, var(--ce-main) 30%, transparent)"},
    ".cm-matchingBracket": {background: "color-mix(in srgb, var(--ce-main) 25%, transparent)"},
    ".cm-tooltip": {background: "var(--ce-paper)", color: "var(--ce-strong)", border: "1px solid var(--ce-line)", borderRadius: "6px"},
    ".cm-tooltip-autocomplete > ul > li[aria-selected]": {background: "var(--ce-main)", color: "#fff"},
    ".cm-completionDetail": {color: "inherit", opacity: ".8"},
});

// --- completion ------------------------------------------------------------------------------------------------------

let names = {};
const offered = (group, detail) => (names[group] || []).map((label) => ({label, detail, type: "variable"}));

// What fits behind the part of a dotted name that stands there already.
function behind(start, roots) {
    const root = start.replace(/\.$/, "").split(".").pop();
    if (root === "inputParams") return offered("params", "input param");
    if (root === "context" || root === "schemaJson") return offered("context", "context field");
    return start === "" || /^(?:[$@]\.?|session\.)$/.test(start) ? roots : [];
}

function complete(before, roots) {
    return (context) => {
        const dotted = context.matchBefore(/(?:[$@]\.?)?(?:[\w-]+\.)*[\w-]*$/);
        if (!dotted || (dotted.from === dotted.to && !context.explicit) || !before(context)) return null;
        const [, start, word] = dotted.text.match(/^((?:[$@]\.?)?(?:[\w-]+\.)*)([\w-]*)$/);
        const options = behind(start, roots());
        return options.length ? {from: dotted.to - word.length, options, validFor: /^[\w-]*$/} : null;
    };
}

const inBraces = (context) => /\{[{%][^}]*$/.test(context.state.sliceDoc(Math.max(0, context.pos - 500), context.pos));
const inPath = (context) => /[$@][\w.]*$/.test(context.state.sliceDoc(Math.max(0, context.pos - 200), context.pos));

// An empty field is no broken JSON.
const parseJson = jsonParseLinter();
const lintJson = linter((view) => view.state.doc.toString().trim() ? parseJson(view) : [], {delay: 400});

const MODES = {
    json: () => [json(), closeBrackets(), lintJson],
    sql: () => [sql(), closeBrackets()],
    regex: () => [regex, closeBrackets()],
    path: () => [path, closeBrackets(), autocompletion({override: [complete(inPath, () => offered("facts", "fact"))]})],
    template: () => [template, autocompletion({override: [complete(inBraces, () => offered("template", "name"))]})],
    text: () => [],
};

// --- editors ---------------------------------------------------------------------------------------------------------

// `json`, or `field:VALUE=mode,VALUE=mode` where another field decides.
function chosen(area) {
    const [field, cases] = area.dataset.code.split(":");
    if (cases === undefined) return field;
    const value = area.form.elements.namedItem(field)?.value;
    return Object.fromEntries(cases.split(",").map((one) => one.split("=")))[value] || "text";
}

function edit(area) {
    const mode = new Compartment();
    const label = area.labels[0];
    let writing = false;
    const view = new EditorView({
        state: EditorState.create({
            doc: area.value,
            extensions: [
                minimalSetup, bracketMatching(), EditorView.lineWrapping, theme, syntaxHighlighting(colours),
                mode.of(MODES[chosen(area)]()),
                EditorView.contentAttributes.of({
                    "aria-label": `${(label?.textContent || area.name).replace("*", "").trim()}, as code`,
                    "aria-describedby": area.getAttribute("aria-describedby") || "", spellcheck: "false", tabindex: "0",
                }),
                EditorView.updateListener.of((update) => {
                    if (!update.docChanged || writing) return;
                    writing = true;
                    area.value = view.state.doc.toString();
                    area.dispatchEvent(new Event("input", {bubbles: true}));
                    writing = false;
                }),
                EditorView.domEventHandlers({blur: () => { area.dispatchEvent(new Event("change", {bubbles: true})); }}),
            ],
        }),
    });
    const take = () => {
        if (writing || area.value === view.state.doc.toString()) return;
        writing = true;
        view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: area.value}});
        writing = false;
    };
    area.after(view.dom);
    view.dom.classList.add("ce-editor");
    area.classList.add("ce-behind");
    area.tabIndex = -1;
    area.setAttribute("aria-hidden", "true");
    area.addEventListener("input", take);
    area.addEventListener("change", take);
    label?.addEventListener("click", (event) => {
        event.preventDefault();
        view.focus();
    });
    const [field, cases] = area.dataset.code.split(":");
    if (cases !== undefined) {
        area.form.elements.namedItem(field)?.addEventListener("change", () => view.dispatch({effects: mode.reconfigure(MODES[chosen(area)]())}));
    }
}

document.addEventListener("DOMContentLoaded", () => {
    const told = document.getElementById("ce-names");
    if (told) names = JSON.parse(told.textContent);
    document.querySelectorAll("textarea[data-code]").forEach(edit);
});
