//! The command line `datafusion-toolset`: a face over the library's [`Toolset`](datafusion_toolset::Toolset).

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
