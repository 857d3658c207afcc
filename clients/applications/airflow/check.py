"""Workflows: the metadata's migrations, variables, pools and connections, a DAG that runs and is cleaned up."""
import os
import subprocess
import sys

from steps import step

airflow = [sys.executable, "-m", "airflow"]
environment = os.environ | {
    "AIRFLOW_HOME": os.getcwd(), "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg2://"),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "false", "AIRFLOW__CORE__DAGS_FOLDER": os.path.join(os.getcwd(), "dags"),
    "AIRFLOW__CORE__UNIT_TEST_MODE": "false", "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    "AIRFLOW__CORE__FERNET_KEY": "81HqDtbqAywKSOumSha3BhWNOdQ26slT6K0YaZeZyPs=", "SCARF_ANALYTICS": "false"}


def run(*words):
    done = subprocess.run([*airflow, *words], env=environment, capture_output=True, text=True, timeout=200)
    print(done.stdout[-3000:], done.stderr[-3000:])
    assert done.returncode == 0, f"airflow {' '.join(words)}: {done.stderr.strip().splitlines()[-1:]}"
    return done.stdout


with step("migrations"):
    run("db", "migrate")
with step("a check"):
    run("db", "check-migrations", "--migration-wait-timeout", "5")
with step("variables, pools, connections"):
    run("variables", "set", "colour", "blue")
    assert run("variables", "get", "colour").strip().endswith("blue")
    run("pools", "set", "narrow", "2", "for a check")
    assert "narrow" in run("pools", "list", "-o", "plain")
    run("connections", "add", "there", "--conn-uri", "postgres://a:b@localhost/c")
    assert "there" in run("connections", "list", "-o", "plain")
os.makedirs("dags", exist_ok=True)
with open("dags/check.py", "w") as dag:
    dag.write('''
import datetime
from airflow.sdk import dag, task

@dag(schedule="@daily", start_date=datetime.datetime(2026, 1, 1), catchup=False)
def check():
    @task
    def numbers():
        return [1, 2, 3]
    @task
    def total(numbers):
        return sum(numbers)
    total(numbers())

check()
''')
with step("a DAG"):
    run("dags", "reserialize")
    assert "check" in run("dags", "list", "-o", "plain")
    run("dags", "test", "check", "2026-01-02")
with step("its runs"):
    assert "success" in run("dags", "list-runs", "check", "-o", "plain")
with step("clean"):
    run("db", "clean", "--clean-before-timestamp", "2027-01-01", "--skip-archive", "-y")
