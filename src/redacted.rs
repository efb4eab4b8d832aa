//! Plans whose text the engine wrote, and which therefore pass redaction: `EXPLAIN` and `information_schema`.
//!
//! Data is given as it is: a column `password` of a table is the caller's business. What the engine says about itself
//! can hold what the embedding program configured: settings of extensions, locations of tables, definitions of views.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{SchemaProvider, Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions};
use futures::StreamExt;

use crate::redact::Secrets;

/// The same plan, with secrets in its text columns replaced by `***`.
pub(crate) fn plan(input: Arc<dyn ExecutionPlan>, secrets: &Secrets) -> Arc<dyn ExecutionPlan> {
    Arc::new(RedactExec { input, secrets: secrets.clone() })
}

/// The same schema, with secrets in the text columns of its tables replaced by `***`.
pub(crate) fn schema(inner: Arc<dyn SchemaProvider>, secrets: &Secrets) -> Arc<dyn SchemaProvider> {
    Arc::new(RedactedSchema { inner, secrets: secrets.clone() })
}

#[derive(Debug)]
struct RedactedSchema {
    inner: Arc<dyn SchemaProvider>,
    secrets: Secrets,
}

#[async_trait]
impl SchemaProvider for RedactedSchema {
    fn table_names(&self) -> Vec<String> {
        self.inner.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = self.inner.table(name).await?;
        Ok(table.map(|inner| Arc::new(RedactedTable { inner, secrets: self.secrets.clone() }) as _))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.inner.table_exist(name)
    }
}

#[derive(Debug)]
struct RedactedTable {
    inner: Arc<dyn TableProvider>,
    secrets: Secrets,
}

#[async_trait]
impl TableProvider for RedactedTable {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    /// Filters stay above: what they compare is redacted as well, or they would tell the secret bit by bit.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // All columns: the name of a setting tells whether its value is a secret.
        let whole = plan(self.inner.scan(state, None, &[], limit).await?, &self.secrets);
        let Some(projection) = projection else { return Ok(whole) };
        let schema = self.schema();
        let columns = projection.iter().map(|index| {
            let name = schema.field(*index).name().clone();
            (Arc::new(Column::new(&name, *index)) as Arc<dyn PhysicalExpr>, name)
        });
        Ok(Arc::new(ProjectionExec::try_new(columns.collect::<Vec<_>>(), whole)?))
    }
}

/// Redacts the text of each batch.
#[derive(Debug)]
struct RedactExec {
    input: Arc<dyn ExecutionPlan>,
    secrets: Secrets,
}

impl DisplayAs for RedactExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedactExec")
    }
}

impl ExecutionPlan for RedactExec {
    fn name(&self) -> &str {
        "RedactExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(plan(input, &self.secrets)),
            _ => Err(DataFusionError::Internal("RedactExec has one input".to_owned())),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let secrets = self.secrets.clone();
        let batches = self.input.execute(partition, context)?;
        let redacted = batches.map(move |batch| batch.and_then(|batch| redact(&batch, &secrets)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), redacted)))
    }
}

fn redact(batch: &RecordBatch, secrets: &Secrets) -> Result<RecordBatch> {
    let schema = batch.schema();
    let names = match schema.column_with_name("name") {
        Some((index, field)) if is_text(field.data_type()) && schema.column_with_name("value").is_some() => {
            Some(texts(batch.column(index))?)
        }
        _ => None,
    };
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if !is_text(field.data_type()) {
            columns.push(Arc::clone(column));
            continue;
        }
        let cells = texts(column)?;
        let key = names.as_ref().filter(|_| field.name() == "value");
        let redacted: StringArray = (0..cells.len())
            .map(|row| {
                let cell = cells.is_valid(row).then(|| cells.value(row))?;
                Some(match key.filter(|names| names.is_valid(row)) {
                    Some(names) => secrets.redact_value(names.value(row), cell),
                    None => text(cell, secrets),
                })
            })
            .collect();
        columns.push(cast(&redacted, field.data_type())?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

fn text(text: &str, secrets: &Secrets) -> String {
    if text.starts_with('┌') && tree_holds_secrets(text, secrets) {
        return "The tree is left out, because a secret stands in it over several lines: use EXPLAIN without FORMAT \
                TREE."
            .to_owned();
    }
    secrets.redact(text).into_owned()
}

/// `EXPLAIN FORMAT TREE` breaks its text where a box ends, so that a secret can go on in the next line.
fn tree_holds_secrets(tree: &str, secrets: &Secrets) -> bool {
    // The text of the boxes that stand one below the other, by the column where they begin.
    let mut boxes: BTreeMap<usize, String> = BTreeMap::new();
    for line in tree.lines() {
        let mut start = 0;
        for cell in line.split(['│', '┌', '└', '├', '┐', '┘', '┤']) {
            boxes.entry(start).or_default().push_str(cell.trim());
            start += cell.chars().count() + 1;
        }
    }
    boxes.values().any(|text| secrets.redact(text) != *text)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn texts(column: &ArrayRef) -> Result<StringArray> {
    Ok(cast(column, &DataType::Utf8)?.as_string::<i32>().clone())
}
