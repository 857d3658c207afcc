// The pool at a glance: a square for each of some evenly chosen frames, by state or by table.
import { make } from "./charts.js";
import { percent, short, bytes, sum } from "./numbers.js";

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const palette = ["--p1", "--p2", "--p3", "--p4", "--p5", "--p6"];
const pageBytes = 8192;

export class PoolMap {
  constructor() {
    this.canvas = make("canvas", { role: "img", "aria-label": "Frames of the buffer pool" });
    this.keys = make("div", { class: "keylist" });
    this.stack = make("div", { class: "stack", role: "img" });
    this.by = make("select", { "aria-label": "Colours", onchange: () => this.render() },
      make("option", { value: "state" }, "by state"), make("option", { value: "table" }, "by table"));
    this.note = make("span");
    this.element = make("section", { class: "card pool" },
      make("header", {}, make("h2", {}, "Buffer pool"), make("div", { class: "side" }, this.note, this.by)),
      this.stack, this.canvas, this.keys);
  }

  // `names` are of trees, by their numbers; empty where nobody has logged in.
  update(now, names) {
    Object.assign(this, { now, names });
    this.by.disabled = !names || names.size === 0;
    this.by.title = this.by.disabled ? "Tables have names once you have logged in." : "";
    if (this.by.disabled) this.by.value = "state";
    this.render();
  }

  render() {
    if (!this.now) return;
    const { now } = this, byTable = this.by.value === "table";
    const cells = byTable ? this.tables() : this.states();
    this.paint(cells.colours);
    this.keys.replaceChildren(...cells.keys.map(([name, paint, share, pages]) => make("span", {},
      this.swatch(paint), `${name} `, make("b", {}, percent(share)), pages ? ` · ${bytes(pages * pageBytes)}` : "")));
    this.stack.replaceChildren(...cells.keys.filter(key => key[1] !== "--free").map(([, paint, share]) => {
      const piece = make("span");
      piece.style.width = `${100 * share}%`;
      piece.style.background = colour(paint);
      return piece;
    }));
    const each = now.frames / now.map.length;
    this.note.textContent = `${bytes(now.frames * pageBytes)}` + (each > 1.5 ? `, a square is one of ${Math.round(each)} frames` : "");
    this.canvas.setAttribute("aria-label", "Buffer pool: " + cells.keys.map(key => `${key[0]} ${percent(key[2])}`).join(", "));
  }

  swatch(paint) {
    const mark = make("i");
    mark.style.background = colour(paint);
    return mark;
  }

  states() {
    const { now } = this, letters = [...now.map];
    const dirty = letters.filter(cell => cell === "S" || cell === "U").length / Math.max(1, letters.length);
    const all = Math.max(1, now.frames), share = now.swizzled / all;
    const paints = { ".": "--free", s: "--p1", u: "--p7", S: "--p3", U: "--p3" };
    return { colours: letters.map(cell => paints[cell]), keys: [
      ["swizzled, clean", "--p1", Math.max(0, share - dirty), Math.max(0, now.swizzled - dirty * all)],
      ["dirty", "--p3", dirty, dirty * all], ["unswizzled", "--p7", now.unswizzled / all, now.unswizzled],
      ["free", "--free", now.free / all, now.free]] };
  }

  tables() {
    const { now, names } = this, counts = new Map();
    const name = tree => names.get(tree) ?? (tree === 0 ? "the catalog's own" : "other trees");
    now.trees.forEach((tree, i) => {
      if (now.map[i] !== ".") counts.set(name(tree), (counts.get(name(tree)) ?? 0) + 1);
    });
    const order = [...counts.entries()].sort((a, b) => b[1] - a[1]), top = order.slice(0, palette.length);
    const paints = new Map(top.map(([table], i) => [table, palette[i]]));
    const each = now.frames / now.map.length, rest = sum(order.slice(palette.length).map(entry => entry[1]));
    const keys = top.map(([table, count]) => [table, paints.get(table), count / now.map.length, count * each]);
    if (rest) keys.push([`${order.length - top.length} more`, "--p7", rest / now.map.length, rest * each]);
    keys.push(["free", "--free", now.free / now.frames, now.free]);
    return { colours: now.trees.map((tree, i) => now.map[i] === "." ? "--free" : paints.get(name(tree)) ?? "--p7"), keys };
  }

  paint(colours) {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth || 400, height = this.canvas.clientHeight || 240;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const drawing = this.canvas.getContext("2d"), known = new Map();
    drawing.scale(ratio, ratio);
    const columns = Math.max(1, Math.ceil(Math.sqrt(colours.length * width / height)));
    const rows = Math.ceil(colours.length / columns), w = width / columns, h = height / rows;
    colours.forEach((name, i) => {
      if (!known.has(name)) known.set(name, colour(name));
      drawing.fillStyle = known.get(name);
      drawing.fillRect((i % columns) * w, Math.floor(i / columns) * h, Math.max(w - 1.5, 1), Math.max(h - 1.5, 1));
    });
  }
}

export function poolFigures(now, last) {
  return [["frames in use", `${short(now.frames - now.free)} of ${short(now.frames)}`],
    ["swizzled share of resident pages", percent(now.swizzled / Math.max(1, now.swizzled + now.unswizzled))],
    ["leaves found in memory", last && last.hits !== null ? percent(last.hits) : "–"],
    ["pages read per second", last ? short(last.pagesRead) : "–"], ["written per second", last ? short(last.pagesWritten) : "–"],
    ["evicted per second", last ? short(last.evictions) : "–"], ["data file in use", bytes(now.pages_allocated * pageBytes)],
    ["old row versions", bytes(now.version_bytes)], ["undo in files", bytes(now.undo_spilled)],
    ["statements' memory", `${bytes(now.memory_used)} of ${bytes(now.memory_limit)}`]];
}
