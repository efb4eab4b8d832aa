//! The guard around the operator `||`, which the engine evaluates without looking a function up.
//!
//! Twenty `WITH` names that each write `s || s` over the one before make a text a million times as long, so the operator
//! becomes a function that estimates its result first:
//!
//! ```text
//! before   Projection: t.a || t.b         after   Projection: ||(t.a, t.b)
//! ```
//!
//! Names of columns, types and nulls stay those of the operator.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::array::RecordBatchOptions;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr as PhysicalBinaryExpr, Column};

use super::growth::{lengths, total, within};

/// Puts the function in the operator's place.
#[derive(Debug)]
pub(super) struct GuardedConcat(Arc<ScalarUDF>);

impl GuardedConcat {
    pub(super) fn new(memory: usize) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self(Arc::new(ScalarUDF::new_from_impl(Concat { signature, memory })))
    }
}

impl FunctionRewrite for GuardedConcat {
    fn name(&self) -> &str {
        "guarded_concat"
    }

    fn rewrite(&self, expr: Expr, _schema: &DFSchema, _config: &ConfigOptions) -> Result<Transformed<Expr>> {
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right }) => Transformed::yes(
                Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&self.0), vec![*left, *right])),
            ),
            other => Transformed::no(other),
        })
    }
}

/// `||` as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Concat {
    signature: Signature,
    memory: usize,
}

impl ScalarUDFImpl for Concat {
    fn name(&self) -> &str {
        "||"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = args else { return plan_err!("|| takes two arguments") };
        let operator = BinaryExpr::new(Box::new(left.clone()), Operator::StringConcat, Box::new(right.clone()));
        Ok(Expr::BinaryExpr(operator).schema_name().to_string())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [left, right] = arg_types else { return plan_err!("|| takes two arguments") };
        let (left, right) = BinaryTypeCoercer::new(left, &Operator::StringConcat, right).get_input_types()?;
        Ok(vec![left, right])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let [left, right] = arg_types else { return plan_err!("|| takes two arguments") };
        BinaryTypeCoercer::new(left, &Operator::StringConcat, right).get_result_type()
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        within("||", total(args.args.iter().map(|arg| total(lengths(arg, rows)))), self.memory, constant)?;
        // The engine's own operator does the work, over a batch of the two arguments.
        let columns = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let fields: Vec<Field> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| Field::new(index.to_string(), column.data_type().clone(), true))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?;
        let column = |index: usize| Arc::new(Column::new(&index.to_string(), index)) as Arc<dyn PhysicalExpr>;
        let joined = PhysicalBinaryExpr::new(column(0), Operator::StringConcat, column(1)).evaluate(&batch)?;
        if !constant {
            return Ok(joined);
        }
        ScalarValue::try_from_array(&joined.into_array(1)?, 0).map(ColumnarValue::Scalar)
    }
}
