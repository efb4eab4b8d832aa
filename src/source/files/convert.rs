//! Text → typed arrays without loss, and batches of a file → batches of the table.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, RecordBatch,
    RecordBatchOptions, StringArray, StructArray, new_null_array,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::FormatOptions;

const SOFT: CastOptions<'static> = CastOptions { safe: true, format_options: FormatOptions::new() };
const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: FormatOptions::new() };

/// The first text that cannot be read as its type.
#[derive(Debug, PartialEq)]
pub(crate) struct BadText {
    /// The row in the outermost array, when it is known.
    pub(crate) row: Option<usize>,
    /// The text.
    pub(crate) text: String,
    /// The type it should have.
    pub(crate) data_type: DataType,
}

/// Reads every text as `data_type`. `guessed` types are held to what a guess promises: no leading zero is dropped and no
/// whole number is rounded. What is no value of the type is an error, never a null.
///
/// # Errors
/// The first text that does not fit; [`ArrowError`] if the type cannot be read from text at all.
pub(crate) fn parse(
    texts: &StringArray,
    data_type: &DataType,
    guessed: bool,
) -> Result<Result<ArrayRef, BadText>, ArrowError> {
    let bad = |row: usize| BadText {
        row: Some(row),
        text: texts.value(row).chars().take(60).collect(),
        data_type: data_type.clone(),
    };
    if *data_type == DataType::Utf8 {
        return Ok(Ok(Arc::new(texts.clone())));
    }
    if let Some(row) = (0..texts.len()).find(|&row| texts.is_valid(row) && loses(texts.value(row), data_type, guessed))
    {
        return Ok(Err(bad(row)));
    }
    let parsed = cast_with_options(texts, data_type, &SOFT)?;
    if parsed.null_count() > texts.null_count()
        && let Some(row) = (0..texts.len()).find(|&row| texts.is_valid(row) && parsed.is_null(row))
    {
        return Ok(Err(bad(row)));
    }
    Ok(Ok(parsed))
}

/// What the cast kernel would read with a loss that it does not report.
fn loses(text: &str, data_type: &DataType, guessed: bool) -> bool {
    let bytes = text.as_bytes();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    let leading_zero = || matches!(unsigned, [b'0', next, ..] if next.is_ascii_digit());
    match data_type {
        // `00501` is a code, not a number.
        data_type if data_type.is_integer() => guessed && leading_zero(),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            guessed && (leading_zero() || (unsigned.len() > 15 && is_inexact(text)))
        }
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
            (guessed && leading_zero())
                || text.split_once('.').is_some_and(|(_, fraction)| {
                    let digits = fraction.split(['e', 'E']).next().unwrap_or_default().trim_end_matches('0').len();
                    digits > usize::try_from(*scale).unwrap_or(0)
                })
        }
        // A time of day in a column of dates, or a zone in one of local times, would be dropped in silence.
        DataType::Date32 => bytes.len() > 10 && !is_midnight(&bytes[10..]),
        DataType::Timestamp(_, None) => {
            bytes.len() > 10 && bytes[10..].iter().any(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'))
        }
        _ => false,
    }
}

/// A whole number beyond 2^53.
fn is_inexact(text: &str) -> bool {
    text.parse::<i128>().is_ok_and(|number| number.unsigned_abs() > 1 << 53)
        || (text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 38)
}

fn is_midnight(rest: &[u8]) -> bool {
    matches!(rest.first(), Some(b'T' | b't' | b' ')) && rest[1..].iter().all(|byte| matches!(byte, b'0' | b':' | b'.'))
}

/// The type to decode as: every leaf that is read from text becomes `Utf8`, so that [`parse_nested`] sees its digits.
pub(crate) fn as_text(data_type: &DataType) -> DataType {
    let field = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(as_text(field.data_type())));
    match data_type {
        DataType::Boolean | DataType::Null => data_type.clone(),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::List(item) | DataType::FixedSizeList(item, _) | DataType::ListView(item) => {
            DataType::List(field(item))
        }
        DataType::LargeList(item) | DataType::LargeListView(item) => DataType::LargeList(field(item)),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        _ => DataType::Utf8,
    }
}

