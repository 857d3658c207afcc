"""Programs of others, from the registries that they come from, each into a folder of its own. Where a registry
cannot be reached, or a tool is missing that installs from it, there is None instead."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from comparison.servers import ROOT, TO_NOWHERE


def newest_clients():
    """The folder of a psql and a pg_dump of PostgreSQL 18 or later."""
    done = subprocess.run([ROOT / "scripts" / "postgres-clients"], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip())


def from_pypi(place, packages):
    """The folder of programs of a virtual environment that has the packages."""
    place = pathlib.Path(place)
    mark = place / "packages"
    wanted = "\n".join(packages)
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        if subprocess.run([place / "bin" / "pip", "install", "-q", "--timeout", "20", "--retries", "1",
                           *packages]).returncode != 0:
            shutil.rmtree(place)
            return None
        mark.write_text(wanted)
    return place / "bin"


def from_npm(place, packages):
    """A folder whose node_modules has the packages."""
    place = pathlib.Path(place)
    mark = place / "packages"
    wanted = "\n".join(packages)
    if shutil.which("npm") is None:
        return None
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "package.json").write_text('{"private": true, "type": "module"}\n')
        if subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], cwd=place,
                          **TO_NOWHERE).returncode != 0:
            shutil.rmtree(place)
            return None
        mark.write_text(wanted)
    return place


def from_go(place, sources):
    """The program that the folder of sources makes, with the modules that its go.mod names; beside it, in "tools",
    the programs that it names as tools."""
    place = pathlib.Path(place)
    if shutil.which("go") is None:
        return None
    shutil.copytree(sources, place, dirs_exist_ok=True)
    with open(place / "log", "w") as log:
        commands = [["go", "mod", "tidy"], ["go", "build", "-o", "check", "."]]
        if re.search(r"^tool ", (place / "go.mod").read_text(), re.M):
            commands.append(["go", "build", "-o", "tools/", "tool"])
        for words in commands:
            if subprocess.run(words, cwd=place, stdout=log, stderr=log).returncode != 0:
                return None
    return place / "check"


def from_maven(place, sources):
    """Returns a class path with the dependencies of the folder's pom.xml."""
    place = pathlib.Path(place)
    if shutil.which("mvn") is None or shutil.which("java") is None:
        return None
    pom = (pathlib.Path(sources) / "pom.xml").read_text()
    mark = place / "pom.xml"
    if not mark.exists() or mark.read_text() != pom:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        mark.write_text(pom)
        if subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"], cwd=place,
                          **TO_NOWHERE).returncode != 0:
            shutil.rmtree(place)
            return None
    return f"{place}/jars/*"


def from_debian(place, packages):
    """Unpacks Debian packages, and those of their dependencies that the system lacks, into a folder; installs
    nothing."""
    place = pathlib.Path(place)
    mark = place / "packages"
    wanted = "\n".join(packages)
    if mark.exists() and mark.read_text() == wanted:
        return place
    shutil.rmtree(place, ignore_errors=True)
    archives = place / "archives"
    (archives / "partial").mkdir(parents=True)
    words = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "--download-only", "-o",
             f"Dir::Cache::Archives={archives}", *packages]
    if subprocess.run(words, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, **TO_NOWHERE).returncode != 0:
        shutil.rmtree(place)
        return None
    # Those that the system has.
    for package in packages:
        if not list(archives.glob(package + "_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=archives, **TO_NOWHERE)
    archive = next(archives.glob(packages[0] + "_*.deb"))
    (place / "version").write_text(archive.name.split("_")[1].replace("%3a", ":"))
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg", "-x", archive, place], check=True)
    shutil.rmtree(archives)
    mark.write_text(wanted)
    return place
