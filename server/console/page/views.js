// The views. Each has elements, the path it asks for, and how it shows an answer.
import { LineChart, make } from "./charts.js";
import { bytes, duration, micros, number, percent, rows, short } from "./numbers.js";
import { PoolMap, poolFigures } from "./pool.js";
import { RowTable, pairs, pill, shareBar } from "./tables.js";

const flat = text => (text ?? "").replace(/\s+/g, " ").trim();
const whole = text => make("pre", { class: "mono" }, text ?? "");
const stateKind = state => state === "active" ? "busy" : state?.startsWith("idle in") ? "warn" : "";
const points = (history, values) => history.map(one => ({ at: one.at, values: values(one) }));

function filterBox(tables) {
  const box = make("input", { type: "search", placeholder: "Filter  /", "aria-label": "Filter rows", size: "14",
    oninput: () => tables.forEach(table => table.setFilter(box.value)) });
  return box;
}

export class Overview {
  title = "Overview";
  every = 2000;
  path = "/api/sessions";

  constructor(page) {
    this.figures = make("dl", { class: "figures" });
    this.kind = make("select", { "aria-label": "Statements", onchange: () => this.tick(page.history, page.now, page.seconds) },
      make("option", { value: "all" }, "all statements"));
    this.throughput = new LineChart({ title: "Throughput per second", series: ["statements", "commits"], format: short });
    this.latency = new LineChart({ title: "Latency", series: ["p99", "p95", "p50"], format: micros, logarithmic: true, side: this.kind });
    this.work = new LineChart({ title: "Sessions", series: ["active", "idle in transaction"], format: short });
    this.waits = new LineChart({ title: "Trouble per second", series: ["lock waits", "errors"], format: short });
    this.log = new LineChart({ title: "Log written per second", series: ["bytes"], format: bytes });
    this.sync = new LineChart({ title: "Durable write", series: ["p99", "p50"], format: micros, logarithmic: true });
    this.work.least = 4;
    this.blocked = make("div");
    this.elements = [this.figures, this.blocked, make("div", { class: "cards" }, this.throughput.element, this.latency.element,
      this.work.element, this.waits.element, this.log.element, this.sync.element)];
  }

  tick(history, now, seconds) {
    const last = history[history.length - 1];
    if (!now) return;
    if (this.kind.length === 1) this.kind.append(...Object.keys(now.latency).map(kind => make("option", { value: kind }, kind)));
    const kind = this.kind.value, latency = last ? last.latency[kind] : [null, null, null];
    const figure = (name, value, unit, isBad = false) => make("div", { class: `figure ${isBad ? "bad" : ""}` },
      make("dt", {}, name), make("dd", {}, value, unit ? make("small", {}, ` ${unit}`) : null));
    const split = text => text.split(" ");
    this.figures.replaceChildren(
      figure("statements", last ? short(last.statements) : "–", "/s"), figure("commits", last ? short(last.commits) : "–", "/s"),
      figure("p50", ...split(micros(latency[0]))), figure("p99", ...split(micros(latency[2]))),
      figure("active sessions", String(now.active), `of ${short(now.connections)}`),
      figure("lock waits", last ? short(last.lockWaits) : "–", "/s"),
      figure("errors", last ? short(last.errors) : "–", "/s", last && last.errors > 0),
      figure("leaves in memory", ...split(last && last.hits !== null ? percent(last.hits) : "–")));
    this.throughput.update(points(history, one => [one.statements, one.commits]), seconds);
    this.latency.update(points(history, one => [...one.latency[kind]].reverse()), seconds);
    this.work.update(points(history, one => [one.active, one.idleInTransaction]), seconds);
    this.waits.update(points(history, one => [one.lockWaits, one.errors]), seconds);
    this.log.update(points(history, one => [one.logBytes]), seconds);
    this.sync.update(points(history, one => [one.sync99, one.sync50]), seconds);
  }

