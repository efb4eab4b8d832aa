//! The guard around aggregate functions in windows.
//!
//! A window evaluates its aggregate once for each row, and neither yields nor asks the memory pool in between:
//! `array_agg(x) OVER (ORDER BY x)` over n rows makes n²/2 items, `median(x) OVER (ORDER BY x)` sorts n times. Functions
//! whose result takes one step, such as `sum`, are left as they are.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, WindowFunction, WindowFunctionParams,
};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, Expr, GroupsAccumulator, Operator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs, WindowFunctionDefinition,
};

use super::growth::exhausted;
use crate::stop;

/// Results of no more bytes than this are not counted: a batch of them takes 32 MiB.
const SMALL: usize = 4096;

/// Aggregates whose result takes one step when they are not `DISTINCT`.
const CHEAP: [&str; 31] = [
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "first_value",
    "last_value",
    "max",
    "min",
    "nth_value",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "sum",
    "var",
    "var_pop",
    "var_samp",
    "grouping",
];

/// Puts the guard around the aggregate functions of windows, where they stand in a plan.
#[derive(Debug)]
pub(super) struct GuardedWindows {
    /// The limit of the toolset in bytes.
    pub(super) memory: usize,
}

impl FunctionRewrite for GuardedWindows {
    fn name(&self) -> &str {
        "guarded_windows"
    }

    fn rewrite(&self, expr: Expr, _schema: &DFSchema, _config: &ConfigOptions) -> Result<Transformed<Expr>> {
        Ok(match expr {
            Expr::WindowFunction(window) => match &window.fun {
                WindowFunctionDefinition::AggregateUDF(inner)
                    if window.params.distinct || !CHEAP.contains(&inner.name()) =>
                {
                    let fun = WindowFunctionDefinition::AggregateUDF(guard(Arc::clone(inner), self.memory));
                    Transformed::yes(Expr::from(WindowFunction { fun, params: window.params }))
                }
                _ => Transformed::no(Expr::WindowFunction(window)),
            },
            other => Transformed::no(other),
        })
    }
}

fn guard(inner: Arc<AggregateUDF>, memory: usize) -> Arc<AggregateUDF> {
    if inner.inner().is::<Guarded>() {
        return inner;
    }
    Arc::new(AggregateUDF::new_from_impl(Guarded { inner, memory }))
}

/// An aggregate function in a window.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Guarded {
    inner: Arc<AggregateUDF>,
    memory: usize,
}

impl Guarded {
    fn inner(&self) -> &dyn AggregateUDFImpl {
        self.inner.inner().as_ref()
    }

    fn watched(&self, inner: Box<dyn Accumulator>) -> Box<dyn Accumulator> {
        Box::new(Watched { inner, name: self.inner.name().to_owned(), made: 0, most: self.memory / 2 })
    }
}

// All of the trait: a method that is not passed on falls back to the default, and the result would be another.
#[warn(clippy::missing_trait_methods)]
impl AggregateUDFImpl for Guarded {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn aliases(&self) -> &[String] {
        self.inner().aliases()
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().human_display(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner().window_function_schema_name(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().display_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner().window_function_display_name(params)
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner().return_type(arg_types)
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        self.inner().return_field(arg_fields)
    }

    fn is_nullable(&self) -> bool {
        self.inner().is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner().accumulator(args).map(|inner| self.watched(inner))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner().state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner().create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner().create_sliding_accumulator(args).map(|inner| self.watched(inner))
    }

    fn with_beneficial_ordering(self: Arc<Self>, beneficial: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = Arc::clone(self.inner.inner()).with_beneficial_ordering(beneficial)?;
        Ok(inner.map(|inner| {
            let inner = Arc::new(AggregateUDF::new_from_shared_impl(inner));
            Arc::new(Self { inner, memory: self.memory }) as Arc<dyn AggregateUDFImpl>
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner().order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner().simplify()
    }

    fn simplify_expr_op_literal(
        &self,
        call: &AggregateFunction,
        arg: &Expr,
        op: Operator,
        literal: &Expr,
        arg_is_left: bool,
    ) -> Result<Option<Expr>> {
        self.inner().simplify_expr_op_literal(call, arg, op, literal, arg_is_left)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner().reverse_expr() {
            ReversedUDAF::Reversed(inner) => ReversedUDAF::Reversed(guard(inner, self.memory)),
            other => other,
        }
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner().coerce_types(arg_types)
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner().is_descending()
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner().value_from_stats(statistics)
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner().default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner().supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner().supports_within_group_clause()
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner().documentation()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner().set_monotonicity(data_type)
    }
}

/// The state of one partition's window.
#[derive(Debug)]
struct Watched {
    inner: Box<dyn Accumulator>,
    name: String,
    /// Bytes of the results so far.
    made: usize,
    most: usize,
}

#[warn(clippy::missing_trait_methods)]
impl Accumulator for Watched {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        stop::check()?;
        let result = self.inner.evaluate()?;
        let size = result.size();
        if size > SMALL {
            self.made = self.made.saturating_add(size);
        }
        if self.made <= self.most {
            return Ok(result);
        }
        Err(exhausted(format!(
            "The results of {} in a window grow with every row and would take more than {} bytes. Use a smaller \
             frame or partition, or GROUP BY.",
            self.name, self.most
        )))
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}
