//! What must not get through, with the code that says why.

use std::path::Path;

use datafusion_toolset::{Error, ErrorCode, Toolset};

use super::toolset;

/// Statements that are refused as they stand.
pub(super) const REFUSED: &[(ErrorCode, &[&str])] = &[
    (
        ErrorCode::NotAllowed,
        &[
            "SELECT * INTO z FROM t",
            "SELECT id INTO TEMP z FROM t",
            "WITH x AS (SELECT * INTO z FROM t) SELECT 1",
            "SELECT 1 UNION ALL SELECT 2 INTO z",
            "CREATE TABLE z AS SELECT 1",
            "CREATE TABLE z (a INT)",
            "CREATE OR REPLACE TABLE t AS SELECT 1",
            "CREATE TABLE IF NOT EXISTS z AS SELECT 1",
            "CREATE TEMPORARY TABLE z (a INT)",
            "CREATE UNBOUNDED EXTERNAL TABLE e (a INT) STORED AS CSV LOCATION '/tmp/x'",
            "CREATE EXTERNAL TABLE e STORED AS CSV LOCATION '/etc/hosts'",
            "CREATE EXTERNAL TABLE e STORED AS PARQUET LOCATION 's3://bucket/x' OPTIONS ('aws.secret_access_key' 'abc')",
            "CREATE VIEW v AS SELECT 1",
            "CREATE MATERIALIZED VIEW v AS SELECT 1",
            "CREATE SCHEMA s",
            "CREATE DATABASE d",
            "CREATE INDEX i ON t (id)",
            "CREATE FUNCTION f(BIGINT) RETURNS BIGINT RETURN $1",
            "CREATE ROLE r",
            "CREATE SEQUENCE s",
            "CREATE TYPE x AS ENUM ('a')",
            "CREATE EXTENSION x",
            "CREATE SECRET s (TYPE S3)",
            "DROP TABLE t",
            "DROP TABLE IF EXISTS t",
            "DROP VIEW v",
            "DROP SCHEMA public CASCADE",
            "DROP FUNCTION sum",
            "DROP DATABASE d",
            "drop table t -- please",
            "/* hi */ DROP TABLE t",
            "-- hi\nDROP TABLE t",
            "ALTER TABLE t ADD COLUMN x INT",
            "ALTER TABLE t RENAME TO z",
            "TRUNCATE TABLE t",
            "TRUNCATE t",
            "INSERT INTO t VALUES (9)",
            "INSERT INTO t SELECT * FROM t",
            "INSERT OVERWRITE t SELECT 1",
            "REPLACE INTO t VALUES (1)",
            "WITH x AS (SELECT 1) INSERT INTO t SELECT 1",
            "WITH x AS (INSERT INTO t VALUES (1) RETURNING id) SELECT * FROM x",
            "WITH x AS (UPDATE t SET id = 1 RETURNING id) SELECT * FROM x",
            "WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x",
            "SELECT * FROM (SELECT 1) x WHERE 1 IN (SELECT 1 INTO z)",
            "UPDATE t SET id = 1",
            "UPDATE t SET id = 1 WHERE id = 2",
            "WITH x AS (SELECT 1) UPDATE t SET id = 1",
            "DELETE FROM t",
            "DELETE FROM t WHERE id = 1",
            "WITH x AS (SELECT 1) DELETE FROM t",
            "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE",
            "COPY t TO 'out.csv'",
            "COPY (SELECT 1) TO '/tmp/out.parquet'",
            "COPY (SELECT 1) TO 's3://bucket/out.parquet' STORED AS PARQUET",
            "COPY t FROM '/etc/passwd'",
            "COPY t FROM PROGRAM 'id'",
            "EXPLAIN COPY (SELECT 1) TO 'y.csv'",
            "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'x.parquet'",
            "/* hi */ EXPLAIN ANALYZE VERBOSE COPY t TO 'z.json'",
            "EXPLAIN ANALYZE INSERT INTO t VALUES (1)",
            "EXPLAIN INSERT INTO t VALUES (1)",
            "EXPLAIN CREATE TABLE z AS SELECT 1",
            "EXPLAIN DROP TABLE t",
            "EXPLAIN DELETE FROM t",
            "EXPLAIN SET x = 1",
            "EXPLAIN WITH x AS (SELECT 1) INSERT INTO t SELECT 1",
            "EXPLAIN SELECT * INTO z FROM t",
            "EXPLAIN EXPLAIN SELECT 1",
            "EXPLAIN DESCRIBE t",
            "SET datafusion.execution.batch_size = 1",
            "SET datafusion.catalog.information_schema TO true",
            "SET TIME ZONE 'UTC'",
            "SET x = 1",
            "SET ROLE admin",
            "RESET datafusion.execution.batch_size",
            "RESET ALL",
            "PREPARE p AS SELECT 1",
            "PREPARE p(INT) AS SELECT $1",
            "EXECUTE p",
            "EXECUTE p(1)",
            "EXECUTE IMMEDIATE 'DROP TABLE t'",
            "DEALLOCATE p",
            "DEALLOCATE ALL",
            "BEGIN",
            "BEGIN TRANSACTION",
            "START TRANSACTION",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT s",
            "RELEASE SAVEPOINT s",
            "SELECT * FROM t FOR UPDATE",
            "SELECT * FROM t FOR SHARE",
            "SELECT * FROM (SELECT * FROM t FOR UPDATE) x",
            "USE d",
            "CALL f()",
            "ANALYZE TABLE t",
            "ANALYZE",
            "VACUUM",
            "VACUUM FULL t",
            "PRAGMA database_list",
            "ATTACH 'x.db' AS x",
            "ATTACH DATABASE 'x.db' AS x",
            "DETACH x",
            "INSTALL httpfs",
            "LOAD httpfs",
            "LOAD DATA INPATH '/x' INTO TABLE t",
            "GRANT SELECT ON t TO bob",
            "REVOKE SELECT ON t FROM bob",
            "KILL 1",
            "DECLARE c CURSOR FOR SELECT 1",
            "FETCH NEXT FROM c",
            "CLOSE c",
            "LISTEN x",
            "NOTIFY x",
            "COMMENT ON TABLE t IS 'x'",
            "CACHE TABLE t",
            "UNCACHE TABLE t",
            "REFRESH TABLE t",
            "MSCK REPAIR TABLE t",
            "FLUSH TABLES",
            "LOCK TABLES t WRITE",
            "UNLOCK TABLES",
            "OPTIMIZE TABLE t",
            "DISCARD ALL",
            "CHECKPOINT",
            "EXPORT DATABASE 'x'",
            "IMPORT DATABASE 'x'",
            "DO $$ BEGIN END $$",
        ],
    ),
    (
        ErrorCode::Syntax,
        &[
            "",
            " \n\t ",
            ";",
            ";;;",
            "-- nothing",
            "/* nothing */",
            "SELECT 1; SELECT 2",
            "SELECT 1; DROP TABLE t",
            "SELECT 1;; DROP TABLE t;",
            "SELECT 1; -- x\n DELETE FROM t",
            "SELECT 1 /* ; */ ; /* */ SET x = 1",
            "SELEC 1",
            "SELECT",
            "SELECT 1 FROM",
            "SELECT (1",
            "SELECT 1)",
            "SELECT 'abc",
            "SELECT \"abc",
            "SELECT /* abc",
            "SELECT * FROM t WHERE",
            "SELECT * FROM t GROUP",
            "SELECT id FROM t ORDER id",
            "SELECT CASE WHEN 1 THEN 2",
            "hello there",
            "{\"sql\": \"SELECT 1\"}",
            "```sql\nSELECT 1\n```",
            "\u{0}",
            "💥",
        ],
    ),
    (
        ErrorCode::UnknownTable,
        &[
            "SELECT * FROM '/etc/passwd'",
            "SELECT * FROM '/abs/outside.parquet'",
            "SELECT * FROM 'file:///abs/outside.csv'",
            "SELECT * FROM 'http://169.254.169.254/x.csv'",
            "SELECT * FROM \"s3://bucket/x.parquet\"",
            "SELECT * FROM \"../secret.csv\"",
            "SELECT * FROM 'Cargo.toml'",
            "SELECT * FROM nosuch",
            "SELECT * FROM nosuch.t",
            "SELECT * FROM nosuch.nosuch.t",
            "SELECT * FROM pg_catalog.pg_tables",
            "SELECT * FROM sqlite_master",
            "DESCRIBE nosuch",
            "EXPLAIN SELECT * FROM nosuch",
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM nosuch)",
        ],
    ),
    (
        ErrorCode::UnknownFunction,
        &[
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT * FROM read_parquet('/abs/outside.parquet')",
            "SELECT * FROM parquet_metadata('/abs/outside.parquet')",
            "SELECT * FROM read_text('/etc/passwd')",
            "SELECT * FROM glob('*')",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT load_extension('x')",
            "SELECT sleep(10)",
            "SELECT getenv('HOME')",
            "SELECT nosuch(id) OVER () FROM t",
        ],
    ),
    (ErrorCode::Execution, &["SELECT regexp_like('a', '(')", "SELECT date '2024-13-45'", "SELECT cast('a' AS int)"]),
    (
        ErrorCode::UnknownColumn,
        &[
            "SELECT nosuch FROM t",
            "SELECT userId FROM t",
            "SELECT t.nosuch FROM t",
            "SELECT x.id FROM t",
            "SELECT id FROM t WHERE name = \"a\"",
            "SELECT nosuch",
            "SELECT id FROM t ORDER BY nosuch",
        ],
    ),
    (
        ErrorCode::InvalidQuery,
        &[
            "SELECT 1, 1",
            "SELECT id FROM t JOIN u ON t.id = u.id",
            "SELECT name, count(*) FROM t",
            "SELECT sum(name) FROM t",
            "SELECT name + 1 FROM t",
            "SELECT abs('a', 'b')",
            "SELECT $1",
            "SELECT id FROM t LIMIT $1",
            "SELECT id FROM t WHERE id = ?",
            "SELECT * FROM t TABLESAMPLE (10 PERCENT)",
            "SELECT id FROM t UNION SELECT id, label FROM u",
            "SHOW nosuch",
            "SELECT id FROM t WHERE count(*) > 1",
            "SELECT lag(id) FROM t",
            "SELECT row_number() FROM t",
            // What only the physical planner, or the first row, finds out.
            "SELECT t.id, x.v FROM t, LATERAL (SELECT unnest(t.tags) AS v) x",
            "SELECT t.id, x.v FROM t CROSS JOIN UNNEST(t.tags) AS x(v)",
            "SELECT t.id, x.v FROM t, UNNEST(t.tags) AS x(v)",
            "SELECT t.id, (SELECT label FROM u WHERE u.id > t.id LIMIT 1) FROM t",
            "SELECT t.id FROM t, LATERAL (SELECT id FROM u WHERE u.id < t.id LIMIT 1) x",
            "SELECT approx_distinct(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
            "EXPLAIN ANALYZE SELECT t.id, x.v FROM t, UNNEST(t.tags) AS x(v)",
        ],
    ),
];

