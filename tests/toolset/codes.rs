//! Every code of the contract, from calls that can happen.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::SessionContext;
use datafusion_toolset::{Error, ErrorCode, Limits, Retry, Source, Toolset};
use std::time::Duration;

use super::{call, numbered, register};

/// A function of the embedding program that fails as `fail` does.
fn function(context: &SessionContext, name: &str, fail: impl Fn() -> Result<ColumnarValue> + Send + Sync + 'static) {
    let body = Arc::new(move |_: &[ColumnarValue]| fail());
    context.register_udf(create_udf(name, vec![DataType::Int64], DataType::Int64, Volatility::Volatile, body));
}

/// What a task that was aborted gives to those who wait for it.
fn aborted() -> DataFusionError {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let task = runtime.spawn(std::future::pending::<()>());
    task.abort();
    let error = runtime.block_on(task).expect_err("aborted");
    DataFusionError::ExecutionJoin(Box::new(error))
}

fn toolset(limits: Limits) -> Toolset {
    let context = SessionContext::new();
    register(&context, "t", numbered(100));
    function(&context, "boom", || panic!("a bug of the function"));
    function(&context, "aborted", || Err(std::thread::spawn(aborted).join().expect("an error")));
    let gone = Source::new("gone", "/nowhere/gone.parquet");
    Toolset::builder().session_context(&context).source(gone).limits(limits).build().expect("a toolset")
}

#[tokio::test]
async fn every_code_is_reached() {
    let limits = Limits::default().with_timeout(Duration::from_secs(20)).with_memory(16 << 20).with_spill(0);
    let tools = toolset(limits);
    let long = format!("SELECT {}1", "1+".repeat(2000));
    let reached = [
        ("SELECT 1 FROM", ErrorCode::Syntax, Retry::Changed),
        ("SELECT * FROM nosuch", ErrorCode::UnknownTable, Retry::Changed),
        ("SELECT nosuch FROM t", ErrorCode::UnknownColumn, Retry::Changed),
        ("SELECT nosuch(1)", ErrorCode::UnknownFunction, Retry::Changed),
        ("SELECT sum(name) FROM t", ErrorCode::InvalidQuery, Retry::Changed),
        ("DROP TABLE t", ErrorCode::NotAllowed, Retry::Changed),
        (long.as_str(), ErrorCode::TooComplex, Retry::Changed),
        ("SELECT cast(name AS BIGINT) FROM t", ErrorCode::Execution, Retry::Changed),
        ("SELECT id / (id - id) FROM t", ErrorCode::Execution, Retry::Changed),
        ("SELECT array_agg(value) FROM generate_series(1, 10000000)", ErrorCode::ResourceExhausted, Retry::Changed),
        ("SELECT * FROM gone", ErrorCode::SourceUnavailable, Retry::Later),
        ("SELECT aborted(id) FROM t", ErrorCode::Cancelled, Retry::Later),
        ("SELECT boom(id) FROM t", ErrorCode::Internal, Retry::Never),
    ];
    for (sql, code, retry) in reached {
        let error = tools.query(sql).await.expect_err(sql);
        assert_eq!((error.code(), error.retry()), (code, retry), "{sql:.80}: {error:?}");
        is_presentable(&error);
        // Whatever it was, the next call works.
        assert_eq!(tools.query("SELECT count(*) FROM t").await.expect("the next call").row_count(), 1);
    }
    let arguments = &call(&tools, "query", "{}").await["error"];
    assert_eq!((arguments["code"].as_str(), arguments["retry"].as_str()), (Some("invalid_arguments"), Some("changed")));
    let brief = toolset(Limits::default().with_timeout(Duration::from_millis(100)));
    let error = brief.query("SELECT count(*) FROM generate_series(1, 100000000000)").await.expect_err("a timeout");
    assert_eq!((error.code(), error.retry()), (ErrorCode::Timeout, Retry::Changed));
    is_presentable(&error);
}

/// One line of at most 1 KiB that says nothing of the inside.
fn is_presentable(error: &Error) {
    let json = error.json();
    assert!(json.len() <= 1024 && !json.contains('\n'), "{json}");
    for inside in ["backtrace", "bug in DataFusion", "a bug of the function", "SET ", "JoinError", "panicked"] {
        assert!(!json.contains(inside), "{json}");
    }
}

/// err-01: on 3,000 columns, from both tools and over a join of five.
#[tokio::test]
async fn a_misspelt_column_of_a_wide_table_is_answered_in_a_kibibyte() {
    use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
    let names = (0..3000).map(|n| format!("sensor_reading_{n:05}")).chain(["temperature_c".to_owned()]);
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let batch = RecordBatch::try_from_iter(names.map(|name| (name, Arc::clone(&column)))).expect("a batch");
    let context = SessionContext::new();
    register(&context, "wide", batch);
    let tools = Toolset::builder().session_context(&context).build().expect("a toolset");
    let joined = "SELECT temprature_c FROM wide a, wide b, wide c, wide d, wide e";
    for (sql, first) in [("SELECT temprature_c FROM wide", "temperature_c"), (joined, "a.temperature_c")] {
        let error = tools.query(sql).await.expect_err(sql);
        assert_eq!(error.code(), ErrorCode::UnknownColumn);
        assert_eq!(error.suggestions()[0], first, "{error:?}");
        assert!(error.suggestions().len() <= 5 && error.message().contains("name_contains"), "{error:?}");
        assert!(error.json().len() <= 1024, "{}", error.json().len());
        let checked = tools.check_query(sql).await.expect("checked");
        assert_eq!(checked.json(), format!("{{\"valid\":false,{}", &error.json()[1..]));
    }
}
