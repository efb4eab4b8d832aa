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

#[test]
#[ignore]
fn stack_probe() {
    let env = |n: &str| std::env::var(n).unwrap();
    let n: usize = env("N").parse().unwrap();
    let stack: usize = env("STACK_KB").parse::<usize>().unwrap() << 10;
    let kind = env("KIND");
    let stage = env("STAGE");
    let sql = text_of(&kind, n);
    let checked = std::env::var("CHECKED").is_ok();
    let state = context().state();
    std::thread::Builder::new()
        .stack_size(stack)
        .spawn(move || {
            let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            rt.block_on(async {
                let start = std::time::Instant::now();
                let plan = if checked {
                    match plan(&sql, &state, MAX_SQL_BYTES).await {
                        Ok(plan) => plan,
                        Err(e) => {
                            println!("RESULT refused {} {:?}", e.json(), start.elapsed());
                            return;
                        }
                    }
                } else {
                    let s = DFParserBuilder::new(sql.as_str())
                        .with_recursion_limit(if std::env::var("DEEP").is_ok() { 100000 } else { 50 })
                        .build()
                        .unwrap()
                        .parse_statements();
                    let mut s = match s {
                        Ok(s) => s,
                        Err(e) => {
                            println!("RESULT parse {:.150}", e.to_string());
                            return;
                        }
                    };
                    match state.statement_to_plan(s.pop_front().unwrap()).await {
                        Ok(p) => p,
                        Err(e) => {
                            println!("RESULT plan {:.150}", e.to_string());
                            return;
                        }
                    }
                };
                tree::check(&plan).map_err(|e| println!("{e}")).ok();
                let planned = start.elapsed();
                if stage == "plan" {
                    drop(plan);
                    println!("RESULT ok plan {:?} {:?}", planned, start.elapsed());
                    return;
                }
                let opt = match state.optimize(&plan) {
                    Ok(p) => p,
                    Err(e) => {
                        println!("RESULT opt {:.150}", e.to_string());
                        return;
                    }
                };
                let optimized = start.elapsed();
                drop(plan);
                let phys = match state.query_planner().create_physical_plan(&opt, &state).await {
                    Ok(p) => p,
                    Err(e) => {
                        println!("RESULT phys {:.150}", e.to_string());
                        return;
                    }
                };
                let physical = start.elapsed();
                drop(opt);
                let r = datafusion::physical_plan::collect(phys, state.task_ctx()).await;
                println!(
                    "RESULT ok plan {planned:?} opt {optimized:?} phys {physical:?} exec {:?} {:?}",
                    start.elapsed(),
                    r.map(|b| b.len()).map_err(|e| e.to_string().chars().take(100).collect::<String>())
                );
            });
        })
        .unwrap()
        .join()
        .unwrap();
}

