//! A thousand tables cost nothing until one is named.

use super::{json, run, write};

#[test]
fn a_thousand_sources_that_are_not_there_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = String::new();
    for number in 0..1000 {
        config += &format!("[[source]]\nname = \"t{number:04}\"\nuri = \"gone/{number}.parquet\"\n");
    }
    config += "[[source]]\nname = \"here\"\nuri = \"here.csv\"\n";
    write(folder.path(), "here.csv", "a\n1\n");
    let file = write(folder.path(), "toolset.toml", config);
    let said = run(&["--config", &file, "tables"]);
    assert_eq!((said.status, &json(&said.stdout)["table_count"]), (Some(0), &1001.into()));
    let said = run(&["--config", &file, "query", "SELECT a FROM here"]);
    assert_eq!(json(&said.stdout)["rows"], serde_json::json!([[1]]));
}
