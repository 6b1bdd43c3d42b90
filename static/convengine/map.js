"use strict";
// The drawn map: nodes and edges that show their rows; moving and zooming by mouse and keyboard; search; saving as SVG
// and PNG. Without this script the page has the same as tables.

(() => {
    const SVG = "http://www.w3.org/2000/svg";
    const STEP = 60, GAP = 36, READABLE = 1.5, CORNER = 10, RANK_MARGIN = 10, BACK = 10, LONGEST = 36;
    const frame = document.querySelector(".ce-map");
    if (!frame) return;
    const drawing = JSON.parse(document.getElementById("ce-drawing").textContent);
    const details = document.querySelector(".ce-map-details");
    document.getElementById("map").hidden = false;

    function createSvg(name, attributes = {}, ...children) {
        const element = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
        element.append(...children);
        return element;
    }

    function createHtml(name, properties = {}, ...children) {
        const element = Object.assign(document.createElement(name), properties);
        element.append(...children);
        return element;
    }

    // --- layout ----------------------------------------------------------------------------------------------------

    const hasMark = (one, mark) => one.marks.includes(mark);
    const subtitle = (node) => [node.traffic, ...node.marks.map((mark) => drawing.words[mark][0])].filter(Boolean).join(" · ");
    const shortName = ({name}) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
    const width = (node) => Math.max(96, 28 + 8.2 * Math.max(shortName(node).length, subtitle(node).length * 0.8));
    const boxes = drawing.nodes.map((node) => ({key: node.key, node, width: width(node), height: subtitle(node) ? 50 : 36}));
    const ends = drawing.moves.map((move) => ({start: move.start, end: move.end, move}));
    const layout = drawing.nodes.some((node) => node.group) ? inGroups() : inColumns({...inRanks(boxes, ends), frames: []});

    // Arrows leave and enter boxes at their sides, and bend only in the gaps between the ranks.
    function inRanks(boxes, ends) {
        const found = ceLayout(boxes, ends), at = new Map(found.boxes.map((one) => [one.key, one])), half = new Map();
        for (const one of found.boxes) half.set(Math.round(one.x), Math.max(half.get(Math.round(one.x)) || 0, one.width / 2 + RANK_MARGIN));
        const arrows = found.arrows.map((one) => {
            const [from, to] = [at.get(one.start), at.get(one.end)], way = Math.sign(to.x - from.x), low = way < 0 ? BACK : 0;
            if (!way) return one;
            const across = one.points.slice(1, -1).filter(({x}) => half.has(Math.round(x))).flatMap(({x, y}) => [-way, way].map((side) => ({x: x + side * half.get(Math.round(x)), y})));
            const beside = (box, side) => [box.width / 2, half.get(Math.round(box.x))].map((wide) => ({x: box.x + side * wide, y: box.y + low}));
            return {...one, draw: bentLine, points: [...beside(from, way), ...across, ...beside(to, -way).reverse()]};
        });
        return {...found, arrows};
    }

    // Many boxes below one another, as intents that all begin at once, would leave most of the frame empty. They are put
    // into columns, so that the drawing has about the shape of the frame.
    function inColumns(found) {
        const shape = frame.clientWidth / Math.max(frame.clientHeight, 1) || 1.7;
        if (found.height * shape < found.width * 2.5 || found.boxes.length < 12) return found;
        const area = found.boxes.reduce((sum, one) => sum + (one.width + 2 * GAP) * (one.height + GAP) * 1.25, 0);
        const high = Math.max(Math.sqrt(area / shape), ...found.boxes.map((one) => one.height));
        const ranks = Map.groupBy([...found.boxes].sort((one, other) => one.x - other.x || one.y - other.y), (one) => Math.round(one.x));
        const columns = [...ranks.values()].flatMap((rank) => {
            const own = [[]];
            let used = 0;
            for (const one of rank) {
                if (used && used + one.height > high) { own.push([]); used = 0; }
                own.at(-1).push(one);
                used += one.height + GAP;
            }
            return own;
        });
        // All columns share one grid, so that the gaps between its rows and its columns are free for arrows.
        const pitch = Math.max(...found.boxes.map((one) => one.height)) + GAP, most = Math.max(...columns.map((column) => column.length));
        const placed = [], lanes = [GAP];
        let x = 2 * GAP;
        columns.forEach((column, number) => {
            const wide = Math.max(...column.map((one) => one.width)), first = Math.floor((most - column.length) / 2);
            column.forEach((one, index) => placed.push({...one, column: number, row: first + index, x: x + wide / 2, y: (first + index + 0.5) * pitch - GAP / 2}));
            x += wide + 2 * GAP;
            lanes.push(x - GAP);
        });
        const at = new Map(placed.map((one) => [one.key, one])), before = new Map(found.boxes.map((one) => [one.key, one]));
        const taken = new Set(placed.map((one) => `${one.column}/${one.row}`));
        const shift = spread([...new Set(found.arrows.map((one) => one.start))]);
        const arrows = found.arrows.map((one) => {
            const [from, to, was] = [at.get(one.start), at.get(one.end), before.get(one.start)];
            const moved = (point) => ({...point, x: point.x + from.x - was.x, y: point.y + from.y - was.y});
            return from === to ? {...one, points: one.points.map(moved)} : {...one, draw: squareLine, points: around(from, to, shift.get(one.start))};
        });
        return {...found, width: x, height: most * pitch - GAP, boxes: placed, arrows};

        // Out of the right side, along the gaps between columns and rows, and into the left side.
        function around(from, to, by) {
            const [out, into] = [{x: from.x + from.width / 2, y: from.y}, {x: to.x - to.width / 2, y: to.y}];
            const between = Array.from({length: Math.max(to.column - from.column - 1, 0)}, (_, index) => `${from.column + 1 + index}/${to.row}`);
            const near = lanes[from.column + 1] + by * GAP, far = lanes[to.column] + by * GAP;
            if (to.column > from.column && !between.some((cell) => taken.has(cell))) return [out, {x: near, y: out.y}, {x: near, y: into.y}, into];
            const high = to.y + ((from.row > to.row || !to.row ? 1 : -1) * pitch) / 2 + (by * GAP) / 2;
            return [out, {x: near, y: out.y}, {x: near, y: high}, {x: far, y: high}, {x: far, y: into.y}, into];
        }
    }

    // A distance for each key, from -0.5 to 0.5, so that arrows of different boxes do not share a line.
    function spread(keys) {
        return new Map(keys.map((key, index) => [key, (index + 1) / (keys.length + 1) - 0.5]));
    }

    // Each group has its own layout; the groups form rows about as wide as the frame. Edges between them run in the gaps.
    function inGroups() {
        const found = {width: 0, height: 0, boxes: [], arrows: [], frames: []};
        const groupOf = new Map(boxes.map((one) => [one.key, one.node.group]));
        const within = Map.groupBy(ends.filter((one) => groupOf.get(one.start) === groupOf.get(one.end)), (one) => groupOf.get(one.start));
        const parts = [...Map.groupBy(boxes, (one) => one.node.group)].map(([name, own]) => ({name, ...inRanks(own, within.get(name) || [])}));
        const area = parts.reduce((sum, part) => sum + (part.width + GAP) * (part.height + GAP), 0);
        const most = Math.max(Math.sqrt((area * frame.clientWidth) / Math.max(frame.clientHeight, 1)), ...parts.map((part) => part.width));
        const between = ends.filter((one) => groupOf.get(one.start) !== groupOf.get(one.end)), left = between.length ? 1.5 * GAP : 0;
        let x = left, y = 0, high = 0;
        for (const part of parts) {
            if (x > left && x + part.width > most) [x, y, high] = [left, y + high + GAP, 0];
            const moved = (point) => ({...point, x: point.x + x, y: point.y + y});
            found.frames.push({x, y, width: part.width, height: part.height});
            const ranks = Map.groupBy(part.boxes, (one) => Math.round(one.x));
            const side = (one) => Math.max(...ranks.get(Math.round(one.x)).map((other) => other.width)) / 2 + RANK_MARGIN;
            found.boxes.push(...part.boxes.map((one) => ({...moved(one), side: side(one), top: y})));
            found.arrows.push(...part.arrows.map((one) => ({...one, points: one.points.map(moved)})));
            [x, high] = [x + part.width + GAP, Math.max(high, part.height)];
            found.width = Math.max(found.width, x - GAP);
            found.height = y + high + left;
        }
        const at = new Map(found.boxes.map((one) => [one.key, one]));
        const bottoms = new Map(found.frames.map((one) => [one.y, 0]));
        for (const one of found.frames) bottoms.set(one.y, Math.max(bottoms.get(one.y), one.y + one.height));
        const shift = spread([...new Set(between.map((one) => one.start))]);
        found.arrows.push(...between.map((one) => ({...one, draw: squareLine, points: around(at.get(one.start), at.get(one.end), shift.get(one.start))})));
        return found;

        // Beside its boxes out of the row of groups, along the gap below or above, at the left edge to another row, and in.
        function around(from, to, by) {
            const goesDown = to.top >= from.top, [out, into] = [from.x + from.side, to.x - to.side];
            const leave = (goesDown ? bottoms.get(from.top) + GAP / 2 : from.top - GAP / 2) + by * GAP * 0.7;
            const enter = (goesDown && to.top !== from.top ? to.top - GAP / 2 : bottoms.get(to.top) + GAP / 2) + by * GAP * 0.7;
            const edge = Math.abs(leave - enter) < 1 ? [] : [{x: left + (by - 1) * GAP, y: leave}, {x: left + (by - 1) * GAP, y: enter}];
            return [{x: from.x + from.width / 2, y: from.y}, {x: out, y: from.y}, {x: out, y: leave}, ...edge, {x: into, y: enter}, {x: into, y: to.y}, {x: to.x - to.width / 2, y: to.y}];
        }
    }

    // --- drawing ----------------------------------------------------------------------------------------------------

    function line(points) {
        const [first, ...rest] = points.map(({x, y}) => [x.toFixed(1), y.toFixed(1)]);
        let path = `M${first}`;
        for (let index = 0; index < rest.length - 1; index++) {
            const [x, y] = rest[index], [nextX, nextY] = rest[index + 1];
            path += ` Q${x},${y} ${((+x + +nextX) / 2).toFixed(1)},${((+y + +nextY) / 2).toFixed(1)}`;
        }
        return `${path} L${rest.at(-1)}`;
    }

    // Curves that begin and end level, and straight parts between points of the same height.
    function bentLine(points) {
        const text = ({x, y}) => `${x.toFixed(1)},${y.toFixed(1)}`;
        return points.slice(1).reduce((path, point, index) => {
            const before = points[index], middle = (before.x + point.x) / 2;
            return path + (before.y === point.y ? ` L${text(point)}` : ` C${text({x: middle, y: before.y})} ${text({x: middle, y: point.y})} ${text(point)}`);
        }, `M${text(points[0])}`);
    }

    // Straight parts with round corners.
    function squareLine(points) {
        let path = `M${points[0].x.toFixed(1)},${points[0].y.toFixed(1)}`;
        for (let index = 1; index < points.length - 1; index++) {
            const [before, corner, after] = points.slice(index - 1, index + 2);
            const toward = (point) => {
                const far = Math.hypot(point.x - corner.x, point.y - corner.y), part = far ? Math.min(CORNER, far / 2) / far : 0;
                return `${(corner.x + (point.x - corner.x) * part).toFixed(1)},${(corner.y + (point.y - corner.y) * part).toFixed(1)}`;
            };
            path += ` L${toward(before)} Q${corner.x.toFixed(1)},${corner.y.toFixed(1)} ${toward(after)}`;
        }
        return `${path} L${points.at(-1).x.toFixed(1)},${points.at(-1).y.toFixed(1)}`;
    }

    function opens(element, label, show) {
        element.setAttribute("tabindex", "0");
        element.setAttribute("role", "button");
        element.setAttribute("aria-label", label);
        element.addEventListener("click", show);
        element.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            show();
        });
        return element;
    }

    function arrow({move, points, draw = line}) {
        const thick = 1.5 + Math.min(6, Math.log2(1 + move.turns));
        const classes = ["ce-arrow", move.shared && "ce-arrow-shared", hasMark(move, "FORBIDDEN") && "ce-arrow-bad", hasMark(move, "ROUND") && "ce-arrow-round", hasMark(move, "UNTESTED") && "ce-arrow-untested"];
        const rows = move.rows.length === 1 ? "1 row" : `${move.rows.length} rows`;
        const label = `${move.from} to ${move.to}: ${rows}, ${move.turns} turns. ${move.remarks.join(" ")}`;
        const path = draw(points);
        const group = createSvg("g", {class: classes.filter(Boolean).join(" ")}, createSvg("title", {}, document.createTextNode(label)),
            createSvg("path", {class: "ce-arrow-line", d: path, "stroke-width": thick.toFixed(1), "marker-end": hasMark(move, "FORBIDDEN") ? "url(#ce-head-bad)" : "url(#ce-head)"}),
            createSvg("path", {class: "ce-arrow-near", d: path}));
        return opens(group, label, () => show(`${move.from} → ${move.to}`, move, move.shared ? "Applies to every intent." : ""));
    }

    function box({node, x, y, width, height}) {
        const under = subtitle(node);
        const bad = ["UNREACHABLE", "NO_ANSWER"].some((mark) => hasMark(node, mark));
        const classes = `ce-box-${node.kind.toLowerCase()}${bad ? " ce-box-bad" : ""}${hasMark(node, "UNTESTED") ? " ce-box-untested" : ""}`;
        const label = `${node.called}. ${node.remarks.join(" ")}`;
        const group = createSvg("g", {class: `ce-mapbox ${classes}`, transform: `translate(${(x - width / 2).toFixed(1)},${(y - height / 2).toFixed(1)})`},
            createSvg("title", {}, document.createTextNode(label)),
            createSvg("rect", {width, height, rx: node.kind === "STATE" ? 8 : height / 2}),
            createSvg("text", {class: "ce-box-name", x: width / 2, y: under ? 21 : height / 2 + 4.5}, document.createTextNode(shortName(node))));
        if (under) group.append(createSvg("text", {class: "ce-box-under", x: width / 2, y: 38}, document.createTextNode(under)));
        return opens(group, label, () => show(node.called, node, "", node.url));
    }

    const head = (id) => createSvg("marker", {id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 12, markerHeight: 12, markerUnits: "userSpaceOnUse", orient: "auto"}, createSvg("path", {d: "M0,0 L10,5 L0,10 z"}));
    const arrows = layout.arrows.map((one) => ({words: `${one.move.from} ${one.move.to} ${one.move.rows.map((row) => `${row.name} ${row.text}`).join(" ")}`, element: arrow(one)}));
    const drawn = layout.boxes.map((one) => ({words: `${one.node.called} ${one.node.rows.map((row) => `${row.name} ${row.text}`).join(" ")}`, element: box(one)}));
    const svg = createSvg("svg", {width: "100%", height: "100%", class: "ce-drawn"}, createSvg("defs", {}, head("ce-head"), head("ce-head-bad")),
        ...layout.frames.map(({x, y, width, height}) => createSvg("rect", {class: "ce-map-frame", x, y, width, height, rx: 10})), ...arrows.map((one) => one.element), ...drawn.map((one) => one.element));
    frame.append(svg);

    // --- rows of the selection --------------------------------------------------------------------------------------

    function show(title, one, note, url = "") {
        const rows = one.rows.map((row) => createHtml("li", {}, row.url ? createHtml("a", {className: "ce-link", href: row.url}, row.text || row.name) : row.text || row.name, " ", createHtml("small", {}, row.text ? row.name : ""), ...(row.note ? [" ", createHtml("span", {className: "ce-how ce-how-warned"}, row.note)] : [])));
        const parts = [createHtml("h3", {className: "ce-phase"}, title), ...[...one.remarks, note].filter(Boolean).map((text) => createHtml("p", {}, text))];
        if (url) parts.push(createHtml("p", {}, createHtml("a", {className: "ce-link", href: url}, "Open the map of its states")));
        parts.push(rows.length ? createHtml("ul", {className: "ce-map-rows"}, ...rows) : createHtml("p", {className: "ce-muted"}, url ? "" : "No row applies only here."));
        details.replaceChildren(...parts);
    }

    // --- moving and zooming -----------------------------------------------------------------------------------------

    const whole = {x: 0, y: 0, width: Math.max(layout.width, 200), height: Math.max(layout.height, 100)};
    let view = {...whole};

    function updateView() {
        svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    }

    function zoom(factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
        const to = Math.min(Math.max(view.width / factor, 150), whole.width * 4) / view.width;
        view = {x: x - (x - view.x) * to, y: y - (y - view.y) * to, width: view.width * to, height: view.height * to};
        updateView();
    }

    function fit() {
        // A frame without layout has no size yet.
        if (!frame.clientWidth || !frame.clientHeight) return;
        // Small drawings keep their size; large ones are scaled to fit.
        const scale = Math.max(whole.width / frame.clientWidth, whole.height / frame.clientHeight, 1);
        const wide = frame.clientWidth * scale, high = frame.clientHeight * scale;
        view = {x: (whole.width - wide) / 2, y: (whole.height - high) / 2, width: wide, height: high};
        updateView();
    }

    const pan = (x, y) => { view = {...view, x: view.x + (x * view.width) / frame.clientWidth, y: view.y + (y * view.height) / frame.clientHeight}; updateView(); };
    const keys = {ArrowLeft: () => pan(-STEP, 0), ArrowRight: () => pan(STEP, 0), ArrowUp: () => pan(0, -STEP), ArrowDown: () => pan(0, STEP), "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit};
    frame.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        keys[event.key]();
    });
    frame.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const at = svg.getBoundingClientRect();
        zoom(event.deltaY < 0 ? 1.15 : 0.87, view.x + ((event.clientX - at.left) / at.width) * view.width, view.y + ((event.clientY - at.top) / at.height) * view.height);
    }, {passive: false});
    let held = null;
    frame.addEventListener("pointerdown", (event) => { if (event.button === 0) held = {x: event.clientX, y: event.clientY}; });
    addEventListener("pointermove", (event) => {
        if (!held) return;
        pan(held.x - event.clientX, held.y - event.clientY);
        held = {x: event.clientX, y: event.clientY};
    });
    addEventListener("pointerup", () => { held = null; });
    addEventListener("resize", begin);
    document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => (button.dataset.zoom === "fit" ? fit() : zoom(+button.dataset.zoom))));
    // Scroll focused elements into view.
    svg.addEventListener("focusin", (event) => {
        const area = event.target.getBBox(), moved = event.target.transform?.baseVal?.consolidate()?.matrix;
        const x = area.x + (moved?.e || 0) + area.width / 2, y = area.y + (moved?.f || 0) + area.height / 2;
        const inside = x > view.x && x < view.x + view.width && y > view.y && y < view.y + view.height;
        if (!inside) { view = {...view, x: x - view.width / 2, y: y - view.height / 2}; updateView(); }
    });

    // --- search -----------------------------------------------------------------------------------------------------

    const find = document.getElementById("map-find");
    function matching() {
        const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
        return [...drawn, ...arrows].filter((one) => {
            const hit = words.length > 0 && words.every((word) => one.words.toLowerCase().includes(word));
            one.element.classList.toggle("ce-found", hit);
            one.element.classList.toggle("ce-dim", words.length > 0 && !hit);
            return hit;
        });
    }
    find.addEventListener("input", matching);
    find.addEventListener("keydown", (event) => { if (event.key === "Enter") matching()[0]?.element.focus(); });

    // --- saving -----------------------------------------------------------------------------------------------------

    function copyDrawing() {
        const copy = svg.cloneNode(true);
        const looks = [...svg.querySelectorAll("*")], copies = [...copy.querySelectorAll("*")];
        looks.forEach((element, index) => {
            const style = getComputedStyle(element);
            for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "opacity"]) copies[index].style.setProperty(name, style.getPropertyValue(name));
        });
        copy.setAttribute("xmlns", SVG);
        copy.setAttribute("viewBox", `0 0 ${whole.width} ${whole.height}`);
        copy.setAttribute("width", whole.width);
        copy.setAttribute("height", whole.height);
        copy.prepend(createSvg("rect", {width: whole.width, height: whole.height, fill: getComputedStyle(frame).backgroundColor}));
        return new Blob([new XMLSerializer().serializeToString(copy)], {type: "image/svg+xml"});
    }

    function download(blob, kind) {
        const url = URL.createObjectURL(blob);
        createHtml("a", {href: url, download: `${document.querySelector(".ce-map-head h2").textContent.trim()}.${kind}`}).click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
    }

    async function picture() {
        const url = URL.createObjectURL(copyDrawing());
        const image = new Image();
        image.src = url;
        await image.decode();
        // A canvas has a size limit; a large map is scaled to it.
        const scale = Math.min(2, 8000 / Math.max(whole.width, whole.height));
        const canvas = createHtml("canvas", {width: whole.width * scale, height: whole.height * scale});
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(url);
        canvas.toBlob((blob) => download(blob, "png"));
    }

    document.querySelector("[data-save=svg]").addEventListener("click", () => download(copyDrawing(), "svg"));
    document.querySelector("[data-save=png]").addEventListener("click", picture);
    document.querySelector("[data-print]").addEventListener("click", () => { fit(); print(); });
    // A very large drawing starts at its beginning in a readable size.
    function begin() {
        fit();
        const wide = frame.clientWidth * READABLE;
        if (wide && view.width > wide) view = {x: 0, y: 0, width: wide, height: (view.height * wide) / view.width};
        updateView();
    }
    begin();
})();
