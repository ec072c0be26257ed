//! What is told of a cluster on the server in memory, over a connection that goes down and a session that ends. Time is
//! paused: it passes only where everybody waits.

mod changes;
mod connection;
mod fixture;
mod flink;
