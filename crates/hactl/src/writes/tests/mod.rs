mod files;
mod golden;
mod plans;
mod shown;
mod world;
