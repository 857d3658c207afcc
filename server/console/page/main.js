// The page: asks for figures while somebody looks at it, and shows the chosen view.
import { make } from "./charts.js";
import { duration, sample } from "./numbers.js";
import { Errors, Overview, Pool, Sessions, Settings, Statements, Storage, Tables } from "./views.js";

const by = id => document.getElementById(id);
const kept = 1900;  // samples: half an hour

class Page {
  history = [];
  now = null;
  seconds = Number(localStorage.getItem("seconds")) || 600;
  isPaused = false;
  token = sessionStorage.getItem("token");
  user = sessionStorage.getItem("user");
  database = sessionStorage.getItem("database") ?? "postgres";

  constructor() {
    const views = { overview: Overview, statements: Statements, sessions: Sessions, tables: Tables, pool: Pool, log: Storage,
                    settings: Settings, errors: Errors };
    this.views = new Map(Object.entries(views).map(([name, View]) => [name, new View(this)]));
    by("nav").append(...[...this.views].map(([name, view], i) =>
      make("a", { href: `#${name}` }, view.title, make("kbd", { "aria-hidden": "true" }, String(i + 1)))));
    addEventListener("hashchange", () => this.choose());
    addEventListener("keydown", event => this.press(event));
    addEventListener("resize", () => this.draw());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.turn(); });
    by("pause").addEventListener("click", () => this.pause());
    by("theme").addEventListener("click", () => this.turnTheme());
    by("keys").addEventListener("click", () => by("help").showModal());
    by("account").addEventListener("click", () => this.token ? this.logOut() : this.openLogin());
    by("login-close").addEventListener("click", () => by("login").close());
    by("login-form").addEventListener("submit", event => { event.preventDefault(); this.logIn(); });
    by("databases").addEventListener("change", () => this.useDatabase(by("databases").value));
    for (const button of by("windows").children) button.addEventListener("click", () => this.showSeconds(Number(button.dataset.seconds)));
    if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");
    this.showSeconds(this.seconds);
    this.showAccount();
    this.choose();
    this.turn();
  }

  // Nothing is asked for while the page is hidden or paused.
  async turn() {
    clearTimeout(this.next);
    if (document.hidden || this.isPaused) return;
    try {
      const answer = await fetch("status.json", { cache: "no-store" });
      this.take(await answer.json());
      if (this.view.path && this.token && Date.now() >= (this.due ?? 0)) await this.ask();
    } catch (error) {
      by("pulse").className = "pulse off";
      by("state").textContent = "The server does not answer.";
      this.now = null;
    }
    clearTimeout(this.next);
    this.next = setTimeout(() => this.turn(), 1000);
  }

  take(now) {
    by("pulse").className = "pulse on";
    const before = this.now;
    this.now = now;
    if (before && before.started_us !== now.started_us) this.history.length = 0;
    else if (before && now.now_us > before.now_us) this.history.push(sample(now, before));
    if (this.history.length > kept) this.history.shift();
    const up = duration((now.now_us - now.started_us) / 1e6);
    by("state").replaceChildren(`Up ${up} · ${now.connections} connections, ${now.active} active`,
      make("span", { class: "more" }, `, ${now.idle_in_transaction} idle in a transaction`));
    this.draw();
  }

  draw() {
    if (this.view.tick && this.isViewShown) this.view.tick(this.history, this.now, this.seconds);
  }

  async call(path, form = null) {
    const headers = { "X-Swizzle-Console": "1", ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}) };
    const answer = await fetch(path, form ? { method: "POST", headers, body: new URLSearchParams(form) } : { headers, cache: "no-store" });
    const body = await answer.json();
    if (answer.status === 401 && path !== "api/login") this.forgetLogin();
    return answer.ok ? body : { error: body.error ?? `status ${answer.status}` };
  }

  async ask() {
    const view = this.view;
    const answer = await this.call(`${view.path.slice(1)}?database=${encodeURIComponent(this.database)}`);
    if (view !== this.view) return;
    this.due = Date.now() + view.every - 500;
    if (!answer.error) {
      view.show(answer);
      // A part that could not be read: for want of a right, or of time.
      const refused = Object.values(answer).map(part => part?.error).filter(Boolean);
      this.problem.hidden = refused.length === 0;
      this.problem.textContent = refused[0] ?? "";
      if (this.isViewShown) return;
      this.isViewShown = true;
      this.showView();
    } else if (this.token) {
      this.problem.hidden = false;
      this.problem.textContent = answer.error;
    }
  }

  choose() {
    const name = this.views.has(location.hash.slice(1)) ? location.hash.slice(1) : "overview";
    this.view = this.views.get(name);
    this.due = 0;
    this.problem = make("p", { class: "problem", role: "alert", hidden: true });
    for (const link of by("nav").children) {
      if (link.hash === `#${name}`) {
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "center" });
      } else {
        link.removeAttribute("aria-current");
      }
    }
    document.title = `${this.view.title} · Swizzle`;
    this.isViewShown = !this.view.needsLogin;
    this.showView();
    if (this.next) this.turn();
  }

  showView() {
    const { view } = this;
    if (view.needsLogin && !this.token) {
      by("view").replaceChildren(make("section", { class: "card empty" }, make("p", {}, "Statements, names and texts are for those who may see them."),
        make("button", { type: "button", class: "primary", onclick: () => this.openLogin() }, "Log in")));
      return;
    }
    by("view").replaceChildren(this.problem, ...(this.isViewShown ? view.elements : [make("p", { class: "empty" }, "Asking the server …")]),
      ...(this.token ? view.withLogin ?? [] : []));
    this.draw();
  }

  async openLogin() {
    by("login-problem").textContent = "";
    by("login").showModal();
    by("login-user").select();
    const door = await this.call("api/door");
    by("login-problem").textContent = door.error ?? "";
  }

  async logIn() {
    const form = new FormData(by("login-form"));
    const answer = await this.call("api/login", form);
    if (answer.error) {
      by("login-problem").textContent = answer.error;
      return;
    }
    by("login-form").elements.password.value = "";
    by("login").close();
    Object.assign(this, { token: answer.token, user: answer.user, database: answer.database });
    for (const name of ["token", "user", "database"]) sessionStorage.setItem(name, answer[name]);
    this.showAccount();
    this.choose();
  }

  async logOut() {
    await this.call("api/logout", {});
    this.forgetLogin();
  }

  forgetLogin() {
    this.token = null;
    sessionStorage.removeItem("token");
    for (const view of this.views.values()) view.forget?.();
    this.showAccount();
    this.choose();
  }

  async showAccount() {
    by("account").textContent = this.token ? `Log out ${this.user}` : "Log in";
    by("account").className = this.token ? "" : "primary";
    by("database").hidden = true;
    if (!this.token) return;
    const answer = await this.call(`api/settings?database=${encodeURIComponent(this.database)}`);
    const names = answer.databases?.rows?.map(row => row[0]) ?? [this.database];
    by("databases").replaceChildren(...names.filter(name => name !== "template0" && name !== "template1").map(name => make("option", { value: name }, name)));
    by("databases").value = this.database;
    by("database").hidden = names.length < 2;
  }

  useDatabase(name) {
    this.database = name;
    sessionStorage.setItem("database", name);
    for (const view of this.views.values()) view.forget?.();
    this.due = 0;
    this.turn();
  }

  async cancel(pid) {
    if (!confirm(`Cancel the statement of backend ${pid}?`)) return;
    const answer = await this.call("api/cancel", { pid });
    this.problem.hidden = !answer.error;
    this.problem.textContent = answer.error ?? "";
    this.due = 0;
    this.turn();
  }

  showSeconds(seconds) {
    this.seconds = seconds;
    localStorage.setItem("seconds", seconds);
    for (const button of by("windows").children) button.setAttribute("aria-pressed", String(Number(button.dataset.seconds) === seconds));
    if (this.view) this.draw();
  }

  pause() {
    this.isPaused = !this.isPaused;
    by("pause").setAttribute("aria-pressed", String(this.isPaused));
    by("pause").textContent = this.isPaused ? "Go on" : "Pause";
    this.turn();
  }

  turnTheme() {
    const isDark = (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("theme", document.documentElement.dataset.theme);
    this.draw();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const names = [...this.views.keys()], at = "12345678".indexOf(event.key);
    const actions = { p: () => this.pause(), t: () => this.turnTheme(), "?": () => by("help").showModal(),
                      l: () => by("account").click(), "/": () => by("view").querySelector("input[type=search]")?.focus() };
    const action = at >= 0 ? () => { location.hash = names[at]; } : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

window.page = new Page();
