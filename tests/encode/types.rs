//! Nothing is "unsupported": every `DataType` is written.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, new_empty_array, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode};

use super::{FORMATS, batch, encode, json};

/// One example of each variant after `previous`. The match has no wildcard, so a new variant stops this test from
/// compiling until it is added to the chain.
fn next(previous: &DataType) -> Option<DataType> {
    use DataType::*;
    let item = || Arc::new(Field::new_list_field(Int64, true));
    Some(match previous {
        Null => Boolean,
        Boolean => Int8,
        Int8 => Int16,
        Int16 => Int32,
        Int32 => Int64,
        Int64 => UInt8,
        UInt8 => UInt16,
        UInt16 => UInt32,
        UInt32 => UInt64,
        UInt64 => Float16,
        Float16 => Float32,
        Float32 => Float64,
        Float64 => Timestamp(TimeUnit::Second, None),
        Timestamp(TimeUnit::Second, None) => Timestamp(TimeUnit::Millisecond, Some("+01:00".into())),
        Timestamp(TimeUnit::Second | TimeUnit::Millisecond, _) => Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Timestamp(TimeUnit::Microsecond, _) => Timestamp(TimeUnit::Nanosecond, Some("Europe/Rome".into())),
        Timestamp(TimeUnit::Nanosecond, _) => Date32,
        Date32 => Date64,
        Date64 => Time32(TimeUnit::Second),
        Time32(TimeUnit::Second) => Time32(TimeUnit::Millisecond),
        Time32(_) => Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Microsecond) => Time64(TimeUnit::Nanosecond),
        Time64(_) => Duration(TimeUnit::Second),
        Duration(TimeUnit::Second) => Duration(TimeUnit::Millisecond),
        Duration(TimeUnit::Millisecond) => Duration(TimeUnit::Microsecond),
        Duration(TimeUnit::Microsecond) => Duration(TimeUnit::Nanosecond),
        Duration(TimeUnit::Nanosecond) => Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::YearMonth) => Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::DayTime) => Interval(IntervalUnit::MonthDayNano),
        Interval(IntervalUnit::MonthDayNano) => Binary,
        Binary => FixedSizeBinary(3),
        FixedSizeBinary(_) => LargeBinary,
        LargeBinary => BinaryView,
        BinaryView => Utf8,
        Utf8 => LargeUtf8,
        LargeUtf8 => Utf8View,
        Utf8View => List(item()),
        List(_) => ListView(item()),
        ListView(_) => FixedSizeList(item(), 2),
        FixedSizeList(_, _) => LargeList(item()),
        LargeList(_) => LargeListView(item()),
        LargeListView(_) => Struct(Fields::from(vec![Field::new("a", Int64, true)])),
        Struct(_) => Union(union_fields(), UnionMode::Sparse),
        Union(_, UnionMode::Sparse) => Union(union_fields(), UnionMode::Dense),
        Union(_, UnionMode::Dense) => Dictionary(Box::new(Int8), Box::new(Utf8)),
        Dictionary(_, _) => Decimal32(9, 2),
        Decimal32(_, _) => Decimal64(18, 2),
        Decimal64(_, _) => Decimal128(38, 2),
        Decimal128(_, _) => Decimal256(76, 2),
        Decimal256(_, _) => Map(
            Arc::new(Field::new(
                "entries",
                Struct(Fields::from(vec![Field::new("keys", Utf8, false), Field::new("values", Int64, true)])),
                false,
            )),
            false,
        ),
        Map(_, _) => {
            RunEndEncoded(Arc::new(Field::new("run_ends", Int32, false)), Arc::new(Field::new("values", Utf8, true)))
        }
        RunEndEncoded(_, _) => return None,
    })
}

fn union_fields() -> UnionFields {
    UnionFields::try_new(
        vec![0, 1],
        vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)],
    )
    .unwrap()
}

fn every_type() -> Vec<DataType> {
    let mut types = vec![DataType::Null];
    while let Some(data_type) = types.last().and_then(next) {
        types.push(data_type);
    }
    types
}

#[test]
fn nulls_and_empty_columns_of_every_type() {
    let types = every_type();
    assert!(types.len() > 50);
    for data_type in types {
        for nested in [
            data_type.clone(),
            DataType::List(Arc::new(Field::new_list_field(data_type.clone(), true))),
            DataType::Struct(Fields::from(vec![Field::new("x", data_type.clone(), true)])),
        ] {
            let array: ArrayRef = new_null_array(&nested, 3);
            let expected = r#"{"columns":["c"],"rows":[[null],[null],[null]],"row_count":3}"#;
            assert_eq!(json(&batch(vec![("c", array.clone())])), expected, "{nested}");
            let empty = json(&batch(vec![("c", new_empty_array(&nested))]));
            assert_eq!(empty, r#"{"columns":["c"],"rows":[],"row_count":0}"#);
            for format in FORMATS {
                assert_eq!(encode(&batch(vec![("c", array.clone())]), format, 50, 512).row_count, 3);
            }
        }
    }
}
