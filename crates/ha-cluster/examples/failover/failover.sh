#!/usr/bin/env bash
# A job survives losing its leader: three cluster processes on one ZooKeeper, a throttled word count over 20 MB, and
# kill -9 for the leading process. Needs a ZooKeeper server; its address is the first argument (default
# 127.0.0.1:2181). Everything else is made in a temporary folder, and ends with the script.
set -euo pipefail

quorum="${1:-127.0.0.1:2181}"
cluster="failover-$$"
bin="${CARGO_TARGET_DIR:-target}/debug"
work="$(mktemp -d)"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }

options=(
  -D high-availability=zookeeper
  -D "high-availability.zookeeper.quorum=$quorum"
  -D "high-availability.storageDir=$work/ha"
  -D "high-availability.cluster-id=$cluster"
  -D "high-availability.zookeeper.client.session-timeout=6 s"
)

say "making a text of 20 MB"
awk 'BEGIN { srand(7); for (n = 0; n < 200000; n++) { line = ""; for (w = 0; w < 17; w++) line = line "w" int(rand() * 5000) " "; print line } }' >"$work/text"
cat >"$work/job.json" <<JOB
{"name":"failover","source":"$work/text","sink":"$work/counts","checkpoint_interval":"500 ms","lines_per_second":7000}
JOB

say "starting three cluster processes"
for name in one two three; do
  "$bin/ha-cluster" run --name "$name" --rest 127.0.0.1:0 "${options[@]}" 2>"$work/$name.log" &
  pids+=($!)
done

say "submitting the job"
"$bin/ha-cluster" submit "$work/job.json" --wait "${options[@]}" &
submit=$!
pids+=("$submit")

say "waiting for its first checkpoint"
until "$bin/hactl" jobs --output json "${options[@]}" 2>/dev/null | grep -q '"latestCheckpointId": *[0-9]'; do
  kill -0 "$submit" 2>/dev/null || { echo "the job ended before it was seen" >&2; exit 1; }
  sleep 1
done

say "who leads"
"$bin/hactl" leaders "${options[@]}"
say "its checkpoints so far"
"$bin/hactl" jobs "${options[@]}"

# Exactly one process has restored or started the job by now: the leading one.
leader="$(grep -l 'starts from the beginning' "$work"/{one,two,three}.log | head -n 1)"
name="$(basename "$leader" .log)"
case "$name" in one) pid=${pids[0]} ;; two) pid=${pids[1]} ;; *) pid=${pids[2]} ;; esac
say "killing the leading process, $name, with -9"
kill -9 "$pid"

say "waiting for the job to finish under another leader"
wait "$submit"
grep -h 'restored from checkpoint\|ended: ' "$work"/{one,two,three}.log | sed 's/^[^ ]* *INFO //' || true

say "comparing the result with sort and uniq"
tr -s ' \t\n\v\f\r' '\n' <"$work/text" | LC_ALL=C grep -av '^$' | LC_ALL=C sort | LC_ALL=C uniq -c |
  awk '{ print $2 "\t" $1 }' | cmp - "$work/counts"
"$bin/hactl" results "${options[@]}"
say "equal: the job survived losing its leader"
