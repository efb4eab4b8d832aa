//! `docs/payload.svg`: time and peak memory of each case by each way, on a logarithmic scale.

use std::fmt::Write;
use std::path::Path;

use crate::paths::{Cost, PATHS};

const WIDTH: f64 = 920.0;
const LABEL: f64 = 210.0;
const PANEL: f64 = 330.0;
const BAR: f64 = 11.0;
const COLOURS: [&str; 3] = ["#0072b2", "#e69f00", "#999999"];

/// Draws the chart into the repository's `docs`.
pub(crate) fn draw(costs: &[(&str, [Cost; 3])]) {
    let row = 3.0 * BAR + 12.0;
    let height = 70.0 + row * costs.len() as f64;
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\"><rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>"
    );
    for (at, name) in PATHS.iter().enumerate() {
        let x = LABEL + 180.0 * at as f64;
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"12\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{}\" y=\"22\">{name}</text>",
            COLOURS[at],
            x + 16.0
        );
    }
    for (title, x) in [("time", LABEL), ("peak memory of the process", LABEL + PANEL + 20.0)] {
        let _ = write!(svg, "<text x=\"{x}\" y=\"46\" font-weight=\"bold\">{title} (logarithmic)</text>");
    }
    for (at, (name, ways)) in costs.iter().enumerate() {
        let y = 58.0 + row * at as f64;
        let _ = write!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>", LABEL - 8.0, y + 21.0);
        for (way, cost) in ways.iter().enumerate() {
            let y = y + BAR * way as f64;
            let milliseconds = cost.time.as_secs_f64() * 1e3;
            let megabytes = cost.peak as f64 / 1e6;
            bar(&mut svg, (LABEL, y), milliseconds / 0.5, 10_000.0, COLOURS[way], &format!("{milliseconds:.1} ms"));
            let x = LABEL + PANEL + 20.0;
            bar(&mut svg, (x, y), megabytes / 10.0, 400.0, COLOURS[way], &format!("{megabytes:.0} MB"));
        }
    }
    svg.push_str("</svg>\n");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    std::fs::create_dir_all(&docs).expect("the folder docs");
    std::fs::write(docs.join("payload.svg"), svg).expect("a written chart");
}

/// A bar of `value` between 1 and `most`, with its text.
fn bar(svg: &mut String, (x, y): (f64, f64), value: f64, most: f64, colour: &str, text: &str) {
    let length = (value.max(1.0).log10() / most.log10() * (PANEL - 60.0)).max(1.0);
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\
         <text x=\"{:.1}\" y=\"{}\" font-size=\"9\">{text}</text>",
        BAR - 2.0,
        x + length + 4.0,
        y + 8.0
    );
}
