#!/usr/bin/env bash
# PgBouncer in transaction mode between clients and the server: more clients than connections.
failures=0
step() {  # step NAME COMMAND …
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok $name"
  else
    echo "FAIL $name: $(tail -1 <<<"$output")"
    failures=$((failures + 1))
  fi
}
place=$(mktemp -d)
port=$((PGPORT + 1))
cat >"$place/pgbouncer.ini" <<INI
[databases]
* = host=$PGHOST port=$PGPORT
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = plain
auth_file = $place/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
pidfile = $place/pid
logfile = $place/log
INI
# From 1.21 on it keeps prepared statements across its connections; before, they are not for this mode.
version=$(pgbouncer --version | sed -n 's/^PgBouncer //p')
knows_prepared=
if printf '1.21\n%s\n' "$version" | sort -VC; then
  knows_prepared=1
  echo "max_prepared_statements = 20" >>"$place/pgbouncer.ini"
fi
echo "\"$PGUSER\" \"$PGPASSWORD\"" >"$place/users"
# It refuses to run as root.
chmod -R a+rwX "$place"
run=()
((EUID != 0)) || run=(runuser -u nobody --)
"${run[@]}" pgbouncer -q "$place/pgbouncer.ini" >"$place/out" 2>&1 &
bouncer=$!
for ((i = 0; i < 100; ++i)); do
  PGPORT=$port psql -Atc 'SELECT 1' >/dev/null 2>&1 && break
  sleep 0.1
done
direct=$PGPORT
export PGPORT=$port
connections() { [[ $(PGPORT=$direct psql -Atc "SELECT count(*) <= 5 FROM pg_stat_activity") == t ]]; }
step "connect" psql -Atc 'SELECT 1'
step "initialise through it" pgbench -i -q -s 1
step "20 clients, simple" pgbench -n -M simple -c 20 -j 2 -t 20
step "20 clients, extended" pgbench -n -M extended -c 20 -j 2 -t 20
[[ -z $knows_prepared ]] || step "20 clients, prepared" pgbench -n -S -M prepared -c 20 -j 2 -t 50
step "few connections are used" connections
step "an error leaves the pool usable" bash -c '! psql -qc "BEGIN; SELECT 1/0" 2>/dev/null; psql -qAtc "SELECT 1"'
step "COPY" bash -c 'seq 100 | psql -qc "CREATE TABLE pb (k int)" -c "\copy pb FROM STDIN" -c "DROP TABLE pb"'
kill "$bouncer"
wait "$bouncer" 2>/dev/null
rm -rf "$place"
exit $failures
