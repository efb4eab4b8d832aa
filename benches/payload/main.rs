//! `cargo bench --bench payload`: what an answer costs, from the file to the text.
//!
//! First the whole way over wide and narrow tables, against two usual ways over plain DataFusion, with the peak memory
//! of a process of its own; then the encoder alone. `-- tables` or `-- encoder` runs one of the two.

mod chart;
mod encoder;
mod paths;
mod tables;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["child", path, case] => paths::child(path, case),
        ["tables", ..] => paths::run(),
        ["encoder", ..] => encoder::run(),
        _ => {
            paths::run();
            encoder::run();
        }
    }
}
