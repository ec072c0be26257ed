//! A healthy cluster has no finding; and for each check something wrong that this check finds, and no other.

mod files;
mod flink;
mod flink_world;
mod leadership;
mod shown;
mod state;
mod told;
mod world;
