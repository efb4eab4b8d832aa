//! What users of other systems ran into, at the level of the encoder; the names are those of the collected reports.

use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::*;
use datafusion_toolset::encode::{Encoder, Progress, ResultFormat, TruncatedBy};
use serde_json::Value;

use super::{FORMATS, batch, encode, encode_batches, json, rows_text};

fn parse(payload: &str) -> Value {
    assert!(!payload.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']));
    serde_json::from_str(payload).unwrap()
}

#[test]
fn enc_01_wide_integers_keep_their_digits() {
    let rows = rows_text(vec![
        ("k", Arc::new(Int64Array::from(vec![9007199254740991, 9007199254740993, -7777777777777777777]))),
        ("u", Arc::new(UInt64Array::from(vec![1, 18446744073709551615, 9007199254740995]))),
    ]);
    assert_eq!(
        rows,
        r#"[[9007199254740991,1],["9007199254740993","18446744073709551615"],["-7777777777777777777","9007199254740995"]]"#
    );
}

#[test]
fn enc_02_decimals_are_lossless() {
    let value: i128 = "12345678901234567890123456780000000001".parse().unwrap();
    let array = Decimal128Array::from(vec![Some(value), Some(-1), None]).with_precision_and_scale(38, 10).unwrap();
    assert_eq!(
        rows_text(vec![("d", Arc::new(array))]),
        r#"[["1234567890123456789012345678.0000000001"],["-0.0000000001"],[null]]"#
    );
}

#[test]
fn enc_03_floats_that_are_no_numbers() {
    let list = ListArray::from_iter_primitive::<Float64Type, _, _>(vec![Some(vec![Some(f64::NAN), Some(1.5)])]);
    let rows = rows_text(vec![
        ("a", Arc::new(Float64Array::from(vec![f64::NAN]))),
        ("b", Arc::new(Float64Array::from(vec![f64::INFINITY]))),
        ("d", Arc::new(Float64Array::from(vec![None]))),
        ("e", Arc::new(Float64Array::from(vec![-0.0]))),
        ("f", Arc::new(list)),
    ]);
    assert_eq!(rows, r#"[["NaN","Infinity",null,-0.0,["NaN",1.5]]]"#);
}

#[test]
fn enc_04_what_no_calendar_holds() {
    let rows = rows_text(vec![
        ("a", Arc::new(TimestampSecondArray::from(vec![i64::MAX, 0]))),
        ("b", Arc::new(TimestampSecondArray::from(vec![8210266876799, 0]).with_timezone("Asia/Tokyo"))),
        ("c", Arc::new(Date32Array::from(vec![i32::MAX, 0]))),
        ("d", Arc::new(Date64Array::from(vec![i64::MAX, 0]))),
        ("e", Arc::new(Time64NanosecondArray::from(vec![90_000_000_000_000, 0]))),
    ]);
    assert_eq!(
        rows,
        r#"[["9223372036854775807",8210266876799,2147483647,"9223372036854775807",90000000000000],["1970-01-01T00:00:00","1970-01-01T09:00:00+09:00","1970-01-01","1970-01-01","00:00:00"]]"#
    );
}

#[test]
fn enc_05_zones() {
    let at = |zone: Option<&str>| -> ArrayRef {
        let array = TimestampMicrosecondArray::from(vec![1_705_320_000_000_000, 1_721_044_800_000_000]);
        Arc::new(array.with_timezone_opt(zone))
    };
    let rows = rows_text(vec![
        ("u", at(Some("UTC"))),
        ("r", at(Some("Europe/Rome"))),
        ("o", at(Some("+05:30"))),
        ("n", at(None)),
        ("x", at(Some("Mars/Base"))),
    ]);
    assert_eq!(
        rows,
        r#"[["2024-01-15T12:00:00Z","2024-01-15T13:00:00+01:00","2024-01-15T17:30:00+05:30","2024-01-15T12:00:00","2024-01-15T12:00:00Z"],["2024-07-15T12:00:00Z","2024-07-15T14:00:00+02:00","2024-07-15T17:30:00+05:30","2024-07-15T12:00:00","2024-07-15T12:00:00Z"]]"#
    );
}

#[test]
fn enc_11_characters_that_break_lines() {
    let values = ["\u{2028}", "\u{2029}", "\u{85}", "\0", "\u{1f}", "\r", "\"\\", "🎉", "a\u{feff}b", "\u{7f}"];
    let name = "head\u{2028}er";
    let table = batch(vec![(name, Arc::new(StringArray::from(values.to_vec())))]);
    let payload = json(&table);
    let parsed = parse(&payload);
    assert_eq!(parsed["columns"][0], name);
    for (row, value) in values.iter().enumerate() {
        assert_eq!(parsed["rows"][row][0], *value);
    }
    let markdown = encode(&table, ResultFormat::Markdown, 50, 65_536).payload;
    assert_eq!(markdown.lines().count(), values.len() + 2);
    assert!(!markdown.contains(['\u{2028}', '\u{2029}', '\u{85}', '\r', '\0']));
}

#[test]
fn enc_14_no_rows() {
    let table = batch(vec![
        ("id", Arc::new(Int64Array::from(Vec::<i64>::new())) as ArrayRef),
        ("name", Arc::new(StringArray::from(Vec::<&str>::new()))),
    ]);
    let whole = r#"{"columns":["id","name"],"rows":[],"row_count":0}"#;
    assert_eq!(json(&table), whole);
    assert_eq!(encode_batches(&table.schema(), &[], ResultFormat::Json, 50, 512, Some(0)).payload, whole);
    assert_eq!(encode(&table, ResultFormat::Markdown, 50, 512).payload, "|id|name|\n|---|---|");
    assert_eq!(encode(&table, ResultFormat::Csv, 50, 512).payload, "id,name");
}

#[test]
fn text_formats() {
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    let table = batch(vec![
        ("i|d", Arc::new(Int64Array::from(vec![Some(9007199254740993), None])) as ArrayRef),
        ("s", Arc::new(StringArray::from(vec!["a|b\nc, \"d\"", ""]))),
        ("t", Arc::new(TimestampSecondArray::from(vec![0, 1]).with_timezone("UTC"))),
        ("l", Arc::new(list)),
        ("f", Arc::new(Float64Array::from(vec![f64::NAN, 0.5]))),
        ("b", Arc::new(BinaryArray::from(vec![b"\xff".as_slice(), b""]))),
        ("d", Arc::new(Decimal128Array::from(vec![110, 0]).with_precision_and_scale(5, 2).unwrap())),
    ]);
    assert_eq!(
        encode(&table, ResultFormat::Markdown, 50, 65_536).payload,
        "|i\\|d|s|t|l|f|b|d|\n|---|---|---|---|---|---|---|\n\
         |9007199254740993|a\\|b<br>c, \"d\"|1970-01-01T00:00:00Z|[1,null]|NaN|ff|1.10|\n\
         |NULL||1970-01-01T00:00:01Z|NULL|0.5||0.00|"
    );
    assert_eq!(
        encode(&table, ResultFormat::Csv, 50, 65_536).payload,
        "i|d,s,t,l,f,b,d\n\
         9007199254740993,\"a|b\nc, \"\"d\"\"\",1970-01-01T00:00:00Z,\"[1,null]\",NaN,ff,1.10\n\
         ,\"\",1970-01-01T00:00:01Z,,0.5,\"\",0.00"
    );
    let ids = batch(vec![("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)]);
    let cut = |format| encode_batches(&ids.schema(), std::slice::from_ref(&ids), format, 2, 512, Some(9)).payload;
    let markdown = cut(ResultFormat::Markdown);
    assert!(
        markdown.starts_with("|id|\n|---|\n|1|\n|2|\ntruncated: true, truncated_by: max_rows, total_rows: 9, hint: "),
        "{markdown}"
    );
    let csv = cut(ResultFormat::Csv);
    assert!(csv.starts_with("id\n1\n2\n# truncated: true, truncated_by: max_rows, total_rows: 9, hint: "), "{csv}");
}

#[test]
fn mcp_01_exactly_max_rows_is_whole() {
    for rows in [0, 1, 199, 200, 201, 1_000] {
        let table = batch(vec![("id", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef)]);
        let encoded = encode(&table, ResultFormat::Json, 200, 65_536);
        let parsed = parse(&encoded.payload);
        assert_eq!(parsed["row_count"], rows.min(200));
        assert_eq!(parsed["rows"].as_array().unwrap().len() as i64, rows.min(200));
        assert_eq!(parsed.get("truncated").is_some(), rows > 200);
        if rows > 200 {
            assert_eq!(parsed["truncated_by"], "max_rows");
            assert!(parsed["hint"].as_str().unwrap().contains("ORDER BY"));
            assert_eq!(encoded.truncated_by, Some(TruncatedBy::MaxRows));
        }
    }
    let table = batch(vec![("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
    for format in FORMATS {
        let encoded = encode(&table, format, 0, 512);
        assert_eq!((encoded.row_count, encoded.truncated_by), (0, Some(TruncatedBy::MaxRows)));
        assert_eq!(encode(&table, format, usize::MAX, usize::MAX).truncated_by, None);
    }
}

#[test]
fn mcp_02_a_row_that_is_too_large() {
    let big = "x".repeat(300_000);
    let table = |order: &[bool]| {
        let text: Vec<&str> = order.iter().map(|&is_big| if is_big { big.as_str() } else { "small" }).collect();
        batch(vec![
            ("id", Arc::new(Int64Array::from_iter_values(1..=order.len() as i64)) as ArrayRef),
            ("s", Arc::new(StringArray::from(text))),
        ])
    };
    let first = encode(&table(&[true, false, false]), ResultFormat::Json, 50, 4_096);
    assert_eq!(
        first.payload,
        r#"{"columns":["id","s"],"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"Row 1 does not fit: s takes at least 300002 bytes, id 1. Use left(s, 200), leave it out, or aggregate."}"#
    );
    let fourth = encode(&table(&[false, false, false, true, false]), ResultFormat::Json, 50, 4_096);
    let parsed = parse(&fourth.payload);
    assert_eq!(parsed["row_count"], 3);
    assert!(parsed["hint"].as_str().unwrap().contains("s takes at least 300002 bytes"));

    // A name that does not fit is left out, with rows and without.
    let name = "n".repeat(10_000);
    for rows in [0, 1] {
        let table = batch(vec![(&name, Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef)]);
        let encoded = encode(&table, ResultFormat::Json, 50, 4_096);
        assert!(encoded.payload.starts_with(
            r#"{"column_count":1,"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"#
        ));
        assert!(encoded.payload.len() <= 4_096);
    }
    // Beside a whole row the same name is shown.
    let table = batch(vec![(&name[..3_000], Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
    assert_eq!(encode(&table, ResultFormat::Json, 50, 4_096).truncated_by, None);
}

#[test]
fn a_decided_payload_does_not_change() {
    let table = batch(vec![("id", Arc::new(Int64Array::from_iter_values(0..10)) as ArrayRef)]);
    let mut encoder = Encoder::new(&table.schema(), ResultFormat::Json, 15, 512);
    assert_eq!(encoder.push(&table), Progress::Continue);
    assert!(!encoder.is_truncated());
    assert_eq!(encoder.push(&table), Progress::Decided);
    assert!(encoder.is_truncated());
    assert_eq!(encoder.push(&table), Progress::Decided);
    assert_eq!(encoder.finish(None).row_count, 15);
}

#[test]
fn the_work_in_a_cell_stops_at_the_budget() {
    let ints: ArrayRef = Arc::new(ListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        datafusion::arrow::buffer::OffsetBuffer::from_lengths([1_000_000]),
        Arc::new(Int32Array::from_iter_values(0..1_000_000)),
        None,
    ));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(50_000_000)]));
    let fields: Vec<(Arc<Field>, ArrayRef)> = (0..100_000)
        .map(|n| {
            let value: ArrayRef = Arc::new(Int32Array::from(vec![n]));
            (Arc::new(Field::new(format!("f{n}"), DataType::Int32, true)), value)
        })
        .collect();
    let wide: ArrayRef = Arc::new(StructArray::from(fields));
    for format in FORMATS {
        for (array, size) in [(&ints, "2000001"), (&text, "50000002"), (&wide, "500000")] {
            let table = batch(vec![("c", array.clone())]);
            let encoded = encode(&table, format, 50, 65_536);
            assert_eq!(encoded.row_count, 0);
            let size = if format != ResultFormat::Json && Arc::ptr_eq(array, &text) { "50000000" } else { size };
            assert!(encoded.payload.contains(&format!("c takes at least {size} bytes")), "{}", encoded.payload);
            assert!(encoded.payload.capacity() < 131_072);
        }
    }
}
