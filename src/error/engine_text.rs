//! The engine's texts, cut down to what the model can use: one thought, no settings, no lists, no paths.

use std::borrow::Cow;

use datafusion::error::DataFusionError;

/// Bytes of the engine's text that are kept; the whole payload has 1,024.
const MAX_TEXT: usize = 500;

/// Where the useful part of a text ends.
const ENDS: [&str; 7] = [
    DataFusionError::BACK_TRACE_SEP,
    "This issue was likely caused by a bug",
    "This was likely caused by a bug",
    "Valid fields are",
    "Column names are case sensitive",
    "please file a bug report",
    "Please help us to resolve",
];

/// What DataFusion puts before a text when it prints one error inside another.
const PREFIXES: [&str; 14] = [
    "Error during planning: ",
    "Execution error: ",
    "Arrow error: ",
    "Parquet error: ",
    "Object Store error: ",
    "IO error: ",
    "SQL error: ",
    "This feature is not implemented: ",
    "Internal error: ",
    "Schema error: ",
    "External error: ",
    "Optimizer error: ",
    "Cast error: ",
    "Parser error: ",
];

/// A sentence that names one of these advises to change a setting, which a caller cannot.
const SETTINGS: [&str; 8] = [
    "datafusion.sql_parser.",
    "datafusion.execution.",
    "datafusion.optimizer.",
    "datafusion.runtime.",
    "datafusion.catalog.",
    "datafusion.explain.",
    "datafusion.format.",
    "allow_experimental",
];

/// A planning error.
pub(super) fn planning(text: &str) -> String {
    signature(text).unwrap_or_else(|| sentence(&tidy(text)))
}

/// An error from a computation on data.
pub(super) fn execution(text: &str) -> String {
    format!(
        "The query failed on the data: {} Change or filter the values, or use try_cast.",
        sentence(&without_paths(&tidy(text)))
    )
}

/// An error from a file's content.
pub(super) fn data(text: &str) -> String {
    sentence(&without_paths(&tidy(text)))
}

/// What is not implemented. The engine dumps its syntax tree after the first bracket.
pub(super) fn unsupported(text: &str) -> String {
    let text = tidy(text);
    let text = text.split(" {").next().unwrap_or_default();
    sentence(&cut(text, 200))
}

/// `… at Line: 1, Column: 8` goes to the front, where no cut reaches it.
pub(super) fn syntax(text: &str) -> String {
    let text = tidy(text);
    let (what, place) = match text.rsplit_once(" at Line: ") {
        Some((what, place)) => (what, place.replace(" Column:", " column")),
        None => return format!("The SQL does not parse: {}", sentence(&cut(&text, 300))),
    };
    // `Expected: …, found: …`: what was found can be a literal of any length.
    let what = match what.rsplit_once(", found: ") {
        Some((expected, found)) => format!("{}, found: {}", cut(expected, 200), cut(found, 80)),
        None => cut(what, 300).into_owned(),
    };
    format!("The SQL does not parse at line {}: {}", cut(&place, 40), sentence(&what))
}

/// The last part of an object's key.
pub(super) fn file_name(path: &str) -> Cow<'_, str> {
    cut(path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("a file"), 200)
}

/// The HTTP status in a store's error, and nothing else of it.
pub(super) fn status(text: &str) -> String {
    let Some((_, rest)) = text.split_once("status code: ") else {
        return String::new();
    };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(3).collect();
    if digits.is_empty() { digits } else { format!(" with HTTP status {digits}") }
}

/// At most `most` bytes, on a character boundary.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    Cow::Owned(format!("{}…", &text[..end]))
}

/// `No function matches … 'abs(Utf8)'. … Candidate functions:\n\tabs(…)` in a few words.
fn signature(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("No function matches the given name and argument types '")?;
    let (call, rest) = rest.split_once("'. ")?;
    let forms: Vec<Cow<'_, str>> = rest
        .split_once("Candidate functions:")
        .map(|(_, list)| list)
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|form| !form.is_empty())
        .take(3)
        .map(|form| cut(form, 100))
        .collect();
    let takes = if forms.is_empty() { String::new() } else { format!(" It takes {}.", forms.join(" or ")) };
    Some(format!("The function does not take these types: {}.{takes} Cast the arguments.", cut(call, 200)))
}

fn tidy(text: &str) -> String {
    let end = ENDS.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let mut text = text[..end].trim();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        text = rest;
    }
    let kept: Vec<&str> = text
        .split_inclusive(['\n'])
        .flat_map(|line| line.split_inclusive(". "))
        .filter(|sentence| !SETTINGS.iter().any(|setting| sentence.contains(setting)))
        .collect();
    let kept = kept.concat();
    // The caller asked about the setting.
    if kept.trim().is_empty() { text.to_owned() } else { kept }
}

/// Ends in a full stop, in at most [`MAX_TEXT`] bytes.
fn sentence(text: &str) -> String {
    let text = cut(text.trim().trim_end_matches(['.', ':', ',', ';']), MAX_TEXT);
    format!("{text}{}", if text.ends_with(['?', '!', '…']) { "" } else { "." })
}

/// Absolute paths become their last part: where files lie is not the caller's business.
fn without_paths(text: &str) -> String {
    let is_path = |word: &str| word.matches('/').count() >= 2 && !word.contains("://");
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let start = piece.find('/').filter(|start| {
            is_path(&piece[*start..])
                && !piece[..*start].ends_with(|c: char| c.is_alphanumeric())
                && !piece.contains("://")
        });
        match start {
            Some(start) => {
                let last = piece.rfind('/').map_or(start, |last| last + 1);
                out.push_str(&piece[..start]);
                out.push_str(&piece[last..]);
            }
            None => out.push_str(piece),
        }
    }
    out
}
