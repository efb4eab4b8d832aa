//! Two tables, one question: `cargo run --example quick_start`.

#![allow(clippy::print_stdout, reason = "an example shows what it gets")]

use datafusion_toolset::{Limits, QueryRequest, Source, Toolset};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Toolset::builder()
        .source(Source::new("orders", "testdata/orders.parquet"))
        .source(Source::new("customers", "testdata/customers.csv"))
        .limits(Limits::default().with_max_rows(20))
        .build()?;

    let sql = "SELECT c.country, count(*) AS orders, sum(o.price) AS revenue \
               FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1 ORDER BY 3 DESC";
    let answer = tools.query(QueryRequest::new(sql).with_max_rows(3)).await?;
    println!("{}", answer.json());
    println!("{} rows, {} bytes, cut by {:?}", answer.row_count(), answer.json().len(), answer.truncated_by());

    // Who is to blame, and what to do next, is in the error.
    let error = tools.query("SELECT signupdate FROM customers").await.expect_err("the name needs quotes");
    println!("{}", error.json());
    Ok(())
}
