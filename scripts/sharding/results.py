"""Pages of docs/results about several servers: written by the programs that measured, from a clean tree."""
import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def commit_of_clean_tree():
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True)
    if changed.stdout:
        raise SystemExit(f"there are changes that no commit has:\n{changed.stdout}")
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def replace_row(name, row, commit):
    """The row of a page that begins as this one, taken anew at another commit."""
    page = ROOT / "docs" / "results" / f"{name}.md"
    lines = page.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {row[0]} |"))
    lines[at] = "| " + " | ".join(str(value) for value in row) + f" (commit {commit}) |"
    page.write_text("\n".join(lines))
    print(f"replaced in docs/results/{name}.md: {row[0]}")


def write_page(name, title, what, commit, columns, rows, after=""):
    """Writes the page. `what` begins with the command, whose opening quote is added here."""
    day = datetime.date.today().isoformat()
    lines = [f"# {title}", "",
             f"`{what}. Commit {commit}, release, {day}, {platform.machine()}, {os.cpu_count()} processors, "
             f"Linux {platform.release()}.", "",
             "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in rows]
    if after:
        lines += ["", after]
    (ROOT / "docs" / "results" / f"{name}.md").write_text("\n".join(lines) + "\n")
    print(f"written: docs/results/{name}.md")
