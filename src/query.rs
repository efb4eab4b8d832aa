//! The pipeline on one screen: SQL → verified plan → bounded plan → batches → payload, under one deadline.

use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::{Array, Int64Array};
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;

use crate::encode::{Encoder, Progress, ResultFormat};
use crate::error::Error;
use crate::functions;
use crate::guard;
use crate::limits::{Limits, TotalRows};
use crate::plan;
use crate::redacted;
use crate::result::{Column, QueryResult};
use crate::schema::type_text;
use crate::session::Session;
use crate::stop::{Stop, stoppable};

/// Runs one statement. `max_rows` is already within the limits; `deadline` is when the caller stops listening.
pub(crate) async fn run(
    session: &Session,
    limits: &Limits,
    sql: &str,
    max_rows: usize,
    format: ResultFormat,
    deadline: Instant,
    stop: &Stop,
) -> Result<QueryResult, Error> {
    let verified = guard::plan(sql, session.state()?, limits.max_sql_bytes()).await?;
    let columns = columns(&verified);
    let mut encoder = Encoder::new(verified.schema().as_arrow(), format, max_rows, limits.max_result_bytes());
    // Without room for the names the answer has no rows, whatever they are.
    if encoder.names_fit() {
        let fetch = encoder.fetch();
        let state = state_for(session.state()?, &verified, fetch);
        let physical = physical(session, limits, &state, verified.clone(), fetch, stop).await?;
        // DataFusion's output schema, whose names are the plan's own.
        encoder = Encoder::new(&physical.schema(), format, max_rows, limits.max_result_bytes());
        fill(&mut encoder, physical, &state).await?;
    }
    let mut total_rows = None;
    if encoder.is_truncated() {
        total_rows = total(session.state()?, verified, limits.total_rows(), deadline, stop).await;
    }
    let encoded = encoder.finish(total_rows);
    let total_rows = if encoded.truncated_by.is_none() { Some(encoded.row_count as u64) } else { total_rows };
    Ok(QueryResult {
        payload: encoded.payload,
        columns,
        row_count: encoded.row_count,
        truncated_by: encoded.truncated_by,
        total_rows,
    })
}

/// Plans one statement as far as [`run`] does before it reads data, and refuses what that refuses.
pub(crate) async fn check(session: &Session, limits: &Limits, sql: &str, stop: &Stop) -> Result<Vec<Column>, Error> {
    let verified = guard::plan(sql, session.state()?, limits.max_sql_bytes()).await?;
    let columns = columns(&verified);
    let schema = verified.schema().as_arrow();
    let encoder = Encoder::new(schema, ResultFormat::Json, limits.max_rows(), limits.max_result_bytes());
    if encoder.names_fit() {
        let state = state_for(session.state()?, &verified, encoder.fetch());
        physical(session, limits, &state, verified, encoder.fetch(), stop).await?;
    }
    Ok(columns)
}

