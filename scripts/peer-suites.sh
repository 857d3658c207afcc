# Sourced by scripts/peer-suites: for each suite fetch_NAME (download and build), run_NAME (against
# PGHOST:PGPORT as PGUSER; output to stdout) and results_NAME (its output as "PASS|FAIL|SKIP name:
# reason"). Names of functions may contain - in bash.

peer_python() {  # peer_python PACKAGE …: the shared virtual environment, with the packages in it
  [[ -x $work/python/bin/python ]] || python3 -m venv "$work/python"
  # Unpacking sources needs a setuptools that reads today's form of pyproject.toml; Python 3.11's own does not.
  "$work/python/bin/pip" install -q 'setuptools>=77' wheel "$@"
}
peer_source() {  # peer_source NAME VERSION: a source distribution, unpacked
  [[ -d $work/$1-$2 ]] && return
  "$work/python/bin/pip" download -q --no-deps --no-build-isolation --no-binary :all: \
    -d "$work" "$1==$2" || return 1
  tar xzf "$work/$(ls "$work" | grep -i "^$1-$2.tar.gz")" -C "$work"
}
# pytest -v's line per test, and the reasons of its summary, which is missing when time ran out.
pytest_results() {
  # "file::class::test <- where it comes from PASSED [ 7%]"; the name may hold blanks.
  awk 'match($0, / (PASSED|FAILED|ERROR|SKIPPED|XFAIL) +\[ *[0-9]+%\]$/) {
         name = substr($0, 1, RSTART - 1); sub(/ <- .*/, "", name); gsub(/ /, "_", name)
         word = substr($0, RSTART + 1, 6)
         if (verdict[name] != "FAIL")
           verdict[name] = word ~ /^(PASSED|XFAIL)/ ? "PASS" : word ~ /^SKIPPE/ ? "SKIP" : "FAIL"
         next }
       /^(FAILED|ERROR) [^ ]*::/ {
         name = $0; sub(/^[A-Z]* /, "", name); text = ""
         if ((at = index(name, " - ")) > 0) { text = substr(name, at + 3); name = substr(name, 1, at - 1) }
         gsub(/ /, "_", name); reason[name] = text }
       END { for (name in verdict) print verdict[name], name ": " reason[name] }'
}
# With -test.v a test's words come before its verdict.
go_test_results() {
  awk '/^=== RUN +[^\/]*$/ { reason = "" }
       /^--- (PASS|FAIL|SKIP): / { print substr($2, 1, 4), $3 ": " reason; reason = ""; next }
       reason == "" && (/ERROR:|FATAL:|panic:|Error:|expected|SQLSTATE/) {
         reason = $0; sub(/^[ \t]*/, "", reason)
         if (match(reason, /(ERROR|FATAL): .*/)) reason = substr(reason, RSTART) }'
}

# --- asyncpg ---------------------------------------------------------------------------------------
fetch_asyncpg() {
  peer_python asyncpg==0.31.0 pytest pytest-timeout distro && peer_source asyncpg 0.31.0 &&
    rm -rf "$work/asyncpg-tests" && mkdir "$work/asyncpg-tests" &&
    cp -r "$work/asyncpg-0.31.0/tests" "$work/asyncpg-tests/"
}
run_asyncpg() {
  cd "$work/asyncpg-tests" && "$work/python/bin/python" -m pytest -v -rfE --tb=line --timeout 10 \
    -p no:warnings -p no:cacheprovider ${only:+-k "$only"} tests
}
results_asyncpg() { pytest_results; }

# --- SQLAlchemy ------------------------------------------------------------------------------------
fetch_sqlalchemy() {
  peer_python sqlalchemy==2.0.44 'psycopg[binary]' psycopg2-binary 'pytest<9' pytest-timeout &&
    peer_source sqlalchemy 2.0.44 || return 1
  # Without CREATE EXTENSION, which is refused, it would not begin.
  sed -i '/^    ("citext"/d; /^    ("hstore"/d' \
    "$work/sqlalchemy-2.0.44/lib/sqlalchemy/dialects/postgresql/provision.py"
}
run_sqlalchemy() {
  psql -qc 'CREATE SCHEMA test_schema' -c 'CREATE SCHEMA test_schema_2'
  cd "$work/sqlalchemy-2.0.44" && "$work/python/bin/python" -m pytest -v -rfE --tb=line \
    --timeout 60 -p no:warnings -p no:cacheprovider --maxfail=100000 ${only:+-k "$only"} \
    --dburi "postgresql+${PEER_DRIVER:-psycopg2}://postgres@$PGHOST:$PGPORT/postgres" \
    test/dialect/test_suite.py
}
results_sqlalchemy() { pytest_results; }

