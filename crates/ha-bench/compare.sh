#!/usr/bin/env bash
# compare.sh OUTDIR: measures this project, and its peers where their programs are, on one ZooKeeper in one run.
# Writes OUTDIR/results.jsonl (every line that a program printed) and OUTDIR/comparison.md (the table).
#
#   PEERS_DIR=FOLDER   the peers' programs (run_peers.sh, java/, py/), which are not part of this repository; without it
#                      this project is measured alone
#   PEERS="flink curator kazoo"   which of them
#   ROUNDS=3           everything is run so often, one after the other; the table has the medians of the rounds
#   PLACES="memory disk"   where ZooKeeper's log and the HA storage directory lie: below /dev/shm, or below WORK
#   ONLY="raw w1 w2 w3 w4 w5 w6 w7"   these workloads; on the disk those of DISK_ONLY="raw w1 w2 w3 w4" alone
#   SCALE=1            divides the numbers of operations; SCALE=20 is a smoke test
#   HA_BENCH=FILE      the program; else it is built, with --release
#   PORT=24281 WORK=${TMPDIR:-/tmp}/ha-compare
#
# Needs Debian's ZooKeeper (installed where it is missing), python3, and a machine that has nothing else to do.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "${1:?compare.sh OUTDIR}")
ROUNDS=${ROUNDS:-3} PLACES=${PLACES:-memory disk} SCALE=${SCALE:-1} PORT=${PORT:-24281}
ONLY=${ONLY:-raw w1 w2 w3 w4 w5 w6 w7} DISK_ONLY=${DISK_ONLY:-raw w1 w2 w3 w4}
PEERS=${PEERS:-flink curator kazoo} PEERS_DIR=${PEERS_DIR:-} WORK=${WORK:-${TMPDIR:-/tmp}/ha-compare}
mkdir -p "$out" "$WORK"
zk=127.0.0.1:$PORT

dpkg -s zookeeper >/dev/null 2>&1 || { apt-get update -q >/dev/null && apt-get install -y -q zookeeper >/dev/null; }
if [ -z "${HA_BENCH:-}" ]; then
  (cd "$here" && cargo build --release --locked -p ha-bench)
  HA_BENCH=$(cd "$here" && cargo metadata --no-deps --format-version 1 --locked |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release/ha-bench
fi
command_rust=("$HA_BENCH")
contestants=rust
if [ -n "$PEERS_DIR" ]; then
  # No rounds: it installs and compiles what the peers need, and measures nothing.
  ROUNDS=0 WORK=$WORK/peers PORT=$PORT "$PEERS_DIR/run_peers.sh" "$WORK/peers/prepared" >/dev/null
  cache=$WORK/peers/cache java=/usr/share/java
  flink=$(echo "$cache"/flink-*/)
  plain=$cache/classes/plain
  for jar in curator-recipes curator-framework curator-client zookeeper slf4j-nop; do plain=$plain:$java/$jar.jar; done
  # shellcheck disable=SC2034 # by name, below
  command_flink=(java "-Dlog4j2.configurationFile=$PEERS_DIR/java/log4j2.properties"
    -cp "$cache/classes/flink:$flink*" peers.FlinkBench)
  # shellcheck disable=SC2034
  command_curator=(java -cp "$plain" peers.CuratorBench)
  # shellcheck disable=SC2034
  command_kazoo=("$WORK/peers/venv/bin/python" "$PEERS_DIR/py/kazoo_bench.py")
  contestants="$PEERS rust"
fi

server=
data=
stop_server() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  [ -z "$data" ] || rm -rf "$data"
  server='' data=''
}
trap stop_server EXIT

start_server() { # FOLDER
  data=$1
  mkdir -p "$data/zookeeper" "$data/ha"
  cat >"$data/zoo.cfg" <<C
tickTime=2000
dataDir=$data/zookeeper
clientPort=$PORT
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
forceSync=yes
snapCount=1000000
maxSessionTimeout=60000
C
  java -Xmx2g -Djava.awt.headless=true -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$data/zoo.cfg" >"$out/zookeeper.log" 2>&1 &
  server=$!
  python3 "$here/compare.py" wait "$zk" || { echo "ZooKeeper did not start, see $out/zookeeper.log" >&2; exit 1; }
}

has() { [[ " $only " == *" $1 "* ]]; }
n() { echo $(($1 / SCALE > 0 ? $1 / SCALE : 1)); }
keep() { python3 "$here/compare.py" keep "$place" "$round" >>"$out/results.jsonl"; }
run() { # WHO WORKLOAD [OPTION...]
  local -n command=command_$1
  local who=$1
  shift
  timeout 300 "${command[@]}" "$@" --zk "$zk" --dir "$data/ha" 2>>"$out/errors.log" | keep ||
    echo "failed: $who $*" | tee -a "$out/errors.log" >&2
}

: >"$out/results.jsonl"
: >"$out/errors.log"
for round in $(seq "$ROUNDS"); do
  for place in $PLACES; do
    case $place in
    memory) only=$ONLY folder=/dev/shm/ha-compare-$$ ;;
    disk)
      folder=$WORK/data-$$ only=
      for workload in $ONLY; do [[ " $DISK_ONLY " != *" $workload "* ]] || only="$only $workload"; done
      ;;
    *)
      echo "PLACES is of memory and disk, not $place" >&2
      exit 2
      ;;
    esac
    echo "$(date +%T) round $round, $place"
    start_server "$folder"
    if has raw; then
      run rust raw --n "$(n 2000)"
      python3 "$here/compare.py" files "$data/ha" "$(n 300)" | keep
    fi
    for who in $contestants; do
      if has w1; then run "$who" w1 --n "$(n 2000)"; fi
      if has w2; then run "$who" w2 --n "$(n 1000)"; fi
      if has w3; then run "$who" w3 --n "$(n 1000)"; fi
      if has w4; then
        run "$who" w4 --mode graceful --n "$(n 50)"
        run "$who" w4 --mode crash --n "$(n 50)"
      fi
      if has w5; then
        run "$who" w5 --listeners "$(n 200)" --clients shared --n "$(n 40)"
        run "$who" w5 --listeners "$(n 1000)" --clients shared --n "$(n 20)"
        run "$who" w5 --listeners "$(n 200)" --clients own --n "$(n 20)"
      fi
      # The others have no store of job results.
      if has w7 && [[ $who = rust || $who = flink ]]; then
        for delete in true false; do run "$who" w7 --delete-on-commit $delete --n "$(n 500)"; done
      fi
      if has w6; then
        declare -n command=command_$who
        python3 "$here/compare.py" footprint "$who" "$(n 10)" \
          "${command[@]}" w6 --zk "$zk" --dir "$data/ha" 2>>"$out/errors.log" | keep
        unset -n command
      fi
    done
    stop_server
  done
done
{
  echo "Measured on $(date -u +%F) at $(cd "$here" && git rev-parse --short HEAD 2>/dev/null || echo 'an unknown commit'):" \
    "$(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(uname -sr)," \
    "ZooKeeper $(dpkg-query -W -f '${Version}' zookeeper), $(rustc --version)," \
    "$(java -version 2>&1 | head -n 1). $ROUNDS rounds, operations divided by $SCALE."
  python3 "$here/compare.py" table "$out/results.jsonl"
} >"$out/comparison.md"
echo "wrote $out/comparison.md"
