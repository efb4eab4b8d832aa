//! The guard around the operator `||`, which the engine evaluates without looking a function up.
//!
//! Twenty `WITH` names that each write `s || s` over the one before make a text a million times as long, so the operator
//! becomes a function that estimates its result first:
//!
//! ```text
//! before   Projection: t.a || t.b || t.c      after   Projection: ||(t.a, t.b, t.c)
//! ```
//!
//! A chain becomes one call: the engine asks a function for its type at every level above it, which took 23 s for a
//! chain of 500 in a debug build.
//!
//! Names of columns, types and nulls stay those of the operator.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
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
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right }) = expr else {
            return Ok(Transformed::no(expr));
        };
        let mut args = match *left {
            Expr::ScalarFunction(call) if call.func.inner().is::<Concat>() => call.args,
            other => vec![other],
        };
        args.push(*right);
        Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&self.0), args))))
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
        // As the engine names the operator.
        Ok(args.iter().map(|arg| arg.schema_name().to_string()).collect::<Vec<_>>().join(" || "))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let mut coerced = Vec::with_capacity(arg_types.len());
        self.fold(arg_types, |left, right| {
            if coerced.is_empty() {
                coerced.push(left.clone());
            }
            coerced.push(right.clone());
        })?;
        Ok(coerced)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.fold(arg_types, |_, _| ())
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
        let columns = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let mut columns = columns.into_iter();
        let Some(mut joined) = columns.next() else { return plan_err!("|| takes two arguments") };
        for column in columns {
            joined = join(joined, column, rows)?;
        }
        joined = cast(&joined, args.return_field.data_type())?;
        if !constant {
            return Ok(ColumnarValue::Array(joined));
        }
        ScalarValue::try_from_array(&joined, 0).map(ColumnarValue::Scalar)
    }
}

impl Concat {
    /// The type of the whole chain, with the types that the operator takes on its way.
    fn fold(&self, types: &[DataType], mut step: impl FnMut(&DataType, &DataType)) -> Result<DataType> {
        let Some((first, rest)) = types.split_first() else { return plan_err!("|| takes two arguments") };
        let mut whole = first.clone();
        for next in rest {
            let coercer = BinaryTypeCoercer::new(&whole, &Operator::StringConcat, next);
            let (left, right) = coercer.get_input_types()?;
            step(&left, &right);
            whole = coercer.get_result_type()?;
        }
        Ok(whole)
    }
}

/// The engine's own operator over a batch of two columns.
fn join(left: ArrayRef, right: ArrayRef, rows: usize) -> Result<ArrayRef> {
    let coercer = BinaryTypeCoercer::new(left.data_type(), &Operator::StringConcat, right.data_type());
    let (left_type, right_type) = coercer.get_input_types()?;
    let fields = vec![Field::new("left", left_type.clone(), true), Field::new("right", right_type.clone(), true)];
    let columns = vec![cast(&left, &left_type)?, cast(&right, &right_type)?];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
    let column = |name: &str, index| Arc::new(Column::new(name, index)) as Arc<dyn PhysicalExpr>;
    let operator = PhysicalBinaryExpr::new(column("left", 0), Operator::StringConcat, column("right", 1));
    operator.evaluate(&batch)?.into_array(rows)
}