# --- pgx -------------------------------------------------------------------------------------------
fetch_pgx() {
  local version=v5.7.6
  export GOFLAGS=-modcacherw
  go mod download "github.com/jackc/pgx/v5@$version" 2>/dev/null ||
    (cd /tmp && go mod download -json "github.com/jackc/pgx/v5@$version") || return 1
  [[ -d $work/pgx ]] || { cp -r "$(go env GOMODCACHE)/github.com/jackc/pgx/v5@$version" "$work/pgx" &&
    chmod -R u+w "$work/pgx"; }
  cd "$work/pgx" || return 1
  local package
  for package in . pgconn pgconn/ctxwatch pgproto3 pgtype pgtype/zeronull pgxpool stdlib tracelog; do
    [[ -x $package/suite.test ]] || go test -c -o "$package/suite.test" "./$package" || return 1
  done
  cd "$root"
}
run_pgx() {
  export PGX_TEST_DATABASE="host=$PGHOST port=$PGPORT user=postgres database=postgres"
  export PGX_TEST_TCP_CONN_STRING=$PGX_TEST_DATABASE
  export PGX_TEST_UNIX_SOCKET_CONN_STRING="host=$socket port=$PGPORT user=postgres database=postgres"
  unset PGHOST PGPORT PGUSER PGDATABASE
  local package name
  for package in . pgconn pgconn/ctxwatch pgproto3 pgtype pgtype/zeronull pgxpool stdlib tracelog; do
    # One at a time, so that a panic ends one test and not its package. One of them has ten parts of
    # four seconds, as many at once as there are processors.
    (cd "$work/pgx/$package" && for name in $(./suite.test -test.list "${only:-.*}" | grep '^Test'); do
      timeout 60 ./suite.test -test.v -test.timeout 50s -test.run "^$name\$" 2>&1 |
        awk -v name="$name" '{ print } /^--- / { done = 1 }
             END { if (!done) print "--- FAIL: " name " (0s)" }'
    done)
  done
}
results_pgx() { go_test_results; }

# --- tokio-postgres ---------------------------------------------------------------------------------
fetch_tokio-postgres() {
  local version=0.7.14
  [[ -d $work/tokio-postgres-$version ]] || curl -fsSL \
    "https://static.crates.io/crates/tokio-postgres/tokio-postgres-$version.crate" |
    tar xz -C "$work" || return 1
  cd "$work/tokio-postgres-$version" &&
    sed -i -E "s/(localhost|127\.0\.0\.1):[0-9]+/127.0.0.1:${PEER_PORT:-24328}/g; s/port=[0-9]+/port=${PEER_PORT:-24328}/g; s/host=localhost/host=127.0.0.1/g" tests/test/{main,runtime}.rs &&
    CARGO_TARGET_DIR=$work/tokio-target cargo test --no-run -q \
      --features array-impls,with-uuid-1,with-chrono-0_4,with-serde_json-1 --test test
  cd "$root"
}
run_tokio-postgres() {
  psql -qc "CREATE ROLE pass_user PASSWORD 'password' LOGIN" -c \
    "CREATE ROLE scram_user PASSWORD 'password' LOGIN" -c "CREATE ROLE md5_user LOGIN"
  cd "$work"/tokio-postgres-0.7.14 && CARGO_TARGET_DIR=$work/tokio-target cargo test \
    --features array-impls,with-uuid-1,with-chrono-0_4,with-serde_json-1 --test test -- \
    --test-threads 2 $only
}
results_tokio-postgres() {
  awk '/^test .* \.\.\. (ok|FAILED|ignored)/ { verdict[$2] = $NF }
       /^---- .* stdout ----/ { name = $2 }
       name != "" && !(name in reason) && match($0, /message: "[^"]*"|assertion.*|error.*/) {
         reason[name] = substr($0, RSTART, RLENGTH) }
       END { for (name in verdict) {
               word = verdict[name] == "ok" ? "PASS" : verdict[name] == "FAILED" ? "FAIL" : "SKIP"
               print word, name ": " reason[name] } }'
}

