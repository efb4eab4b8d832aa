//! The configuration file: what it may say, and what is refused, with its line and exit status 2.

use super::{json, run, write};

/// Refused: exit 2, nothing on standard output, every part on standard error.
#[track_caller]
fn refused(toml: &str, parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "toolset.toml", toml);
    let said = run(&["--config", &file, "tables"]);
    assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""), "{toml}: {said:?}");
    for part in parts.iter().chain([&"toolset.toml"]) {
        assert!(said.stderr.contains(part), "lacks `{part}`: {}\n{toml}", said.stderr);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let source = "[[source]]\nname = \"t\"\nuri = \"t.csv\"\n";
    refused("[limits\n", &["1"]);
    refused("[limits]\nmax_row = 5\n", &["max_row", "max_rows", "2"]);
    refused("[limits]\nmax_rows = \"five\"\n", &["max_rows", "2"]);
    refused("[limits]\nmax_rows = 0\n", &["max_rows", "1"]);
    refused("[limits]\nmax_result_bytes = 511\n", &["max_result_bytes", "512"]);
    refused("[limits]\ntimeout = \"soon\"\n", &["timeout", "2"]);
    refused("[limits]\nmemory = \"1MiB\"\n", &["memory", "16"]);
    refused("[limits]\ntotal_rows = \"guess\"\n", &["total_rows", "free"]);
    refused("[limit]\nmax_rows = 5\n", &["limit", "1"]);
    refused(&format!("{source}{source}"), &["t"]);
    refused(&format!("{source}urri = \"x\"\n"), &["urri", "4"]);
    refused("[[source]]\nname = \"t\"\n", &["uri"]);
    refused("[[source]]\nuri = \"t.csv\"\n", &["name"]);
    refused("[[source]]\nname = \"\"\nuri = \"t.csv\"\n", &["name"]);
    refused(&format!("{source}format = \"exel\"\n"), &["format", "4"]);
    refused(&format!("{source}columns = {{ zip = \"Utf88\" }}\n"), &["zip", "4"]);
    refused(&format!("{source}options = {{ delimeter = \";\" }}\n"), &["delimeter", "delimiter"]);
    refused(&format!("[policy]\nallowed_tables = []\n{source}"), &["allowed_tables"]);
    refused(
        "[[source]]\nname = \"t\"\nuri = \"${DATAFUSION_TOOLSET_NOT_SET}/t.csv\"\n",
        &["DATAFUSION_TOOLSET_NOT_SET"],
    );
}

#[test]
fn an_allow_list_is_held_against_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "toolset.toml", "[policy]\nallowed_tables = [\"customers\"]\n");
    let said = run(&["--config", &file, "tables"]);
    assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""));
    assert!(said.stderr.contains("allowed_tables") && said.stderr.contains("customers"), "{said:?}");
    // The flags add to the file's tables.
    let tables = ["-t", "customers=testdata/customers.csv", "-t", "orders=testdata/orders.parquet"];
    let said = run(&[&["--config", &file], tables.as_slice(), &["tables"]].concat());
    assert_eq!(said.stdout, "{\"tables\":[\"customers\"],\"table_count\":1}\n");
}

#[test]
fn a_variable_is_read_and_paths_are_relative_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "data/t.csv", "a\n1\n");
    let file = write(
        folder.path(),
        "toolset.toml",
        "[[source]]\nname = \"t\"\nuri = \"${DATAFUSION_TOOLSET_FOLDER}/t.csv\"\n",
    );
    let output = super::binary()
        .args(["--config", &file, "query", "SELECT a FROM t"])
        .env("DATAFUSION_TOOLSET_FOLDER", "data")
        .output()
        .unwrap();
    let said = super::Said::from(output);
    assert_eq!(said.stdout, "{\"columns\":[\"a\"],\"rows\":[[1]],\"row_count\":1}\n", "{said:?}");
}

#[test]
fn flags_override_the_file() {
    let config = ["--config", "testdata/toolset.toml"];
    let with = |rest: &[&str]| json(&run(&[config.as_slice(), rest].concat()).stdout);
    let tables = with(&["tables"]);
    assert_eq!(tables["tables"], serde_json::json!(["customers", "orders", "sales", "web.events"]));
    assert_eq!(tables["descriptions"]["orders"], "One row per order, 2024");
    assert_eq!(with(&["query", "SELECT id FROM orders"])["row_count"], 20);
    assert_eq!(with(&["--max-rows", "3", "query", "SELECT id FROM orders"])["row_count"], 3);
    let replaced = with(&["-t", "orders=testdata/customers.csv", "query", "SELECT count(*) FROM orders"]);
    assert_eq!(replaced["rows"], serde_json::json!([[40]]));
    let zip = with(&["query", "SELECT zip FROM customers ORDER BY id LIMIT 1"]);
    assert_eq!(zip["rows"], serde_json::json!([["00137"]]));
    let years = with(&["query", "SELECT year, count(*) FROM sales GROUP BY year ORDER BY year"]);
    assert_eq!(years["rows"], serde_json::json!([[2023, 20], [2024, 20]]));
    let nested = with(&["query", "SELECT detail['good'] FROM web.events WHERE kind = 'buy' LIMIT 1"]);
    assert_eq!(nested["row_count"], 1);
}
