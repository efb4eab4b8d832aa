//! One golden text per type of the value table.

use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::*;
use half::f16;

use super::{column_text, json, rows_text};

fn check(array: impl Array + 'static, expected: &str) {
    assert_eq!(column_text(Arc::new(array)), expected);
}

#[test]
fn scalars() {
    check(NullArray::new(2), "[[null],[null]]");
    check(BooleanArray::from(vec![Some(true), Some(false), None]), "[[true],[false],[null]]");
    check(Int8Array::from(vec![i8::MIN, 0, i8::MAX]), "[[-128],[0],[127]]");
    check(Int16Array::from(vec![i16::MIN, i16::MAX]), "[[-32768],[32767]]");
    check(Int32Array::from(vec![Some(i32::MIN), None]), "[[-2147483648],[null]]");
    check(
        Int64Array::from(vec![9007199254740991, 9007199254740992, i64::MIN]),
        r#"[[9007199254740991],["9007199254740992"],["-9223372036854775808"]]"#,
    );
    check(UInt8Array::from(vec![255]), "[[255]]");
    check(UInt16Array::from(vec![65535]), "[[65535]]");
    check(UInt32Array::from(vec![u32::MAX]), "[[4294967295]]");
    check(UInt64Array::from(vec![u64::MAX]), r#"[["18446744073709551615"]]"#);
    check(
        Float16Array::from(vec![f16::from_f32(0.1), f16::MAX, f16::from_bits(1), f16::NAN, f16::NEG_INFINITY]),
        r#"[[0.1],[65500.0],[6e-8],["NaN"],["-Infinity"]]"#,
    );
    check(Float32Array::from(vec![0.1, 16777216.0, f32::INFINITY]), r#"[[0.1],[16777216.0],["Infinity"]]"#);
    check(Float64Array::from(vec![0.1, -0.0, 1.0, 1e300]), "[[0.1],[-0.0],[1.0],[1e300]]");
}

#[test]
fn decimals() {
    check(Decimal32Array::from(vec![110, -5]).with_precision_and_scale(9, 2).unwrap(), r#"[["1.10"],["-0.05"]]"#);
    check(Decimal64Array::from(vec![123]).with_precision_and_scale(18, -2).unwrap(), r#"[["12300"]]"#);
    check(Decimal128Array::from(vec![0, 7]).with_precision_and_scale(5, 0).unwrap(), r#"[["0"],["7"]]"#);
    let wide: i256 = i256::from_string("1234567890123456789012345678901234567890123456789012345").unwrap();
    check(
        Decimal256Array::from(vec![wide]).with_precision_and_scale(60, 5).unwrap(),
        r#"[["12345678901234567890123456789012345678901234567890.12345"]]"#,
    );
}

#[test]
fn text_and_bytes() {
    let text = vec![Some("a\"\\\n\u{2028}é日🎉"), Some(""), None, Some("longer than twelve bytes")];
    let expected = r#"[["a\"\\\n\u2028é日🎉"],[""],[null],["longer than twelve bytes"]]"#;
    check(StringArray::from(text.clone()), expected);
    check(LargeStringArray::from(text.clone()), expected);
    check(StringViewArray::from(text), expected);
    let bytes: Vec<Option<&[u8]>> = vec![Some(&[0xff, 0xfe]), Some(b""), None, Some(b"more than twelve")];
    let expected = r#"[["fffe"],[""],[null],["6d6f7265207468616e207477656c7665"]]"#;
    check(BinaryArray::from(bytes.clone()), expected);
    check(LargeBinaryArray::from(bytes.clone()), expected);
    check(BinaryViewArray::from(bytes), expected);
    let fixed = FixedSizeBinaryArray::try_from_iter([[0u8, 1, 15].to_vec(), vec![255; 3]].into_iter()).unwrap();
    check(fixed, r#"[["00010f"],["ffffff"]]"#);
}

#[test]
fn dates_and_times() {
    check(Date32Array::from(vec![19782, -719529, i32::MAX]), r#"[["2024-02-29"],["-0001-12-31"],[2147483647]]"#);
    check(Date64Array::from(vec![19782 * 86_400_000 + 5, -1]), r#"[["2024-02-29"],["1969-12-31"]]"#);
    check(Time32SecondArray::from(vec![49_501, 86_400]), r#"[["13:45:01"],[86400]]"#);
    check(Time32MillisecondArray::from(vec![49_501_250]), r#"[["13:45:01.25"]]"#);
    check(Time64MicrosecondArray::from(vec![1, -1]), r#"[["00:00:00.000001"],[-1]]"#);
    check(Time64NanosecondArray::from(vec![86_399_999_999_999]), r#"[["23:59:59.999999999"]]"#);
    let second = 1_709_214_301;
    check(
        TimestampSecondArray::from(vec![second, -62_167_219_201]),
        r#"[["2024-02-29T13:45:01"],["-0001-12-31T23:59:59"]]"#,
    );
    check(TimestampMillisecondArray::from(vec![second * 1_000 + 250]), r#"[["2024-02-29T13:45:01.25"]]"#);
    check(
        TimestampMicrosecondArray::from(vec![second * 1_000_000]).with_timezone("UTC"),
        r#"[["2024-02-29T13:45:01Z"]]"#,
    );
    check(
        TimestampNanosecondArray::from(vec![second * 1_000_000_000 + 1]).with_timezone("Europe/Rome"),
        r#"[["2024-02-29T14:45:01.000000001+01:00"]]"#,
    );
    check(
        TimestampSecondArray::from(vec![253_402_300_800]).with_timezone("+05:30"),
        r#"[["+10000-01-01T05:30:00+05:30"]]"#,
    );
}

#[test]
fn durations_and_intervals() {
    check(DurationSecondArray::from(vec![90_061, 0]), r#"[["PT25H1M1S"],["PT0S"]]"#);
    check(DurationMillisecondArray::from(vec![-500]), r#"[["PT-0.5S"]]"#);
    check(DurationMicrosecondArray::from(vec![1]), r#"[["PT0.000001S"]]"#);
    check(DurationNanosecondArray::from(vec![i64::MIN]), r#"[["PT-2562047H-47M-16.854775808S"]]"#);
    check(IntervalYearMonthArray::from(vec![14, -1]), r#"[["P1Y2M"],["P-1M"]]"#);
    check(IntervalDayTimeArray::from(vec![IntervalDayTime::new(3, -500)]), r#"[["P3DT-0.5S"]]"#);
    check(
        IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(10, -3, 3_600_000_000_000)]),
        r#"[["P10M-3DT1H"]]"#,
    );
}

#[test]
fn lists() {
    let lists = || vec![Some(vec![Some(1), None]), Some(vec![]), None, Some(vec![Some(9007199254740993)])];
    let expected = r#"[[[1,null]],[[]],[null],[["9007199254740993"]]]"#;
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>(lists());
    check(list.slice(1, 3), r#"[[[]],[null],[["9007199254740993"]]]"#);
    check(list, expected);
    check(LargeListArray::from_iter_primitive::<Int64Type, _, _>(lists()), expected);
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        vec![Some(vec![Some(1), Some(2)]), None, Some(vec![None, Some(4)])],
        2,
    );
    check(fixed.slice(1, 2), "[[null],[[null,4]]]");
    check(fixed, "[[[1,2]],[null],[[null,4]]]");
    let item = Arc::new(Field::new_list_field(DataType::Int64, true));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let nulls = NullBuffer::from(vec![true, true, true, false]);
    let view = ListViewArray::new(
        item.clone(),
        ScalarBuffer::from(vec![2, 1, 0, 0]),
        ScalarBuffer::from(vec![2, 2, 0, 1]),
        values.clone(),
        Some(nulls.clone()),
    );
    check(view, "[[[3,4]],[[2,3]],[[]],[null]]");
    let view = LargeListViewArray::new(
        item,
        ScalarBuffer::from(vec![3, 0, 4, 0]),
        ScalarBuffer::from(vec![1, 4, 0, 0]),
        values,
        Some(nulls),
    );
    check(view.slice(1, 3), "[[[1,2,3,4]],[[]],[null]]");
}

#[test]
fn structs() {
    let fields =
        Fields::from(vec![Field::new("a", DataType::Int64, true), Field::new("b \"x\"", DataType::Utf8, true)]);
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), None, Some(1)]));
    let b: ArrayRef = Arc::new(StringArray::from(vec![Some("no"), None, None]));
    let nulls = NullBuffer::from(vec![false, true, true]);
    let array = StructArray::new(fields, vec![a.clone(), b.clone()], Some(nulls));
    check(array.slice(1, 2), r#"[[{"a":null,"b \"x\"":null}],[{"a":1,"b \"x\"":null}]]"#);
    check(array, r#"[[null],[{"a":null,"b \"x\"":null}],[{"a":1,"b \"x\"":null}]]"#);
    let doubled = Fields::from(vec![Field::new("a", DataType::Int64, true), Field::new("a", DataType::Utf8, true)]);
    check(
        StructArray::new(doubled, vec![a, b], None),
        r#"[[[["a",0],["a","no"]]],[[["a",null],["a",null]]],[[["a",1],["a",null]]]]"#,
    );
    check(StructArray::new_empty_fields(2, Some(NullBuffer::from(vec![true, false]))), "[[{}],[null]]");
}

fn map(keys: ArrayRef, values: ArrayRef, offsets: Vec<i32>, nulls: Option<NullBuffer>) -> MapArray {
    let entries = StructArray::from(vec![
        (Arc::new(Field::new("keys", keys.data_type().clone(), false)), keys),
        (Arc::new(Field::new("values", values.data_type().clone(), true)), values),
    ]);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    MapArray::new(field, OffsetBuffer::new(offsets.into()), entries, nulls, false)
}

#[test]
fn maps() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None]));
    let nulls = || Some(NullBuffer::from(vec![true, true, true, false]));
    let offsets = || vec![0, 2, 3, 3, 3];
    let text: ArrayRef = Arc::new(StringArray::from(vec!["k", "l", "m"]));
    let expected = r#"[[{"k":1,"l":2}],[{"m":null}],[{}],[null]]"#;
    check(map(text, values.clone(), offsets(), nulls()), expected);
    let encoded: DictionaryArray<Int8Type> = vec!["k", "l", "m"].into_iter().collect();
    check(map(Arc::new(encoded), values.clone(), offsets(), nulls()), expected);
    let twice: ArrayRef = Arc::new(StringViewArray::from(vec!["k", "k", "k"]));
    let array = map(twice, values.clone(), offsets(), nulls());
    check(array.slice(1, 3), r#"[[{"k":null}],[{}],[null]]"#);
    check(array, r#"[[[["k",1],["k",2]]],[{"k":null}],[{}],[null]]"#);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    check(map(numbers, values, offsets(), nulls()), r#"[[[[1,1],[2,2]]],[[[3,null]]],[[]],[null]]"#);
    let many: ArrayRef = Arc::new(StringArray::from((0..20).map(|n| format!("k{}", n % 19)).collect::<Vec<_>>()));
    let values: ArrayRef = Arc::new(Int8Array::from((0..20).collect::<Vec<_>>()));
    let text = column_text(Arc::new(map(many, values, vec![0, 19, 20], None)));
    assert!(text.starts_with(r#"[[{"k0":0,"#) && text.ends_with(r#"[{"k0":19}]]"#));
}

#[test]
fn unions() {
    let fields = UnionFields::try_new(
        vec![1, 5],
        vec![Field::new("i", DataType::Int32, true), Field::new("s", DataType::Utf8, true)],
    )
    .unwrap();
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z"]));
    let ids = ScalarBuffer::from(vec![1, 1, 5]);
    let sparse = UnionArray::try_new(fields.clone(), ids, None, vec![ints.clone(), text.clone()]).unwrap();
    check(sparse.slice(1, 2), r#"[[null],["z"]]"#);
    check(sparse, r#"[[1],[null],["z"]]"#);
    let ids = ScalarBuffer::from(vec![5, 1, 5]);
    let dense = UnionArray::try_new(fields, ids, Some(ScalarBuffer::from(vec![0, 2, 1])), vec![ints, text]).unwrap();
    check(dense, r#"[["x"],[3],["y"]]"#);
}

#[test]
fn encodings() {
    let keys = Int32Array::from(vec![Some(0), Some(1), None, Some(2)]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
    let array = DictionaryArray::new(keys, values);
    check(array.slice(1, 3), r#"[[null],[null],["c"]]"#);
    check(array, r#"[["a"],[null],[null],["c"]]"#);
    let runs = RunArray::<Int32Type>::try_new(
        &Int32Array::from(vec![2, 3, 5]),
        &StringArray::from(vec![Some("a"), None, Some("c")]),
    )
    .unwrap();
    check(runs.slice(1, 3), r#"[["a"],[null],["c"]]"#);
    check(runs, r#"[["a"],["a"],[null],["c"],["c"]]"#);
}

#[test]
fn columns_and_rows() {
    let none: Vec<(&str, ArrayRef)> = vec![];
    assert_eq!(json(&super::batch(none)), r#"{"columns":[],"rows":[],"row_count":0}"#);
    let options = RecordBatchOptions::new().with_row_count(Some(2));
    let empty = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    assert_eq!(json(&empty), r#"{"columns":[],"rows":[[],[]],"row_count":2}"#);
    let one: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    assert_eq!(rows_text(vec![("id", one.clone()), ("id", one.clone()), ("", one.clone())]), "[[1,1,1]]");
    assert_eq!(
        json(&super::batch(vec![("i\u{2028}\"d", one)])),
        r#"{"columns":["i\u2028\"d"],"rows":[[1]],"row_count":1}"#
    );
}