# --- Django ----------------------------------------------------------------------------------------
export DJANGO_APPS="aggregation aggregation_regress annotations basic bulk_create constraints custom_columns
  custom_lookups custom_managers custom_pk datatypes dates datetimes db_functions defer defer_regress
  delete delete_regress distinct_on_fields expressions expressions_case expressions_window
  extra_regress field_defaults filtered_relation foreign_object generic_relations get_or_create
  indexes introspection lookup m2m_through many_to_many many_to_one model_fields model_inheritance
  ordering prefetch_related queries schema select_for_update select_related transactions update"
fetch_django() {
  peer_python 'django==5.2' 'psycopg[binary]' && peer_source Django 5.2 || return 1
  local tests=$work/Django-5.2
  [[ -d $tests ]] || tests=$work/django-5.2
  ln -sfn "$tests" "$work/django-source"
  # One database of ours, which is kept and emptied; "other" is only there because the suite asks.
  cat >"$work/django-source/tests/peer_settings.py" <<'SETTINGS'
import os
DATABASES = {
    "default": {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres",
                "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
                "TEST": {"NAME": "postgres"}},
    "other": {"ENGINE": "django.db.backends.sqlite3"},
}
SECRET_KEY = "peer"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
# There are no ICU collations; without this the models of one suite cannot be made.
from django.db.backends.postgresql.features import DatabaseFeatures
DatabaseFeatures.test_collations = {
    "deterministic": "C", "non_default": None, "swedish_ci": None, "virtual": None}
SETTINGS
}
run_django() {
  cd "$work/django-source/tests" || return 1
  local app
  for app in ${only:-$DJANGO_APPS}; do
    psql -qc 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public' 2>/dev/null
    echo "== $app"
    timeout 240 "$work/python/bin/python" runtests.py --settings=peer_settings --keepdb --parallel 1 \
      --noinput -v 2 "$app" 2>&1
  done
}
results_django() {
  # "test_x (module.Class.test_x)", perhaps a line of its description, "... ok"; then the tracebacks.
  awk '
    match($0, /^test[A-Za-z0-9_]* \([A-Za-z0-9_.]*\)/) {
      name = substr($0, RSTART, RLENGTH); sub(/^.*\(/, "", name); sub(/\)$/, "", name) }
    /^== / { app = $2; setup = ""; if (!(app in seen)) seen[app] = 0 }
    / \.\.\. (ok|FAIL|ERROR|skipped.*|expected failure)$/ && name != "" {
      verdict[name] = /\.\.\. ok$|expected failure$/ ? "PASS" : /skipped/ ? "SKIP" : "FAIL"
      seen[app]++; name = "" }
    /^(ERROR|FAIL): / {
      failing = $0; sub(/^[A-Z]*: [^(]*\(/, "", failing); sub(/\).*$/, "", failing)
      if (verdict[failing] != "FAIL" && $0 ~ /setUpClass|setUpModule/) verdict[failing] = "FAIL"
      else if (!(failing in verdict)) verdict[failing] = "FAIL" }
    /^[A-Za-z_.]*(Error|Exception|NotSupported|Violation|Warning)[A-Za-z]*: / {
      last = $0
      if (failing != "" && !(failing in reason)) reason[failing] = $0 }
    /^Ran / { failing = "" }
    END {
      for (name in verdict) print verdict[name], name ": " reason[name]
      for (app in seen) if (!seen[app]) print "FAIL", app ".setup: " last }'
}

# --- pgjdbc ----------------------------------------------------------------------------------------
fetch_pgjdbc() {
  local version=42.7.10
  local name=postgresql-$version-jdbc-src
  [[ -d $work/$name ]] || curl -fsSL \
    "https://repo1.maven.org/maven2/org/postgresql/postgresql/$version/$name.tar.gz" |
    tar xz -C "$work" || return 1
  ln -sfn "$work/$name" "$work/pgjdbc"
  cd "$work/pgjdbc" && mvn -q -B -DskipTests test-compile dependency:build-classpath \
    -Dmdep.outputFile="$work/pgjdbc.classpath" -Dmdep.includeScope=test
  local code=$?
  cd "$root"
  return $code
}
run_pgjdbc() {
  cd "$work/pgjdbc" || return 1
  cat >build.properties <<PROPERTIES
test.url.PGHOST=$PGHOST
test.url.PGPORT=$PGPORT
secondaryServer1=localhost
secondaryPort1=$PGPORT
secondaryServer2=localhost
secondaryPort2=$PGPORT
user=postgres
password=
test.url.PGDBNAME=postgres
username=postgres
database=postgres
server=$PGHOST
port=$PGPORT
privilegedUser=postgres
privilegedPassword=
sspiusername=testsspi
preparethreshold=5
protocolVersion=3
PROPERTIES
  rm -rf target/surefire-reports
  # It ends in time to leave the reports of the classes that it has finished.
  timeout $((limit - 30)) mvn -B -Dmaven.test.failure.ignore=true -DfailIfNoTests=false \
    ${only:+-Dtest="$only"} \
    -Dtest.url.PGHOST="$PGHOST" -Dtest.url.PGPORT="$PGPORT" surefire:test
  # One line per test, from Surefire's reports.
  python3 - <<'REPORTS'
import glob, xml.etree.ElementTree as tree
for report in glob.glob("target/surefire-reports/TEST-*.xml"):
    for case in tree.parse(report).getroot().iter("testcase"):
        name = (case.get("classname") + "." + case.get("name")).replace(" ", "_").replace(":", "_")
        problem = next((e for e in case if e.tag in ("failure", "error")), None)
        if problem is not None:
            message = " ".join((problem.get("message") or problem.text or "").split())
            print("FAIL", name + ":", message[:200])
        elif case.find("skipped") is not None:
            print("SKIP", name + ":")
        else:
            print("PASS", name + ":")
REPORTS
}
results_pgjdbc() { grep -E '^(PASS|FAIL|SKIP) [^ ]*:' || true; }

# --- Debian source packages ------------------------------------------------------------------------
debian_source() {  # debian_source PACKAGE: unpacked below $work
  compgen -G "$work/$1-*/" >/dev/null && return
  local place=$work/apt
  mkdir -p "$place/lists/partial" "$place/parts"
  # Of the first archive alone: others may list sources that they no longer have.
  awk 'BEGIN { RS = "" } NR == 1 { sub(/Types:[^\n]*/, "Types: deb-src"); print }' \
    /etc/apt/sources.list.d/debian.sources >"$place/parts/source.sources"
  local options=(-qq -o "Dir::Etc::sourceparts=$place/parts" -o "Dir::State::lists=$place/lists")
  apt-get "${options[@]}" update && (cd "$work" && apt-get "${options[@]}" source --download-only "$1" &&
    mkdir -p "$1-source" && tar xf "$1"_*.orig.tar.* -C "$1-source" --strip-components 1)
}

fetch_libpq_pipeline() {
  # The package brings headers and libraries that the program needs.
  "$root/scripts/setup" postgresql-server-dev-15 && debian_source postgresql-15 || return 1
  local place
  place=$(dirname "$(find "$work"/postgresql-15-*/ -name libpq_pipeline.c | head -1)")
  ln -sfn "$place" "$work/pipeline-source"
  cc -O1 -w -o "$work/libpq_pipeline" "$place/libpq_pipeline.c" -I"$(pg_config --includedir)" \
    -I"$(pg_config --includedir)/internal" -I/usr/include/postgresql/15/server \
    -L/usr/lib/postgresql/15/lib -lpq -lpgcommon -lpgport
}
run_libpq_pipeline() {
  local name
  for name in $("$work/libpq_pipeline" tests); do
    if timeout 60 "$work/libpq_pipeline" -t "$work/$name.trace" -r 700 "$name" \
        "host=$PGHOST port=$PGPORT user=postgres dbname=postgres" >"$work/$name.log" 2>&1; then
      # Its recorded trace, where there is one, has to be the same.
      if [[ -s $work/pipeline-source/traces/$name.trace ]] &&
          ! diff -q "$work/pipeline-source/traces/$name.trace" "$work/$name.trace" >/dev/null; then
        echo "FAIL $name: the trace differs"
        diff "$work/pipeline-source/traces/$name.trace" "$work/$name.trace" | head -20
      else
        echo "PASS $name:"
      fi
    else
      echo "FAIL $name: $(tail -1 "$work/$name.log")"
    fi
  done
}
results_libpq_pipeline() { grep -E '^(PASS|FAIL) '; }

fetch_libpqxx() {
  debian_source libpqxx || return 1
  # The headers and the library are the package's own, of the same version.
  local place=$work/libpqxx-source/test objects=$work/libpqxx-objects
  mkdir -p "$objects/unit"
  (cd "$place" && find . -name '*.cxx' | while read -r file; do
    [[ -s $objects/${file%.cxx}.o ]] || echo "${file%.cxx}"
  done | xargs -r -P 2 -I '{}' c++ -std=c++17 -w -O0 -I. -I"$(pg_config --includedir)" -c '{}.cxx' \
    -o "$objects/{}.o") &&
    c++ -o "$work/libpqxx-runner" "$objects"/*.o -lpqxx -lpq &&
    c++ -o "$work/libpqxx-unit-runner" "$objects"/unit/*.o -lpqxx -lpq
}
run_libpqxx() {
  timeout 300 "$work/libpqxx-runner" $only
  timeout 300 "$work/libpqxx-unit-runner" $only
}
results_libpqxx() {
  # "Running: name", then nothing, or what went wrong, then perhaps "FAILED: name". A test that meets
  # 0A000 passes for the suite; here it counts as skipped.
  awk '/^Running: / { if (name != "") print verdict, name ": " reason
         name = $2; verdict = "PASS"; reason = ""; next }
       /^FAILED: / { verdict = "FAIL" }
       /^Not testing unsupported feature/ { verdict = "SKIP"; reason = $0 }
       /^(SQL error|Test failure|Exception|Unknown exception)/ && reason == "" { reason = $0 }
       /^Ran [0-9]+ test/ { print verdict, name ": " reason; name = "" }'
}

# --- load generators -------------------------------------------------------------------------------
fetch_sysbench() { "$root/scripts/setup" sysbench; }
run_sysbench() {
  local script action options=(--db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT"
    --pgsql-user=postgres --pgsql-db=postgres --tables=2 --table-size=2000 --threads=2 --time=3
    --events=0)
  for script in ${only:-oltp_read_write oltp_read_only oltp_write_only oltp_point_select oltp_insert
    oltp_delete oltp_update_index oltp_update_non_index select_random_points select_random_ranges}; do
    # These read one table.
    local tables=()
    [[ $script != select_random_* ]] || tables=(--tables=1)
    for action in prepare run cleanup; do
      if output=$(timeout 120 sysbench "$script" "${options[@]}" "${tables[@]}" "$action" 2>&1) &&
          ! grep -q FATAL <<<"$output"; then
        echo "PASS $script-$action:"
      else
        echo "FAIL $script-$action: $(grep -m1 FATAL <<<"$output")"
      fi
    done
  done
}
results_sysbench() { grep -E '^(PASS|FAIL) '; }

fetch_go-tpc() {
  local module=github.com/pingcap/go-tpc@v1.0.12
  [[ -x $work/go-tpc ]] && return
  # Not with `go install`: it asks for a list of versions as well, which not every proxy has.
  (cd "$work" && GOFLAGS=-modcacherw go mod download "$module") || return 1
  rm -rf "$work/go-tpc-source"
  cp -r "$(go env GOMODCACHE)/$module" "$work/go-tpc-source" && chmod -R u+w "$work/go-tpc-source" &&
    (cd "$work/go-tpc-source" && go build -o "$work/go-tpc" ./cmd/go-tpc)
}
run_go-tpc() {
  local action output options=(-d postgres --conn-params sslmode=disable -H "$PGHOST" -P "$PGPORT"
    -U postgres -D postgres --warehouses 1 -T 4)
  for action in prepare check run check cleanup; do
    local more=()
    # One of its conditions reads all of history for each customer, which takes minutes: once is enough.
    [[ $action != prepare ]] || more=(--no-check)
    [[ $action != run ]] || more=(--time 10s)
    if output=$(timeout 500 "$work/go-tpc" tpcc "${options[@]}" "$action" "${more[@]}" 2>&1) &&
        ! grep -qiE 'error|failed' <<<"$output"; then
      echo "PASS $action:"
    else
      echo "FAIL $action: $(grep -iE -m1 'error|failed' <<<"$output")"
    fi
    tail -5 <<<"$output"
  done
}
results_go-tpc() { grep -E '^(PASS|FAIL) '; }
