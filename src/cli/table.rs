//! Payloads for people: a table, the number of rows, and in plain words whether and why something was left out.

use datafusion_toolset::{CheckResult, Error, Limits, QueryResult, SchemaResult, TablesResult};

use super::grid::Grid;
use super::payload::{Payload, fields, items, string};
use super::text::{counted, grouped, visible};

/// Draws for a terminal of a width, or as wide as the data is.
#[derive(Debug)]
pub(super) struct Renderer<'a> {
    /// Columns of the terminal; `None` if the output is no terminal.
    pub(super) width: Option<usize>,
    /// The limits that cut.
    pub(super) limits: &'a Limits,
}

impl Renderer<'_> {
    /// The result of `query`.
    pub(super) fn query(&self, result: &QueryResult) -> String {
        let numeric: Vec<_> = result.columns().iter().map(|column| is_number(&column.data_type)).collect();
        self.rows(result.json(), &numeric)
    }

    fn rows(&self, payload: &str, numeric: &[bool]) -> String {
        let payload = Payload::new(payload);
        let rows = payload.get("rows").map(items).unwrap_or_default();
        let count = payload.number("row_count").unwrap_or(0);
        let names_left_out = payload.number("column_count");
        let mut out = String::new();
        if let Some(names) = payload.strings("columns") {
            let numeric = (0..names.len()).map(|column| numeric.get(column).copied().unwrap_or(false)).collect();
            let mut grid = Grid::new(names, numeric);
            for row in rows {
                grid.push(items(row).into_iter().map(cell).collect());
            }
            out = self.grid(&grid);
        }
        let mut summary = counted(count, "row");
        if let Some(cut) = self.cut(&payload) {
            summary.push_str(" shown");
            match payload.number("total_rows") {
                Some(total) => summary.push_str(&format!(" of {}", grouped(total))),
                None => summary.push_str(", there are more"),
            }
            if let Some(columns) = names_left_out {
                summary.push_str(&format!(", of {} whose names are left out", counted(columns, "column")));
            }
            summary.push_str(&cut);
        }
        out.push_str(&summary);
        out.push('\n');
        out
    }

    /// The result of `list_tables`.
    pub(super) fn tables(&self, result: &TablesResult) -> String {
        self.table_list(result.json())
    }

    fn table_list(&self, payload: &str) -> String {
        let payload = Payload::new(payload);
        let tables = payload.strings("tables").unwrap_or_default();
        let descriptions = payload.get("descriptions").map(fields).unwrap_or_default();
        let count = payload.number("table_count").unwrap_or(tables.len() as u64);
        let mut summary = counted(count, "table");
        if let Some(cut) = self.cut(&payload) {
            summary = format!("{} shown of {}{cut}", grouped(tables.len() as u64), counted(count, "table"));
        }
        if tables.is_empty() {
            return format!("{summary}\n");
        }
        let mut header = vec!["table".to_owned()];
        if !descriptions.is_empty() {
            header.push("description".to_owned());
        }
        let mut grid = Grid::new(header, vec![false; 2]);
        for table in tables {
            // The keys are written as JSON strings, so that is how they are compared.
            let key = serde_json::Value::from(table.as_str()).to_string();
            let found = descriptions.iter().find(|(name, _)| *name == key.trim_matches('"'));
            let description = found.and_then(|(_, text)| string(text)).unwrap_or_default();
            grid.push(vec![table, description]);
        }
        format!("{}{summary}\n", self.grid(&grid))
    }

    /// The result of `get_schema`.
    pub(super) fn schema(&self, result: &SchemaResult) -> String {
        self.columns(result.json())
    }

    fn columns(&self, payload: &str) -> String {
        let payload = Payload::new(payload);
        let count = payload.number("column_count").unwrap_or(0);
        let mut out = String::new();
        if let Some(columns) = payload.get("columns").map(items).filter(|columns| !columns.is_empty()) {
            out.push_str(&self.grid(&column_grid(&columns)));
        }
        if let Some(histogram) = payload.get("type_histogram") {
            let mut grid = Grid::new(vec!["type".to_owned(), "columns".to_owned()], vec![false, true]);
            for (name, columns) in fields(histogram) {
                grid.push(vec![string(&format!("\"{name}\"")).unwrap_or_default(), columns.to_owned()]);
            }
            out.push_str(&self.grid(&grid));
        }
        if let Some(sample) = payload.strings("sample_columns") {
            let sample: Vec<_> = sample.iter().map(|name| visible(name)).collect();
            out.push_str(&format!("for example: {}\n", sample.join(", ")));
        }
        out.push_str(&counted(count, "column"));
        if let Some(text) = payload.string("name_contains") {
            let total = payload.number("total_columns").unwrap_or(count);
            out.push_str(&format!(" of {} match `{}`", grouped(total), visible(&text)));
        }
        if let Some(records) = payload.number("inferred_from") {
            out.push_str(&format!(", types guessed from the first {}", counted(records, "record")));
        }
        if let Some(cut) = self.cut(&payload) {
            out.push_str(&cut);
        }
        out.push('\n');
        out
    }

    /// The result of `check_query`.
    pub(super) fn check(&self, result: &CheckResult) -> String {
        match result.outcome() {
            Ok(_) => {
                let payload = Payload::new(result.json());
                let mut out = String::new();
                if let Some(columns) = payload.get("columns").map(items).filter(|columns| !columns.is_empty()) {
                    out.push_str(&self.grid(&column_grid(&columns)));
                }
                out.push_str("valid");
                if let Some(cut) = self.cut(&payload) {
                    out.push_str(&cut);
                }
                out.push('\n');
                out
            }
            Err(error) => format!("not valid: {}", failure(error)),
        }
    }

    fn grid(&self, grid: &Grid) -> String {
        match grid.draw(self.width) {
            (drawn, 0) => drawn,
            (drawn, left_out) => {
                format!("{drawn}{} more did not fit the terminal\n", counted(left_out as u64, "column"))
            }
        }
    }

    /// `: cut at max_rows (50). …`, if something was left out.
    fn cut(&self, payload: &Payload<'_>) -> Option<String> {
        let by = payload.string("truncated_by")?;
        let value = match by.as_str() {
            "max_rows" => format!(" ({})", grouped(self.limits.max_rows() as u64)),
            "max_result_bytes" => format!(" ({})", grouped(self.limits.max_result_bytes() as u64)),
            "max_columns" => format!(" ({})", grouped(self.limits.max_columns() as u64)),
            _ => String::new(),
        };
        let hint = payload.string("hint").map(|hint| format!(". {}", visible(&hint))).unwrap_or_default();
        Some(format!(": cut at {}{value}{hint}", visible(&by)))
    }
}

