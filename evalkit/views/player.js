// Why: plays a scene (evalkit/performance/scene.py) inside a sandboxed frame: no request, no access to the page around.
// What stands still is an SVG below, made by Python; what moves is drawn on the canvas above it, once a screen frame.
"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement, stage = $("stage");
  const packed = Uint8Array.from(atob(PACKED), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { scene, ground, glyphs, size, used, title, outcome, note, marks, wrongFrom } = JSON.parse(await new Response(unpacked).text());
  const frames = scene.last - scene.first + 1;
  const TICKS_A_SECOND = 8, SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches; // then nothing glides: ticks follow each other

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
    return { item, from, count, points: Float32Array.from(points), held, start: from + (born ? 1 : 0), end: from + count - (gone ? 1 : 0) };
  });
  for (const [path, arm] of arms) arm.points = arm.hand.map((s) => at(scene.paths[path], s));
  const faults = (scene.faults || []).map(([frame, shape]) => ({ frame, shape: scene.shapes[shape] }));

  // The view: tiles to pixels. -----------------------------------------------------------------------------------------

  stage.innerHTML = `<svg viewBox="0 0 ${scene.width} ${scene.height}" aria-hidden="true">${ground}</svg><canvas aria-hidden="true"></canvas>`;
  const picture = stage.firstChild, canvas = stage.lastChild, screen = canvas.getContext("2d");
  const tip = document.createElement("div");
  tip.id = "tip"; tip.hidden = true; stage.append(tip);
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
    dirty = true;
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
    mode === "own" ? place(scale, ox, oy) : show(mode);
    draw();
  }).observe(stage);

  const outlines = Object.fromEntries(Object.entries(glyphs).map(([form, d]) => [form, new Path2D(d)]));
  function glyph(to, item, x, y, radius) {
    const { colour, shape } = scene.items[item];
    to.save(); to.translate(x, y); to.scale(radius, radius);
    to.lineWidth = 0.28; to.lineJoin = "round"; to.strokeStyle = inks.outline; to.fillStyle = colour;
    to.stroke(outlines[shape]); to.fill(outlines[shape], "evenodd");
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

  // Drawing one moment: `now` is a frame, or a point between two. ------------------------------------------------------

  let now = 0, playing = false, speed = 1, loop = false, dirty = true, followed = null, pinned = null, hovered = null;

  const heldBy = (shape, frame) => {
    let found = [0, [], []];
    for (const entry of shape.holds || []) { if (entry[0] > frame) break; found = entry; }
    return found;
  };
  const short = (n) => (n < 10000 ? String(n) : n < 1e6 ? `${Math.floor(n / 100) / 10}k` : `${Math.floor(n / 1e5) / 10}M`);

  // What does not move between this tick and the next is drawn once a tick, onto a canvas of its own.
  const rest = document.createElement("canvas");
  let pen = screen, rested = "";

  function rests(t, i) { // whether a token stays where it is until the next frame
    const j = Math.min(i + 1, t.count - 1);
    return t.points[2 * i] === t.points[2 * j] && t.points[2 * i + 1] === t.points[2 * j + 1];
  }
  function drawTokens(frame, share, onArms, resting) {
    const side = sprites[0] ? sprites[0].width : 0, px = scale * ratio, dx = ox * ratio - side / 2, dy = oy * ratio - side / 2;
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
    const key = [frame, scale, ox, oy, ratio, wide, high, followed, root.dataset.theme].join();
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
  const inSight = (s) => s.y * scale + oy < high && (s.y + s.h) * scale + oy > 0 && s.x * scale + ox < wide && (s.x + s.w) * scale + ox > 0;

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
      pen.arc(cx + second * half[0] + dy * side + dx * 0.3, cy + second * half[1] - dx * side + dy * 0.3, 0.065, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  function frameAround(shape, colour, dash, width) {
    pen.strokeStyle = colour; pen.lineWidth = width / scale; pen.setLineDash(dash.map((d) => d / scale));
    pen.strokeRect(shape.x + 0.02, shape.y + 0.02, shape.w - 0.04, shape.h - 0.04); pen.setLineDash([]);
  }

  function draw() {
    const frame = Math.min(frames - 1, Math.floor(now + 1e-6)), share = calm || frame === frames - 1 ? 0 : Math.max(0, now - frame);
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
      pen.globalAlpha = Math.max(0.25, 1 - age / 12); frameAround(fault.shape, inks.fault, [6, 4], 2.5); pen.globalAlpha = 1;
    }
    const looked = pinned || hovered;
    if (looked) frameAround(looked, inks.accent, [], 2);
    dirty = false;
    tell(frame, looked);
  }

  // Words: the tick, the note, and what is looked at. ------------------------------------------------------------------

  let told = "", shown = null;
  const number = (n) => n.toLocaleString("en");
  function tell(frame, looked) {
    const tick = scene.first + frame;
    if (shown !== frame) {
      shown = frame;
      $("scrub").value = tick; $("scrub").setAttribute("aria-valuetext", `tick ${number(tick)}`);
      $("tick").textContent = `tick ${number(tick)}`;
      const here = faults.filter((f) => f.frame <= frame), wrong = wrongFrom !== null && tick >= wrongFrom;
      const lines = [];
      if (here.length) lines.push(`From tick ${number(scene.first + here[0].frame)} on this is not what the rules give: ${here[0].shape.title}.`);
      if (wrong) lines.push(`This run is wrong from tick ${number(wrongFrom)} on.`);
      $("note").textContent = lines.length ? lines.join(" ") : note;
      $("note").className = stage.className = lines.length ? "bad" : "";
    }
    tip.hidden = !looked;
    if (!looked) return;
    const text = describe(looked, frame);
    if (text !== told) {
      told = text;
      const [first, ...rest] = text.split("\n"), bold = document.createElement("b");
      bold.textContent = first;
      tip.replaceChildren(bold, rest.length ? "\n" + rest.join("\n") : "");
      if (!playing && pinned) $("said").textContent = text;
    }
    const x = (looked.x + looked.w) * scale + ox + 8, y = looked.y * scale + oy;
    tip.style.left = `${Math.max(4, Math.min(x, wide - tip.offsetWidth - 6))}px`;
    tip.style.top = `${Math.max(4, Math.min(x > wide - tip.offsetWidth - 6 ? y + looked.h * scale + 8 : y, high - tip.offsetHeight - 6))}px`;
  }

  const list = (counts) => counts.map(([item, count]) => `${number(count)} ${scene.items[item].name}`).join(", ") || "nothing";
  const inside = (shape, frame) => {
    const counts = new Map();
    for (const t of tokens) {
      const i = frame - t.from;
      if (frame < t.start || frame >= t.end || t.held[i]) continue;
      const x = t.points[2 * i], y = t.points[2 * i + 1];
      if (x >= shape.x && x < shape.x + shape.w && y >= shape.y && y < shape.y + shape.h) counts.set(t.item, (counts.get(t.item) || 0) + 1);
    }
    return [...counts];
  };
  function describe(shape, frame) {
    const lines = [shape.title], [, incoming, outgoing] = heldBy(shape, frame);
    if (shape.kind === "belt") lines.push(`carries ${list(inside(shape, frame))}`);
    else if (shape.kind === "machine") {
      const left = shape.left[frame];
      lines.push(left ? `working: ${shape.ticks - left} of ${shape.ticks} ticks done` : "waiting", `has in: ${list(incoming)}`, `has made: ${list(outgoing)}`);
    } else if (shape.kind === "arm") {
      const i = tokens.find((t) => { const k = frame - t.from; return frame >= t.start && frame < t.end && t.held[k] &&
        Math.hypot(t.points[2 * k] - shape.points[frame][0], t.points[2 * k + 1] - shape.points[frame][1]) < 0.01; });
      lines.push(i ? `holds ${scene.items[i.item].name}` : shape.hand[frame] ? "swings back empty" : "waits");
    } else if (shape.kind === "sink") lines.push(`has taken ${list(incoming)}`);
    else if (shape.kind === "source") { const due = shape.period - shape.beat[frame]; lines.push(`gives again in ${due} tick${due === 1 ? "" : "s"}`); }
    for (const f of faults) if (f.shape === shape && f.frame <= frame) { lines.push(`not what the rules give at tick ${number(scene.first + f.frame)}`); break; }
    return lines.join("\n");
  }
  const shapeAt = (x, y) => {
    const tx = (x - ox) / scale, ty = (y - oy) / scale;
    return scene.shapes.findLast((s) => tx >= s.x && tx < s.x + s.w && ty >= s.y && ty < s.y + s.h) || null;
  };

  // Time. --------------------------------------------------------------------------------------------------------------

  let before = null;
  function turn(time) {
    if (playing) {
      const passed = before === null ? 0 : Math.min(0.25, (time - before) / 1000);
      now += passed * speed * TICKS_A_SECOND;
      if (now >= frames - 1) { if (loop && frames > 1) now %= frames - 1; else { now = frames - 1; play(false); } }
      dirty = true;
    }
    before = time;
    if (dirty) draw();
    if (playing) requestAnimationFrame(turn); else before = null;
  }
  const wake = () => { dirty = true; if (!playing) requestAnimationFrame(turn); };
  function play(on) {
    if (on === playing) return;
    if (on && now >= frames - 1) now = 0;
    playing = on;
    $("sign").setAttribute("d", on ? "M3.500 2.500h3v11h-3zM9.500 2.500h3v11h-3z" : "M4 2.500v11L13 8z");
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) now = Math.min(frames - 1, Math.round(now));
    if (on) requestAnimationFrame(turn); else wake();
  }
  const go = (frame) => { play(false); now = Math.max(0, Math.min(frames - 1, frame)); wake(); };
  const setSpeed = (value) => { speed = value; $("speed").value = String(value); };
  const nudge = (by) => setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(speed) + by))]);
  const setLoop = () => { loop = !loop; $("loop").setAttribute("aria-pressed", loop); $("loop").style.color = loop ? "var(--accent)" : ""; };

  // Controls. ----------------------------------------------------------------------------------------------------------

  $("title").textContent = title; document.title = title; $("outcome").textContent = outcome;
  Object.assign($("scrub"), { min: scene.first, max: scene.last, value: scene.first });
  for (const s of SPEEDS) $("speed").append(new Option(`${s}× (${s * TICKS_A_SECOND} ticks a second)`, s, s === 1, s === 1));
  const mark = (className, frame, to) => {
    const i = document.createElement("i"), share = (f) => `${100 * f / Math.max(1, frames - 1)}%`;
    i.className = className; i.style.left = share(frame);
    if (to !== undefined) i.style.width = share(to - frame);
    $("marks").append(i);
  };
  for (const tick of marks) mark("graded", tick - scene.first);
  for (const frame of new Set(faults.map((f) => f.frame))) mark("fault", frame);
  if (wrongFrom !== null && wrongFrom <= scene.last) mark("wrong", Math.max(0, wrongFrom - scene.first), frames - 1);
  const actions = {
    first: () => go(0), back: () => go(Math.ceil(now - 1e-6) - 1), play: () => play(!playing), step: () => go(Math.floor(now + 1e-6) + 1), last: () => go(frames - 1),
    loop: setLoop, out: () => { zoom(1 / 1.3); wake(); }, in: () => { zoom(1.3); wake(); }, fit: () => { show("fit"); wake(); },
    whole: () => { show("whole"); wake(); }, theme: () => setTheme(root.dataset.theme !== "dark", true),
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  $("scrub").addEventListener("input", () => go(Number($("scrub").value) - scene.first));
  $("speed").addEventListener("change", () => setSpeed(Number($("speed").value)));

  for (const item of used) {
    const button = document.createElement("button");
    button.setAttribute("aria-pressed", "false");
    button.innerHTML = `<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true"><path d="${glyphs[scene.items[item].shape]}" fill="${scene.items[item].colour}" fill-rule="evenodd" stroke="var(--outline)" stroke-width=".28" paint-order="stroke"/></svg>`;
    button.append(scene.items[item].name);
    button.addEventListener("click", () => {
      followed = followed === item ? null : item;
      for (const other of $("legend").children) other.setAttribute("aria-pressed", String(other === button && followed === item));
      wake();
    });
    $("legend").append(button);
  }

  const KEYS = { " ": "play", k: "play", ArrowLeft: "back", ArrowRight: "step", Home: "first", End: "last", l: "loop", "+": "in", "=": "in", "-": "out", 0: "fit", 9: "whole", t: "theme" };
  addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const on = event.target, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.shiftKey && key.startsWith("Arrow") && on === stage) look(key.slice(5));
    else if (key === "Escape") { pinned = hovered = null; wake(); }
    else if (event.ctrlKey && (key === "ArrowLeft" || key === "ArrowRight")) go(Math.round(now) + (key === "ArrowLeft" ? -10 : 10));
    else if (event.ctrlKey) return;
    else if (key === " " && on.tagName === "BUTTON") return; // a button's own key
    else if (on.tagName === "SELECT" && (key.startsWith("Arrow") || key === " " || key.length === 1)) return;
    else if (key === "[" || key === "]") nudge(key === "[" ? -1 : 1);
    else if (key in KEYS) actions[KEYS[key]]();
    else return;
    event.preventDefault();
  });
  function look(way) { // the nearest thing that way; things ahead count more than things aside
    const [dx, dy] = { Up: [0, -1], Down: [0, 1], Left: [-1, 0], Right: [1, 0] }[way];
    const from = pinned || { x: (wide / 2 - ox) / scale, y: (high / 2 - oy) / scale, w: 0, h: 0 };
    const fx = from.x + from.w / 2, fy = from.y + from.h / 2;
    let best = pinned, least = Infinity;
    for (const s of scene.shapes) {
      const rx = s.x + s.w / 2 - fx, ry = s.y + s.h / 2 - fy, ahead = rx * dx + ry * dy, aside = Math.abs(rx * dy) + Math.abs(ry * dx);
      if (s !== pinned && ahead > 0.4 && ahead + 2 * aside < least) { least = ahead + 2 * aside; best = s; }
    }
    pinned = best;
    if (best) { // brought into sight
      const x = best.x * scale + ox, y = best.y * scale + oy;
      if (x < 0 || y < 0 || x > wide - scale || y > high - scale) place(scale, ox + wide / 2 - x, oy + high / 2 - y);
    }
    wake();
  }

  let grip = null;
  stage.addEventListener("pointerdown", (e) => { grip = { x: e.clientX, y: e.clientY, ox, oy, moved: false }; stage.setPointerCapture(e.pointerId); });
  stage.addEventListener("pointermove", (e) => {
    const box = stage.getBoundingClientRect();
    if (grip) {
      const dx = e.clientX - grip.x, dy = e.clientY - grip.y;
      grip.moved ||= Math.hypot(dx, dy) > 4;
      if (grip.moved) { stage.classList.add("dragging"); place(scale, grip.ox + dx, grip.oy + dy); wake(); }
    } else { const found = shapeAt(e.clientX - box.left, e.clientY - box.top); if (found !== hovered) { hovered = found; wake(); } }
  });
  stage.addEventListener("pointerup", (e) => {
    const box = stage.getBoundingClientRect();
    if (grip && !grip.moved) { const found = shapeAt(e.clientX - box.left, e.clientY - box.top); pinned = found === pinned ? null : found; wake(); }
    grip = null; stage.classList.remove("dragging");
  });
  stage.addEventListener("pointerleave", () => { if (!grip) { hovered = null; wake(); } });
  stage.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the page goes on scrolling
    e.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top); wake();
  }, { passive: false });

  // Light or dark: the page around says, else the system; pressing the button settles it. ------------------------------

  let settled = false;
  function setTheme(dark, own = false) {
    if (settled && !own) return;
    settled ||= own;
    root.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(root);
    inks = Object.fromEntries(["outline", "arm", "done", "text", "fault", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    makeSprites();
    wake();
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(system.matches);
  system.addEventListener("change", () => setTheme(system.matches));
  addEventListener("message", (event) => {
    const told = event.data && event.data.evalkitPlayer;
    if (event.source === parent && told) { setTheme(Boolean(told.dark)); system.onchange = null; }
  });
  if (parent !== window) parent.postMessage({ evalkitPlayer: "ready" }, "*");
})();
