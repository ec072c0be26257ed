//! The program `ha-cluster`; see the library of the same name.

fn main() -> std::process::ExitCode {
    ha_cluster::cli::main()
}
