"""Experiments of machine learning: the store's migrations, runs with metrics, searches, the registry of models."""
import os

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["DO_NOT_TRACK"] = "true"

from steps import step  # noqa: E402

with step("migrations"):
    import mlflow
    from mlflow.tracking import MlflowClient
    mlflow.set_tracking_uri(os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg2://"))
    client = MlflowClient()
    experiment = client.create_experiment("check", artifact_location=f"file://{os.getcwd()}/artifacts", tags={"team": "a"})
with step("runs"):
    for n in range(12):
        with mlflow.start_run(experiment_id=experiment, run_name=f"run {n}") as run:
            mlflow.log_params({"depth": n, "kind": "tree" if n % 2 else "line"})
            for at in range(20):
                mlflow.log_metric("loss", 1.0 / (1 + n + at), step=at)
            mlflow.log_metrics({"nothing": float("nan"), "much": float("inf")})
            mlflow.set_tag("part", f"p{n % 3}")
    history = client.get_metric_history(run.info.run_id, "loss")
    assert len(history) == 20 and history[0].value == 1 / 12, history[:1]
with step("searches"):
    found = client.search_runs([experiment], "params.kind = 'tree' and metrics.loss < 0.04 and tags.part like 'p%'",
                               order_by=["metrics.loss ASC", "params.depth DESC"])
    assert [run.data.params["depth"] for run in found] == ["11", "9", "7"], [run.data.params for run in found]
    pages = []
    token = None
    while True:
        page = client.search_runs([experiment], max_results=5, page_token=token)
        pages.append(len(page))
        token = page.token
        if not token:
            break
    assert sum(pages) == 12, pages
    assert [one.name for one in client.search_experiments(filter_string="name LIKE 'che%' AND tags.team = 'a'")] == ["check"]
with step("delete and restore"):
    client.delete_run(run.info.run_id)
    assert len(client.search_runs([experiment])) == 11
    client.restore_run(run.info.run_id)
    assert len(client.search_runs([experiment])) == 12
with step("the registry"):
    client.create_registered_model("oracle", tags={"risk": "low"}, description="a model")
    for _ in range(3):
        version = client.create_model_version("oracle", f"file://{os.getcwd()}/artifacts", run.info.run_id)
    client.set_registered_model_alias("oracle", "champion", version.version)
    assert client.get_model_version_by_alias("oracle", "champion").version in ("3", 3)
    assert len(client.search_model_versions("name = 'oracle'")) == 3
    client.rename_registered_model("oracle", "sibyl")
    client.delete_registered_model("sibyl")
