// Elements and curves, without anything from elsewhere.

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const space = "http" + "://www.w3.org/2000/svg";  // a name, not an address
function draw(name, attributes = {}, text = "") {
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

const clock = ms => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

// Round values up to which an axis goes.
function ceiling(value) {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find(step => step * unit >= value * 1.0001) * unit;
}

// Curves over time, with a legend that says what is under the pointer, or what is now.
export class LineChart {
  constructor({ title, series, format, logarithmic = false, side = null }) {
    Object.assign(this, { series, format, logarithmic, title });
    this.svg = draw("svg", { role: "img" });
    this.legend = make("div", { class: "legend" });
    this.element = make("section", { class: "card" },
      make("header", {}, make("h2", {}, title), make("div", { class: "side" }, side)),
      this.legend, make("div", { class: "chart" }, this.svg));
    this.svg.addEventListener("pointermove", event => {
      this.pointer = event.clientX - this.svg.getBoundingClientRect().left;
      this.render();
    });
    this.svg.addEventListener("pointerleave", () => { this.pointer = null; this.render(); });
  }

  // `points` have a time and a value for each series, or null.
  update(points, seconds) {
    Object.assign(this, { points, seconds });
    this.render();
  }

  render() {
    const { points, seconds, series } = this;
    const width = this.svg.clientWidth || 400, height = 168, left = 46, bottom = 20, top = 8;
    if (!points) return;
    const end = points.length ? points[points.length - 1].at : Date.now();
    // As long as there is less than the time chosen, it takes the whole width.
    const begin = Math.max(end - seconds * 1000, Math.min(points.length ? points[0].at : end, end - 60_000));
    const shown = thin(points.filter(point => point.at >= begin), Math.max(60, Math.floor(width / 3)));
    const values = shown.flatMap(point => point.values).filter(value => value !== null && isFinite(value));
    const x = at => left + (at - begin) / (end - begin) * (width - left - 4);
    let y, ticks;
    if (this.logarithmic) {
      const low = Math.floor(Math.log10(Math.max(1, Math.min(...values, 1e9))));
      const high = Math.max(low + 2, Math.ceil(Math.log10(Math.max(...values, 10))));
      ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
      y = value => height - bottom - (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) * (height - bottom - top);
    } else {
      const most = ceiling(Math.max(...values, this.least ?? 0));
      ticks = [0, most / 2, most];
      y = value => height - bottom - value / most * (height - bottom - top);
    }
    const parts = ticks.flatMap(tick => [
      draw("line", { class: "grid", x1: left, x2: width, y1: y(tick), y2: y(tick) }),
      draw("text", { class: "tick", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, this.format(tick).replace(/\.0+(?= |$)/, ""))]);
    for (let i = 0; i <= 3; ++i) {
      const at = begin + (end - begin) * i / 3;
      parts.push(draw("text", { class: "tick", x: x(at), y: height - 4, "text-anchor": i === 0 ? "start" : i === 3 ? "end" : "middle" },
        clock(at).slice(0, end - begin > 900_000 ? 5 : 8)));
    }
    series.forEach((_, index) => {
      const line = path(shown, index, x, y);
      if (index === 0 && !this.logarithmic && line) {
        const first = shown.find(point => point.values[0] !== null), last = shown[shown.length - 1];
        parts.push(draw("path", { class: "area", d: `${line}L${x(last.at)} ${y(0)}L${x(first.at)} ${y(0)}Z` }));
      }
    });
    for (let index = series.length - 1; index >= 0; --index) {
      parts.push(draw("path", { class: `s${index}`, d: path(shown, index, x, y) }));
    }
    let said = shown[shown.length - 1];
    if (this.pointer && shown.length) {
      said = shown.reduce((best, point) => Math.abs(x(point.at) - this.pointer) < Math.abs(x(best.at) - this.pointer) ? point : best);
      parts.push(draw("line", { class: "cursor", x1: x(said.at), x2: x(said.at), y1: top, y2: height - bottom }));
    }
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...parts);
    this.legend.replaceChildren(...series.map((name, index) => make("span", {}, make("i", { class: `k${index}` }), `${name} `,
      make("b", {}, said ? this.format(said.values[index]) : "–"))),
      ...(this.pointer && said ? [make("span", { class: "when" }, clock(said.at))] : []));
    this.svg.setAttribute("aria-label", `${this.title}: ` + series.map((name, index) =>
      `${name} ${said ? this.format(said.values[index]) : "unknown"}`).join(", "));
  }
}

function path(points, index, x, y) {
  let text = "", isDown = false;
  for (const point of points) {
    const value = point.values[index];
    if (value === null || !isFinite(value)) { isDown = false; continue; }
    text += `${isDown ? "L" : "M"}${x(point.at).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  }
  return text;
}

// At most `most` points, each the mean of its neighbours.
function thin(points, most) {
  const each = Math.ceil(points.length / most);
  if (each <= 1) return points;
  const thinned = [];
  for (let at = 0; at < points.length; at += each) {
    const group = points.slice(at, at + each);
    thinned.push({ at: group[group.length - 1].at, values: group[0].values.map((_, i) => {
      const known = group.map(point => point.values[i]).filter(value => value !== null);
      return known.length ? known.reduce((a, b) => a + b) / known.length : null;
    }) });
  }
  return thinned;
}
