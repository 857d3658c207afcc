// A back office over any tables: its migrations, collections as tables, relations, permissions, aggregates, a schema's copy.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { step, until } from "./steps.mjs";

const port = process.env.PORTS;
const program = path.join(process.env.PROGRAMS, "node_modules/directus/cli.js");
const env = {
  ...process.env, DB_CLIENT: "pg", DB_HOST: process.env.PGHOST, DB_PORT: process.env.PGPORT, DB_DATABASE: process.env.PGDATABASE,
  DB_USER: process.env.PGUSER, DB_PASSWORD: process.env.PGPASSWORD, KEY: "checking", SECRET: "checking too", HOST: "127.0.0.1", PORT: port,
  ADMIN_EMAIL: "admin@example.org", ADMIN_PASSWORD: "secret", TELEMETRY: "false", LOG_LEVEL: "warn", PUBLIC_URL: `http://127.0.0.1:${port}`,
  STORAGE_LOCAL_ROOT: path.resolve("uploads"), EXTENSIONS_PATH: path.resolve("extensions"), RATE_LIMITER_ENABLED: "false",
};
fs.mkdirSync("uploads");
fs.mkdirSync("extensions");
function command(...words) {
  const done = spawnSync("node", [program, ...words], { env, encoding: "utf8" });
  console.log(done.stdout, done.stderr);
  assert.equal(done.status, 0, (done.stderr || done.stdout).trim().split("\n").find((line) => /error/i.test(line)));
}
let token;
async function ask(method, where, body, as = token) {
  const answer = await fetch(`http://127.0.0.1:${port}${where}`, {
    method, headers: { "Content-Type": "application/json", ...(as && { Authorization: `Bearer ${as}` }) }, body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  const said = text ? JSON.parse(text) : {};
  if (said.errors) throw new Error(`${method} ${where}: ${answer.status} ${said.errors[0].message}`);
  return said.data;
}
const q = (words) => "?" + Object.entries(words).map(([name, value]) =>
  `${name}=${encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : value)}`).join("&");

await step("bootstrap", () => command("bootstrap"));
const server = spawn("node", [program, "start"], { env, stdio: "inherit" });
process.on("exit", () => server.kill("SIGKILL"));
await step("start and log in", async () => {
  await until(() => fetch(`http://127.0.0.1:${port}/server/ping`).then((answer) => answer.ok, () => false), 60);
  token = (await ask("POST", "/auth/login", { email: "admin@example.org", password: "secret" })).access_token;
  await assert.rejects(ask("POST", "/auth/login", { email: "admin@example.org", password: "guessed" }, null), /401/);
});
await step("collections", async () => {
  const id = { field: "id", type: "integer", schema: { is_primary_key: true, has_auto_increment: true }, meta: { hidden: true } };
  await ask("POST", "/collections", { collection: "authors", schema: {}, meta: {}, fields: [id,
    { field: "name", type: "string", schema: { is_unique: true, is_nullable: false } }, { field: "born", type: "date" }] });
  await ask("POST", "/collections", { collection: "books", schema: {}, meta: { archive_field: "state" }, fields: [
    { field: "id", type: "uuid", schema: { is_primary_key: true }, meta: { special: ["uuid"] } },
    { field: "title", type: "string", schema: { is_nullable: false } }, { field: "text", type: "text" },
    { field: "price", type: "decimal", schema: { numeric_precision: 10, numeric_scale: 2 } },
    { field: "tags", type: "json", meta: { special: ["cast-json"] } }, { field: "state", type: "string", schema: { default_value: "draft" } },
    { field: "made", type: "timestamp", meta: { special: ["date-created"] } }, { field: "author", type: "integer" }] });
  await ask("POST", "/relations", { collection: "books", field: "author", related_collection: "authors",
    meta: { one_field: "books" }, schema: { on_delete: "CASCADE" } });
  await ask("POST", "/fields/authors", { field: "books", type: "alias", meta: { special: ["o2m"] } });
  await ask("PATCH", "/fields/books/title", { schema: { is_nullable: false, max_length: 100 }, meta: { required: true } });
  await ask("POST", "/fields/books", { field: "pages", type: "bigInteger", schema: { is_indexed: true } });
});
await step("items", async () => {
  for (let n = 0; n < 5; ++n) {
    await ask("POST", "/items/authors", { name: `Author ${n}`, born: `18${n}0-12-10`,
      books: [...Array(6).keys()].map((i) => ({ title: `Book ${n}.${i}`, text: `Of looms and engines ${i}`, price: `${n}.${i}5`, pages: 100 * i + n,
        tags: [`t${i % 2}`] })) });
  }
  await assert.rejects(ask("POST", "/items/authors", { name: "Author 1" }), /unique/i);
  await assert.rejects(ask("POST", "/items/books", { title: "x".repeat(101) }), /long/i);
  const books = await ask("GET", "/items/books" + q({ fields: "title,price,author.name", sort: "-author.name,title", limit: 3, offset: 2,
    filter: { _and: [{ author: { born: { _gte: "1810-01-01" } } }, { text: { _icontains: "ENGINE" } }, { pages: { _between: [100, 599] } }] } }));
  assert.deepEqual(books.map((one) => [one.title, one.price, one.author.name]),
    [["Book 4.3", "4.35", "Author 4"], ["Book 4.4", "4.45", "Author 4"], ["Book 4.5", "4.55", "Author 4"]]);
  const authors = await ask("GET", "/items/authors" + q({ fields: "name,books.title", sort: "name", filter: { books: { _some: { title: { _eq: "Book 2.3" } } } },
    deep: { books: { _sort: ["-title"], _limit: 2, _filter: { pages: { _gt: 0 } } } } }));
  assert.deepEqual(authors, [{ name: "Author 2", books: [{ title: "Book 2.5" }, { title: "Book 2.4" }] }]);
  assert.equal((await ask("GET", "/items/books" + q({ search: "3.2" }))).length, 1);
  const byYear = await ask("GET", "/items/authors" + q({ fields: "name,count(books),year(born)", filter: { "year(born)": { _gt: 1820 } }, sort: "name" }));
  assert.deepEqual(byYear, [{ name: "Author 3", books_count: "6", born_year: "1830" }, { name: "Author 4", books_count: "6", born_year: "1840" }]);
});
await step("aggregates", async () => {
  const sums = await ask("GET", "/items/books" + "?aggregate[sum]=price&aggregate[countDistinct]=title&aggregate[max]=pages&groupBy[]=author&sort=author&limit=2");
  assert.deepEqual(sums.map((one) => [one.author, Number(one.sum.price), Number(one.countDistinct.title), Number(one.max.pages)]),
    [[1, 1.8, 6, 500], [2, 7.8, 6, 501]]);
  assert.deepEqual(await ask("GET", "/items/authors?aggregate[count]=*"), [{ count: "5" }]);
});
await step("changes and their history", async () => {
  const [one] = await ask("GET", "/items/books" + q({ filter: { title: { _eq: "Book 0.0" } } }));
  await ask("PATCH", `/items/books/${one.id}`, { title: "Changed", tags: ["a", "b"] });
  const [first] = await ask("GET", "/revisions" + q({ filter: { collection: { _eq: "books" }, item: { _eq: one.id } }, sort: "id", limit: 1 }));
  await ask("POST", `/utils/revert/${first.id}`);
  assert.equal((await ask("GET", `/items/books/${one.id}`)).title, "Book 0.0");
  await ask("PATCH", "/items/books", { query: { filter: { title: { _starts_with: "Book 1" } } }, data: { state: "published" } });
  assert.equal((await ask("GET", "/activity" + q({ filter: { collection: { _eq: "books" }, action: { _eq: "update" } } }))).length, 8);
});
await step("permissions", async () => {
  const role = await ask("POST", "/roles", { name: "Readers", admin_access: false, app_access: false });
  await ask("POST", "/users", { email: "ada@example.org", password: "secret", role: role.id, status: "active" });
  await ask("POST", "/permissions", { role: role.id, collection: "books", action: "read", fields: ["title", "state"], permissions: { state: { _eq: "published" } } });
  const ada = (await ask("POST", "/auth/login", { email: "ada@example.org", password: "secret" })).access_token;
  assert.equal((await ask("GET", "/items/books", undefined, ada)).length, 6);
  await assert.rejects(ask("GET", "/items/authors", undefined, ada), /403/);
  await assert.rejects(ask("GET", "/items/books?fields=price", undefined, ada), /403/);
});
await step("GraphQL", async () => {
  const said = await ask("POST", "/graphql", { query: `{ authors(sort: ["name"], limit: 1) { name books_func { count } books(sort: ["title"], limit: 1) { title } }
    books_aggregated(groupBy: ["state"], sort: ["state"]) { group count { id } } }` });
  assert.deepEqual(said, { authors: [{ name: "Author 0", books_func: { count: 6 }, books: [{ title: "Book 0.0" }] }],
    books_aggregated: [{ group: { state: "draft" }, count: { id: 24 } }, { group: { state: "published" }, count: { id: 6 } }] });
});
await step("a schema's copy", async () => {
  const snapshot = await ask("GET", "/schema/snapshot");
  await ask("DELETE", "/fields/books/pages");
  await ask("PATCH", "/fields/books/price", { type: "float" });
  await ask("POST", "/schema/apply", await ask("POST", "/schema/diff", snapshot));
  const field = (await ask("GET", "/fields/books")).find((one) => one.field === "pages");
  assert.deepEqual([field.schema.data_type, field.schema.is_nullable], ["bigint", true]);
});
await step("deletes", async () => {
  await ask("DELETE", "/items/authors/1");
  assert.deepEqual(await ask("GET", "/items/books?aggregate[count]=*"), [{ count: "24" }]);
  await ask("DELETE", "/collections/books");
  await ask("DELETE", "/collections/authors");
});
process.exit(0);
