//! What becomes of the stores' data on a real server, by the whole services: when replies are lost while leadership
//! moves, when a deposed process's writes arrive late, when somebody spoils znodes and files; and how many requests
//! each write and each recovery costs (design §8, §9; I2, I5 to I8, I12).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod deposed_writers;
mod expired_sessions;
mod foreign_hands;
mod held_clock;
mod lost_replies;
mod lost_replies_job;
mod numbered;
mod requests;
mod rig;
