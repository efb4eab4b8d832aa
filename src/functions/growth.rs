//! The guard around one function.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{ExprSchema, Result, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, StructFieldMapping,
};

use crate::error::{Error, ErrorCode};

/// How a function's result grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Growth {
    /// `repeat(text, n)`, `array_repeat(item, n)`: n times the first argument.
    Times,
    /// `lpad(text, n[, fill])`, `array_resize(list, n[, item])`: n characters or items.
    UpTo,
    /// `space(n)`.
    Count,
    /// `range(start, stop, step)`: (stop − start) ÷ step items.
    Series,
    /// `replace(text, from, to)`: every character could become `to`.
    Replace,
    /// `concat(…)`, `make_array(…)`: all arguments together.
    Sum,
    /// `array_to_string(list, separator)`: the separator between all items.
    Separated,
    /// `levenshtein(a, b)`: the result is a number, and takes as many steps as both lengths multiplied.
    Steps,
}

/// What [`Growth::Steps`] may take in one call, which nothing can interrupt: seconds in a release build.
const MAX_STEPS: u64 = 1 << 31;

/// The part of the memory limit that one call's results may take, outside of the memory pool.
pub(super) const CALL_SHARE: usize = 8;
/// The same for one constant. A statement can hold many of them, and they stay in its plan.
const CONSTANT_SHARE: usize = 128;

impl Growth {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "repeat" | "array_repeat" => Self::Times,
            "lpad" | "rpad" | "array_resize" => Self::UpTo,
            "space" => Self::Count,
            "range" | "generate_series" => Self::Series,
            "replace" | "regexp_replace" => Self::Replace,
            "concat" | "concat_ws" | "make_array" | "array_concat" | "array_append" | "array_prepend" => Self::Sum,
            "array_to_string" => Self::Separated,
            "levenshtein" => Self::Steps,
            _ => return None,
        })
    }

    /// Whether a small number can ask for a large result.
    pub(super) fn is_from_numbers(self) -> bool {
        !matches!(self, Self::Replace | Self::Sum | Self::Separated | Self::Steps)
    }

    /// Bytes that the result will take, or steps; roughly, and too much rather than too little.
    fn estimate(self, args: &[ColumnarValue], rows: usize) -> u64 {
        match (self, args) {
            (Self::Times, [item, count]) => {
                let counts = integers(count, rows);
                let lengths = lengths(item, rows);
                total(counts.zip(lengths).map(|(count, length)| positive(count).saturating_mul(length)))
            }
            (Self::UpTo, [item, count, rest @ ..]) => {
                let each = match rest.first() {
                    // A character of the fill has up to four bytes.
                    Some(ColumnarValue::Scalar(fill)) => match text(fill) {
                        Some(fill) if fill.is_ascii() => 1,
                        Some(_) => 4,
                        None => fill.size() as u64,
                    },
                    Some(ColumnarValue::Array(_)) => 8,
                    None if is_list(item) => 8,
                    None => 1,
                };
                total(integers(count, rows).map(|count| positive(count).saturating_mul(each)))
            }
            (Self::Count, [count]) => total(integers(count, rows).map(positive)),
            (Self::Series, bounds) => total((0..rows).map(|row| items(bounds, row).saturating_mul(8))),
            (Self::Replace, [item, _, to, ..]) => {
                let to = lengths(to, rows).max().unwrap_or_default();
                let input = total(lengths(item, rows));
                // Short texts in short replacements are everyday work, and the estimate is far too high for them.
                if to <= 64 && input / rows.max(1) as u64 <= 65_536 { 0 } else { input.saturating_mul(to.max(1)) }
            }
            (Self::Sum, args) => total(args.iter().map(|arg| total(lengths(arg, rows)))),
            (Self::Separated, [list, separator, ..]) => {
                let separator = lengths(separator, rows).max().unwrap_or_default();
                // An item takes at least a bit; what has 8 bytes is written in 20 characters.
                let items = total(lengths(list, rows));
                items.saturating_mul(if separator <= 8 { 3 } else { separator })
            }
            (Self::Steps, [a, b, ..]) => {
                let (a, b) = (lengths(a, rows), lengths(b, rows));
                total(a.zip(b).map(|(a, b)| a.saturating_mul(b)))
            }
            _ => 0,
        }
    }
}

