// node-postgres: unnamed and named statements, text results, start-up settings, pools.
import pg from "pg";

let failures = 0;
async function step(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.code ?? ""} ${error.message}`);
    ++failures;
  }
}
function expect(fine) {
  if (!fine) throw new Error("wrong answer");
}

const client = new pg.Client({ statement_timeout: 20000, idle_in_transaction_session_timeout: 20000 });
await client.connect();
await step("start-up settings", async () => {
  expect((await client.query("SHOW statement_timeout")).rows[0].statement_timeout === "20s");
});
await step("create", () => client.query("CREATE TEMP TABLE m (k int PRIMARY KEY, t text, n numeric, d timestamptz, b bytea)"));
await step("round trip", async () => {
  const when = new Date("2024-02-29T12:00:00Z");
  await client.query("INSERT INTO m VALUES ($1, $2, $3, $4, $5)", [1, "text €", "12.50", when, Buffer.from([0, 255])]);
  const { rows } = await client.query("SELECT * FROM m WHERE k = $1", [1]);
  expect(rows[0].t === "text €" && rows[0].n === "12.50" && +rows[0].d === +when && rows[0].b.length === 2);
});
await step("named statement", async () => {
  for (let i = 0; i < 20; ++i) {
    const { rows } = await client.query({ name: "plus", text: "SELECT $1::int + 1 AS n", values: [i] });
    expect(rows[0].n === i + 1);
  }
});
await step("unique violation", async () => {
  const error = await client.query("INSERT INTO m (k) VALUES (1)").catch((e) => e);
  expect(error.code === "23505" && error.constraint === "m_pkey" && error.table === "m");
});
await step("rollback", async () => {
  await client.query("BEGIN");
  await client.query("DELETE FROM m");
  await client.query("ROLLBACK");
  expect((await client.query("SELECT count(*)::int AS n FROM m")).rows[0].n === 1);
});
await step("several statements", async () => {
  const results = await client.query("SELECT 1 AS a; SELECT 2 AS a");
  expect(results[1].rows[0].a === 2);
});
await step("pool", async () => {
  const pool = new pg.Pool({ max: 5 });
  const answers = await Promise.all([...Array(50).keys()].map((i) => pool.query("SELECT $1::int AS n", [i])));
  expect(answers.every((answer, i) => answer.rows[0].n === i));
  await pool.end();
});
await client.end();
process.exit(failures);
