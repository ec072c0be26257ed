//! ha-zookeeper