  show(answer) {
    const blocked = rows(answer.sessions).filter(row => row.blocked_by);
    this.blocked.replaceChildren(...(blocked.length === 0 ? [] : [make("p", { class: "notice" },
      make("b", {}, `${blocked.length === 1 ? "One session waits" : blocked.length + " sessions wait"} for a lock.`),
      ` The longest has waited for ${duration(Math.max(...blocked.map(row => number(row.query_seconds))))}. `, make("a", { href: "#sessions" }, "Who blocks whom"))]));
  }
}

export class Statements {
  title = "Statements";
  every = 3000;
  path = "/api/statements";
  needsLogin = true;

  constructor() {
    this.all = { calls: 0, total_ms: 1 };
    const share = row => number(row.total_ms) / Math.max(1e-9, this.all.total_ms);
    this.table = new RowTable({ title: "Top statements since the start", key: row => `${row.database} ${row.query}`,
      sort: { index: 0, down: true }, none: "No statement has run yet.", whole: row => whole(row.query), columns: [
        { title: "Share of time", right: true, value: share, show: row => shareBar(share(row), percent(share(row))) },
        { title: "Calls", right: true, value: row => number(row.calls), show: row => short(number(row.calls)) },
        { title: "Mean", right: true, value: row => number(row.mean_ms), show: row => micros(1000 * number(row.mean_ms)) },
        { title: "Total", right: true, value: row => number(row.total_ms), show: row => duration(number(row.total_ms) / 1000) },
        { title: "Rows a call", right: true, value: row => number(row.rows) / Math.max(1, number(row.calls)),
          show: row => short(number(row.rows) / Math.max(1, number(row.calls))) },
        { title: "Database", value: row => row.database, show: row => make("span", { class: "soft" }, row.database ?? "") },
        { title: "Statement", text: true, value: row => row.query, show: row => flat(row.query) }] });
    this.summary = make("span");
    this.table.side.append(this.summary, filterBox([this.table]));
    this.elements = [this.table.element];
  }

  show(answer) {
    const [all] = rows(answer.all);
    if (all) this.all = { calls: number(all.calls), total_ms: number(all.total_ms), statements: number(all.statements) };
    this.summary.textContent = `${short(this.all.statements ?? 0)} statements, ${short(this.all.calls)} calls`;
    this.table.update(rows(answer.statements));
  }
}

export class Sessions {
  title = "Sessions";
  every = 2000;
  path = "/api/sessions";
  needsLogin = true;

  constructor(page) {
    this.page = page;
    this.tree = make("section", { class: "card" });
    const kind = row => stateKind(row.state);
    this.table = new RowTable({ title: "Sessions", key: row => row.pid, none: "Nobody else is here.", whole: row => whole(row.query), columns: [
      { title: "Pid", right: true, value: row => number(row.pid), show: row => row.pid },
      { title: "State", value: row => row.state, show: row => pill(row.state ?? "hidden", kind(row)) },
      { title: "Waits for", value: row => row.wait_event_type,
        show: row => row.wait_event_type === "Lock" ? pill(row.wait_event ?? "a lock", "bad") : row.state === "active" ? row.wait_event ?? "" : "" },
      { title: "Transaction", right: true, value: row => number(row.transaction_seconds), show: row => row.transaction_seconds ? duration(number(row.transaction_seconds)) : "" },
      { title: "Statement for", right: true, value: row => row.state === "active" ? number(row.query_seconds) : null,
        show: row => row.state === "active" ? duration(number(row.query_seconds)) : "" },
      { title: "User", value: row => row.user, show: row => [`${row.user ?? ""}`, make("span", { class: "soft" }, ` @ ${row.database ?? ""}`)] },
      { title: "Application", value: row => row.application, show: row => [row.application || "", make("span", { class: "soft" }, ` ${row.client ?? ""}`)] },
      { title: "Statement", text: true, value: row => row.query, show: row => flat(row.query) },
      { title: "", show: row => row.state === "active" && row.pid !== "0" ? this.cancelButton(row.pid) : "" }] });
    this.summary = make("span");
    this.table.side.append(this.summary, filterBox([this.table]));
    this.elements = [this.tree, this.table.element];
  }

