use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, ListArray, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::*;
use crate::error::{Error, ErrorCode};

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
