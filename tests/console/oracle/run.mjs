// Why: plays carts in the original runtime, unmodified and without a browser, and writes what a game can see of it.
//
//   node run.mjs FOLDER JOBS.json      (FOLDER holds node_modules; `npm ci` put it there)
//
// JOBS: [{"cart", "pads", "out", "keep"}]. For each cart `out` becomes one SHA-256 of the 64 KiB page for the boot and
// for every tick, then the page itself at the ticks listed in `keep`. Prints [{"ticks", "trapped"}], where `trapped` is
// the tick whose update threw, or null. The runtime's own stand-ins here: a canvas that draws nothing, no sound.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const folder = path.resolve(process.argv[2]);
const {JSDOM, VirtualConsole} = createRequire(path.join(folder, 'x.js'))('jsdom');
const script = fs.readFileSync(path.join(folder, 'node_modules/wasm4/assets/runtime/slim/wasm4.js'), 'utf8');

function page(cart, seen) {
    const dom = new JSDOM('<!doctype html><body><wasm4-app></wasm4-app></body>', {
        url: 'http://127.0.0.1/', runScripts: 'outside-only', virtualConsole: new VirtualConsole(),
    });
    const w = dom.window;
    const gl = new Proxy({}, {get: (_, key) => {
        if (key === 'canvas') return {addEventListener() {}};
        return typeof key === 'string' && key === key.toUpperCase() ? 1 : () => ({});
    }});
    w.HTMLCanvasElement.prototype.getContext = () => gl;
    w.requestAnimationFrame = () => seen.frames++;
    for (const name of ['ArrayBuffer', 'Uint8Array', 'Uint16Array', 'Uint32Array', 'DataView', 'TextEncoder', 'TextDecoder']) {
        w[name] = globalThis[name];
    }
    const noted = (f) => (...args) => {
        try { return f(...args); } catch (error) { seen.trapped = true; throw error; }
    };
    w.WebAssembly = {
        Memory: WebAssembly.Memory, Module: WebAssembly.Module, Instance: WebAssembly.Instance,
        RuntimeError: WebAssembly.RuntimeError, compile: WebAssembly.compile,
        instantiate: async (...args) => {
            const made = await WebAssembly.instantiate(...args);
            const exports = {...(made.instance ?? made).exports};
            if (exports.update) exports.update = noted(exports.update);
            return made.instance ? {module: made.module, instance: {exports}} : {exports};
        },
    };
    w.AudioContext = class {
        constructor() { this.audioWorklet = {addModule: async () => {}}; this.destination = {}; }
        resume() {}
        suspend() {}
    };
    w.AudioWorkletNode = class {
        constructor() { this.port = {postMessage() {}}; }
        connect() {}
    };
    w.URL.createObjectURL = () => 'x';
    w.fetch = async () => ({ok: true, arrayBuffer: async () => cart.buffer.slice(cart.byteOffset, cart.byteOffset + cart.length)});
    w.eval(script);
    return w;
}

// The runtime shows a game's error and throws it again later, to whoever runs it.
let expected = false;
process.on('uncaughtException', (error) => {
    if (expected) return;
    console.error(error);
    process.exit(1);
});

const answers = [];
for (const job of JSON.parse(fs.readFileSync(process.argv[3], 'utf8'))) {
    const pads = fs.readFileSync(job.pads);
    const seen = {frames: 0, trapped: false};
    const w = page(fs.readFileSync(job.cart), seen);
    for (let i = 0; i < 500 && !seen.frames; i++) await new Promise((done) => setTimeout(done, 10));
    if (!seen.frames) throw new Error(`${job.cart} did not boot`);
    const runtime = w.document.querySelector('wasm4-app').runtime;
    const memory = new Uint8Array(runtime.memory.buffer);
    const digest = () => crypto.createHash('sha256').update(memory).digest();
    const out = [digest()];
    const kept = [];
    let trapped = null;
    for (let tick = 0; tick < pads.length && trapped === null; tick++) {
        runtime.setGamepad(0, pads[tick]);
        try {
            runtime.update();
        } catch (error) {
            if (!seen.trapped) throw error;
        }
        expected ||= seen.trapped;
        out.push(digest());
        if (job.keep?.includes(tick)) kept.push(Buffer.from(memory));
        if (seen.trapped) trapped = tick;
    }
    fs.writeFileSync(job.out, Buffer.concat([...out, ...kept]));
    answers.push({ticks: out.length - 1, trapped});
    w.close();
}
process.stdout.write(JSON.stringify(answers));
process.exit(0);
