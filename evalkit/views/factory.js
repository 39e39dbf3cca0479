// Why: draws a scene (evalkit/performance/scene.py). What stands still is an SVG made by Python; what moves is drawn on
// the canvas above it. Positions are tiles; `scale`, `ox` and `oy` turn them into pixels of the stage.
"use strict";
function makeFactory(stage, { scene, ground, glyphs, size, used }, wake) {
  const frames = scene.last - scene.first + 1;
  const number = (n) => n.toLocaleString("en");

  // Items: where each is in each frame, as points, worked out once. ---------------------------------------------------

  const arms = new Map(scene.shapes.filter((s) => s.kind === "arm").map((s) => [s.path, s]));
  const at = (path, s) => {
    let i = 0;
    while (i < path.length - 6 && s > path[i + 3]) i += 3;
    const share = (s - path[i]) / (path[i + 3] - path[i]);
    return [path[i + 1] + share * (path[i + 4] - path[i + 1]), path[i + 2] + share * (path[i + 5] - path[i + 2])];
  };
  const tokens = scene.tokens.map(({ item, from, legs, born, gone }) => {
    const points = [], held = [];
    for (const [path, ...positions] of legs)
      for (const s of positions) points.push(...at(scene.paths[path], s)), held.push(arms.has(path));
    const count = held.length;
    // `start` and `end` bound the frames in which it truly is; it glides from `from` to the last point.
    const start = from + (born ? 1 : 0), end = from + count - (gone ? 1 : 0);
    return { item, from, count, points: Float32Array.from(points), held, start, end };
  });
  for (const [path, arm] of arms) arm.points = arm.hand.map((s) => at(scene.paths[path], s));
  const faults = (scene.faults || []).map(([frame, shape]) => ({ frame, shape: scene.shapes[shape] }));

  // The view: tiles to pixels. ----------------------------------------------------------------------------------------

  const box = `viewBox="0 0 ${scene.width} ${scene.height}"`; // numbers, as is all of the ground: no name is in them
  stage.innerHTML = `<svg ${box} aria-hidden="true">${ground}</svg><canvas aria-hidden="true"></canvas>`;
  const picture = stage.firstChild, canvas = stage.lastChild, screen = canvas.getContext("2d");
  let scale = 1, ox = 0, oy = 0, ratio = 1, wide = 0, high = 0, mode = "fit", sprites = [], inks = {};
  const PAD = 8;

  const widthScale = () => Math.min(56, (wide - 2 * PAD) / scene.width);
  const wholeScale = () => Math.min(widthScale(), (high - 2 * PAD) / scene.height);

  function place(newScale, x, y) { // keeps the factory in sight: centred where it is smaller than the stage
    scale = newScale;
    const w = scene.width * scale, h = scene.height * scale;
    ox = w <= wide - 2 * PAD + 1 ? (wide - w) / 2 : Math.min(PAD, Math.max(wide - PAD - w, x));
    oy = h <= high - 2 * PAD + 1 ? (high - h) / 2 : Math.min(PAD, Math.max(high - PAD - h, y));
    picture.style.width = `${w}px`; picture.style.height = `${h}px`;
    picture.style.transform = `translate(${ox}px,${oy}px)`;
    makeSprites();
    wake();
  }
  const show = (what) => { mode = what; place(what === "whole" ? wholeScale() : widthScale(), PAD, PAD); };
  function zoom(factor, cx = wide / 2, cy = high / 2) {
    const next = Math.min(96, Math.max(Math.min(wholeScale(), 4), scale * factor));
    mode = "own";
    place(next, cx - (cx - ox) * next / scale, cy - (cy - oy) * next / scale);
  }
  new ResizeObserver(() => {
    wide = stage.clientWidth; high = stage.clientHeight; ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio);
    if (mode === "own") place(scale, ox, oy); else show(mode);
  }).observe(stage);

  const outlines = Object.fromEntries(Object.entries(glyphs).map(([form, d]) => [form, new Path2D(d)]));
  function glyph(to, item, x, y, radius) {
    const { colour, shape } = scene.items[item];
    to.save(); to.translate(x, y); to.scale(radius, radius);
    to.lineWidth = 0.28; to.lineJoin = "round"; to.strokeStyle = inks.outline; to.fillStyle = colour;
    to.stroke(outlines[shape]); to.fill(outlines[shape]);
    to.restore();
  }
  function makeSprites() { // an item is drawn once for each size and then copied
    const side = Math.ceil(size * 3.2 * scale * ratio) + 2;
    sprites = scene.items.map((_, item) => {
      const sprite = document.createElement("canvas");
      sprite.width = sprite.height = side;
      if (!used.includes(item)) return sprite;
      const to = sprite.getContext("2d");
      glyph(to, item, side / 2, side / 2, size * scale * ratio);
      return sprite;
    });
  }

  // Drawing one moment: `now` is a frame, or a point between two. -----------------------------------------------------

  const heldBy = (shape, frame) => {
    let found = [0, [], []];
    for (const entry of shape.holds || []) { if (entry[0] > frame) break; found = entry; }
    return found;
  };
  const short = (n) =>
    n < 10000 ? String(n) : n < 1e6 ? `${Math.floor(n / 100) / 10}k` : `${Math.floor(n / 1e5) / 10}M`;

  // What does not move between this tick and the next is drawn once a tick, onto a canvas of its own.
  const rest = document.createElement("canvas");
  let pen = screen, rested = "", followed = null;

  function rests(t, i) { // whether a token stays where it is until the next frame
    const j = Math.min(i + 1, t.count - 1);
    return t.points[2 * i] === t.points[2 * j] && t.points[2 * i + 1] === t.points[2 * j + 1];
  }
  function drawTokens(frame, share, onArms, resting) {
    const side = sprites[0] ? sprites[0].width : 0, px = scale * ratio;
    const dx = ox * ratio - side / 2, dy = oy * ratio - side / 2;
    for (const t of tokens) {
      const i = frame - t.from;
      if (i < 0 || frame >= t.end || t.held[i] !== onArms || (share === 0 && frame < t.start)) continue;
      if (!onArms && rests(t, i) !== resting) continue;
      const j = Math.min(i + 1, t.count - 1);
      const x = (t.points[2 * i] + (t.points[2 * j] - t.points[2 * i]) * share) * px + dx;
      const y = (t.points[2 * i + 1] + (t.points[2 * j + 1] - t.points[2 * i + 1]) * share) * px + dy;
      if (x < -side || y < -side || x > canvas.width || y > canvas.height) continue;
      pen.globalAlpha = followed === null || followed === t.item ? 1 : 0.15;
      pen.drawImage(sprites[t.item], x, y);
    }
    pen.globalAlpha = 1;
  }
  function drawRest(frame) {
    const key = [frame, scale, ox, oy, ratio, wide, high, followed, inks.outline].join();
    if (key === rested) return;
    rested = key;
    rest.width = canvas.width; rest.height = canvas.height; // which clears it
    pen = rest.getContext("2d");
    drawTokens(frame, 0, false, true);
    toTiles();
    for (const shape of scene.shapes) if (inSight(shape)) drawHeld(shape, frame);
    pen = screen;
  }
  const toTiles = () => pen.setTransform(scale * ratio, 0, 0, scale * ratio, ox * ratio, oy * ratio);
  const toPixels = () => pen.setTransform(1, 0, 0, 1, 0, 0);
  const inSight = (s) =>
    s.y * scale + oy < high && (s.y + s.h) * scale + oy > 0 && s.x * scale + ox < wide && (s.x + s.w) * scale + ox > 0;

  function drawArms(frame, share) {
    pen.lineWidth = 0.1; pen.lineCap = "round"; pen.strokeStyle = inks.arm;
    pen.beginPath();
    for (const arm of arms.values()) {
      const a = arm.points[frame], b = arm.points[Math.min(frame + 1, frames - 1)];
      pen.moveTo(arm.x + arm.w / 2, arm.y + arm.h / 2);
      pen.lineTo(a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share);
    }
    pen.stroke();
  }

  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";

  function drawHeld(shape, frame) { // counts, which change with a tick and not between two
    const cx = shape.x + shape.w / 2, cy = shape.y + shape.h / 2;
    if (shape.kind === "sink" && scale >= 9) {
      const total = heldBy(shape, frame)[1].reduce((sum, [, count]) => sum + count, 0);
      pen.font = `600 0.36px ${FONT}`; pen.textAlign = "center"; pen.fillStyle = inks.text;
      pen.fillText(short(total), cx, cy + 0.13, 0.84);
    } else if (shape.kind === "machine" && scale >= 13) {
      const [, incoming, outgoing] = heldBy(shape, frame);
      pen.font = `0.28px ${FONT}`; pen.textAlign = "left";
      for (const [counts, x] of [[incoming, shape.x + 0.27], [outgoing, shape.x + shape.w - 0.48]])
        counts.forEach(([item, count], row) => {
          const y = cy + 0.42 * (row - (counts.length - 1) / 2);
          glyph(pen, item, x, y, 0.1);
          pen.fillStyle = inks.text; pen.fillText(short(count), x + 0.14, y + 0.1);
        });
    } else if (shape.next) drawSplitter(shape, frame, cx, cy);
  }

  function drawState(shape, frame, share) {
    const cx = shape.x + shape.w / 2, cy = shape.y + shape.h / 2;
    if (shape.kind === "machine") {
      const left = shape.left[frame], next = shape.left[Math.min(frame + 1, frames - 1)];
      if (left <= 0 || shape.ticks <= 0) return;
      const turn = 2 * Math.PI * Math.max(0.02, Math.min(1, 1 - (left - (next === left ? 0 : share)) / shape.ticks));
      pen.beginPath(); pen.arc(cx, cy, dial(shape), -Math.PI / 2, turn - Math.PI / 2);
      pen.lineWidth = 0.09; pen.lineCap = "butt"; pen.strokeStyle = inks.done; pen.stroke();
    } else { // a source: a ring spreads when it gives
      const since = (shape.beat[frame] + share) / Math.min(6, Math.max(2, shape.period));
      if (since >= 1) return;
      pen.globalAlpha = 1 - since; pen.lineWidth = 0.07; pen.strokeStyle = scene.items[shape.gives].colour;
      pen.beginPath(); pen.arc(cx, cy, 0.3 + 0.32 * since, 0, 2 * Math.PI); pen.stroke(); pen.globalAlpha = 1;
    }
  }
  const dial = (s) => 0.3 + 0.25 * Math.max(0, Math.min(s.w, s.h) - 2);
  const lively = scene.shapes.filter((s) => s.kind === "machine" || s.kind === "source");

  const STEP = { N: [0, -1], E: [1, 0], S: [0, 1], W: [-1, 0] };
  function drawSplitter(shape, frame, cx, cy) { // a lamp for each lane, on the half that gets its next item
    const [dx, dy] = STEP[shape.dir], half = shape.dir === "N" || shape.dir === "S" ? [0.5, 0] : [0, 0.5];
    for (const lane of [0, 1]) {
      const second = (shape.next[frame] >> lane) & 1 ? 1 : -1, side = lane === 0 ? 0.25 : -0.25;
      pen.beginPath(); pen.fillStyle = inks.done;
      const x = cx + second * half[0] + dy * side + dx * 0.3, y = cy + second * half[1] - dx * side + dy * 0.3;
      pen.arc(x, y, 0.065, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  function frameAround(shape, colour, dash, width) {
    pen.strokeStyle = colour; pen.lineWidth = width / scale; pen.setLineDash(dash.map((d) => d / scale));
    pen.strokeRect(shape.x + 0.02, shape.y + 0.02, shape.w - 0.04, shape.h - 0.04); pen.setLineDash([]);
  }

  // Draws frame `frame`, `share` of the way to the next; `only` is the item that is followed, `looked` a shape or null.
  function draw(frame, share, only, looked) {
    if (!canvas.width || !canvas.height) return; // not laid out yet
    followed = only;
    drawRest(frame);
    toPixels();
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(rest, 0, 0);
    drawTokens(frame, share, false, false);
    toTiles();
    drawArms(frame, share);
    toPixels();
    drawTokens(frame, share, true);
    toTiles();
    for (const shape of lively) if (inSight(shape)) drawState(shape, frame, share);
    for (const fault of faults) {
      const age = frame - fault.frame;
      if (age < 0) continue;
      pen.globalAlpha = Math.max(0.25, 1 - age / 12);
      frameAround(fault.shape, inks.fault, [6, 4], 2.5);
      pen.globalAlpha = 1;
    }
    if (looked) frameAround(looked, inks.accent, [], 2);
  }

  // What a shape is and holds, in words. ------------------------------------------------------------------------------

  const list = (counts) =>
    counts.map(([item, count]) => `${number(count)} ${scene.items[item].name}`).join(", ") || "nothing";
  const inside = (shape, frame) => {
    const counts = new Map();
    for (const t of tokens) {
      const i = frame - t.from;
      if (frame < t.start || frame >= t.end || t.held[i]) continue;
      const x = t.points[2 * i], y = t.points[2 * i + 1];
      if (x >= shape.x && x < shape.x + shape.w && y >= shape.y && y < shape.y + shape.h)
        counts.set(t.item, (counts.get(t.item) || 0) + 1);
    }
    return [...counts];
  };
  const carriedBy = (arm, frame) =>
    tokens.find((t) => {
      const i = frame - t.from, [x, y] = arm.points[frame];
      if (frame < t.start || frame >= t.end || !t.held[i]) return false;
      return Math.hypot(t.points[2 * i] - x, t.points[2 * i + 1] - y) < 0.01;
    });
  function describe(shape, frame) {
    const lines = [shape.title], [, incoming, outgoing] = heldBy(shape, frame);
    if (shape.kind === "belt") lines.push(`carries ${list(inside(shape, frame))}`);
    else if (shape.kind === "sink") lines.push(`has taken ${list(incoming)}`);
    else if (shape.kind === "machine") {
      const left = shape.left[frame];
      lines.push(left ? `working: ${shape.ticks - left} of ${shape.ticks} ticks done` : "waiting");
      lines.push(`has in: ${list(incoming)}`, `has made: ${list(outgoing)}`);
    } else if (shape.kind === "arm") {
      const token = carriedBy(shape, frame);
      lines.push(token ? `holds ${scene.items[token.item].name}` : shape.hand[frame] ? "swings back empty" : "waits");
    } else if (shape.kind === "source") {
      const due = shape.period - shape.beat[frame];
      lines.push(`gives again in ${due} tick${due === 1 ? "" : "s"}`);
    }
    const fault = faults.find((f) => f.shape === shape && f.frame <= frame);
    if (fault) lines.push(`not what the rules give at tick ${number(scene.first + fault.frame)}`);
    return lines.join("\n");
  }
  const shapeAt = (x, y) => {
    const tx = (x - ox) / scale, ty = (y - oy) / scale;
    return scene.shapes.findLast((s) => tx >= s.x && tx < s.x + s.w && ty >= s.y && ty < s.y + s.h) || null;
  };

  return {
    frames, faults, number, draw, show, zoom, describe, shapeAt,
    move: (x, y) => { mode = "own"; place(scale, x, y); },
    sight: () => ({ scale, ox, oy, wide, high }),
    setInks: (fresh) => { inks = fresh; makeSprites(); wake(); },
  };
}
