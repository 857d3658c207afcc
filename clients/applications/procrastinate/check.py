"""A queue of jobs in the database: jobs are deferred, retried, locked, and done by a worker that hears of them."""
import asyncio

import procrastinate

from steps import step

app = procrastinate.App(connector=procrastinate.PsycopgConnector())
done = []


@app.task(queue="sums")
async def add(a, b):
    done.append(a + b)


@app.task(queue="sums", retry=2)
async def fail_twice(key):
    done.append(key)
    if done.count(key) < 3:
        raise ValueError("not yet")


async def main():
    async with app.open_async():
        with step("schema"):
            await app.schema_manager.apply_schema_async()
        with step("defer"):
            for i in range(20):
                await add.configure(lock=f"lock {i % 3}").defer_async(a=i, b=1)
            await add.batch_defer_async(*({"a": i, "b": 100} for i in range(10)))
            await fail_twice.defer_async(key="patience")
        with step("work"):
            await app.run_worker_async(queues=["sums"], concurrency=4, wait=False, install_signal_handlers=False)
            for _ in range(3):
                await app.run_worker_async(queues=["sums"], wait=False, install_signal_handlers=False)
            assert sorted(one for one in done if one != "patience") == sorted(
                [i + 1 for i in range(20)] + [i + 100 for i in range(10)]), done
            assert done.count("patience") == 3, done
        with step("a worker is woken by NOTIFY"):
            before = len(done)
            worker = asyncio.create_task(app.run_worker_async(
                queues=["sums"], fetch_job_polling_interval=300, install_signal_handlers=False))
            await asyncio.sleep(1)
            await add.defer_async(a=1000, b=1)
            for _ in range(100):
                if len(done) > before:
                    break
                await asyncio.sleep(0.05)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            assert done[-1] == 1001 and len(done) == before + 1, done[before:]
        with step("look"):
            jobs = await app.job_manager.list_jobs_async(queue="sums")
            assert {job.status for job in jobs} == {"succeeded"}, {job.status for job in jobs}


asyncio.run(main())
