"""Celery with its messages and its results in the database, by SQLAlchemy."""
import os

from celery import Celery, group
from celery.contrib.testing.worker import start_worker

from steps import step

url = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg2://")
app = Celery("check", broker="sqla+" + url, backend="db+" + url)
app.conf.broker_connection_retry_on_startup = False
app.conf.result_extended = True
app.conf.polling_interval = 0.05


@app.task
def add(a, b):
    return a + b



@app.task(bind=True, max_retries=3)
def fail_once(self):
    if self.request.retries == 0:
        raise self.retry(countdown=0)
    return "at last"


@app.task
def fail():
    raise KeyError("meant")


with step("worker"):
    app.loader.import_default_modules()
    worker = start_worker(app, pool="solo", perform_ping_check=False)
    worker.__enter__()
try:
    with step("tasks"):
        assert [add.delay(i, i).get(timeout=30) for i in range(10)] == [2 * i for i in range(10)]
    with step("group"):
        assert group(add.s(i, 1) for i in range(5))().get(timeout=30) == [1, 2, 3, 4, 5]
    with step("retry"):
        assert fail_once.delay().get(timeout=30) == "at last"
    with step("failure"):
        result = fail.delay()
        result.get(timeout=30, propagate=False)
        assert result.state == "FAILURE" and "meant" in str(result.result), result.result
    with step("forget"):
        result = add.delay(1, 2)
        result.get(timeout=30)
        result.forget()
        assert app.AsyncResult(result.id).state == "PENDING"
finally:
    worker.__exit__(None, None, None)
