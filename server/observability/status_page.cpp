#include "server/observability/metrics_endpoint.h"

namespace swizzle::server {
namespace {

constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Swizzle</title>
<meta name="viewport" content="width=device-width">
<style>
  :root { --ink: #1d2733; --soft: #66727f; --paper: #f6f7f9; --card: #fff; --line: #dfe4ea;
          --swizzled: #1f77b4; --unswizzled: #f0a202; --dirty: #c0392b; --free: #e6eaef; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e8edf2; --soft: #93a0ad; --paper: #12171c; --card: #1b2229; --line: #2b343d;
            --free: #28313a; } }
  body { margin: 0; padding: 1.2rem; background: var(--paper); color: var(--ink);
         font: 14px/1.4 system-ui, sans-serif; }
  h1 { font-size: 1.3rem; margin: 0 0 .2rem; } h2 { font-size: .95rem; margin: 0 0 .4rem; }
  p { margin: .2rem 0; color: var(--soft); }
  main { display: grid; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); gap: 1rem;
         margin-top: 1rem; }
  section { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
            padding: .9rem; }
  .wide { grid-column: 1 / -1; }
  canvas { width: 100%; height: 90px; display: block; }
  #map { height: 170px; }
  dl { display: grid; grid-template-columns: 1fr auto; margin: .5rem 0 0; gap: .1rem .8rem; }
  dt { color: var(--soft); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
  .key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .9em; }
</style>
</head>
<body>
<h1>Swizzle</h1>
<p id="state">Waiting for the first figures.</p>
<main>
  <section class="wide">
    <h2>Buffer pool</h2>
    <canvas id="map" height="170"></canvas>
    <p><span class="key" style="background:var(--swizzled)"></span>swizzled
       <span class="key" style="background:var(--unswizzled)"></span>unswizzled
       <span class="key" style="background:var(--dirty)"></span>dirty
       <span class="key" style="background:var(--free)"></span>free
       <span id="each"></span></p>
    <dl id="pool"></dl>
  </section>
  <section><h2>Throughput</h2><canvas id="throughput" height="90"></canvas><dl id="work"></dl></section>
  <section><h2>Waits</h2><canvas id="waiting" height="90"></canvas><dl id="waits"></dl></section>
  <section><h2>Log</h2><canvas id="logging" height="90"></canvas><dl id="log"></dl></section>
</main>
<script>
"use strict";
const kept = 120, history = { throughput: [], waiting: [], logging: [] };
let before = null;
const by = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = n => n >= 1e9 ? (n / 1e9).toFixed(2) + " G" : n >= 1e6 ? (n / 1e6).toFixed(2) + " M"
  : n >= 1e4 ? (n / 1e3).toFixed(1) + " k" : n >= 100 || n === 0 ? n.toFixed(0) : n.toFixed(2);
const bytes = n => n >= 1 << 30 ? (n / (1 << 30)).toFixed(2) + " GiB" : n >= 1 << 20
  ? (n / (1 << 20)).toFixed(1) + " MiB" : (n / 1024).toFixed(1) + " KiB";

function list(id, rows) {
  by(id).replaceChildren(...rows.flatMap(([name, value]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name; dd.textContent = value;
    return [dt, dd];
  }));
}

function surface(id) {
  const canvas = by(id), ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = Number(canvas.getAttribute("height"));
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const drawing = canvas.getContext("2d");
  drawing.scale(ratio, ratio);
  return [drawing, width, height];
}

function drawMap(map) {
  const [drawing, width, height] = surface("map");
  const columns = Math.max(1, Math.ceil(Math.sqrt(map.length * width / height)));
  const rows = Math.ceil(map.length / columns), w = width / columns, h = height / rows;
  const colours = { ".": colour("--free"), s: colour("--swizzled"), u: colour("--unswizzled"),
                    S: colour("--swizzled"), U: colour("--unswizzled") }, dirty = colour("--dirty");
  for (let i = 0; i < map.length; ++i) {
    const x = (i % columns) * w, y = Math.floor(i / columns) * h, cell = map[i];
    drawing.fillStyle = colours[cell];
    drawing.fillRect(x, y, Math.max(w - 1, 1), Math.max(h - 1, 1));
    if (cell === "S" || cell === "U") {
      drawing.fillStyle = dirty;
      drawing.fillRect(x, y, Math.max(w - 1, 1), Math.max((h - 1) / 2, 1));
    }
  }
}

function drawLine(id, value) {
  const values = history[id];
  values.push(value);
  if (values.length > kept) values.shift();
  const [drawing, width, height] = surface(id);
  const top = Math.max(...values, 1e-9);
  drawing.strokeStyle = colour("--swizzled");
  drawing.lineWidth = 2;
  drawing.beginPath();
  values.forEach((v, i) => {
    const x = width - (values.length - 1 - i) * width / (kept - 1);
    drawing.lineTo(x, height - 3 - v / top * (height - 18));
  });
  drawing.stroke();
  drawing.fillStyle = colour("--soft");
  drawing.font = "11px system-ui";
  drawing.fillText(short(top), 2, 11);
}

function show(now) {
  const seconds = before ? Math.max((now.now_us - before.now_us) / 1e6, 1e-3) : 1;
  const change = name => before ? Math.max(0, now[name] - before[name]) : 0;
  const rate = name => change(name) / seconds;
  const per = (what, of) => change(of) ? change(what) / change(of) : 0;
  by("state").textContent = `Up ${Math.floor((now.now_us - now.started_us) / 1e6)} s. `
    + `${now.connections} connections, ${now.active} active, `
    + `${now.idle_in_transaction} idle in a transaction.`;
  drawMap(now.map);
  by("each").textContent = now.frames > now.map.length
    ? ` Each square is one of ${Math.round(now.frames / now.map.length)} frames.` : "";
  const resident = Math.max(1, now.swizzled + now.unswizzled);
  const misses = Math.max(0, change("pages_read") - change("pages_read_ahead"));
  const hits = change("leaf_requests") ? 100 * (1 - Math.min(1, misses / change("leaf_requests"))) : 100;
  list("pool", [
    ["frames in use", `${short(now.frames - now.free)} of ${short(now.frames)}`],
    ["swizzled share of resident pages", (100 * now.swizzled / resident).toFixed(1) + " %"],
    ["leaves found in memory", hits.toFixed(2) + " %"],
    ["pages read, written, evicted per second",
     `${short(rate("pages_read"))}, ${short(rate("pages_written"))}, ${short(rate("evictions"))}`]]);
  drawLine("throughput", rate("statements"));
  list("work", [["statements per second", short(rate("statements"))],
    ["commits per second", short(rate("commits"))],
    ["rollbacks per second", short(rate("rollbacks"))],
    ["mean statement", short(per("statement_ns", "statements") / 1000) + " µs"],
    ["errors per second", short(rate("errors"))]]);
  drawLine("waiting", rate("lock_waits"));
  list("waits", [["lock waits per second", short(rate("lock_waits"))],
    ["deadlocks", short(now.deadlocks)], ["old row versions", bytes(now.version_bytes)],
    ["statements running", String(now.active)]]);
  drawLine("logging", rate("log_bytes"));
  list("log", [["written per second", bytes(rate("log_bytes"))],
    ["flushes per second", short(rate("log_flushes"))],
    ["commits per flush", short(per("log_waiters", "log_flushes"))],
    ["mean durable write", short(per("log_sync_ns", "log_syncs") / 1000) + " µs"],
    ["not durable yet", bytes(now.log_not_durable)], ["checkpoints", short(now.checkpoints)]]);
  before = now;
}

async function turn() {
  try {
    const answer = await fetch("status.json", { cache: "no-store" });
    show(await answer.json());
  } catch (error) {
    by("state").textContent = "The server does not answer.";
  }
  setTimeout(turn, 1000);
}
turn();
</script>
</body>
</html>
)html";

}  // namespace

std::string_view status_page() noexcept {
  return kPage;
}

}  // namespace swizzle::server
