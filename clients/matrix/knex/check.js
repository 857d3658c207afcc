// Knex: migrations up and down, the query builder, transactions.
import knexOf from "knex";

let failures = 0;
async function step(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.code ?? ""} ${error.message}`.replaceAll("\n", " "));
    ++failures;
  }
}
function expect(fine) {
  if (!fine) throw new Error("wrong answer");
}

const knex = knexOf({ client: "pg", connection: {}, pool: { min: 0, max: 4 } });
const migrations = {
  people: {
    up: (db) =>
      db.schema.createTable("kn_people", (t) => {
        t.increments();
        t.string("email").notNullable().unique();
        t.decimal("amount", 8, 2).defaultTo(0);
        t.jsonb("data");
        t.timestamps(true, true);
        t.uuid("key").defaultTo(db.raw("gen_random_uuid()"));
        t.specificType("list", "int[]");
        t.enu("kind", ["x", "y"]);
        t.comment("people");
      }),
    down: (db) => db.schema.dropTable("kn_people"),
  },
  posts: {
    up: async (db) => {
      await db.schema.createTable("kn_posts", (t) => {
        t.bigIncrements("id");
        t.integer("person").unsigned().references("id").inTable("kn_people").onDelete("CASCADE");
        t.text("body");
        t.unique(["person", "body"]);
      });
      await db.schema.alterTable("kn_people", (t) => {
        t.string("nick", 20).nullable();
        t.renameColumn("amount", "balance");
        t.setNullable("email");
        t.dropNullable("email");
      });
    },
    down: async (db) => {
      await db.schema.dropTable("kn_posts");
      await db.schema.alterTable("kn_people", (t) => {
        t.renameColumn("balance", "amount");
        t.dropColumn("nick");
      });
    },
  },
};
const config = {
  tableName: "kn_migrations",
  migrationSource: {
    getMigrations: async () => Object.keys(migrations),
    getMigrationName: (name) => name,
    getMigration: async (name) => migrations[name],
  },
};

await step("migrate", async () => {
  const [batch, names] = await knex.migrate.latest(config);
  expect(batch === 1 && names.join() === "people,posts");
  expect((await knex.migrate.status(config)) === 0);
});
await step("roll back and migrate again", async () => {
  await knex.migrate.rollback(config, true);
  expect(!(await knex.schema.hasTable("kn_people")));
  await knex.migrate.latest(config);
  expect(await knex.schema.hasColumn("kn_people", "nick"));
});
await step("insert returning", async () => {
  const rows = await knex("kn_people")
    .insert([{ email: "a@x", balance: 3.5, data: { k: [1] }, list: [1, 2], kind: "x" }, { email: "b@x", kind: "y" }])
    .returning(["id", "email", "balance", "list", "data"]);
  expect(rows[0].balance === "3.50" && rows[0].list.length === 2 && rows[0].data.k[0] === 1 && rows[1].id === rows[0].id + 1);
});
await step("on conflict", async () => {
  const merged = await knex("kn_people").insert({ email: "a@x", nick: "n" }).onConflict("email").merge(["nick"]).returning("nick");
  expect(merged[0].nick === "n");
  expect((await knex("kn_people").insert({ email: "a@x" }).onConflict("email").ignore().returning("id")).length === 0);
});
await step("batch insert, join and group", async () => {
  const [{ id }] = await knex("kn_people").where({ email: "a@x" }).select("id");
  await knex.batchInsert("kn_posts", Array.from({ length: 500 }, (_, i) => ({ person: id, body: `b${i}` })), 100);
  const rows = await knex("kn_posts").join("kn_people", "kn_people.id", "kn_posts.person").groupBy("email").count("* as c").select("email");
  expect(rows.length === 1 && rows[0].c === "500");
});
await step("WITH, EXISTS, windows, JSON", async () => {
  const rows = await knex.with("w", (q) => q.select("person").from("kn_posts").limit(3)).select("*").from("w")
    .whereExists(knex("kn_people").whereRaw("kn_people.id = w.person"));
  expect(rows.length === 3);
  expect((await knex("kn_posts").rank("r", "body", "person").limit(2))[1].r === "2");
  expect((await knex("kn_people").whereJsonSupersetOf("data", { k: [1] }).pluck("email"))[0] === "a@x");
});
await step("transactions within transactions", async () => {
  await knex.transaction(async (outer) => {
    await outer("kn_people").forUpdate().skipLocked().first();
    const inner = await outer.transaction();
    await inner("kn_posts").del();
    await inner.rollback();
    expect((await outer("kn_posts").count())[0].count === "500");
  });
});
await step("columns", async () => {
  const columns = await knex("kn_people").columnInfo();
  expect(columns.created_at.defaultValue === "CURRENT_TIMESTAMP" && columns.balance.defaultValue === "'0'::numeric");
  expect(columns.nick.maxLength === 20 && columns.nick.nullable && !columns.email.nullable);
});
await step("foreign key violation", async () => {
  const error = await knex("kn_posts").insert({ person: -1 }).catch((e) => e);
  expect(error.code === "23503" && error.constraint === "kn_posts_person_foreign");
});
await step("clean up", () => knex.migrate.rollback(config, true));
await knex.destroy();
process.exit(failures);