/// [`parse`] at every depth: `array` is of the type [`as_text`] gave for `data_type`.
///
/// # Errors
/// As [`parse`]; the row is known only for a text at the top.
pub(crate) fn parse_nested(
    array: &ArrayRef,
    data_type: &DataType,
    guessed: bool,
) -> Result<Result<ArrayRef, BadText>, ArrowError> {
    let nested = |array: &ArrayRef, data_type: &DataType| {
        parse_nested(array, data_type, guessed).map(|parsed| parsed.map_err(|bad| BadText { row: None, ..bad }))
    };
    Ok(match (array.data_type(), data_type) {
        (found, wanted) if found == wanted => Ok(Arc::clone(array)),
        (DataType::Utf8, _) => return parse(array.as_string(), data_type, guessed),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let array = array.as_struct();
            let mut columns = Vec::with_capacity(fields.len());
            for (column, field) in array.columns().iter().zip(fields) {
                match nested(column, field.data_type())? {
                    Ok(column) => columns.push(column),
                    Err(bad) => return Ok(Err(bad)),
                }
            }
            Ok(Arc::new(StructArray::try_new_with_length(
                fields.clone(),
                columns,
                array.nulls().cloned(),
                array.len(),
            )?))
        }
        (DataType::List(_), DataType::List(item)) => {
            list(array.as_list::<i32>(), item, nested(array.as_list::<i32>().values(), item.data_type())?)?
        }
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            list(array.as_list::<i64>(), item, nested(array.as_list::<i64>().values(), item.data_type())?)?
        }
        (DataType::List(_), DataType::FixedSizeList(item, size)) => {
            let lists = array.as_list::<i32>();
            match nested(lists.values(), item.data_type())? {
                Err(bad) => Err(bad),
                Ok(values) => {
                    let typed: GenericListArray<i32> = GenericListArray::try_new(
                        Arc::clone(item),
                        lists.offsets().clone(),
                        values,
                        lists.nulls().cloned(),
                    )?;
                    let fixed = cast_with_options(&typed, &DataType::FixedSizeList(Arc::clone(item), *size), &STRICT)?;
                    Ok(Arc::new(
                        fixed
                            .as_any()
                            .downcast_ref::<FixedSizeListArray>()
                            .cloned()
                            .ok_or_else(|| ArrowError::CastError("a list is not of the declared size".to_owned()))?,
                    ) as ArrayRef)
                }
            }
        }
        (DataType::Map(..), DataType::Map(entries, sorted)) => {
            let map = array.as_map();
            let inner: ArrayRef = Arc::new(map.entries().clone());
            match nested(&inner, entries.data_type())? {
                Err(bad) => Err(bad),
                Ok(inner) => Ok(Arc::new(MapArray::try_new(
                    Arc::clone(entries),
                    map.offsets().clone(),
                    inner.as_struct().clone(),
                    map.nulls().cloned(),
                    *sorted,
                )?)),
            }
        }
        (_, data_type) => Ok(cast_with_options(array, data_type, &STRICT)?),
    })
}

fn list<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    item: &FieldRef,
    values: Result<ArrayRef, BadText>,
) -> Result<Result<ArrayRef, BadText>, ArrowError> {
    match values {
        Err(bad) => Ok(Err(bad)),
        Ok(values) => {
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Ok(Ok(Arc::new(GenericListArray::try_new(Arc::clone(item), offsets, values, nulls)?)))
        }
    }
}

/// Takes the columns of `schema` from a batch by name: missing ones are null, others are cast.
///
/// # Errors
/// The column's name and why it cannot be cast.
pub(crate) fn adapt(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, (String, ArrowError)> {
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        columns.push(match batch.column_by_name(field.name()) {
            None => new_null_array(field.data_type(), batch.num_rows()),
            Some(column) if column.data_type() == field.data_type() => Arc::clone(column),
            Some(column) => {
                cast_with_options(column, field.data_type(), &STRICT).map_err(|error| (field.name().clone(), error))?
            }
        });
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| (String::new(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::TimeUnit;

    fn first_bad(texts: &[&str], data_type: DataType, guessed: bool) -> Option<usize> {
        match parse(&StringArray::from(texts.to_vec()), &data_type, guessed) {
            Ok(Err(bad)) => bad.row,
            Ok(Ok(_)) => None,
            Err(error) => unreachable!("{error}"),
        }
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        assert_eq!(first_bad(&["1", "-7", "x"], DataType::Int64, true), Some(2));
        assert_eq!(first_bad(&["1", "007"], DataType::Int64, true), Some(1));
        assert_eq!(first_bad(&["1", "007"], DataType::Int64, false), None);
        assert_eq!(first_bad(&["1", "1.5"], DataType::Int64, false), Some(1));
        assert_eq!(first_bad(&["1.5", "9007199254740993"], DataType::Float64, true), Some(1));
        assert_eq!(first_bad(&["1.10", "1.005"], DataType::Decimal128(18, 2), false), Some(1));
        assert_eq!(first_bad(&["2024-02-29", "2024-02-30"], DataType::Date32, true), Some(1));
        assert_eq!(first_bad(&["2024-02-29 00:00:00", "2024-02-29 01:00:00"], DataType::Date32, true), Some(1));
        let local = DataType::Timestamp(TimeUnit::Microsecond, None);
        assert_eq!(first_bad(&["2024-02-29T10:00:00", "2024-02-29T10:00:00+02:00"], local, true), Some(1));
        assert_eq!(first_bad(&["18446744073709551615"], DataType::UInt64, true), None);
    }
}
