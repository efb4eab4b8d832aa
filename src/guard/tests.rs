use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, ListArray, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::sqlparser::keywords::ALL_KEYWORDS;
use proptest::prelude::*;

use super::*;
use crate::error::{Error, ErrorCode};
use crate::ident::quote;

const MAX_SQL_BYTES: usize = 65_536;

/// `t(id, name, "userId", tags, address)`, `wide` with 3,000 columns and `temperature_c`, and `sales.returns`.
fn context() -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    let address = StructArray::from(vec![(
        Arc::new(Field::new("city", DataType::Utf8, true)),
        Arc::new(StringArray::from(vec!["Lyon", "Bonn"])) as ArrayRef,
    )]);
    let tags = ListArray::from_iter_primitive::<Int64Type, _, _>(vec![Some(vec![Some(1)]), Some(vec![Some(2)])]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("name", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("userId", Arc::new(Int64Array::from(vec![7, 8]))),
        ("tags", Arc::new(tags)),
        ("address", Arc::new(address)),
    ];
    context.register_batch("t", RecordBatch::try_from_iter(columns).expect("t")).expect("t");
    let names = (0..3000).map(|i| format!("sensor_reading_{i:05}")).chain(["temperature_c".to_owned()]);
    let fields: Vec<Field> = names.map(|name| Field::new(name, DataType::Float64, true)).collect();
    let wide = MemTable::try_new(Arc::new(Schema::new(fields)), vec![vec![]]).expect("wide");
    context.register_table("wide", Arc::new(wide)).expect("wide");
    context
}

fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("thread").join().expect("no panic")
}

fn planned(sql: &str) -> Result<LogicalPlan, Error> {
    let state = context().state();
    let sql = sql.to_owned();
    on_large_stack(move || futures::executor::block_on(plan(&sql, &state, MAX_SQL_BYTES)))
}

fn refused(sql: &str) -> Error {
    match planned(sql) {
        Ok(plan) => panic!("{sql} was planned: {plan}"),
        Err(error) => error,
    }
}

#[test]
fn one_statement_that_reads() {
    for sql in ["SELECT 1;", "FROM t", "DESCRIBE t", "SHOW TABLES", "EXPLAIN SELECT 1", "VALUES (1), (2)"] {
        assert!(planned(sql).is_ok(), "{sql}");
    }
    for (sql, code) in [
        ("", ErrorCode::Syntax),
        ("-- nothing", ErrorCode::Syntax),
        ("SELECT 1; SELECT 2", ErrorCode::Syntax),
        ("SELECT * INTO z FROM t", ErrorCode::NotAllowed),
        ("SELECT * FROM t FOR UPDATE", ErrorCode::NotAllowed),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT 1", ErrorCode::NotAllowed),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'", ErrorCode::NotAllowed),
        ("INSTALL httpfs", ErrorCode::NotAllowed),
    ] {
        assert_eq!(refused(sql).code(), code, "{sql}");
    }
}

#[test]
fn near_names() {
    for (sql, code, suggestions) in [
        ("SELECT temprature_c FROM wide", ErrorCode::UnknownColumn, vec!["temperature_c"]),
        ("SELECT userId FROM t", ErrorCode::UnknownColumn, vec!["\"userId\""]),
        ("SELECT t.nme FROM t", ErrorCode::UnknownColumn, vec!["t.name"]),
        ("SELECT id FROM t a, t b", ErrorCode::InvalidQuery, vec!["a.id", "b.id"]),
        ("SELECT * FROM wyde", ErrorCode::UnknownTable, vec!["wide"]),
        ("SELECT * FROM '/etc/passwd'", ErrorCode::UnknownTable, vec![]),
        ("SELECT sumx(id) OVER () FROM t", ErrorCode::UnknownFunction, vec!["sum"]),
        ("SELECT * FROM generate_serie(1, 10)", ErrorCode::UnknownFunction, vec!["generate_series"]),
    ] {
        let error = refused(sql);
        assert_eq!(
            (error.code(), error.suggestions()),
            (code, &suggestions.into_iter().map(str::to_owned).collect::<Vec<_>>()[..]),
            "{sql}"
        );
        assert!(error.json().len() <= 1024, "{sql}");
    }
}

/// Plans, optimizes, runs and drops on one thread with the stack that the toolset gives.
fn run_through(sql: String) -> Result<(), Error> {
    let state = context().state();
    on_large_stack(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(async {
            let plan = plan(&sql, &state, usize::MAX).await?;
            let plan = state.create_physical_plan(&plan).await.map_err(Error::from_datafusion)?;
            let batches = datafusion::physical_plan::collect(plan, state.task_ctx()).await;
            batches.map(drop).map_err(Error::from_datafusion)
        })
    })
}

