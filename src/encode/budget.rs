//! The byte arithmetic: what stands before, between and after the rows, and how many rows fit with it.
//!
//! | part | JSON | Markdown | CSV |
//! |---|---|---|---|
//! | before | `{"columns":["id"],"rows":[` | header, `|---|` | header |
//! | a row | `[1,"a"]` | `|1|a|` on a new line | `1,a` on a new line |
//! | after, whole | `],"row_count":1}` | | |
//! | after, cut | `],"row_count":1,"truncated":true,…}` | `truncated: true, …` on a new line | `# truncated: true, …` |

use datafusion::arrow::datatypes::{DataType, Fields};

use super::hint::{self, MAX_HINT_BYTES, MAX_ROWS_HINTS, NAMED, SHORT_HINT, Widest};
use super::out::Out;
use super::{ResultFormat, TruncatedBy};

/// More than what stands after the rows of a cut result, hint included, can take.
const LONGEST_TAIL: usize = 512;

/// What stands around rows and cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) first_row: &'static [u8],
    pub(super) next_row: &'static [u8],
    pub(super) between: u8,
    pub(super) row_end: &'static [u8],
}

impl Frame {
    pub(super) fn new(format: ResultFormat) -> Self {
        match format {
            ResultFormat::Json => Self { first_row: b"[", next_row: b",[", between: b',', row_end: b"]" },
            ResultFormat::Markdown => Self { first_row: b"\n|", next_row: b"\n|", between: b'|', row_end: b"|" },
            ResultFormat::Csv => Self { first_row: b"\n", next_row: b"\n", between: b',', row_end: b"" },
        }
    }
}

/// Writes what stands before the rows. Returns how many bytes of it are the names, or `None` when they do not fit.
pub(super) fn write_head(out: &mut Out, format: ResultFormat, fields: &Fields) -> Option<usize> {
    let prefix: &[u8] = match format {
        ResultFormat::Json => b"{\"columns\":[",
        ResultFormat::Markdown => b"|",
        ResultFormat::Csv => b"",
    };
    out.bytes(prefix);
    for (at, field) in fields.iter().enumerate() {
        if at > 0 && format != ResultFormat::Markdown {
            out.byte(b',');
        }
        out.text(field.name());
        if format == ResultFormat::Markdown {
            out.byte(b'|');
        }
        if out.is_spent() {
            return None;
        }
        out.reserve(0);
    }
    let names = match format {
        ResultFormat::Json => {
            out.byte(b']');
            let names = out.buf.len() - "{\"columns\":".len();
            out.bytes(b",\"rows\":[");
            names
        }
        ResultFormat::Markdown => {
            out.bytes(b"\n|");
            for _ in fields {
                out.bytes(b"---|");
                if out.is_spent() {
                    return None;
                }
            }
            out.buf.len()
        }
        ResultFormat::Csv => out.buf.len(),
    };
    (!out.is_spent()).then_some(names)
}

/// Bytes that a row takes at least, the separator from the row before included.
pub(super) fn least_row(format: ResultFormat, fields: &Fields) -> usize {
    let frame = Frame::new(format);
    let cells: usize = match format {
        ResultFormat::Json => fields.iter().map(|field| least_json(field.data_type())).sum(),
        // A null or an empty text can be nothing at all.
        ResultFormat::Markdown | ResultFormat::Csv => 0,
    };
    frame.next_row.len() + cells + fields.len().saturating_sub(1) + frame.row_end.len()
}

/// The shortest JSON that a value of the type can have; `null` counts, whatever the field says.
fn least_json(data_type: &DataType) -> usize {
    match data_type {
        DataType::Null | DataType::Boolean => "null".len(),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            "\"0\"".len()
        }
        // Outside the calendar they are integers of many digits.
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "null".len(),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "\"\"".len(),
        _ => 1,
    }
}

/// What stands after the rows of a whole result.
pub(super) fn whole_tail(format: ResultFormat, rows: usize) -> Vec<u8> {
    match format {
        ResultFormat::Json => format!("],\"row_count\":{rows}}}").into_bytes(),
        ResultFormat::Markdown | ResultFormat::Csv => Vec::new(),
    }
}

/// The length of [`whole_tail`].
pub(super) fn whole_tail_len(format: ResultFormat, rows: usize) -> usize {
    match format {
        ResultFormat::Json => "],\"row_count\":}".len() + rows.checked_ilog10().unwrap_or(0) as usize + 1,
        ResultFormat::Markdown | ResultFormat::Csv => 0,
    }
}

