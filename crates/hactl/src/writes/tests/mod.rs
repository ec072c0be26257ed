mod files;
mod golden;
mod plans;
mod shown;
mod world;

pub(crate) use golden::settled;