#[test]
fn what_passes_the_limits_has_stack_enough() {
    let join =
        |n: usize, piece: &dyn Fn(usize) -> String, between: &str| (0..n).map(piece).collect::<Vec<_>>().join(between);
    for sql in [
        format!("SELECT {} FROM t", join(text::MAX_CHAIN, &|_| "id".into(), "+")),
        format!("SELECT 1 FROM t WHERE {}", join(text::MAX_CHAIN - 1, &|i| format!("id={i}"), " OR ")),
        format!("SELECT {} FROM t", join(text::MAX_CHAIN, &|_| "name".into(), "||")),
        format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c127",
            join(127, &|i| format!("c{} AS (SELECT id FROM c{i})", i + 1), ", ")
        ),
        format!("SELECT {}id{} FROM t", "abs(".repeat(40), ")".repeat(40)),
    ] {
        run_through(sql.clone()).unwrap_or_else(|error| panic!("{sql:.60}: {error}"));
    }
}

#[test]
fn what_grows_is_refused_before_it_is_planned() {
    let twice = |n: usize, body: &dyn Fn(usize) -> String| {
        let names: Vec<String> = (0..n).map(|i| format!("c{} AS ({})", i + 1, body(i))).collect();
        format!("WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}", names.join(", "))
    };
    for sql in [
        twice(40, &|i| format!("SELECT a.id FROM c{i} a, c{i} b")),
        twice(40, &|i| format!("SELECT id FROM c{i} UNION ALL SELECT id FROM c{i}")),
        twice(40, &|i| format!("SELECT (SELECT max(id) FROM c{i}) + (SELECT min(id) FROM c{i}) AS id")),
        format!(
            "SELECT 1 FROM t GROUP BY CUBE ({})",
            (0..40).map(|i| format!("id + {i}")).collect::<Vec<_>>().join(", ")
        ),
        format!(
            "SELECT {} FROM t",
            (0..200).map(|i| format!("sum(id) OVER (ORDER BY id + {i})")).collect::<Vec<_>>().join(", ")
        ),
        format!("SELECT {} FROM t", (0..1001).map(|i| format!("Sum(id+{i})")).collect::<Vec<_>>().join(", ")),
        format!("SELECT {}", (0..100).map(|i| format!("repeat('x', 9000{i})")).collect::<Vec<_>>().join(", ")),
    ] {
        assert_eq!(refused(&sql).code(), ErrorCode::TooComplex, "{sql:.80}");
    }
}

#[test]
fn the_engine_reads_quoted_names_back() {
    let words = ALL_KEYWORDS.iter().map(|word| word.to_lowercase());
    let names =
        words.chain(["userId", "unit price", "order.total", "quo\"te", "été", "9a", "a\u{0}b"].map(str::to_owned));
    let context = SessionContext::new();
    let mut wrong = Vec::new();
    for name in names {
        let schema = Schema::new(vec![Field::new(&name, DataType::Int64, true)]);
        let table = MemTable::try_new(Arc::new(schema), vec![vec![]]).expect("table");
        let reference = datafusion::common::TableReference::bare(name.clone());
        context.register_table(reference.clone(), Arc::new(table)).expect("registered");
        let sql = quote(&name);
        let text = format!(
            "SELECT {sql}, {sql} + 1 AS b, x.{sql} AS c FROM {sql} AS x WHERE {sql} > 1 GROUP BY {sql} ORDER BY {sql}"
        );
        match futures::executor::block_on(plan(&text, &context.state(), MAX_SQL_BYTES)) {
            Ok(plan) if plan.schema().field(0).name() == &name => {}
            Ok(plan) => wrong.push(format!("{name}: {}", plan.schema())),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        context.deregister_table(reference).expect("deregistered");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_planned_or_refused(text in "\\PC{0,60}") {
        let _ = planned(&text);
    }

    #[test]
    fn any_words_are_planned_or_refused(words in prop::collection::vec(prop::sample::select(vec![
        "SELECT", "FROM", "WHERE", "t", "id", "name", "*", "(", ")", ",", "1", "'a'", "+", "=", "AND", "OR", "NOT",
        "UNION", "WITH", "x", "AS", "CASE", "WHEN", "THEN", "END", "JOIN", "ON", "GROUP", "BY", "ORDER", "LIMIT",
        "INTO", "INSERT", "DELETE", "COPY", "TO", "EXPLAIN", "ANALYZE", "SET", ";", "[", "]", "OVER", "EXISTS", "IN",
    ]), 0..14)) {
        if let Ok(plan) = planned(&words.join(" ")) {
            prop_assert!(tree::check(&plan).is_ok());
            prop_assert!(SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false).verify_plan(&plan).is_ok());
        }
    }

    #[test]
    fn a_broken_statement_is_planned_or_refused(cut in 0..120usize, length in 0..20usize, put in "[a-z(),;'* ]{0,6}") {
        let sql = "WITH a AS (SELECT id, sum(id) OVER (ORDER BY id) s FROM t WHERE name IN ('a', 'b')) SELECT a.*, CASE WHEN s > 1 THEN 'x' END FROM a ORDER BY 1";
        let start = cut.min(sql.len());
        let end = (start + length).min(sql.len());
        let _ = planned(&format!("{}{put}{}", &sql[..start], &sql[end..]));
    }
}