/// An error for a person: the message and the near names.
pub(super) fn failure(error: &Error) -> String {
    let mut text = visible(error.message());
    if !error.suggestions().is_empty() {
        let names: Vec<_> = error.suggestions().iter().map(|name| visible(name)).collect();
        text.push_str(&format!("\nnear names: {}", names.join(", ")));
    }
    text.push('\n');
    text
}

/// One value. Text stands without quotes, everything else as its JSON.
fn cell(json: &str) -> String {
    match json {
        "null" => "NULL".to_owned(),
        text if text.starts_with('"') => string(text).unwrap_or_else(|| text.to_owned()),
        other => other.to_owned(),
    }
}

/// The columns of `get_schema` and `check_query`: name, type, and what else any of them has.
fn column_grid(columns: &[&str]) -> Grid {
    let entries: Vec<_> = columns.iter().map(|column| Payload::new(column)).collect();
    let mut keys = vec!["name", "type"];
    let more = ["sql", "nullable", "partition", "description"];
    keys.extend(more.into_iter().filter(|key| entries.iter().any(|entry| entry.get(key).is_some())));
    let header = keys.iter().map(|key| (*key).to_owned()).collect();
    let mut grid = Grid::new(header, vec![false; keys.len()]);
    for entry in entries {
        grid.push(keys.iter().map(|key| entry.get(key).map(cell).unwrap_or_default()).collect());
    }
    grid
}