/// Texts that grow: refused as `too_complex` at the larger counts, and never the end of the process.
fn grown(n: usize) -> Vec<String> {
    let joined = |piece: &dyn Fn(usize) -> String, between: &str| (0..n).map(piece).collect::<Vec<_>>().join(between);
    vec![
        format!("SELECT {}", joined(&|_| "1".into(), "+")),
        format!("SELECT 1 FROM t WHERE {}", joined(&|i| format!("id={i}"), " OR ")),
        format!("SELECT 1 FROM t WHERE {}", joined(&|i| format!("id<>{i}"), " AND ")),
        format!("SELECT {}", joined(&|_| "'a'".into(), "||")),
        joined(&|_| "SELECT 1".into(), " UNION ALL "),
        joined(&|_| "SELECT 1".into(), " EXCEPT "),
        format!("SELECT {} true", joined(&|_| "NOT".into(), " ")),
        format!("SELECT {}1", "- ".repeat(n)),
        format!("SELECT {} 1 {} FROM t", joined(&|i| format!("CASE WHEN id={i} THEN 0 ELSE"), " "), "END ".repeat(n)),
        format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)),
        format!("SELECT {}1{}", "[".repeat(n), "]".repeat(n)),
        format!("SELECT {}id{} FROM t", "abs(".repeat(n), ")".repeat(n)),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(n), ")".repeat(n)),
        format!("SELECT {}1{}", "(SELECT ".repeat(n), ")".repeat(n)),
        format!("SELECT 1 WHERE {}true{}", "EXISTS (SELECT 1 WHERE ".repeat(n), ")".repeat(n)),
        format!(
            "WITH c0 AS (SELECT 1 AS a), {} SELECT * FROM c{n}",
            joined(&|i| format!("c{} AS (SELECT a FROM c{i})", i + 1), ", ")
        ),
        format!("SELECT count(*) FROM t t0 {}", joined(&|i| format!("JOIN t t{} USING (id)", i + 1), " ")),
        format!("SELECT count(*) FROM {}", joined(&|i| format!("t t{i}"), ", ")),
        format!("SELECT id{} FROM t", "::text".repeat(n)),
        format!("SELECT CAST(NULL AS {}INT{})", "ARRAY<".repeat(n), ">".repeat(n)),
        format!("{} SELECT 1", "EXPLAIN ".repeat(n)),
        format!("SELECT 1 FROM t {}", "|> WHERE id > 0 ".repeat(n)),
    ]
}

