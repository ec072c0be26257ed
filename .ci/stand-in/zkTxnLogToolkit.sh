#!/bin/bash
# Shows a transaction log, as the official image's script of this name does.
set -eu
exec /usr/lib/jvm/default-java/bin/java -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
  org.apache.zookeeper.server.persistence.TxnLogToolkit "$@"