/// What stands after the rows of a cut result; `hint` is [encoded](hint::encoded).
fn cut_tail(format: ResultFormat, rows: usize, total: Option<u64>, by: TruncatedBy, hint: &[u8]) -> Vec<u8> {
    let mut tail = String::with_capacity(LONGEST_TAIL);
    match format {
        ResultFormat::Json => tail.push_str(&format!("],\"row_count\":{rows}")),
        ResultFormat::Markdown => tail.push('\n'),
        ResultFormat::Csv => tail.push_str("\n# "),
    }
    push_cut(&mut tail, format, total, by);
    close_cut(tail, format, hint)
}

/// A whole answer without names and rows.
fn nameless(format: ResultFormat, columns: usize, total: Option<u64>, hint: &[u8]) -> Vec<u8> {
    let mut text = match format {
        ResultFormat::Json => format!("{{\"column_count\":{columns},\"rows\":[],\"row_count\":0"),
        ResultFormat::Markdown => format!("column_count: {columns}, "),
        ResultFormat::Csv => format!("# column_count: {columns}, "),
    };
    push_cut(&mut text, format, total, TruncatedBy::MaxResultBytes);
    close_cut(text, format, hint)
}

fn push_cut(text: &mut String, format: ResultFormat, total: Option<u64>, by: TruncatedBy) {
    let by = by.as_str();
    if format == ResultFormat::Json {
        if let Some(total) = total {
            text.push_str(&format!(",\"total_rows\":{total}"));
        }
        text.push_str(&format!(",\"truncated\":true,\"truncated_by\":\"{by}\",\"hint\":"));
    } else {
        text.push_str(&format!("truncated: true, truncated_by: {by}"));
        if let Some(total) = total {
            text.push_str(&format!(", total_rows: {total}"));
        }
        text.push_str(", hint: ");
    }
}

fn close_cut(text: String, format: ResultFormat, hint: &[u8]) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(hint);
    if format == ResultFormat::Json {
        bytes.push(b'}');
    }
    bytes
}

/// Where rows end in the buffer, as far back as a cut can go.
///
/// A prefix that leaves room for the longest tail fits whatever the tail will be, so only the last of those is kept and
/// the ones after it: a few hundred numbers at most, however many rows there are.
#[derive(Debug)]
pub(super) struct RowEnds {
    /// Ends before this one need not be told apart.
    certain: usize,
    /// Rows in the prefix that `ends[0]` ends.
    first: usize,
    ends: Vec<usize>,
}

impl RowEnds {
    /// `start` is where the first row starts.
    pub(super) fn new(start: usize, max_bytes: usize) -> Self {
        Self { certain: max_bytes.saturating_sub(LONGEST_TAIL), first: 0, ends: vec![start] }
    }

    /// The next row ends at `end`.
    #[inline]
    pub(super) fn push(&mut self, end: usize) {
        if end < self.certain {
            self.first += 1;
            self.ends[0] = end;
        } else {
            self.ends.push(end);
        }
    }

    /// Rows so far.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.first + self.ends.len() - 1
    }

    /// Where `rows` rows end, if that is still known.
    fn end(&self, rows: usize) -> Option<usize> {
        self.ends.get(rows.checked_sub(self.first)?).copied()
    }
}

/// What is known when rows were left out.
pub(super) struct Cut<'a> {
    pub(super) format: ResultFormat,
    pub(super) fields: &'a Fields,
    pub(super) max_bytes: usize,
    pub(super) total: Option<u64>,
    /// The rows that were written, each of which fits a whole result.
    pub(super) text: &'a [u8],
    pub(super) ends: &'a RowEnds,
    /// Bytes of the names, `None` when they do not fit.
    pub(super) names: Option<usize>,
    /// The row after those in `text`, when it did not fit.
    pub(super) failed: Option<Widest>,
    /// All rows that may be shown are in `text`, and more exist.
    pub(super) more_rows: bool,
}

/// How a cut result ends.
pub(super) enum Ending {
    /// After `rows` rows, which end at `end`, comes `tail`.
    Prefix { rows: usize, end: usize, tail: Vec<u8>, by: TruncatedBy },
    /// The names are left out, and this is all.
    Nameless(Vec<u8>),
}

