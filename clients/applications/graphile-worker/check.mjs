// A queue of jobs: its migrations, keys, retries, a crontab, and a worker that NOTIFY wakes.
import assert from "node:assert/strict";
import { Logger, makeWorkerUtils, run, runMigrations, runOnce } from "graphile-worker";
import pg from "pg";
import { step, until } from "./steps.mjs";

const connectionString = process.env.DATABASE_URL;
const logger = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString });
const done = [];
const taskList = {
  add: async (payload) => void done.push(payload.n),
  stumble: async (payload, helpers) => {
    if (helpers.job.attempts < 2) throw new Error("meant");
    done.push("stood up");
  },
};
const options = { connectionString, logger, taskList, noHandleSignals: true };

await step("migrations", () => runMigrations(options));
const utils = await makeWorkerUtils({ connectionString, logger });
await step("jobs", async () => {
  for (let n = 0; n < 30; ++n) await utils.addJob("add", { n }, { queueName: n % 2 ? `queue ${n % 3}` : undefined });
  await runOnce(options);
  assert.deepEqual(done.toSorted((a, b) => a - b), [...Array(30).keys()]);
});
await step("keys replace jobs", async () => {
  done.length = 0;
  await utils.addJob("add", { n: 1 }, { jobKey: "one" });
  await utils.addJob("add", { n: 2 }, { jobKey: "one" });
  await utils.addJob("add", { n: 3 }, { jobKey: "one", jobKeyMode: "preserve_run_at" });
  await runOnce(options);
  assert.deepEqual(done, [3]);
});
await step("jobs by SQL, in a transaction", async () => {
  done.length = 0;
  const client = await pool.connect();
  await client.query("BEGIN");
  await client.query("SELECT graphile_worker.add_job('add', json_build_object('n', 7))");
  await client.query("ROLLBACK");
  await client.query("SELECT graphile_worker.add_jobs(array_agg(('add', json_build_object('n', i), null, null, null, null, null, null)"
    + "::graphile_worker.job_spec)) FROM generate_series(1, 5) i");
  client.release();
  await runOnce(options);
  assert.deepEqual(done.toSorted(), [1, 2, 3, 4, 5]);
});
await step("a retry", async () => {
  done.length = 0;
  await utils.addJob("stumble", {});
  await runOnce(options);
  await pool.query("SELECT graphile_worker.reschedule_jobs(array_agg(id), now()) FROM graphile_worker.jobs");
  await runOnce(options);
  assert.deepEqual(done, ["stood up"]);
});
await step("a worker is woken by NOTIFY", async () => {
  done.length = 0;
  const runner = await run({ ...options, pollInterval: 600_000, crontab: "* * * * * add ?id=minute&fill=2m {n: 99}" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await utils.addJob("add", { n: 42 });
  await until(() => done.includes(42));
  await runner.stop();
  const crons = await pool.query("SELECT identifier FROM graphile_worker._private_known_crontabs");
  assert.deepEqual(crons.rows, [{ identifier: "minute" }]);
});
await step("failed jobs for good", async () => {
  const job = await utils.addJob("none such", {}, { maxAttempts: 3 });
  const [failed] = await utils.permanentlyFailJobs([job.id], "nobody can");
  assert.equal(failed.last_error, "nobody can");
  assert.equal((await utils.completeJobs([job.id])).length, 1);
});
await utils.release();
await pool.end();
