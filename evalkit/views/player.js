// Why: plays a scene inside a sandboxed frame, with no request and no access to the page around; factory.js draws it.
(async () => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement, stage = $("stage");
  const packed = Uint8Array.from(atob(PACKED), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(unpacked).text());
  const { scene, glyphs, used, title, outcome, note, marks, wrongFrom } = data;
  let now = 0, playing = false, speed = 1, loop = false, dirty = true, followed = null, pinned = null, hovered = null;
  let waiting = false; // a screen frame is asked for at most once
  const ask = () => { if (!waiting) { waiting = true; requestAnimationFrame(turn); } };
  const wake = () => { dirty = true; ask(); };
  const factory = makeFactory(stage, data, () => wake());
  const { frames, faults, number } = factory;
  const tip = document.createElement("div");
  tip.id = "tip"; tip.hidden = true; stage.append(tip);
  const TICKS_A_SECOND = 8, SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches; // then nothing glides: ticks follow each other

  // Words: the tick, the note, and what is looked at. -----------------------------------------------------------------

  let told = "", shown = null;
  function tell(frame, looked) {
    const tick = scene.first + frame;
    if (shown !== frame) {
      shown = frame;
      $("scrub").value = tick; $("scrub").setAttribute("aria-valuetext", `tick ${number(tick)}`);
      $("tick").textContent = `tick ${number(tick)}`;
      const here = faults.filter((f) => f.frame <= frame), wrong = wrongFrom !== null && tick >= wrongFrom;
      const lines = [];
      if (here.length) {
        const since = number(scene.first + here[0].frame);
        lines.push(`From tick ${since} on this is not what the rules give: ${here[0].shape.title}.`);
      }
      if (wrong) lines.push(`This run is wrong from tick ${number(wrongFrom)} on.`);
      $("note").textContent = lines.length ? lines.join(" ") : note;
      $("note").className = stage.className = lines.length ? "bad" : "";
    }
    tip.hidden = !looked;
    if (!looked) return;
    const text = factory.describe(looked, frame), { scale, ox, oy, wide, high } = factory.sight();
    if (text !== told) {
      told = text;
      const [first, ...rest] = text.split("\n"), bold = document.createElement("b");
      bold.textContent = first;
      tip.replaceChildren(bold, rest.length ? "\n" + rest.join("\n") : "");
      if (!playing && pinned) $("said").textContent = text;
    }
    const x = (looked.x + looked.w) * scale + ox + 8, y = looked.y * scale + oy;
    const mostX = wide - tip.offsetWidth - 6, mostY = high - tip.offsetHeight - 6;
    tip.style.left = `${Math.max(4, Math.min(x, mostX))}px`;
    tip.style.top = `${Math.max(4, Math.min(x > mostX ? y + looked.h * scale + 8 : y, mostY))}px`;
  }

  tell(0, null);

  // Time. -------------------------------------------------------------------------------------------------------------

  let before = null;
  function turn(time) {
    waiting = false;
    if (playing) {
      const passed = before === null ? 0 : Math.min(0.25, (time - before) / 1000);
      now += passed * speed * TICKS_A_SECOND;
      if (now >= frames - 1) { if (loop && frames > 1) now %= frames - 1; else { now = frames - 1; play(false); } }
      dirty = true;
    }
    before = time;
    if (dirty) {
      dirty = false;
      const frame = Math.min(frames - 1, Math.floor(now + 1e-6));
      const share = calm || frame === frames - 1 ? 0 : Math.max(0, now - frame);
      const looked = pinned || hovered;
      factory.draw(frame, share, followed, looked);
      tell(frame, looked);
    }
    if (playing) ask(); else before = null;
  }
  function play(on) {
    if (on === playing) return;
    if (on && now >= frames - 1) now = 0;
    playing = on;
    $("sign").setAttribute("d", on ? "M3.500 2.500h3v11h-3zM9.500 2.500h3v11h-3z" : "M4 2.500v11L13 8z");
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) now = Math.min(frames - 1, Math.round(now));
    wake();
  }
  const go = (frame) => { play(false); now = Math.max(0, Math.min(frames - 1, frame)); wake(); };
  const setSpeed = (value) => { speed = value; $("speed").value = String(value); };
  const nudge = (by) => setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(speed) + by))]);
  const setLoop = () => { loop = !loop; $("loop").setAttribute("aria-pressed", loop); };

  // Controls. ---------------------------------------------------------------------------------------------------------

  $("title").textContent = title; document.title = title; $("outcome").textContent = outcome;
  Object.assign($("scrub"), { min: scene.first, max: scene.last, value: scene.first });
  for (const s of SPEEDS)
    $("speed").append(new Option(`${s}× (${s * TICKS_A_SECOND} ticks a second)`, s, s === 1, s === 1));
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
    first: () => go(0), last: () => go(frames - 1), play: () => play(!playing), loop: setLoop,
    back: () => go(Math.ceil(now - 1e-6) - 1), step: () => go(Math.floor(now + 1e-6) + 1),
    out: () => factory.zoom(1 / 1.3), in: () => factory.zoom(1.3),
    fit: () => factory.show("fit"), whole: () => factory.show("whole"),
    theme: () => setTheme(root.dataset.theme !== "dark", true),
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  $("scrub").addEventListener("input", () => go(Number($("scrub").value) - scene.first));
  $("speed").addEventListener("change", () => setSpeed(Number($("speed").value)));

  for (const item of used) {
    const button = document.createElement("button");
    button.setAttribute("aria-pressed", "false");
    const { shape, colour } = scene.items[item]; // one of the kit's forms and #rrggbb: a scene is checked
    const look = `fill="${colour}" stroke="var(--outline)" stroke-width=".28" paint-order="stroke"`;
    button.innerHTML = `<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true"><path d="${glyphs[shape]}" ${look}/></svg>`;
    button.append(scene.items[item].name);
    button.addEventListener("click", () => {
      followed = followed === item ? null : item;
      for (const other of $("legend").children)
        other.setAttribute("aria-pressed", String(other === button && followed === item));
      wake();
    });
    $("legend").append(button);
  }

  const KEYS = {
    " ": "play", k: "play", ArrowLeft: "back", ArrowRight: "step", Home: "first", End: "last", l: "loop",
    "+": "in", "=": "in", "-": "out", 0: "fit", 9: "whole", t: "theme",
  };
  addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const on = event.target, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.shiftKey && key.startsWith("Arrow") && on === stage) look(key.slice(5));
    else if (key === "Escape") { pinned = hovered = null; wake(); }
    else if (event.ctrlKey && key === "ArrowLeft") go(Math.round(now) - 10);
    else if (event.ctrlKey && key === "ArrowRight") go(Math.round(now) + 10);
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
    const { scale, ox, oy, wide, high } = factory.sight();
    const from = pinned || { x: (wide / 2 - ox) / scale, y: (high / 2 - oy) / scale, w: 0, h: 0 };
    const fx = from.x + from.w / 2, fy = from.y + from.h / 2;
    let best = pinned, least = Infinity;
    for (const s of scene.shapes) {
      const rx = s.x + s.w / 2 - fx, ry = s.y + s.h / 2 - fy;
      const ahead = rx * dx + ry * dy, aside = Math.abs(rx * dy) + Math.abs(ry * dx);
      if (s !== pinned && ahead > 0.4 && ahead + 2 * aside < least) { least = ahead + 2 * aside; best = s; }
    }
    pinned = best;
    if (best) { // brought into sight
      const x = best.x * scale + ox, y = best.y * scale + oy;
      if (x < 0 || y < 0 || x > wide - scale || y > high - scale) factory.move(ox + wide / 2 - x, oy + high / 2 - y);
    }
    wake();
  }

  const under = (event) => {
    const box = stage.getBoundingClientRect();
    return factory.shapeAt(event.clientX - box.left, event.clientY - box.top);
  };
  let grip = null;
  stage.addEventListener("pointerdown", (event) => {
    const { ox, oy } = factory.sight();
    grip = { x: event.clientX, y: event.clientY, ox, oy, moved: false };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (grip) {
      const dx = event.clientX - grip.x, dy = event.clientY - grip.y;
      grip.moved ||= Math.hypot(dx, dy) > 4;
      if (grip.moved) { stage.classList.add("dragging"); factory.move(grip.ox + dx, grip.oy + dy); }
    } else {
      const found = under(event);
      if (found !== hovered) { hovered = found; wake(); }
    }
  });
  stage.addEventListener("pointerup", (event) => {
    if (grip && !grip.moved) {
      const found = under(event);
      pinned = found === pinned ? null : found;
      wake();
    }
    grip = null; stage.classList.remove("dragging");
  });
  stage.addEventListener("pointercancel", () => { grip = null; stage.classList.remove("dragging"); });
  stage.addEventListener("pointerleave", () => { if (!grip) { hovered = null; wake(); } });
  stage.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the page goes on scrolling
    e.preventDefault();
    const box = stage.getBoundingClientRect();
    factory.zoom(Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });

  // Light or dark: the page around says, else the system; pressing the button settles it. -----------------------------

  let settled = false;
  function setTheme(dark, own = false) {
    if (settled && !own) return;
    settled ||= own;
    root.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(root);
    const names = ["outline", "arm", "done", "text", "fault", "accent"];
    factory.setInks(Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])));
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(system.matches);
  let around = false;
  system.addEventListener("change", () => { if (!around) setTheme(system.matches); });
  addEventListener("message", (event) => {
    const said = event.data && event.data.evalkitPlayer;
    if (event.source === parent && said) { around = true; setTheme(Boolean(said.dark)); }
  });
  if (parent !== window) parent.postMessage({ evalkitPlayer: "ready" }, "*");
})();