pub(super) fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

fn positive(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

fn is_list(value: &ColumnarValue) -> bool {
    matches!(value.data_type(), DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

fn text(scalar: &ScalarValue) -> Option<&str> {
    scalar.try_as_str().flatten()
}

/// The integer of each row; what is none counts as 0.
fn integers(value: &ColumnarValue, rows: usize) -> Box<dyn Iterator<Item = i64> + '_> {
    match value {
        ColumnarValue::Scalar(scalar) => {
            let number = match scalar.cast_to(&DataType::Int64) {
                Ok(ScalarValue::Int64(Some(number))) => number,
                _ => 0,
            };
            Box::new(std::iter::repeat_n(number, rows))
        }
        ColumnarValue::Array(array) => match cast(array, &DataType::Int64) {
            Ok(numbers) => {
                let numbers: Vec<i64> =
                    numbers.as_primitive::<Int64Type>().iter().map(Option::unwrap_or_default).collect();
                Box::new(numbers.into_iter())
            }
            Err(_) => Box::new(std::iter::repeat_n(0, rows)),
        },
    }
}

/// Bytes of each row's value.
pub(super) fn lengths(value: &ColumnarValue, rows: usize) -> Box<dyn Iterator<Item = u64> + '_> {
    match value {
        ColumnarValue::Scalar(scalar) => {
            let length = text(scalar).map_or_else(|| scalar.size(), str::len) as u64;
            Box::new(std::iter::repeat_n(length, rows))
        }
        ColumnarValue::Array(array) => match array.data_type() {
            DataType::Utf8 => Box::new(array.as_string::<i32>().offsets().lengths().map(|length| length as u64)),
            DataType::LargeUtf8 => Box::new(array.as_string::<i64>().offsets().lengths().map(|length| length as u64)),
            DataType::Utf8View => Box::new(array.as_string_view().lengths().map(u64::from)),
            _ => {
                let size = array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size());
                let each = size.div_ceil(array.len().max(1)) as u64;
                Box::new(std::iter::repeat_n(each, rows))
            }
        },
    }
}

/// Items of `range(stop)`, `range(start, stop)` or `range(start, stop, step)`, of numbers, dates or timestamps.
fn items(bounds: &[ColumnarValue], row: usize) -> u64 {
    let at = |value: &ColumnarValue| match value {
        ColumnarValue::Scalar(scalar) => position(scalar),
        ColumnarValue::Array(array) => ScalarValue::try_from_array(array, row).ok().as_ref().and_then(position),
    };
    let (start, stop, step) = match bounds {
        [stop] => (Some(0), at(stop), Some(1)),
        [start, stop] => (at(start), at(stop), Some(1)),
        [start, stop, step] => (at(start), at(stop), at(step)),
        _ => return 0,
    };
    let (Some(start), Some(stop), Some(step)) = (start, stop, step) else { return 0 };
    // A step of nothing is the function's own error; a step in the wrong direction gives nothing.
    if step == 0 || (stop < start) != (step < 0) {
        return 0;
    }
    u64::try_from(stop.abs_diff(start) / step.unsigned_abs()).unwrap_or(u64::MAX).saturating_add(1)
}

/// A bound on one scale: numbers as they are, times in nanoseconds.
fn position(scalar: &ScalarValue) -> Option<i128> {
    const SECOND: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * SECOND;
    Some(match scalar {
        ScalarValue::Int64(value) => i128::from((*value)?),
        ScalarValue::UInt64(value) => i128::from((*value)?),
        ScalarValue::Date32(value) => i128::from((*value)?) * DAY,
        ScalarValue::TimestampSecond(value, _) => i128::from((*value)?) * SECOND,
        ScalarValue::TimestampMillisecond(value, _) => i128::from((*value)?) * 1_000_000,
        ScalarValue::TimestampMicrosecond(value, _) => i128::from((*value)?) * 1_000,
        ScalarValue::TimestampNanosecond(value, _) => i128::from((*value)?),
        // 28 days: the shortest month makes the longest list.
        ScalarValue::IntervalMonthDayNano(value) => {
            let value = (*value)?;
            i128::from(value.months) * 28 * DAY + i128::from(value.days) * DAY + i128::from(value.nanoseconds)
        }
        _ => return None,
    })
}

