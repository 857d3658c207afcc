"""Workflows: the server's migrations (up, down, up), a flow with tasks and retries, its runs read back."""
import asyncio
import os
import subprocess
import sys

os.environ["PREFECT_API_DATABASE_CONNECTION_URL"] = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://")
os.environ["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] = "true"
os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = "90"
os.environ["PREFECT_API_DATABASE_MIGRATE_ON_START"] = "false"
os.environ["PREFECT_LOGGING_LEVEL"] = "WARNING"
os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] = "false"
os.environ["DO_NOT_TRACK"] = "1"
os.environ["PREFECT_HOME"] = os.getcwd()

from steps import step  # noqa: E402



def database(*words):
    done = subprocess.run([sys.executable, "-m", "prefect", "server", "database", *words, "-y"], capture_output=True, text=True,
                          timeout=150)
    print(done.stdout[-3000:], done.stderr[-3000:])
    assert done.returncode == 0, (done.stdout + done.stderr).strip().splitlines()[-1:]


with step("migrations"):
    database("upgrade")
with step("the last ten back, and again"):
    database("downgrade", "-r", "-10")
    database("upgrade")

from prefect import flow, get_client, task  # noqa: E402

tries = []


@task
def double(n):
    return 2 * n


@task(retries=2, retry_delay_seconds=0)
def stumble():
    tries.append(1)
    if len(tries) < 3:
        raise ValueError("meant")
    return "stood up"


@flow(name="check")
def check():
    return sum(one.result() for one in double.map(list(range(10)))), stumble()


with step("a flow"):
    assert check() == (90, "stood up")


async def read():
    async with get_client() as client:
        runs = await client.read_flow_runs()
        assert [run.state_name for run in runs] == ["Completed"], runs
        tasks = await client.read_task_runs()
        assert len(tasks) == 11, len(tasks)


with step("its runs"):
    for attempt in range(30):
        try:
            asyncio.run(read())
            break
        except AssertionError:
            # Events arrive a moment after the run.
            if attempt == 29:
                raise
            asyncio.run(asyncio.sleep(1))
