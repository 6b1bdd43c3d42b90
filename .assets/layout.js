// Where the boxes of a drawing stand and how its arrows run: layers from left to right.
import dagre from "@dagrejs/dagre";

// boxes: [{key, width, height}], arrows: [{start, end}] → the same with x and y of the boxes' middles, and points of the arrows.
globalThis.ceLayout = (boxes, arrows) => {
    const drawing = new dagre.graphlib.Graph({multigraph: true});
    const ranker = boxes.length > 150 ? "longest-path" : "network-simplex";
    drawing.setGraph({rankdir: "LR", nodesep: 28, ranksep: 70, edgesep: 14, marginx: 16, marginy: 16, ranker});
    for (const box of boxes) drawing.setNode(box.key, {width: box.width, height: box.height});
    arrows.forEach((arrow, number) => drawing.setEdge(arrow.start, arrow.end, {}, String(number)));
    dagre.layout(drawing);
    const {width, height} = drawing.graph();
    const placed = (box) => { const {x, y} = drawing.node(box.key); return {...box, x, y}; };
    const drawn = (arrow, number) => ({...arrow, points: drawing.edge(arrow.start, arrow.end, String(number)).points});
    return {width, height, boxes: boxes.map(placed), arrows: arrows.map(drawn)};
};