/// A function with a limit on what one call may make: a share of the memory limit `max_bytes`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Guarded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
    max_bytes: usize,
}

impl Guarded {
    pub(super) fn wrap(inner: Arc<ScalarUDF>, growth: Growth, max_bytes: usize) -> ScalarUDF {
        ScalarUDF::new_from_impl(Self { inner, growth, max_bytes })
    }

    fn check(&self, args: &ScalarFunctionArgs) -> Result<()> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let size = self.growth.estimate(&args.args, rows);
        if self.growth == Growth::Steps {
            if size <= MAX_STEPS {
                return Ok(());
            }
            let message = format!("{} of texts this long takes too long. Compare shorter texts.", self.inner.name());
            return Err(exhausted(message));
        }
        within(self.inner.name(), size, self.max_bytes, constant)
    }
}

/// Whether a result of so many bytes may be made, under a memory limit of `max_bytes`.
pub(super) fn within(name: &str, size: u64, max_bytes: usize, constant: bool) -> Result<()> {
    let most = max_bytes / if constant { CONSTANT_SHARE } else { CALL_SHARE };
    if size <= most as u64 {
        return Ok(());
    }
    Err(exhausted(format!(
        "The result of {name} would take more than {most} bytes at once. Ask for shorter texts or lists, or fewer rows."
    )))
}

pub(super) fn exhausted(message: String) -> DataFusionError {
    DataFusionError::External(Box::new(Error::new(ErrorCode::ResourceExhausted, message)))
}

// All of the trait: a method that is not passed on falls back to the default, and the optimizer would know less.
#[warn(clippy::missing_trait_methods)]
impl ScalarUDFImpl for Guarded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    #[allow(deprecated, reason = "a function of the embedding program may have only this one")]
    fn display_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.display_name(args)
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let inner = self.inner.inner().with_updated_config(config)?;
        Some(Self::wrap(Arc::new(inner), self.growth, self.max_bytes))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    #[allow(deprecated, reason = "a function of the embedding program may have only this one")]
    fn is_nullable(&self, args: &[Expr], schema: &dyn ExprSchema) -> bool {
        self.inner.is_nullable(args, schema)
    }

    fn is_strict(&self) -> bool {
        self.inner.is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.check(&args)?;
        self.inner.invoke_with_args(args)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // `concat` joins its constants here, without being called.
        let constants = args.iter().map(|arg| if let Expr::Literal(value, _) = arg { value.size() } else { 0 });
        if self.growth == Growth::Sum && constants.sum::<usize>() > self.max_bytes / CONSTANT_SHARE {
            return Ok(ExprSimplifyResult::Original(args));
        }
        // The engine's own function may stand in the result, without its guard.
        Ok(match self.inner.simplify(args, info)? {
            ExprSimplifyResult::Simplified(Expr::ScalarFunction(mut call)) => {
                if !call.func.inner().is::<Self>()
                    && let Some(growth) = Growth::of(call.func.name())
                {
                    call.func = Arc::new(Self::wrap(call.func, growth, self.max_bytes));
                }
                ExprSimplifyResult::Simplified(Expr::ScalarFunction(call))
            }
            other => other,
        })
    }

    fn preimage(&self, args: &[Expr], literal: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        self.inner.preimage(args, literal, info)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(args)
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.inner.evaluate_bounds(input)
    }

    fn propagate_constraints(&self, interval: &Interval, inputs: &[&Interval]) -> Result<Option<Vec<Interval>>> {
        self.inner.propagate_constraints(interval, inputs)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn struct_field_mapping(&self, literal_args: &[Option<ScalarValue>]) -> Option<StructFieldMapping> {
        self.inner.struct_field_mapping(literal_args)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.placement(args)
    }
}
