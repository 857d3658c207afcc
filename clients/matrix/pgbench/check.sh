#!/usr/bin/env bash
# pgbench: initialisation by client and by server, all built-in scripts in all protocols.
failures=0
step() {  # step NAME COMMAND …
  local name=$1 output
  shift
  if output=$("$@" 2>&1) && ! grep -qE 'number of failed transactions: [1-9]|aborted' <<<"$output"; then
    echo "ok $name"
  else
    echo "FAIL $name: $(grep -iE 'error|fatal|aborted|failed' <<<"$output" | head -1)"
    failures=$((failures + 1))
  fi
}
balanced() {
  # Every transaction adds the same amount to four tables.
  [[ $(psql -Atc "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history) AND
                         (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)") == t ]]
}
step "-i" pgbench -i -s 1
step "-i by the server, with foreign keys" pgbench -i -s 1 -I dtGvpf
for protocol in simple extended prepared; do
  for script in tpcb-like simple-update select-only; do
    step "$script $protocol" pgbench -n -b "$script" -M "$protocol" -c 4 -j 2 -t 100
  done
done
step "-i for the sums" pgbench -i -q -s 1
step "tpcb-like, connection each time" pgbench -n -C -c 2 -t 20
step "the sums agree" balanced
pipeline=$(mktemp)
printf '%s\n' '\startpipeline' 'SELECT 1;' 'SELECT 2;' 'SELECT 3;' '\endpipeline' >"$pipeline"
step "pipeline" pgbench -n -f "$pipeline" -M extended -c 2 -t 50
rm -f "$pipeline"
exit $failures