  cancelButton(pid) {
    return make("button", { type: "button", class: "danger", "data-place": `cancel ${pid}`, title: `Cancel the statement of ${pid}`,
      onclick: () => this.page.cancel(pid) }, "Cancel");
  }

  show(answer) {
    const all = rows(answer.sessions), states = rows(answer.states);
    this.summary.textContent = states.map(row => `${row.count} ${row.state}`).join(", ");
    this.table.update(all);
    this.showTree(all);
  }

  // Sessions that wait stand below the one that they wait for; the roots hold up all below them.
  showTree(all) {
    const byPid = new Map(all.map(row => [row.pid, row])), below = new Map(), waits = new Set();
    const blockersOf = row => (row?.blocked_by ?? "").split(",").filter(Boolean);
    for (const row of all) {
      const blockers = blockersOf(row);
      if (blockers.length) waits.add(row.pid);
      // One behind another in a line stands below that one, and not below whom both wait for.
      const next = blockers.filter(pid => !blockers.some(other => other !== pid && blockersOf(byPid.get(other)).includes(pid)));
      for (const blocker of next.length ? next : blockers) below.set(blocker, [...(below.get(blocker) ?? []), row.pid]);
    }
    const drawn = new Set();
    const branch = pid => {
      const row = byPid.get(pid) ?? { pid, state: "not shown" }, again = drawn.has(pid);
      drawn.add(pid);
      const since = waits.has(pid) ? row.query_seconds : row.transaction_seconds;
      const line = make("div", {}, make("b", {}, pid), waits.has(pid) ? pill(`waits for ${row.wait_event ?? "a lock"}`, "bad") : pill(row.state ?? "", stateKind(row.state)),
        make("span", { class: "soft" }, `${row.user ?? ""}  ${since ? duration(number(since)) : ""}`), make("span", { class: "mono" }, flat(row.query)),
        row.state === "active" ? this.cancelButton(pid) : null);
      const children = again ? [] : below.get(pid) ?? [];
      return make("li", {}, line, children.length ? make("ul", {}, ...children.map(branch)) : null);
    };
    const roots = [...below.keys()].filter(pid => !waits.has(pid));
    // Sessions that wait for each other have no root; the deadlock detector ends that.
    const circle = [...below.keys()].filter(pid => waits.has(pid)).slice(0, roots.length ? 0 : 1);
    this.tree.replaceChildren(make("header", {}, make("h2", {}, "Who blocks whom")), waits.size === 0
      ? make("p", { class: "note" }, "Nobody waits for another's lock.") : make("ul", { class: "tree" }, ...[...roots, ...circle].map(branch)));
  }
}

export class Tables {
  title = "Tables";
  every = 10000;
  path = "/api/tables";
  needsLogin = true;

