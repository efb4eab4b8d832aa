//! What a cut result advises: which columns of the row that did not fit are the widest, and what to do about them.

use datafusion::arrow::datatypes::{DataType, Fields};

use super::{ResultFormat, text};
use crate::json;

/// The longest hint in encoded bytes, quotes included, so that an answer without names always fits the least budget.
pub(super) const MAX_HINT_BYTES: usize = 280;

/// A column's name takes at most this many bytes of a hint; SQL that needs it whole is advised without it.
const MAX_NAME_BYTES: usize = 40;

/// How many columns are named at most.
pub(super) const NAMED: usize = 3;

/// The size of one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    pub(super) column: usize,
    /// Encoded bytes.
    pub(super) bytes: usize,
    /// Whether the cell was written to its end; otherwise it takes `bytes` at least.
    pub(super) exact: bool,
}

/// The widest cells of a row, widest first; the first of equals goes first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Widest([Option<Width>; NAMED]);

impl Widest {
    pub(super) fn add(&mut self, width: Width) {
        let mut next = Some(width);
        for slot in &mut self.0 {
            match (&slot, &next) {
                (Some(kept), Some(new)) if kept.bytes >= new.bytes => {}
                _ => std::mem::swap(slot, &mut next),
            }
        }
    }

    /// The widest cells of a row that is already text.
    pub(super) fn of_text(format: ResultFormat, row: &[u8]) -> Self {
        let mut widest = Self::default();
        let mut column = 0;
        let mut cell = |bytes| {
            widest.add(Width { column, bytes, exact: true });
            column += 1;
        };
        match format {
            ResultFormat::Json => json_cells(row, &mut cell),
            ResultFormat::Markdown => text::markdown_cells(row, &mut cell),
            ResultFormat::Csv => text::csv_cells(row, &mut cell),
        }
        widest
    }
}

/// The length of each value in `,[value,…]`.
fn json_cells(row: &[u8], cell: &mut impl FnMut(usize)) {
    let row = row.strip_prefix(b",").unwrap_or(row);
    let mut depth = 0;
    let mut in_string = false;
    let mut start = 1;
    let mut at = 0;
    while at < row.len() {
        match row[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 && at > start {
                    cell(at - start);
                }
            }
            b',' if depth == 1 => {
                cell(at - start);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Advice after `max_rows`, the better one first.
pub(super) const MAX_ROWS_HINTS: [&str; 2] = [
    "More rows exist. Aggregate or filter in SQL, or use ORDER BY with LIMIT for the rows that matter; \
     do not page through the table.",
    "Aggregate, filter, or use ORDER BY with LIMIT.",
];

/// The shortest advice after `max_result_bytes`; no longer than the shortest after `max_rows`.
pub(super) const SHORT_HINT: &str = "Select fewer or shorter columns, or aggregate.";

/// Advice when the names alone do not fit and no row is known.
pub(super) fn names_hint(columns: usize) -> String {
    format!("The names of the {columns} columns leave no room for a row: select the columns you need.")
}

/// Advice when row `row` (from 1) did not fit, naming its `named` widest columns at most.
///
/// `without_names` says that the columns' names were left out too.
pub(super) fn row_hint(fields: &Fields, row: usize, widest: &Widest, named: usize, without_names: bool) -> String {
    let mut hint = format!("Row {row} does not fit");
    if without_names {
        hint.push_str(&format!(" beside {} names", fields.len()));
    }
    let mut first = None;
    for (at, width) in widest.0.iter().flatten().take(named).enumerate() {
        let Some(field) = fields.get(width.column) else { continue };
        let (name, whole) = sql_name(field.name());
        hint.push_str(if at == 0 { ": " } else { ", " });
        hint.push_str(&name);
        hint.push_str(if at == 0 { " takes " } else { " " });
        if !width.exact {
            hint.push_str("at least ");
        }
        hint.push_str(&width.bytes.to_string());
        if at == 0 {
            hint.push_str(" bytes");
            first = Some((width, field.data_type(), name, whole));
        }
    }
    hint.push_str(". ");
    if without_names {
        hint.push_str("Select only the columns you need");
        match first {
            Some((width, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, name, true))
                if width.bytes > 200 =>
            {
                hint.push_str(&format!(", long text as left({name}, 200)."));
            }
            _ => hint.push('.'),
        }
        return hint;
    }
    match first {
        Some((width, data_type, name, whole)) if width.bytes > 100 => {
            if is_text(data_type) {
                let name = if whole { name.as_str() } else { "…" };
                hint.push_str(&format!("Use left({name}, 200), leave it out, or aggregate."));
            } else {
                hint.push_str("Leave it out, select a part of it, or aggregate.");
            }
        }
        _ => hint.push_str("Select fewer columns or aggregate."),
    }
    hint
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        _ => false,
    }
}

/// A column's name as SQL takes it, and whether it is whole: a long name is cut.
fn sql_name(name: &str) -> (String, bool) {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let mut text = String::new();
    let mut encoded = 0;
    if !plain {
        text.push('"');
    }
    let mut whole = true;
    let mut char_bytes = [0; 4];
    let mut escaped = Vec::new();
    for c in name.chars() {
        escaped.clear();
        json::escape(&mut escaped, c.encode_utf8(&mut char_bytes).as_bytes(), usize::MAX);
        let copies = if c == '"' { 2 } else { 1 };
        encoded += escaped.len() * copies;
        if encoded > MAX_NAME_BYTES {
            whole = false;
            text.push_str("...");
            break;
        }
        for _ in 0..copies {
            text.push(c);
        }
    }
    if !plain {
        text.push('"');
    }
    (text, whole)
}

/// The hint as the payload has it: a JSON string, or text that stays on its line.
pub(super) fn encoded(format: ResultFormat, hint: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(hint.len() + 2);
    match format {
        ResultFormat::Json => json::write_str(&mut out, hint),
        ResultFormat::Markdown | ResultFormat::Csv => text::one_line(&mut out, hint),
    }
    out
}
