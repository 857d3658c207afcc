// drizzle-kit makes a schema and changes it, and reads it back from the catalogs; queries with relations.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { eq, relations, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { check, index, integer, jsonb, numeric, pgEnum, pgTable, pgView, serial, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";
import pg from "pg";
import { step } from "./steps.mjs";

// drizzle-kit looks for its configuration where it runs.
const here = import.meta.dirname;
const schema = (more) => `
import { sql } from "drizzle-orm";
import { check, index, integer, jsonb, numeric, pgEnum, pgTable, pgView, serial, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";
export const mood = pgEnum("mood", ["sad", "ok", "happy"${more ? ', "thrilled"' : ""}]);
export const users = pgTable("users", {
  id: serial().primaryKey(), name: text().notNull(), mood: mood().default("ok"), tags: text().array(),
  about: jsonb(), made: timestamp({ withTimezone: true }).defaultNow()${more ? ", age: integer().default(18).notNull()" : ""} },
  (t) => [uniqueIndex("users_name").on(sql\`lower(\${t.name})\`), index("users_mood").on(t.mood).where(sql\`mood <> 'ok'\`)]);
export const orders = pgTable("orders", {
  id: integer().primaryKey().generatedAlwaysAsIdentity(), user: integer().references(() => users.id, { onDelete: "cascade" }),
  total: numeric({ precision: 10, scale: 2 }).notNull() },
  (t) => [check("positive", sql\`\${t.total} > 0\`), index().on(t.user)]);
export const rich = pgView("rich").as((qb) => qb.select().from(orders));
`;
const kit = (...words) => execFileSync("npx", ["--no-install", "drizzle-kit", ...words, "--config", "check.config.json"],
  { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
fs.writeFileSync(`${here}/check.config.json`, JSON.stringify({
  dialect: "postgresql", schema: "./check-schema.ts", out: "./check-out", dbCredentials: { url: process.env.DATABASE_URL } }));
fs.rmSync(`${here}/check-out`, { recursive: true, force: true });

await step("push", () => {
  fs.writeFileSync(`${here}/check-schema.ts`, schema(false));
  kit("push", "--force");
});
await step("push a change", () => {
  fs.writeFileSync(`${here}/check-schema.ts`, schema(true));
  kit("push", "--force");
  assert.match(kit("push", "--force"), /No changes detected/);
});
await step("pull", () => {
  kit("pull");
  const pulled = fs.readFileSync(`${here}/check-out/schema.ts`, "utf8");
  for (const part of ["thrilled", "lower(name)", "onDelete(\"cascade\")", "generatedAlwaysAsIdentity", "positive", "precision: 10"])
    assert.ok(pulled.includes(part), `${part} in ${pulled}`);
});

const mood = pgEnum("mood", ["sad", "ok", "happy", "thrilled"]);
const users = pgTable("users", { id: serial().primaryKey(), name: text().notNull(), mood: mood().default("ok"), tags: text().array(),
  about: jsonb(), made: timestamp({ withTimezone: true }).defaultNow(), age: integer().default(18).notNull() });
const orders = pgTable("orders", { id: integer().primaryKey().generatedAlwaysAsIdentity(),
  user: integer().references(() => users.id), total: numeric({ precision: 10, scale: 2 }).notNull() });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = drizzle(pool, { schema: { users, orders,
  ofUser: relations(users, ({ many }) => ({ orders: many(orders) })),
  ofOrder: relations(orders, ({ one }) => ({ user: one(users, { fields: [orders.user], references: [users.id] }) })) } });
await step("rows", async () => {
  const [ada] = await db.insert(users).values({ name: "Ada", mood: "happy", tags: ["a", "b"], about: { x: [1, 2] } }).returning();
  assert.deepEqual(ada.tags, ["a", "b"]);
  await db.insert(orders).values([1, 2, 3].map((n) => ({ user: ada.id, total: `${n}.50` })));
  await db.insert(users).values({ id: ada.id, name: "Ada" }).onConflictDoUpdate({ target: users.id, set: { age: sql`excluded.age + 1` } });
});
await step("relations", async () => {
  const [found] = await db.query.users.findMany({ with: { orders: { orderBy: orders.id, limit: 2 } }, where: eq(users.age, 19) });
  assert.deepEqual(found.orders.map((order) => Number(order.total)), [1.5, 2.5]);
});
await step("transaction", async () => {
  await assert.rejects(db.transaction(async (tx) => {
    await tx.delete(users);
    tx.rollback();
  }));
  const [{ sum }] = await db.select({ sum: sql`sum(${orders.total})` }).from(orders).innerJoin(users, eq(users.id, orders.user));
  assert.equal(sum, "7.50");
});
await pool.end();