/// The plan that runs: bounded, without secrets in what the engine says itself, and ending when the call is over.
async fn physical(
    session: &Session,
    limits: &Limits,
    state: &SessionState,
    verified: LogicalPlan,
    fetch: usize,
    stop: &Stop,
) -> Result<Arc<dyn ExecutionPlan>, Error> {
    let explains = matches!(verified, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
    let bounded = plan::bounded(verified, fetch).map_err(Error::from_datafusion)?;
    let physical = state.create_physical_plan(&bounded).await.map_err(|error| guard::describe(error, state))?;
    let memory = usize::try_from(limits.memory()).unwrap_or(usize::MAX);
    functions::check_constants(&physical, memory, state.config().batch_size()).map_err(Error::from_datafusion)?;
    let physical = stoppable(physical, stop).map_err(Error::from_datafusion)?;
    Ok(if explains { redacted::plan(physical, &session.secrets) } else { physical })
}

/// Executes the plan until the payload is decided; what still runs is then stopped by dropping the stream.
async fn fill(encoder: &mut Encoder, physical: Arc<dyn ExecutionPlan>, state: &SessionState) -> Result<(), Error> {
    let mut stream = execute_stream(physical, state.task_ctx()).map_err(Error::from_datafusion)?;
    while let Some(batch) = stream.next().await {
        if encoder.push(&batch.map_err(Error::from_datafusion)?) == Progress::Decided {
            break;
        }
    }
    Ok(())
}

/// The columns of a plan.
pub(crate) fn columns(plan: &LogicalPlan) -> Vec<Column> {
    let schema: &Schema = plan.schema().as_arrow();
    let column = |field: &FieldRef| Column { name: field.name().clone(), data_type: type_text(field.data_type()) };
    schema.fields().iter().map(column).collect()
}

/// One partition for a plan whose rows come in the order of storage: several would be merged as they arrive, and the
/// same call would not give the same rows twice. And no batch larger than what is fetched, where the first rows are all
/// that is read: readers make room for a batch in every column.
fn state_for(state: &SessionState, plan: &LogicalPlan, fetch: usize) -> SessionState {
    let mut state = state.clone();
    let execution = &mut state.config_mut().options_mut().execution;
    if plan::keeps_storage_order(plan) {
        execution.target_partitions = 1;
    }
    if plan::takes_first_rows(plan)
        && let Ok(batch_size) = ConfigNonZeroUsize::try_new(fetch)
    {
        execution.batch_size = execution.batch_size.min(batch_size);
    }
    state
}

/// The exact number of rows of the whole result, as far as the setting goes. A failure only leaves it out.
async fn total(
    state: &SessionState,
    plan: LogicalPlan,
    setting: TotalRows,
    deadline: Instant,
    stop: &Stop,
) -> Option<u64> {
    if setting == TotalRows::Never {
        return None;
    }
    let counted = plan::counted(plan).ok()??;
    // The columns that are counted over are not read, and DataFusion puts a literal in place of a count that exact
    // statistics give.
    let physical = state.create_physical_plan(&counted).await.ok()?;
    if setting == TotalRows::Free && !is_literal(&physical) {
        return None;
    }
    // A little of the time is kept for the payload that is already there.
    let left = deadline.saturating_duration_since(Instant::now()).mul_f64(0.9);
    tokio::time::timeout(left, count(state, physical, stop)).await.ok()?
}

/// Whether a plan gives its row without reading anything.
fn is_literal(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.children().as_slice() {
        [] => plan.is::<PlaceholderRowExec>(),
        children => plan.is::<ProjectionExec>() && children.iter().all(|child| is_literal(child)),
    }
}

async fn count(state: &SessionState, physical: Arc<dyn ExecutionPlan>, stop: &Stop) -> Option<u64> {
    let physical = stoppable(physical, stop).ok()?;
    let batch = execute_stream(physical, state.task_ctx()).ok()?.next().await?.ok()?;
    let rows = batch.column(0).as_any().downcast_ref::<Int64Array>()?;
    if rows.is_empty() { None } else { u64::try_from(rows.value(0)).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::source::Source;
    use datafusion::arrow::array::{ArrayRef, RecordBatch};
    use datafusion::parquet::arrow::ArrowWriter;
    use datafusion::parquet::file::properties::WriterProperties;

    /// A Parquet file of `rows` rows in row groups of 20,000.
    fn parquet(rows: i64) -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
        let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(20_000)).build();
        let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file
    }

    /// Rows that the leaves of an executed plan gave.
    fn scanned(plan: &Arc<dyn ExecutionPlan>) -> usize {
        match plan.children().as_slice() {
            [] => plan.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0),
            children => children.iter().map(|child| scanned(child)).sum(),
        }
    }

    #[tokio::test]
    async fn the_scan_stops_at_most_one_batch_past_the_last_row() {
        let file = parquet(200_000);
        let source = Source::new("t", file.path().to_str().unwrap());
        let limits = Limits::default();
        let session = Session::new(vec![source], None, &limits, &Policy::default()).unwrap();
        let batch_size = session.state().unwrap().config().batch_size();
        // The row limit decides the first two, the bytes the third, whose filter hides the limit from the scan.
        for (sql, max_rows) in
            [("SELECT * FROM t", 50), ("SELECT id FROM t WHERE id % 2 = 0", 50), ("SELECT id FROM t", 100_000)]
        {
            let plan = guard::plan(sql, session.state().unwrap(), 1000).await.unwrap();
            let state = state_for(session.state().unwrap(), &plan, max_rows + 1);
            let bounded = plan::bounded(plan, max_rows + 1).unwrap();
            let physical = state.create_physical_plan(&bounded).await.unwrap();
            let mut encoder = Encoder::new(&physical.schema(), ResultFormat::Json, max_rows, 65_536);
            fill(&mut encoder, Arc::clone(&physical), &state).await.unwrap();
            let shown = encoder.finish(None).row_count;
            let scanned = scanned(&physical);
            assert!(scanned >= shown, "{sql}: {scanned} rows scanned, {shown} shown");
            let needed = if sql.contains('%') { 2 * shown } else { shown };
            assert!(scanned <= needed + 1 + batch_size, "{sql}: {scanned} rows scanned for {shown}");
        }
    }
}
