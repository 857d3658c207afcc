// Tables of rows: sorted by a click, filtered by a word, a row opened for the whole of its text.
import { make } from "./charts.js";

export const pill = (text, kind = "") => make("span", { class: `pill ${kind}` }, text);

export function shareBar(share, text) {
  const filled = make("i");
  filled.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return [make("span", { class: "share", "aria-hidden": "true" }, filled), make("span", { class: "beside" }, text)];
}

export function pairs(list) {
  return make("dl", { class: "pair" }, ...list.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

export class RowTable {
  // A column has a title, a value to sort by, and how it is shown; `whole` gives what a row opens to.
  constructor({ title, columns, key, whole = null, sort = null, note = "", none = "Nothing here." }) {
    Object.assign(this, { columns, key, whole, none });
    this.sorted = sort ?? { index: -1, down: true };
    this.opened = new Set();
    this.filter = "";
    this.side = make("div", { class: "side" }, note);
    this.head = make("tr");
    this.body = make("tbody");
    this.empty = make("p", { class: "empty", hidden: true });
    this.element = make("section", { class: "card" }, make("header", {}, make("h2", {}, title), this.side),
      this.scroll = make("div", { class: "scroll" }, make("table", {}, make("thead", {}, this.head), this.body)), this.empty);
  }

  update(rows) {
    this.rows = rows;
    this.render();
  }

  setFilter(text) {
    this.filter = text.toLowerCase();
    if (this.rows) this.render();
  }

  ordered() {
    const { index, down } = this.sorted;
    let rows = this.rows;
    if (this.filter) rows = rows.filter(row => Object.values(row).some(value => String(value ?? "").toLowerCase().includes(this.filter)));
    if (index < 0) return rows;
    const value = this.columns[index].value, sign = down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const left = value(a), right = value(b);
      if (left === null || right === null) return (left === null) - (right === null);
      return sign * (typeof left === "number" ? left - right : String(left).localeCompare(String(right)));
    });
  }

  render() {
    // A text that somebody is selecting stays.
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && this.body.contains(selection.anchorNode)) return;
    const focused = document.activeElement?.dataset?.place;
    this.head.replaceChildren(...this.columns.map((column, index) => this.heading(column, index)));
    const rows = this.ordered();
    this.body.replaceChildren(...rows.flatMap(row => this.lines(row)));
    this.empty.hidden = rows.length > 0;
    this.scroll.hidden = rows.length === 0;
    this.empty.textContent = this.filter && this.rows.length ? "No row has this word." : this.none;
    if (focused) this.element.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  heading(column, index) {
    const isSorted = this.sorted.index === index;
    const cell = make("th", { scope: "col", class: column.right ? "n" : "",
      "aria-sort": isSorted ? (this.sorted.down ? "descending" : "ascending") : null });
    if (!column.value) cell.append(column.title);
    else cell.append(make("button", { type: "button", "data-place": `${column.title} heading`, onclick: () => {
      this.sorted = { index, down: isSorted ? !this.sorted.down : Boolean(column.right) };
      this.render();
    } }, column.title));
    return cell;
  }

  lines(row) {
    const key = this.key(row), isOpen = this.opened.has(key);
    const cells = this.columns.map(column => {
      const shown = column.show(row);
      return make("td", { class: [column.right ? "n" : "", column.text ? "text mono" : ""].join(" ").trim() },
        ...(Array.isArray(shown) ? shown : [shown ?? ""]));
    });
    if (!this.whole) return [make("tr", {}, ...cells)];
    const turn = () => {
      if (!this.opened.delete(key)) this.opened.add(key);
      this.render();
    };
    const line = make("tr", { class: "opens", tabindex: "0", "aria-expanded": String(isOpen), "data-place": `row ${key}`,
      onclick: event => { if (!event.target.closest("button")) turn(); },
      onkeydown: event => { if (event.target === event.currentTarget && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); turn(); } } }, ...cells);
    if (!isOpen) return [line];
    return [line, make("tr", { class: "whole" }, make("td", { colspan: this.columns.length }, this.whole(row)))];
  }
}
