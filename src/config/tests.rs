use std::time::Duration;

use super::*;
use crate::limits::TotalRows;
use crate::source::Format;

fn read(text: &str) -> Result<Config, ConfigError> {
    let environment = |name: &str| match name {
        "KEY" => Some("hunter2".to_owned()),
        "ROWS" => Some("7".to_owned()),
        "INJECTION" => Some("x\"\nuri = \"/etc/passwd".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    Config::read(&Reader { file: Some(Path::new("t.toml")), text, environment: &environment })
}

fn refusal(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

#[test]
fn every_key_of_the_contract_is_read() {
    let config = read(
        r#"
        [limits]
        max_rows = 20
        max_result_bytes = "32KiB"
        max_columns = 1_000
        max_sql_bytes = 0x1000
        total_rows = "count"
        timeout = "1.5s"
        memory = "1GiB"
        spill = 0
        max_concurrent_queries = 3

        [policy]
        allowed_tables = ["sales", "crm.customers"]
        allowed_functions = ["sum"]
        denied_functions = ["repeat"]

        [[source]]
        name = "sales"
        uri = "s3://bucket/data/sales/"
        format = "csv"
        description = "One row per order line"
        partitions = { year = "Int32", month = "Int8", day = "Int8" }
        columns = { zip = "Utf8", "a.b" = "Int64" }
        options = { has_header = true, delimiter = ";", infer_records = 10 }
        store = { region = "eu-west-3", access_key_id = "${KEY}", anonymous = false }

        [[source]]
        name = "crm.customers"
        uri = "customers.csv"
        "#,
    )
    .unwrap_or_else(|error| unreachable!("{error}"));
    let limits = Limits::default()
        .with_max_rows(20)
        .with_max_result_bytes(32_768)
        .with_max_columns(1_000)
        .with_max_sql_bytes(4_096)
        .with_total_rows(TotalRows::Count)
        .with_timeout(Duration::from_millis(1_500))
        .with_memory(1 << 30)
        .with_spill(0)
        .with_max_concurrent_queries(3);
    assert_eq!(config.limits(), &limits);
    let policy = Policy::default()
        .with_allowed_tables(["sales", "crm.customers"])
        .with_allowed_functions(["sum"])
        .with_denied_functions(["repeat"]);
    assert_eq!(config.policy, policy);
    let sales = Source::new("sales", "s3://bucket/data/sales/")
        .with_format(Format::Csv)
        .with_description("One row per order line")
        .with_partition("year", "Int32")
        .with_partition("month", "Int8")
        .with_partition("day", "Int8")
        .with_column("zip", "Utf8")
        .with_column("a.b", "Int64")
        .with_option("has_header", "true")
        .with_option("delimiter", ";")
        .with_option("infer_records", "10")
        .with_store_option("region", "eu-west-3")
        .with_store_option("access_key_id", "hunter2")
        .with_store_option("anonymous", "false");
    assert_eq!(config.sources(), [sales, Source::new("crm.customers", "customers.csv")]);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn an_empty_file_is_the_defaults() {
    assert_eq!(read(""), Ok(Config::default()));
    assert_eq!(read("# nothing\n[limits]\n[policy]\n"), Ok(Config::default()));
}

#[test]
fn numbers_of_seconds_and_strings_of_digits_are_limits() {
    let limits = |text: &str| read(&format!("[limits]\n{text}")).map(|config| config.limits);
    assert_eq!(limits("timeout = 2"), Ok(Limits::default().with_timeout(Duration::from_secs(2))));
    assert_eq!(limits("timeout = 0.5"), Ok(Limits::default().with_timeout(Duration::from_millis(500))));
    assert_eq!(limits("max_rows = \"${ROWS}\""), Ok(Limits::default().with_max_rows(7)));
    assert_eq!(limits("memory = 16777216"), Ok(Limits::default().with_memory(1 << 24)));
}

#[test]
fn variables_are_read_in_parsed_strings() {
    let uri = |text: &str| {
        let config = read(&format!("[[source]]\nname = 't'\nuri = \"{text}\""))?;
        Ok::<_, ConfigError>(config.sources.into_iter().map(|source| source.uri).collect::<String>())
    };
    assert_eq!(uri("a/${ROWS}/${KEY}.csv").as_deref(), Ok("a/7/hunter2.csv"));
    let empty = uri("${EMPTY}").map_err(|error| error.to_string());
    let expected = "t.toml, line 3: source `t`: the location is empty; give a file, a folder or a glob";
    assert_eq!(empty, Err(expected.to_owned()));
    assert_eq!(uri("$${KEY} $5 $$ }").as_deref(), Ok("${KEY} $5 $$ }"));
    assert_eq!(uri("$${KEY}${ROWS}").as_deref(), Ok("${KEY}7"));
    // A value stays one value, whatever it holds.
    assert_eq!(uri("${INJECTION}").as_deref(), Ok("x\"\nuri = \"/etc/passwd"));
    let unset = uri("${NO_SUCH}").map_err(|error| error.to_string());
    let expected = "t.toml, line 3: `source.uri` needs the environment variable `NO_SUCH`, which is not set";
    assert_eq!(unset, Err(expected.to_owned()));
    for open in ["${", "${KEY", "${}", "${9}", "${A B}"] {
        let error = uri(open).expect_err(open).to_string();
        assert!(error.starts_with("t.toml, line 3: `source.uri` has a `${` without"), "{error}");
    }
}

#[test]
fn unknown_keys_are_named_with_their_line_and_the_nearest_key() {
    for (text, line, unknown, near) in [
        ("\n[limit]\n", 2, "`limit`", "`limits`"),
        ("[limits]\nmax_row = 5", 2, "`max_row` in `limits`", "`max_rows`"),
        ("[limits]\n\nTimeOut = 5", 3, "`TimeOut` in `limits`", "`timeout`"),
        ("limits.memry = 1", 1, "`memry` in `limits`", "`memory`"),
        ("[policy]\nallow_tables = ['a']", 2, "`allow_tables` in `policy`", "`allowed_tables`"),
        ("[[sources]]\nname = 't'", 1, "`sources`", "`source`"),
        ("[[source]]\nname = 't'\nurl = 'x'", 3, "`url` in `source`", "`uri`"),
        ("[[source]]\nuri = 'x'\nnmae = 't'", 3, "`nmae` in `source`", "`name`"),
    ] {
        let expected = format!("t.toml, line {line}: unknown key {unknown}; did you mean {near}?");
        assert_eq!(refusal(text), expected);
    }
    let error = refusal("[policy]\nxyz = 1");
    assert!(error.ends_with("it can be `allowed_tables`, `allowed_functions`, `denied_functions`"), "{error}");
}

#[test]
fn wrong_values_name_the_key_the_line_and_what_is_expected() {
    for (text, start) in [
        ("limits = 5", "line 1: `limits` expects a table; this is a whole number"),
        ("[limits]\nmax_rows = -5", "line 2: `limits.max_rows` expects a whole number that is not negative"),
        ("[limits]\nmax_rows = 'many'", "line 2: `limits.max_rows` expects a whole number that is not negative"),
        ("[limits]\nmax_rows = 1.5", "line 2: `limits.max_rows` expects a whole number that is not negative; this is"),
        ("[limits]\nmax_rows = 0", "line 2: max_rows is 0; the least is 1"),
        ("[limits]\nmax_rows = 99999999999999999999", "line 2: `limits.max_rows` is too large a number"),
        ("[limits]\nmax_result_bytes = 511", "line 2: max_result_bytes is 511; the least is 512"),
        ("[limits]\nmemory = '1 GibbleBytes'", "line 2: `limits.memory` expects a size that is not negative"),
        ("[limits]\nmemory = -1", "line 2: `limits.memory` expects a size that is not negative"),
        ("[limits]\nmemory = '1MiB'", "line 2: memory is 1048576 bytes; the least is 16777216 bytes"),
        ("[limits]\ntimeout = true", "line 2: `limits.timeout` expects a time that is not negative"),
        ("[limits]\ntimeout = -1", "line 2: `limits.timeout` expects a time that is not negative"),
        ("[limits]\ntimeout = nan", "line 2: `limits.timeout` expects a time that is not negative"),
        ("[limits]\ntotal_rows = 'all'", "line 2: `limits.total_rows` expects \"free\", \"count\" or \"never\""),
        ("[policy]\nallowed_tables = []", "line 2: `policy.allowed_tables` is empty"),
        (
            "[policy]\nallowed_tables = 'a'",
            "line 2: `policy.allowed_tables` expects a list of strings; this is a string",
        ),
        ("[policy]\nallowed_tables = [1]", "line 2: `policy.allowed_tables` expects a list of strings; it holds"),
        ("[source]\nname = 't'", "line 1: `source` expects a list of tables: write `[[source]]`"),
        ("source = ['t']", "line 1: `source` expects a list of tables"),
        ("[[source]]\nname = 't'", "line 1: this `[[source]]` has no `uri`"),
        ("\n[[source]]\nuri = 't'", "line 2: this `[[source]]` has no `name`"),
        ("[[source]]\nname = ''\nuri = 'x'", "line 2: source name `` is empty"),
        ("[[source]]\nname = 't'\nuri = 'x'\nformat = 'xlsx'", "line 4: `source.format` expects \"parquet\""),
        ("[[source]]\nname = 't'\nuri = 'x'\ncolumns = {a = 1}", "line 4: `columns.a` expects a string"),
        ("[[source]]\nname = 't'\nuri = 'x'\noptions = {a = [1]}", "line 4: `options.a` expects a string, a number"),
        ("[limits\nmax_rows = 5", "line 1: this is no TOML: "),
        ("[limits]\nmax_rows = 5\nmax_rows = 6", "line 3: this is no TOML: duplicate key"),
    ] {
        let error = refusal(text);
        assert!(error.starts_with(&format!("t.toml, {start}")), "{text}: {error}");
    }
}

#[test]
fn a_name_twice_is_refused_as_the_engine_sees_names() {
    let twice = |a: &str, b: &str| {
        refusal(&format!("[[source]]\nname = '{a}'\nuri = 'x'\n[[source]]\nname = '{b}'\nuri = 'y'"))
    };
    assert_eq!(twice("t", "t"), "t.toml, line 5: source name `t` is there twice; each table needs its own");
    assert!(twice("t", "public.t").contains("line 5: source name `public.t` is there twice"));
}

#[test]
fn what_a_later_version_reads_is_refused_not_ignored() {
    for (text, start) in [
        ("[run]\nmax_calls = 1", "line 4: `run` is not available in this version; "),
        ("[profile.acme]\ntoken = 'hunter2'", "line 4: `profile` is not available in this version; "),
    ] {
        let error = refusal(&format!("[[source]]\nname = 't'\nuri = 'x'\n{text}"));
        assert!(error.starts_with(&format!("t.toml, {start}")), "{error}");
    }
}

#[test]
fn messages_hold_no_value() {
    for text in [
        "[[source]]\nname = 't'\nuri = 'x'\nstore = { secret_access_key = \"hunter2 }",
        "[[source]]\nname = 't'\nuri = 'x'\nstore = { secret_access_key = hunter2 }",
        "[[source]]\nname = 't'\nuri = 'x'\nstore = { secret_access_key = [\"hunter2\"] }",
        "[[source]]\nname = 't'\nuri = 'x'\nstore = \"hunter2\"",
        "[[source]]\nname = 't'\nuri = 'x'\nformat = \"${KEY}\"",
        "[limits]\nmax_rows = \"${KEY}\"",
        "[limits]\nmemory = \"${KEY}\"",
        "[limits]\ntimeout = \"${KEY}\"",
        "[limits]\ntotal_rows = \"${KEY}\"",
    ] {
        let error = refusal(text);
        assert!(error.contains("t.toml, line") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn added_sources_take_the_place_of_the_files() {
    let config = read("[[source]]\nname = 'a'\nuri = '1'\n[[source]]\nname = 'b'\nuri = '2'");
    let config = config.map(|config| config.with_sources([Source::new("public.a", "3")]));
    let expected = [Source::new("b", "2"), Source::new("public.a", "3")];
    assert_eq!(config.map(|config| config.sources), Ok(expected.to_vec()));
}