impl Cut<'_> {
    /// The longest prefix that fits with what has to stand after it, and then the best hint that fits.
    ///
    /// A hint names columns of the row that did not fit, so each prefix has hints of its own, of other lengths. A
    /// prefix of k rows is taken when it fits with a hint that names one column; it also is when it fits with as many
    /// bytes of hint as the prefix of k − 1 rows would show, and then has the short hint if need be. So nobody who
    /// adds a row to the payload, and keeps the hint or writes the right one, finds that it would have fitted.
    pub(super) fn ending(&self) -> Ending {
        if self.names.is_some() {
            if self.more_rows {
                for text in MAX_ROWS_HINTS {
                    let hint = hint::encoded(self.format, text);
                    let rows = self.ends.rows();
                    if let Some(ending) = self.prefix(rows, TruncatedBy::MaxRows, &hint) {
                        return ending;
                    }
                }
            }
            if let Some(ending) = self.by_bytes() {
                return ending;
            }
        }
        Ending::Nameless(nameless(self.format, self.fields.len(), self.total, &self.nameless_hint()))
    }

    fn by_bytes(&self) -> Option<Ending> {
        let by = TruncatedBy::MaxResultBytes;
        let most = self.ends.rows().checked_sub(usize::from(self.failed.is_none()))?;
        let mut rows = most;
        let mut hint = loop {
            let least = self.hint(rows, 1);
            if self.fits(rows, by, &least) {
                break self.best_hint(rows);
            }
            match rows.checked_sub(1).filter(|&fewer| self.ends.end(fewer).is_some()) {
                Some(fewer) => rows = fewer,
                None => break hint::encoded(self.format, SHORT_HINT),
            }
        };
        while rows < most && self.fits(rows + 1, by, &hint) {
            rows += 1;
            hint = self.best_hint(rows);
        }
        if rows == 0 && self.names.is_none_or(|names| names > self.max_bytes / 4) {
            // The same care for the hint that is shown without the names.
            if most == 0 || !self.fits(1, by, &self.nameless_hint()) {
                return None;
            }
            rows = 1;
            hint = self.best_hint(rows);
        }
        self.prefix(rows, by, &hint)
    }

    fn nameless_hint(&self) -> Vec<u8> {
        let first_row = self.widest(0);
        for named in (1..=NAMED).rev() {
            let Some(widest) = &first_row else { break };
            let hint = hint::encoded(self.format, &hint::row_hint(self.fields, 1, widest, named, true));
            if hint.len() <= MAX_HINT_BYTES {
                return hint;
            }
        }
        hint::encoded(self.format, &hint::names_hint(self.fields.len()))
    }

    /// The widest columns of the row after the first `rows`, if that row is known.
    fn widest(&self, rows: usize) -> Option<Widest> {
        match (self.ends.end(rows), self.ends.end(rows + 1)) {
            (Some(start), Some(end)) => Some(Widest::of_text(self.format, self.text.get(start..end)?)),
            _ => self.failed.filter(|_| rows == self.ends.rows()),
        }
    }

    /// The hint after `rows` rows with `named` columns at most.
    fn hint(&self, rows: usize, named: usize) -> Vec<u8> {
        match self.widest(rows) {
            Some(widest) => hint::encoded(self.format, &hint::row_hint(self.fields, rows + 1, &widest, named, false)),
            None => hint::encoded(self.format, SHORT_HINT),
        }
    }

    /// The hint that names the most columns, of those that fit.
    fn best_hint(&self, rows: usize) -> Vec<u8> {
        (1..=NAMED)
            .rev()
            .map(|named| self.hint(rows, named))
            .find(|hint| hint.len() <= MAX_HINT_BYTES && self.fits(rows, TruncatedBy::MaxResultBytes, hint))
            .unwrap_or_else(|| hint::encoded(self.format, SHORT_HINT))
    }

    fn fits(&self, rows: usize, by: TruncatedBy, hint: &[u8]) -> bool {
        self.prefix(rows, by, hint).is_some()
    }

    fn prefix(&self, rows: usize, by: TruncatedBy, hint: &[u8]) -> Option<Ending> {
        let end = self.ends.end(rows)?;
        let tail = cut_tail(self.format, rows, self.total, by, hint);
        (end + tail.len() <= self.max_bytes).then_some(Ending::Prefix { rows, end, tail, by })
    }
}
