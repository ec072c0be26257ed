#!/bin/bash
# `zkServer.sh start-foreground`, the one command of the official script that an image needs.
set -eu
[ "${1:-}" = start-foreground ] || { echo "usage: zkServer.sh start-foreground" >&2; exit 2; }
# Word splitting is meant: the variable holds flags.
exec /usr/lib/jvm/default-java/bin/java -Dorg.slf4j.simpleLogger.showDateTime=true ${SERVER_JVMFLAGS:-} \
  -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$ZOO_CONF_DIR/zoo.cfg"