  constructor() {
    this.first = new Map();
    const id = row => `${row.schema}.${row.name}`, total = row => number(row.table_bytes) + number(row.index_bytes);
    const growth = row => total(row) - (this.first.get(id(row)) ?? total(row));
    const dead = row => number(row.dead) / Math.max(1, number(row.live) + number(row.dead));
    const writes = row => number(row.inserted) + number(row.updated) + number(row.deleted);
    const named = (schema, name) => [make("b", {}, name), make("span", { class: "soft" }, schema === "public" ? "" : ` ${schema}`)];
    this.tables = new RowTable({ title: "Tables", key: id, sort: { index: 1, down: true }, none: "There are no tables in this database.", columns: [
      { title: "Table", value: row => row.name, show: row => named(row.schema, row.name) },
      { title: "Size", right: true, value: total, show: row => shareBar(total(row) / this.largest, bytes(total(row))) },
      { title: "Of it indexes", right: true, value: row => number(row.index_bytes), show: row => bytes(number(row.index_bytes)) },
      { title: "Grown since opened", right: true, value: growth, show: row => growth(row) === 0 ? make("span", { class: "soft" }, "0") : (growth(row) > 0 ? "+" : "") + bytes(growth(row)) },
      { title: "Rows", right: true, value: row => number(row.live), show: row => short(number(row.live)) },
      { title: "Dead", right: true, value: dead, show: row => percent(dead(row)) },
      { title: "Whole scans", right: true, value: row => number(row.seq_scan), show: row => short(number(row.seq_scan)) },
      { title: "Index scans", right: true, value: row => number(row.index_scan), show: row => short(number(row.index_scan)) },
      { title: "Rows written", right: true, value: writes, show: row => short(writes(row)) },
      { title: "Analyzed", value: row => row.analyzed, show: row => make("span", { class: "soft" }, row.analyzed?.slice(0, 16) ?? "never") }] });
    this.indexes = new RowTable({ title: "Indexes", key: row => `${row.schema}.${row.name}`, sort: { index: 2, down: true }, none: "There are no indexes.", columns: [
      { title: "Index", value: row => row.name, show: row => named(row.schema, row.name) },
      { title: "Table", value: row => row.table, show: row => row.table },
      { title: "Size", right: true, value: row => number(row.bytes),
        show: row => row.is_primary === "t" ? make("span", { class: "soft" }, "the table itself") : bytes(number(row.bytes)) },
      { title: "Scans", right: true, value: row => number(row.scans), show: row => short(number(row.scans)) },
      { title: "Entries read", right: true, value: row => number(row.entries_read), show: row => short(number(row.entries_read)) },
      { title: "", value: row => row.is_unique, show: row => row.is_primary === "t" ? pill("primary key") : row.is_unique === "t" ? pill("unique") : number(row.scans) === 0 ? pill("never used", "warn") : "" }] });
    this.tables.side.append(filterBox([this.tables, this.indexes]));
    this.elements = [this.tables.element, this.indexes.element];
  }

  show(answer) {
    const all = rows(answer.tables);
    this.largest = Math.max(1, ...all.map(row => number(row.table_bytes) + number(row.index_bytes)));
    for (const row of all) {
      const id = `${row.schema}.${row.name}`;
      if (!this.first.has(id)) this.first.set(id, number(row.table_bytes) + number(row.index_bytes));
    }
    this.tables.update(all);
    this.indexes.update(rows(answer.indexes));
  }

  // Another database: growth counts from now on.
  forget() {
    this.first.clear();
  }
}

export class Pool {
  title = "Pool";
  every = 5000;
  path = "/api/trees";

  constructor() {
    this.map = new PoolMap();
    this.figures = make("section", { class: "card" });
    this.reads = new LineChart({ title: "Pages per second", series: ["read", "written", "evicted"], format: short });
    this.names = new Map();
    this.elements = [this.map.element, make("div", { class: "cards" }, this.figures, this.reads.element)];
  }

  tick(history, now, seconds) {
    if (!now) return;
    this.map.update(now, this.names);
    this.figures.replaceChildren(make("header", {}, make("h2", {}, "Memory")), pairs(poolFigures(now, history[history.length - 1])));
    this.reads.update(points(history, one => [one.pagesRead, one.pagesWritten, one.evictions]), seconds);
  }

  show(answer) {
    this.names = new Map(rows(answer.trees).map(row => [Number(row.tree), row.name]));
  }

  forget() {
    this.names = new Map();
  }
}

export class Storage {
  title = "Log";
  every = 3000;
  path = "/api/storage";