/// Whether a column of this Arrow type is read from its right edge.
fn is_number(data_type: &str) -> bool {
    ["Int", "UInt", "Float", "Decimal"].iter().any(|start| {
        let rest = data_type.strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: impl Fn(&Renderer<'_>) -> String) -> String {
        draw(&Renderer { width: Some(100), limits: &Limits::default() })
    }

    #[test]
    fn a_whole_result_is_a_table_and_its_rows() {
        let payload = r#"{"columns":["id","name"],"rows":[[1,"Alice\u001b[2J"],[20,null]],"row_count":2}"#;
        let expected = r"
┌────┬────────────────┐
│ id ┆ name           │
╞════╪════════════════╡
│  1 ┆ Alice\u{1b}[2J │
│ 20 ┆ NULL           │
└────┴────────────────┘
2 rows
";
        assert_eq!(drawn(|renderer| renderer.rows(payload, &[true, false])), expected.trim_start());
    }

    #[test]
    fn a_cut_result_says_so_in_plain_words() {
        let rows = |payload: &str| drawn(|renderer| renderer.rows(payload, &[]));
        let cut = r#"{"columns":["a"],"rows":[[1]],"row_count":1,"total_rows":5000000,"truncated":true,"truncated_by":"max_rows","hint":"Aggregate."}"#;
        assert!(rows(cut).ends_with("\n1 row shown of 5,000,000: cut at max_rows (50). Aggregate.\n"), "{}", rows(cut));
        let cut = r#"{"column_count":1200,"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"Name fewer."}"#;
        let expected = "0 rows shown, there are more, of 1,200 columns whose names are left out: cut at max_result_bytes \
                        (65,536). Name fewer.\n";
        assert_eq!(rows(cut), expected);
    }

    #[test]
    fn tables_are_listed_with_their_descriptions() {
        let payload = r#"{"tables":["\"A\"","b"],"table_count":2,"descriptions":{"\"A\"":"One"}}"#;
        let text = drawn(|renderer| renderer.table_list(payload));
        assert!(text.contains("│ \"A\"   ┆ One         │"), "{text}");
        assert!(text.ends_with("\n2 tables\n"), "{text}");
        assert_eq!(drawn(|renderer| renderer.table_list(r#"{"tables":[],"table_count":0}"#)), "0 tables\n");
    }

    #[test]
    fn schemas_show_what_is_there() {
        let payload =
            r#"{"columns":[{"name":"userId","type":"Utf8","sql":"\"userId\""}],"column_count":1,"inferred_from":1000}"#;
        let text = drawn(|renderer| renderer.columns(payload));
        assert!(text.contains("│ userId ┆ Utf8 ┆ \"userId\" │"), "{text}");
        assert!(text.ends_with("1 column, types guessed from the first 1,000 records\n"), "{text}");
        let payload = r#"{"column_count":3200,"truncated":true,"truncated_by":"max_columns","hint":"Use name_contains.","type_histogram":{"Int64":3200},"sample_columns":["a","b"]}"#;
        let text = drawn(|renderer| renderer.columns(payload));
        assert!(text.contains("│ Int64 ┆    3200 │"), "{text}");
        assert!(
            text.ends_with("for example: a, b\n3,200 columns: cut at max_columns (100). Use name_contains.\n"),
            "{text}"
        );
    }

    #[test]
    fn numbers_stand_at_the_right() {
        assert!(["Int64", "UInt8", "Float32", "Decimal128(9, 2)"].into_iter().all(is_number));
        assert!(!["Utf8", "Interval(DayTime)", "List(Int64)", "Timestamp(µs)"].into_iter().any(is_number));
    }
}