fn text_of(kind: &str, n: usize) -> String {
    let join = |f: &dyn Fn(usize) -> String, sep: &str| (0..n).map(f).collect::<Vec<_>>().join(sep);
    match kind {
        "plus" => format!("SELECT {}", join(&|_| "1".into(), "+")),
        "pluscol" => format!("SELECT {} FROM t", join(&|_| "id".into(), "+")),
        "or" => format!("SELECT 1 FROM t WHERE {}", join(&|i| format!("id={i}"), " OR ")),
        "or2" => format!("SELECT 1 FROM t WHERE {}", join(&|i| format!("id={i} AND name='{i}'"), " OR ")),
        "and" => format!("SELECT 1 FROM t WHERE {}", join(&|i| format!("id<>{i}"), " AND ")),
        "concat" => format!("SELECT {}", join(&|_| "'a'".into(), "||")),
        "concatcol" => format!("SELECT {} FROM t", join(&|_| "name".into(), "||")),
        "union" => join(&|_| "SELECT 1".into(), " UNION ALL "),
        "uniondistinct" => join(&|_| "SELECT 1".into(), " UNION "),
        "except" => join(&|_| "SELECT 1".into(), " EXCEPT "),
        "intersect" => join(&|_| "SELECT 1".into(), " INTERSECT "),
        "not" => format!("SELECT {} true", join(&|_| "NOT".into(), " ")),
        "minus" => format!("SELECT {} id FROM t", join(&|_| "-".into(), " ")),
        "case" => format!(
            "SELECT {} 1 {} FROM t",
            join(&|i| format!("CASE WHEN id={i} THEN 0 ELSE"), " "),
            join(&|_| "END".into(), " ")
        ),
        "casethen" => format!(
            "SELECT {} 1 {} FROM t",
            join(&|i| format!("CASE WHEN id={i} THEN"), " "),
            join(&|_| "END".into(), " ")
        ),
        "when" => format!("SELECT CASE {} END FROM t", join(&|i| format!("WHEN id={i} THEN {i}"), " ")),
        "brackets" => format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)),
        "calls" => format!("SELECT {}id{} FROM t", "abs(".repeat(n), ")".repeat(n)),
        "arrays" => format!("SELECT {}1{}", "[".repeat(n), "]".repeat(n)),
        "subquery" => format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(n), ")".repeat(n)),
        "scalarsub" => format!("SELECT {}1{}", "(SELECT ".repeat(n), ")".repeat(n)),
        "exists" => format!("SELECT 1 WHERE {}true{}", "EXISTS (SELECT 1 FROM t WHERE ".repeat(n), ")".repeat(n)),
        "insub" => {
            format!("SELECT id FROM t WHERE {}true{}", "id IN (SELECT id FROM t WHERE ".repeat(n), ")".repeat(n))
        }
        "cte" => format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}",
            join(&|i| format!("c{} AS (SELECT id FROM c{i})", i + 1), ", ")
        ),
        "ctegroup" => format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}",
            join(&|i| format!("c{} AS (SELECT id, count(*) AS n FROM c{i} GROUP BY id)", i + 1), ", ")
        ),
        "cte2" => format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}",
            join(&|i| format!("c{} AS (SELECT a.id FROM c{i} a, c{i} b)", i + 1), ", ")
        ),
        "cteexpr2" => format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}",
            join(
                &|i| format!("c{} AS (SELECT (SELECT max(id) FROM c{i}) + (SELECT min(id) FROM c{i}) AS id)", i + 1),
                ", "
            )
        ),
        "aliasdouble" => format!(
            "WITH c0 AS (SELECT id FROM t), {} SELECT * FROM c{n}",
            join(&|i| format!("c{} AS (SELECT id+id AS id FROM c{i})", i + 1), ", ")
        ),
        "joins" => format!(
            "SELECT count(*) FROM t t0 {}",
            join(&|i| format!("JOIN t t{} ON t{i}.id=t{}.id", i + 1, i + 1), " ")
        ),
        "commas" => format!("SELECT count(*) FROM {}", join(&|i| format!("t t{i}"), ", ")),
        "in" => format!("SELECT 1 FROM t WHERE id IN ({})", join(&|i| format!("{i}"), ",")),
        "values" => format!("VALUES {}", join(&|i| format!("({i},'a')"), ",")),
        "cast" => format!("SELECT id{} FROM t", "::bigint".repeat(n)),
        "castalt" => format!("SELECT id{} FROM t", "::text::bigint".repeat(n)),
        "subscript" => format!("SELECT tags{} FROM t", "[1]".repeat(n)),
        "isnull" => format!("SELECT id{} FROM t", " IS NULL".repeat(n)),
        "pipe" => format!("SELECT * FROM t {}", "|> WHERE id > 0 ".repeat(n)),
        "arraytype" => format!("SELECT CAST(NULL AS {}INT{})", "ARRAY<".repeat(n), ">".repeat(n)),
        "structtype" => format!("SELECT CAST(NULL AS {}INT{})", "STRUCT<a ".repeat(n), ">".repeat(n)),
        "inttype" => format!("SELECT CAST(NULL AS INT{})", "[]".repeat(n)),
        "explain" => format!("{} SELECT 1", join(&|_| "EXPLAIN".into(), " ")),
        "select" => format!("SELECT {} FROM t", join(&|i| format!("id+{i} AS c{i}"), ",")),
        "selectplain" => format!("SELECT {}", join(&|i| format!("{i}"), ",")),
        "period" => format!("SELECT {} FROM t", join(&|_| "a".into(), ".")),
        "orderby" => format!("SELECT 1 FROM t ORDER BY {}", join(&|i| format!("id+{i}"), ",")),
        "likes" => format!("SELECT 1 FROM t WHERE {}", join(&|i| format!("name LIKE '%{i}%'"), " OR ")),
        "concatfn" => format!("SELECT concat({}) FROM t", join(&|i| format!("name, '{i}'"), ",")),
        "windows" => format!("SELECT {} FROM t", join(&|i| format!("sum(id) OVER (ORDER BY id+{i}) AS c{i}"), ",")),
        "aggs" => format!("SELECT {} FROM t", join(&|i| format!("sum(id+{i}) AS c{i}"), ",")),
        "groupingsets" => format!("SELECT 1 FROM t GROUP BY CUBE({})", join(&|i| format!("id+{i}"), ",")),
        "arrow" => format!("SELECT {} 1", join(&|i| format!("x{i} ->"), " ")),
        "strings" => format!("SELECT {}", join(&|_| "'a'".into(), " ")),
        "intervals" => format!("SELECT {} '1 day'", join(&|_| "INTERVAL".into(), " ")),
        "atzone" => format!("SELECT now(){}", " AT TIME ZONE 'UTC'".repeat(n)),
        "tablebrackets" => format!("SELECT * FROM {}t{}", "(".repeat(n), ")".repeat(n)),
        "joinnest" => format!("SELECT 1 FROM {}t{}", "(t JOIN ".repeat(n), " ON true)".repeat(n)),
        "begin" => "BEGIN ".repeat(n),
        "ifs" => "IF true THEN ".repeat(n),
        "createif" => format!("CREATE PROCEDURE p() AS BEGIN {}", "BEGIN ".repeat(n)),
        "matchrec" => {
            format!("SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({}a{}) DEFINE a AS true)", "(".repeat(n), ")".repeat(n))
        }
        "jsonpath" => format!("SELECT a{}", ":b".repeat(n)),
        "pivot" => format!("SELECT * FROM t {}", "PIVOT (sum(id) FOR name IN ('a')) ".repeat(n)),
        "unaryplus" => format!("SELECT {}1", "+".repeat(n)),
        "bang" => format!("SELECT {}true", "!".repeat(n)),
        "tilde" => format!("SELECT {}1", "~".repeat(n)),
        "exponent" => format!("SELECT 2{}", "^2".repeat(n)),
        "lambda" => format!("SELECT {}1", "x -> ".repeat(n)),
        "prior" => format!("SELECT {} 1", "PRIOR ".repeat(n)),
        "any" => format!("SELECT 1 = ANY({}1)", "1 = ANY(".repeat(n)),
        "tuple" => format!("SELECT {}1,2{}", "(".repeat(n), ",3)".repeat(n)),
        "grouping" => format!("SELECT 1 FROM t GROUP BY {}id{}", "ROLLUP (".repeat(n), ")".repeat(n)),
        "nullable" => format!("SELECT CAST(1 AS {}Int64{})", "Nullable(".repeat(n), ")".repeat(n)),
        "lateral" => format!("SELECT 1 FROM t {}", join(&|i| format!(", LATERAL (SELECT t.id) AS l{i}"), " ")),
        "unnest" => format!("SELECT {}tags{} FROM t", "unnest(".repeat(n), ")".repeat(n)),
        "semis" => ";".repeat(n),
        "view" => format!("{}t", "TABLE ".repeat(n)),
        "filter" => format!("SELECT {} FROM t", join(&|i| format!("count(*) FILTER (WHERE id > {i}) AS c{i}"), ",")),
        "struct" => format!("SELECT {}1{}", "{a: ".repeat(n), "}".repeat(n)),
        "raise" => format!("{}SELECT 1", "CREATE ".repeat(n)),
        "between" => format!("SELECT 1 FROM t WHERE {}", join(&|i| format!("id BETWEEN {i} AND {}", i + 1), " OR ")),
        "coalesce" => format!("SELECT {}id{} FROM t", "coalesce(".repeat(n), ",1)".repeat(n)),
        _ => panic!("{kind}"),
    }
}
#[test]
#[ignore]
fn probe() {
    let context = context();
    let u = RecordBatch::try_from_iter(vec![
        ("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("label", Arc::new(StringArray::from(vec!["x"]))),
    ])
    .unwrap();
    context.register_batch("u", u).unwrap();
    context.deregister_table("t").unwrap();
    let rt = tokio::runtime::Runtime::new().unwrap();
    rt.block_on(context.sql("CREATE TABLE t AS SELECT 1 AS id, 'a' AS name, 7 AS \"userId\", 1.5::double AS price, DATE '2024-01-01' AS day, [1,2] AS tags, named_struct('city','Lyon') AS address")).unwrap();
    let show = std::env::var("SHOW").is_ok();
    for sql in std::fs::read_to_string("/tmp/probe.sql").unwrap().split("\n;;\n") {
        let state = context.state();
        let text = sql.to_owned();
        let planned = on_large_stack(move || futures::executor::block_on(plan(&text, &state, MAX_SQL_BYTES)));
        match planned {
            Ok(plan) => match rt.block_on(async { context.state().create_physical_plan(&plan).await }) {
                Ok(_) => {
                    if show {
                        println!("PLANNED {sql}")
                    }
                }
                Err(e) => println!("PHYS {sql} => {:.300}", e.to_string()),
            },
            Err(error) => println!("REFUSED {:.100} => {}", sql, error.json()),
        }
    }
}
