// Queues of jobs: partitions of a table, SKIP LOCKED, retries, dead letters, a schedule.
import assert from "node:assert/strict";
import * as module from "pg-boss";
import { step, until } from "./steps.mjs";

const PgBoss = module.PgBoss ?? module.default;
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL });
boss.on("error", (error) => console.error(error));

await step("schema", () => boss.start());
await step("jobs", async () => {
  await boss.createQueue("sums");
  for (let n = 0; n < 20; ++n) await boss.send("sums", { n }, { priority: n });
  const jobs = await boss.fetch("sums", { batchSize: 5 });
  assert.deepEqual(jobs.map((job) => job.data.n).toSorted(), [15, 16, 17, 18, 19]);
  await boss.complete("sums", jobs.map((job) => job.id), { done: true });
});
await step("a worker", async () => {
  const seen = [];
  await boss.work("sums", { batchSize: 10, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const job of jobs) seen.push(job.data.n);
  });
  await until(() => seen.length === 15);
  await boss.offWork("sums");
});
await step("one at a time by key", async () => {
  await boss.createQueue("single", { policy: "short" });
  const first = await boss.send("single", {});
  assert.ok(first);
  assert.equal(await boss.send("single", {}), null);
});
await step("retries and dead letters", async () => {
  await boss.createQueue("dead");
  await boss.createQueue("weak", { retryLimit: 1, deadLetter: "dead" });
  await boss.send("weak", { why: "meant" });
  for (let i = 0; i < 2; ++i) {
    const [job] = await boss.fetch("weak");
    await boss.fail("weak", job.id, { message: "no" });
  }
  const [job] = await boss.fetch("dead");
  assert.equal(job.data.why, "meant");
});
await step("a schedule", async () => {
  await boss.createQueue("nightly");
  await boss.schedule("nightly", "0 3 * * *", { a: 1 }, { tz: "Europe/Berlin" });
  const [one] = await boss.getSchedules();
  assert.equal(one.cron, "0 3 * * *");
  await boss.unschedule("nightly");
});
await step("maintenance", async () => {
  await boss.maintain?.();
  await boss.supervise?.();
});
await boss.stop({ graceful: false, timeout: 1000 });
process.exit(0);
