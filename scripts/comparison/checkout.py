"""Which commit is measured. Figures that are kept belong to one, so a checkout with other changes than results has none."""
import subprocess

from comparison.servers import ROOT


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def measured_commit():
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/results", ":!README.md"):
        raise SystemExit("the checkout has changes: nobody could find out what was measured")
    return git("rev-parse", "--short=10", "HEAD")
