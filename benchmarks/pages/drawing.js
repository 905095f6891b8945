/* How fast a drawing engine shows and pans a grid: ?engine=own|sigma|pixi&nodes=10000 */

const asked = new URLSearchParams(location.search);
const host = document.getElementById("host");

/** A square room of four colours, with an edge for every move to a neighbour. */
function grid(count) {
  const side = Math.round(Math.sqrt(count));
  const nodes = { observation: [], support: [] };
  const points = [];
  const edges = { source: [], action: [], target: [], support: [] };
  const moves = [
    [0, -1],
    [0, 1],
    [-1, 0],
    [1, 0],
  ];
  for (let node = 0; node < side * side; node += 1) {
    const [x, y] = [node % side, Math.floor(node / side)];
    points.push([x, y]);
    nodes.observation.push((x * 7 + y * 13 + x * y) % 4);
    nodes.support.push(100);
    moves.forEach(([dx, dy], action) => {
      const [toX, toY] = [x + dx, y + dy];
      if (toX < 0 || toY < 0 || toX >= side || toY >= side) return;
      edges.source.push(node);
      edges.action.push(action);
      edges.target.push(toY * side + toX);
      edges.support.push(10 + ((node * 31) % 90));
    });
  }
  const colours = ["#4c78a8", "#f2cf5b", "#54a24b", "#d8d3cd"];
  return { nodes, edges, points, colours, observationLabels: ["0", "1", "2", "3"], side };
}

const frame = () => new Promise((done) => requestAnimationFrame(done));

/** Each engine shows the map and returns pan(pixels) and zoom(factor). */
const engines = {
  async own(map) {
    const { MapView } = await import("/shared/map_view.js");
    const { readTheme } = await import("/shared/theme.js");
    const theme = readTheme();
    const nothing = () => {};
    const view = new MapView(host, {
      label: "map",
      keys: "none",
      theme: () => theme,
      picked: nothing,
      pointed: nothing,
      reached: nothing,
      cleared: nothing,
    });
    return () => {
      view.show(map, { points: map.points, radius: 0.25 });
      return {
        pan: (pixels) => view.stage.move(() => view.stage.camera.pan(pixels, 0)),
        zoom: (factor) => view.stage.move(() => view.stage.camera.zoom(factor)),
      };
    };
  },

  async sigma(map) {
    await script("/library/graphology/dist/graphology.umd.min.js");
    await script("/library/sigma/dist/sigma.min.js");
    return () => {
      const graph = new globalThis.graphology.MultiDirectedGraph();
      map.points.forEach(([x, y], node) => {
        graph.addNode(node, { x, y: -y, size: 3, color: map.colours[map.nodes.observation[node]] });
      });
      map.edges.source.forEach((source, edge) => {
        graph.addEdge(source, map.edges.target[edge], { size: 1, color: "#999999" });
      });
      const sigma = new globalThis.Sigma(graph, host, { renderLabels: false });
      const camera = sigma.getCamera();
      return {
        pan: (pixels) => camera.setState({ x: camera.x - (pixels / innerWidth) * camera.ratio }),
        zoom: (factor) => camera.setState({ ratio: camera.ratio / factor }),
      };
    };
  },

  async pixi(map) {
    const pixi = await import("/library/pixi.js/dist/pixi.min.mjs");
    const application = new pixi.Application();
    await application.init({ resizeTo: host, antialias: true, background: "#ffffff", preference: "webgl" });
    host.append(application.canvas);
    return () => {
      const world = new pixi.Container();
      const lines = new pixi.Graphics();
      map.edges.source.forEach((source, edge) => {
        if (source > map.edges.target[edge]) return;
        lines.moveTo(...map.points[source]).lineTo(...map.points[map.edges.target[edge]]);
      });
      lines.stroke({ width: 0.1, color: 0x999999 });
      world.addChild(lines);
      const disc = new pixi.Graphics().circle(0, 0, 16).fill(0xffffff);
      const texture = application.renderer.generateTexture(disc);
      map.points.forEach(([x, y], node) => {
        const sprite = new pixi.Sprite(texture);
        Object.assign(sprite, { x, y, width: 0.5, height: 0.5, tint: map.colours[map.nodes.observation[node]] });
        sprite.anchor.set(0.5);
        world.addChild(sprite);
      });
      const scale = Math.min(innerWidth, innerHeight) / map.side;
      world.scale.set(scale);
      application.stage.addChild(world);
      application.render();
      return {
        pan: (pixels) => {
          world.x += pixels;
        },
        zoom: (factor) => {
          world.scale.set(world.scale.x * factor);
        },
      };
    };
  },
};

function script(address) {
  return new Promise((done, failed) => {
    const element = Object.assign(document.createElement("script"), { src: address, onload: done, onerror: failed });
    document.head.append(element);
  });
}

/** Frames per second and the longest frame, while the map is panned back and forth for two seconds. */
async function panning(shown) {
  const gaps = [];
  let before = await frame();
  const begun = before;
  while (before - begun < 2000) {
    shown.pan(Math.floor((before - begun) / 500) % 2 ? 4 : -4);
    const now = await frame();
    gaps.push(now - before);
    before = now;
  }
  return { framesPerSecond: (1000 * gaps.length) / (before - begun), longestFrame: Math.max(...gaps) };
}

async function measure() {
  const map = grid(Number(asked.get("nodes")));
  const show = await engines[asked.get("engine")](map);
  await frame();
  const begun = performance.now();
  const shown = show();
  await frame();
  await frame();
  const firstPaint = performance.now() - begun;
  const whole = await panning(shown);
  shown.zoom(8);
  await frame();
  const near = await panning(shown);
  return { firstPaint, whole, near };
}

measure().then(
  (figures) => {
    globalThis.figures = figures;
  },
  (error) => {
    globalThis.figures = { error: String(error) };
  },
);