  constructor() {
    this.written = new LineChart({ title: "Log written per second", series: ["bytes"], format: bytes });
    this.group = new LineChart({ title: "Flushes", series: ["flushes per second", "commits a flush"], format: short });
    this.log = make("section", { class: "card" });
    this.archive = make("section", { class: "card" });
    const plain = (title, name, right = false) => ({ title, right, value: row => right ? number(row[name]) : row[name], show: row => row[name] ?? "" });
    this.slots = new RowTable({ title: "Replication slots", key: row => row.slot_name, none: "There are no slots.", columns: [
      plain("Slot", "slot_name"), plain("Plugin", "plugin"), plain("Database", "database"),
      { title: "", value: row => row.active, show: row => row.active === "t" ? pill("active", "busy") : pill("nobody reads", "warn") },
      { title: "Lag", right: true, value: row => number(row.lag_bytes), show: row => bytes(number(row.lag_bytes)) },
      { title: "Log kept", right: true, value: row => number(row.kept_bytes), show: row => bytes(number(row.kept_bytes)) }, plain("Log", "wal_status")] });
    this.senders = new RowTable({ title: "Readers of the log", key: row => row.pid, none: "Nobody reads the log.", columns: [
      plain("Pid", "pid", true), plain("User", "user"), plain("Application", "application"), plain("Client", "client"), plain("State", "state"),
      { title: "Lag", right: true, value: row => number(row.lag_bytes), show: row => bytes(number(row.lag_bytes)) }] });
    this.elements = [make("div", { class: "cards" }, this.written.element, this.group.element, this.log, this.archive)];
    this.withLogin = [this.slots.element, this.senders.element];
  }

  tick(history, now, seconds) {
    const last = history[history.length - 1];
    if (!now) return;
    this.written.update(points(history, one => [one.logBytes]), seconds);
    this.group.update(points(history, one => [one.flushes, one.group]), seconds);
    this.log.replaceChildren(make("header", {}, make("h2", {}, "Log and checkpoints")), pairs([
      ["written since the database was made", bytes(now.log_bytes)], ["not durable yet", bytes(now.log_not_durable)],
      ["durable write, p50 and p99", last ? `${micros(last.sync50)}, ${micros(last.sync99)}` : "–"],
      ["checkpoints, of them by time", `${short(now.checkpoints)}, ${short(now.checkpoints_by_time)}`],
      ["recovery at the start took", duration(now.recovery_us / 1e6)], ["prepared transactions", short(now.prepared)]]));
    if (!this.isArchiveShown) this.showArchive(now, null);
    this.now = now;
  }

  showArchive(now, archive) {
    this.archive.replaceChildren(make("header", {}, make("h2", {}, "Archive")), pairs([["segments that wait for it", short(now?.archive_backlog ?? 0)],
      ...(archive ? [["archived", archive.archived_count], ["last", archive.last_archived_wal ?? "none"], ["at", archive.last_archived_time?.slice(0, 19) ?? "–"],
        ["failed", make("span", { class: number(archive.failed_count) ? "badtext" : "" }, archive.failed_count)],
        ["last failed", archive.last_failed_time?.slice(0, 19) ?? "–"]] : [])]));
  }

  show(answer) {
    const [archive] = rows(answer.archive);
    this.isArchiveShown = Boolean(archive);
    this.showArchive(this.now, archive);
    this.slots.update(rows(answer.slots));
    this.senders.update(rows(answer.senders));
  }
}

export class Settings {
  title = "Settings";
  every = 10000;
  path = "/api/settings";
  needsLogin = true;

