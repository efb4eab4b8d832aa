//! One value: which writer an array needs, chosen once per column and batch.
//!
//! The match below has no wildcard: a type that Arrow adds does not compile until it is written.

mod nested;
mod number;
mod string;
mod temporal;

use datafusion::arrow::array::{Array, AsArray, BooleanArray, PrimitiveArray};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalUnit, IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use super::out::Out;
use temporal::Zone;

/// Writes the values of one array.
pub(super) trait Cell {
    /// Appends the value at `row`, null included.
    fn write(&self, row: usize, out: &mut Out);
}

/// The writer for the values of `array`, at any depth.
pub(super) fn cell<'a>(array: &'a dyn Array) -> Box<dyn Cell + 'a> {
    match array.data_type() {
        DataType::Null => Box::new(Null),
        DataType::Boolean => Box::new(Boolean::new(array.as_boolean())),
        DataType::Int8 => primitive::<Int8Type, _>(array, number::small),
        DataType::Int16 => primitive::<Int16Type, _>(array, number::small),
        DataType::Int32 => primitive::<Int32Type, _>(array, number::small),
        DataType::Int64 => primitive::<Int64Type, _>(array, number::int64),
        DataType::UInt8 => primitive::<UInt8Type, _>(array, number::small),
        DataType::UInt16 => primitive::<UInt16Type, _>(array, number::small),
        DataType::UInt32 => primitive::<UInt32Type, _>(array, number::small),
        DataType::UInt64 => primitive::<UInt64Type, _>(array, number::uint64),
        DataType::Float16 => primitive::<Float16Type, _>(array, number::float16),
        DataType::Float32 => primitive::<Float32Type, _>(array, number::float32),
        DataType::Float64 => primitive::<Float64Type, _>(array, number::float64),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => {
            let scale = *scale;
            primitive::<Decimal256Type, _>(array, move |value, out| number::decimal256(value, scale, out))
        }
        DataType::Utf8 => Box::new(string::Text::new(array.as_string::<i32>())),
        DataType::LargeUtf8 => Box::new(string::Text::new(array.as_string::<i64>())),
        DataType::Utf8View => Box::new(string::Text::new(array.as_string_view())),
        DataType::Binary => Box::new(string::Hex::new(array.as_binary::<i32>())),
        DataType::LargeBinary => Box::new(string::Hex::new(array.as_binary::<i64>())),
        DataType::BinaryView => Box::new(string::Hex::new(array.as_binary_view())),
        DataType::FixedSizeBinary(_) => Box::new(string::Hex::new(array.as_fixed_size_binary())),
        DataType::Date32 => primitive::<Date32Type, _>(array, temporal::date32),
        DataType::Date64 => primitive::<Date64Type, _>(array, temporal::date64),
        // Time32 of the fine units and Time64 of the coarse ones can be named, but no array can hold them.
        DataType::Time32(TimeUnit::Second) => {
            primitive::<Time32SecondType, _>(array, |value, out| temporal::time::<1>(i64::from(value), out))
        }
        DataType::Time32(_) => {
            primitive::<Time32MillisecondType, _>(array, |value, out| temporal::time::<1_000>(i64::from(value), out))
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            primitive::<Time64NanosecondType, _>(array, temporal::time::<1_000_000_000>)
        }
        DataType::Time64(_) => primitive::<Time64MicrosecondType, _>(array, temporal::time::<1_000_000>),
        DataType::Timestamp(unit, zone) => {
            let zone = Zone::new(zone.as_deref());
            match unit {
                TimeUnit::Second => timestamp::<TimestampSecondType, 1>(array, zone),
                TimeUnit::Millisecond => timestamp::<TimestampMillisecondType, 1_000>(array, zone),
                TimeUnit::Microsecond => timestamp::<TimestampMicrosecondType, 1_000_000>(array, zone),
                TimeUnit::Nanosecond => timestamp::<TimestampNanosecondType, 1_000_000_000>(array, zone),
            }
        }
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => primitive::<DurationSecondType, _>(array, temporal::duration::<1>),
            TimeUnit::Millisecond => primitive::<DurationMillisecondType, _>(array, temporal::duration::<1_000>),
            TimeUnit::Microsecond => primitive::<DurationMicrosecondType, _>(array, temporal::duration::<1_000_000>),
            TimeUnit::Nanosecond => primitive::<DurationNanosecondType, _>(array, temporal::duration::<1_000_000_000>),
        },
        DataType::Interval(unit) => match unit {
            IntervalUnit::YearMonth => {
                primitive::<IntervalYearMonthType, _>(array, |months, out| temporal::interval(months, 0, 0, 0, out))
            }
            IntervalUnit::DayTime => primitive::<IntervalDayTimeType, _>(array, |value, out| {
                let (seconds, millis) = (value.milliseconds / 1_000, value.milliseconds % 1_000);
                temporal::interval(0, value.days, i64::from(seconds), millis * 1_000_000, out);
            }),
            IntervalUnit::MonthDayNano => primitive::<IntervalMonthDayNanoType, _>(array, |value, out| {
                let (seconds, nanos) = (value.nanoseconds / 1_000_000_000, value.nanoseconds % 1_000_000_000);
                temporal::interval(value.months, value.days, seconds, nanos as i32, out);
            }),
        },
        DataType::List(_) => nested::list(array.as_list::<i32>()),
        DataType::LargeList(_) => nested::list(array.as_list::<i64>()),
        DataType::FixedSizeList(_, _) => nested::fixed_size_list(array.as_fixed_size_list()),
        DataType::ListView(_) => nested::list_view(array.as_list_view::<i32>()),
        DataType::LargeListView(_) => nested::list_view(array.as_list_view::<i64>()),
        DataType::Struct(_) => nested::structure(array.as_struct()),
        DataType::Map(_, _) => nested::map(array.as_map()),
        DataType::Union(_, _) => nested::union(array.as_union()),
        DataType::Dictionary(key, _) => nested::dictionary(key, array),
        DataType::RunEndEncoded(run_ends, _) => nested::run_end_encoded(run_ends.data_type(), array),
    }
}