#[test]
fn there_are_at_least_a_hundred_and_fifty() {
    let count: usize = REFUSED.iter().map(|(_, statements)| statements.len()).sum();
    assert!(count >= 150, "{count}");
}

/// The error of both tools, which must be the same text.
async fn refusal(toolset: &Toolset, sql: &str) -> Error {
    let checked = toolset.check_query(sql).await.expect(sql);
    let error = match toolset.query(sql).await {
        Ok(result) => panic!("{sql:.300} was answered: {:.300}", result.json()),
        Err(error) => error,
    };
    assert!(!checked.is_valid(), "{sql} is valid for check_query and refused by query: {error}");
    let inner = error.json();
    assert_eq!(checked.json(), format!("{{\"valid\":false,{}", &inner[1..]), "{sql}");
    error
}

fn is_presentable(sql: &str, error: &Error) {
    let json = error.json();
    assert!(json.len() <= 1024, "{sql}: {json}");
    for bad in ["backtrace", "bug in DataFusion", "Valid fields", "SET datafusion", "/root/", "\n"] {
        assert!(!json.contains(bad), "{sql}: {json}");
    }
}

#[tokio::test]
async fn every_statement_is_refused_with_its_code() {
    let toolset = toolset();
    let mut wrong = Vec::new();
    for (code, statements) in REFUSED {
        for sql in *statements {
            let error = refusal(&toolset, sql).await;
            is_presentable(sql, &error);
            if error.code() != *code {
                wrong.push(format!("{sql}: {} instead of {code}", error.json()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn nothing_has_changed_afterwards() {
    let toolset = toolset();
    let before = toolset.list_tables(None).await.expect("tables").into_json();
    let files = |path: &str| std::fs::read_dir(Path::new(path)).map(|entries| entries.count()).unwrap_or_default();
    let files_before = files(".");
    for (_, statements) in REFUSED {
        for sql in *statements {
            let _ = toolset.query(*sql).await;
        }
    }
    assert_eq!(toolset.list_tables(None).await.expect("tables").into_json(), before);
    assert_eq!(files("."), files_before);
    let size = toolset.query("SHOW datafusion.execution.batch_size").await.expect("setting").into_json();
    assert!(size.contains("8192"), "{size}");
}

#[tokio::test]
async fn no_text_is_too_much_for_the_stack() {
    let toolset = toolset();
    for sql in grown(500) {
        match toolset.query(sql.as_str()).await {
            Ok(_) => assert!(toolset.check_query(&sql).await.expect("checked").is_valid(), "{sql:.60}"),
            Err(_) => assert!(matches!(refusal(&toolset, &sql).await.code(), ErrorCode::TooComplex), "{sql:.60}"),
        }
    }
    for n in [2_000, 20_000] {
        for sql in grown(n) {
            let error = refusal(&toolset, &sql).await;
            assert_eq!(error.code(), ErrorCode::TooComplex, "{:.60}: {error}", sql);
            is_presentable(&sql, &error);
        }
    }
    // What people, or the programs they use, do write.
    for sql in grown(500).drain(..5) {
        assert!(toolset.check_query(&sql).await.expect("checked").is_valid(), "{sql:.60}");
    }
    for n in [500, 5_000] {
        let list: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let rows: Vec<String> = (0..n).map(|i| format!("({i},'a')")).collect();
        for sql in [format!("SELECT id FROM t WHERE id IN ({})", list.join(",")), format!("VALUES {}", rows.join(","))]
        {
            assert!(toolset.check_query(&sql).await.expect("checked").is_valid(), "{sql:.60}");
        }
    }
}

/// Plans are built and dropped on the toolset's own threads: the caller's may be as small as they come.
#[test]
fn the_callers_stack_does_not_matter() {
    let toolset = toolset();
    let caller = std::thread::Builder::new().stack_size(256 << 10);
    let calls = caller.spawn(move || {
        for n in [500, 20_000] {
            for sql in grown(n) {
                let checked = futures::executor::block_on(toolset.check_query(&sql)).expect("an answer");
                assert!(n == 500 || !checked.is_valid(), "{sql:.60}");
            }
        }
    });
    calls.expect("a thread").join().expect("no overflow");
}