  constructor() {
    this.server = make("section", { class: "card" });
    const size = { "8kB": 8192, kB: 1024, MB: 2 ** 20, GB: 2 ** 30 };
    const written = (value, unit) => size[unit] && Number(value) > 0 ? [make("span", { class: "mono" }, bytes(Number(value) * size[unit]))] : [make("span", { class: "mono" }, value === "" ? "''" : value ?? ""), unit ? make("span", { class: "soft" }, ` ${unit}`) : ""];
    this.table = new RowTable({ title: "Settings that differ from the default", key: row => row.name, none: "All settings are the defaults.",
      whole: row => make("span", {}, row.short_desc), columns: [
        { title: "Setting", value: row => row.name, show: row => [make("b", {}, row.name), row.pending_restart === "t" ? pill("needs a restart", "warn") : ""] },
        { title: "Is", value: row => row.setting, show: row => written(row.setting, row.unit) },
        { title: "Default", value: row => row.boot_val, show: row => make("span", { class: "soft" }, ...written(row.boot_val, row.unit)) },
        { title: "From", value: row => row.source, show: row => row.source },
        { title: "Changes", value: row => row.context, show: row => ({ postmaster: "at the start", sighup: "at reload", internal: "never" })[row.context] ?? "in a session" }] });
    this.table.side.append(filterBox([this.table]));
    this.databases = new RowTable({ title: "Databases", key: row => row.name, columns: [
      { title: "Database", value: row => row.name, show: row => make("b", {}, row.name) },
      { title: "Sessions", right: true, value: row => number(row.sessions), show: row => row.sessions },
      { title: "Commits", right: true, value: row => number(row.commits), show: row => short(number(row.commits)) },
      { title: "Rollbacks", right: true, value: row => number(row.rollbacks), show: row => short(number(row.rollbacks)) }] });
    this.elements = [this.table.element, make("div", { class: "cards" }, this.databases.element, this.server)];
  }

  show(answer) {
    this.table.update(rows(answer.settings));
    this.databases.update(rows(answer.databases));
    const [server] = rows(answer.server);
    if (server) this.server.replaceChildren(make("header", {}, make("h2", {}, "Server")), make("p", {}, server.version),
      make("p", { class: "note" }, `Started ${server.started.slice(0, 19)} UTC. You are ${server.user}.`));
  }
}

export class Errors {
  title = "Errors";
  every = 3000;
  path = "/api/errors";
  needsLogin = true;

  constructor() {
    const clock = row => new Date(row.at_us / 1000).toLocaleTimeString([], { hour12: false });
    this.chart = new LineChart({ title: "Errors per second", series: ["errors"], format: short });
    this.table = new RowTable({ title: "Warnings and errors of the last hour", key: row => `${row.at_us} ${row.pid}`, none: "None. The log has had no warning and no error for an hour.",
      whole: row => make("div", {}, whole(row.message), row.detail ? make("p", { class: "note" }, row.detail) : null, row.statement ? whole("\n" + row.statement) : null), columns: [
        { title: "Time", value: row => row.at_us, show: clock },
        { title: "Severity", value: row => row.severity, show: row => pill(row.severity.toLowerCase(), row.severity === "WARNING" ? "warn" : "bad") },
        { title: "SQLSTATE", value: row => row.sqlstate, show: row => make("span", { class: "mono" }, row.sqlstate) },
        { title: "User", value: row => row.user, show: row => row.user ? [row.user, make("span", { class: "soft" }, ` @ ${row.database}`)] : make("span", { class: "soft" }, "the server") },
        { title: "Message", text: true, value: row => row.message, show: row => flat(row.message) },
        { title: "Statement", text: true, value: row => row.statement, show: row => make("span", { class: "soft" }, flat(row.statement)) }] });
    this.summary = make("span");
    this.table.side.append(this.summary, filterBox([this.table]));
    this.elements = [this.chart.element, this.table.element];
  }

  tick(history, now, seconds) {
    this.chart.update(points(history, one => [one.errors]), seconds);
  }

  show(answer) {
    const counts = new Map();
    for (const row of answer.errors) counts.set(row.sqlstate || "none", (counts.get(row.sqlstate || "none") ?? 0) + 1);
    this.summary.textContent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([state, count]) => `${count} × ${state}`).join(", ");
    this.table.update(answer.errors);
  }
}