/// The validity of an array's slots, `None` when all are valid.
fn validity(array: &dyn Array) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

#[inline]
fn is_null(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_some_and(|nulls| nulls.is_null(row))
}

/// Values in a row, and what to do with one that is not null.
struct Primitive<'a, N, W> {
    values: &'a [N],
    nulls: Option<&'a NullBuffer>,
    write: W,
}

impl<N: Copy, W: Fn(N, &mut Out)> Cell for Primitive<'_, N, W> {
    #[inline]
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        (self.write)(self.values[row], out);
    }
}

fn primitive<'a, T, W>(array: &'a dyn Array, write: W) -> Box<dyn Cell + 'a>
where
    T: ArrowPrimitiveType,
    W: Fn(T::Native, &mut Out) + 'a,
{
    let array: &PrimitiveArray<T> = array.as_primitive();
    Box::new(Primitive { values: array.values().as_ref(), nulls: validity(array), write })
}

fn decimal<'a, T>(array: &'a dyn Array, scale: i8) -> Box<dyn Cell + 'a>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128>,
{
    primitive::<T, _>(array, move |value, out| number::decimal(value.into(), scale, out))
}

/// `PER_SECOND` is how many of the stored units make a second.
fn timestamp<'a, T, const PER_SECOND: i64>(array: &'a dyn Array, zone: Zone) -> Box<dyn Cell + 'a>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    match zone {
        // The two that are most often met have no zone to look at in each cell.
        Zone::None => primitive::<T, _>(array, |value, out| temporal::timestamp::<PER_SECOND>(value, &Zone::None, out)),
        Zone::Utc => primitive::<T, _>(array, |value, out| temporal::timestamp::<PER_SECOND>(value, &Zone::Utc, out)),
        zone => primitive::<T, _>(array, move |value, out| temporal::timestamp::<PER_SECOND>(value, &zone, out)),
    }
}

struct Null;

impl Cell for Null {
    fn write(&self, _row: usize, out: &mut Out) {
        out.null();
    }
}

struct Boolean<'a> {
    values: &'a BooleanBuffer,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Boolean<'a> {
    fn new(array: &'a BooleanArray) -> Self {
        Self { values: array.values(), nulls: validity(array) }
    }
}

impl Cell for Boolean<'_> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        out.bytes(if self.values.value(row) { b"true" } else { b"false" });
    }
}
