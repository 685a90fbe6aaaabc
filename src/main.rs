//! The `tickbound` program; see [`tickbound::cli`].

fn main() -> std::process::ExitCode {
    tickbound::cli::main()
}
