//! The command line `datafusion-toolset`.

fn main() {}
