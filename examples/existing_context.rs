//! A toolset over a `SessionContext` that the program already has, with its tables and its functions:
//! `cargo run --example existing_context`.

#![allow(clippy::print_stdout, reason = "an example shows what it gets")]

use std::sync::Arc;

use datafusion::arrow::array::Float64Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::cast::as_float64_array;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::{CsvReadOptions, SessionContext};
use datafusion_toolset::{Policy, Source, Toolset};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = SessionContext::new();
    context.register_csv("customers", "testdata/customers.csv", CsvReadOptions::new()).await?;
    context.sql("CREATE VIEW french AS SELECT id, name FROM customers WHERE country = 'FR'").await?.collect().await?;
    context.register_udf(create_udf(
        "with_tax",
        vec![DataType::Float64],
        DataType::Float64,
        Volatility::Immutable,
        Arc::new(|arguments| {
            let net = arguments[0].to_array(1)?;
            let gross: Float64Array = as_float64_array(&net)?.iter().map(|net| net.map(|net| net * 1.2)).collect();
            Ok(ColumnarValue::Array(Arc::new(gross)))
        }),
    ));

    // The model sees the view and a file of our own, but not the table behind the view.
    let tools = Toolset::builder()
        .session_context(&context)
        .source(Source::new("orders", "testdata/orders.parquet"))
        .policy(Policy::default().with_allowed_tables(["french", "orders"]))
        .build()?;

    println!("{}", tools.list_tables(None).await?.json());
    let sql = "SELECT f.name, round(with_tax(sum(o.price)), 2) AS gross FROM french f \
               JOIN orders o ON o.customer_id = f.id GROUP BY 1 ORDER BY 2 DESC LIMIT 2";
    println!("{}", tools.query(sql).await?.json());
    println!("{}", tools.query("SELECT * FROM customers").await.expect_err("it is not allowed").json());
    Ok(())
}
