//! Random arrays, built from plain values that also say what the JSON must be.
//!
//! What is expected comes from the values, by `chrono` and `format!`; nothing of the encoder has a part in it.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, TimeDelta, TimeZone};
use datafusion::arrow::array::*;
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::*;
use serde_json::{Map, Value, json};

/// SplitMix64: enough to spread one seed over a batch.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// Small numbers, large ones and the edges of the type's width alike.
    fn int(&mut self, bits: u32) -> i64 {
        let value = self.next() as i64 >> (64 - bits);
        match self.below(4) {
            0 => value,
            1 => value % 100,
            2 => value >> (self.below(bits as usize)),
            _ => [0, 1, -1, i64::MAX >> (64 - bits), i64::MIN >> (64 - bits)][self.below(5)],
        }
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 20] = [
            'a', 'b', ' ', '"', '\\', '\n', '\r', '\t', '\0', '\u{1f}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}',
            'é', '日', '🎉', '|', ',', '#',
        ];
        let length = self.below(40);
        let clean = self.one_in(2);
        (0..length).map(|_| if clean { 'x' } else { CHARS[self.below(CHARS.len())] }).collect()
    }
}

/// A random type with at most `depth` levels.
pub(super) fn data_type(rng: &mut Rng, depth: usize) -> DataType {
    use DataType::*;
    let unit = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond][rng.below(4)];
    let nested = if depth == 0 { 0 } else { 10 };
    match rng.below(24 + nested) {
        0 => Null,
        1 => Boolean,
        2 => Int8,
        3 => Int32,
        4 | 5 => Int64,
        6 => UInt64,
        7 => Float32,
        8 | 9 => Float64,
        10 => Decimal128(38, [0, 2, 10, 38, -3][rng.below(5)]),
        11 => Decimal256(76, [0, 5, 76, -7][rng.below(4)]),
        12 => Decimal64(18, 4),
        13 => Utf8,
        14 => LargeUtf8,
        15 => Utf8View,
        16 => [Binary, BinaryView, LargeBinary][rng.below(3)].clone(),
        17 => Date32,
        18 => Date64,
        19 => Time64(TimeUnit::Nanosecond),
        20 => Timestamp(unit, None),
        21 => {
            let zone = ["UTC", "+05:30", "-08:00", "Europe/Rome", "America/St_Johns", "Asia/Tokyo"][rng.below(6)];
            Timestamp(unit, Some(zone.into()))
        }
        22 => Dictionary(Box::new(Int16), Box::new(Utf8)),
        23 => RunEndEncoded(Arc::new(Field::new("run_ends", Int32, false)), Arc::new(Field::new("values", Utf8, true))),
        24 => List(item(rng, depth)),
        25 => LargeList(item(rng, depth)),
        26 => ListView(item(rng, depth)),
        27 => FixedSizeList(item(rng, depth), 2),
        28 | 29 => {
            let names = ["a", "b", "c \"q\"", "a"];
            let count = rng.below(5);
            let fields: Vec<Field> =
                (0..count).map(|at| Field::new(names[at], data_type(rng, depth - 1), true)).collect();
            Struct(fields.into())
        }
        30 | 31 => {
            let key = [Utf8, Int64, Utf8View][rng.below(3)].clone();
            let entries = Struct(Fields::from(vec![
                Field::new("keys", key, false),
                Field::new("values", data_type(rng, depth - 1), true),
            ]));
            Map(Arc::new(Field::new("entries", entries, false)), false)
        }
        32 => {
            let fields = vec![
                Field::new("x", data_type(rng, depth - 1), true),
                Field::new("y", data_type(rng, depth - 1), true),
            ];
            Union(UnionFields::try_new(vec![3, 7], fields).unwrap(), UnionMode::Sparse)
        }
        _ => Dictionary(Box::new(UInt8), Box::new(data_type(rng, depth - 1))),
    }
}

fn item(rng: &mut Rng, depth: usize) -> FieldRef {
    Arc::new(Field::new_list_field(data_type(rng, depth - 1), true))
}

/// An array of `rows` values of a type, and the JSON of each.
pub(super) fn array(rng: &mut Rng, data_type: &DataType, rows: usize) -> (ArrayRef, Vec<Value>) {
    // Every array is a slice of a longer one now and then.
    if rng.one_in(3) {
        let (before, after) = (rng.below(4), rng.below(3));
        let (array, values) = unsliced(rng, data_type, before + rows + after);
        return (array.slice(before, rows), values[before..before + rows].to_vec());
    }
    unsliced(rng, data_type, rows)
}

fn primitive<T: ArrowPrimitiveType>(
    rng: &mut Rng,
    data_type: &DataType,
    rows: usize,
    mut value: impl FnMut(&mut Rng) -> (T::Native, Value),
) -> (ArrayRef, Vec<Value>) {
    let mut expected = Vec::new();
    let values: Vec<Option<T::Native>> = (0..rows)
        .map(|_| {
            if rng.one_in(5) {
                expected.push(Value::Null);
                return None;
            }
            let (native, json) = value(rng);
            expected.push(json);
            Some(native)
        })
        .collect();
    let array = PrimitiveArray::<T>::from_iter(values).with_data_type(data_type.clone());
    (Arc::new(array), expected)
}

fn integer(value: i128) -> Value {
    if value.unsigned_abs() < 1 << 53 { json!(value as i64) } else { json!(value.to_string()) }
}

fn float(value: f64) -> Value {
    match value {
        value if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        value => json!(value),
    }
}

fn decimal(digits: String, scale: i8) -> Value {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
        return json!(format!("{sign}{digits}{}", "0".repeat(zeros)));
    }
    let padded = format!("{digits:0>width$}", width = scale as usize + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale as usize);
    json!(format!("{sign}{whole}.{fraction}"))
}

fn trimmed(text: String) -> String {
    match text.split_once('.') {
        None => text,
        Some((whole, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
        }
    }
}

fn date(days: i64, stored: i64) -> Value {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    match TimeDelta::try_days(days).and_then(|days| epoch.checked_add_signed(days)) {
        Some(date) => json!(date.format("%Y-%m-%d").to_string()),
        None => integer(stored.into()),
    }
}

fn timestamp(value: i64, unit: TimeUnit, zone: Option<&str>) -> Value {
    let per_second = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let Some(instant) = DateTime::from_timestamp(value.div_euclid(per_second), nanos as u32) else {
        return integer(value.into());
    };
    let utc = instant.naive_utc();
    let (local, suffix) = match zone {
        None => (Some(utc), String::new()),
        Some("UTC") => (Some(utc), "Z".to_string()),
        Some(name) => {
            let zone: timezone::Tz = name.parse().unwrap();
            let offset: FixedOffset = chrono::Offset::fix(&zone.offset_from_utc_datetime(&utc));
            (utc.checked_add_offset(offset), offset.to_string())
        }
    };
    match local {
        Some(local) => json!(trimmed(local.format("%Y-%m-%dT%H:%M:%S%.9f").to_string()) + &suffix),
        None => integer(value.into()),
    }
}

fn time(nanos: i64) -> Value {
    if !(0..86_400_000_000_000).contains(&nanos) {
        return integer(nanos.into());
    }
    let time =
        NaiveTime::from_num_seconds_from_midnight_opt((nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32);
    json!(trimmed(time.unwrap().format("%H:%M:%S%.9f").to_string()))
}

/// Instants from a few years around now, and any number at all.
fn instant(rng: &mut Rng, unit: TimeUnit) -> i64 {
    let scale = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    match rng.below(3) {
        0 => rng.int(64),
        1 => (rng.next() as i64 % 8_000_000_000).wrapping_mul(scale),
        _ => (rng.next() as i64 % 4_000_000_000) * scale + rng.next() as i64 % scale,
    }
}

fn timestamps<T: ArrowPrimitiveType<Native = i64>>(
    rng: &mut Rng,
    data_type: &DataType,
    rows: usize,
) -> (ArrayRef, Vec<Value>) {
    let DataType::Timestamp(unit, zone) = data_type else { unreachable!() };
    primitive::<T>(rng, data_type, rows, |rng| {
        let value = instant(rng, *unit);
        (value, timestamp(value, *unit, zone.as_deref()))
    })
}

fn options<T>(rng: &mut Rng, rows: usize, mut value: impl FnMut(&mut Rng) -> T) -> Vec<Option<T>> {
    (0..rows).map(|_| if rng.one_in(5) { None } else { Some(value(rng)) }).collect()
}

fn wide(rng: &mut Rng) -> i256 {
    let mut value = i256::from_i128(i128::from(rng.int(64)));
    for _ in 0..rng.below(3) {
        value = value.wrapping_mul(i256::from_i128(i128::from(rng.int(60)) * 8 + 1));
    }
    value
}

fn unsliced(rng: &mut Rng, data_type: &DataType, rows: usize) -> (ArrayRef, Vec<Value>) {
    match data_type {
        DataType::Null => (Arc::new(NullArray::new(rows)), vec![Value::Null; rows]),
        DataType::Boolean => {
            let values = options(rng, rows, |rng| rng.one_in(2));
            let expected = values.iter().map(|value| json!(value)).collect();
            (Arc::new(BooleanArray::from(values)), expected)
        }
        DataType::Int8 => primitive::<Int8Type>(rng, data_type, rows, |rng| {
            let value = rng.int(8) as i8;
            (value, json!(value))
        }),
        DataType::Int32 => primitive::<Int32Type>(rng, data_type, rows, |rng| {
            let value = rng.int(32) as i32;
            (value, json!(value))
        }),
        DataType::Int64 => primitive::<Int64Type>(rng, data_type, rows, |rng| {
            let value = rng.int(64);
            (value, integer(value.into()))
        }),
        DataType::UInt64 => primitive::<UInt64Type>(rng, data_type, rows, |rng| {
            let value = rng.int(64) as u64;
            (value, integer(value.into()))
        }),
        DataType::Float32 => primitive::<Float32Type>(rng, data_type, rows, |rng| {
            let value = f32::from_bits(rng.next() as u32);
            // Half-way between two shortest forms, either is right: 332360.125 is 332360.12 and 332360.13.
            let mantissa = |text: String| text.split('e').next().unwrap_or_default().to_string();
            let (short, exact) = (mantissa(format!("{value:e}")), mantissa(format!("{:e}", f64::from(value))));
            let value = if exact.ends_with('5') && exact.len() == short.len() + 1 { 0.1 } else { value };
            let shortest: f64 = if value.is_finite() { format!("{value:e}").parse().unwrap() } else { value.into() };
            (value, float(shortest))
        }),
        DataType::Float64 => primitive::<Float64Type>(rng, data_type, rows, |rng| {
            let value = if rng.one_in(2) { f64::from_bits(rng.next()) } else { rng.int(32) as f64 / 100.0 };
            (value, float(value))
        }),
        DataType::Decimal64(_, scale) => primitive::<Decimal64Type>(rng, data_type, rows, |rng| {
            let value = rng.int(64);
            (value, decimal(value.to_string(), *scale))
        }),
        DataType::Decimal128(_, scale) => primitive::<Decimal128Type>(rng, data_type, rows, |rng| {
            let value = i128::from(rng.int(64)) * i128::from(rng.int(60));
            (value, decimal(value.to_string(), *scale))
        }),
        DataType::Decimal256(_, scale) => primitive::<Decimal256Type>(rng, data_type, rows, |rng| {
            let value = wide(rng);
            (value, decimal(value.to_string(), *scale))
        }),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let values = options(rng, rows, Rng::text);
            let expected = values.iter().map(|value| json!(value)).collect();
            let array: ArrayRef = match data_type {
                DataType::Utf8 => Arc::new(StringArray::from(values)),
                DataType::LargeUtf8 => Arc::new(LargeStringArray::from(values)),
                _ => Arc::new(StringViewArray::from_iter(values)),
            };
            (array, expected)
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let values = options(rng, rows, |rng| (0..rng.below(70)).map(|_| rng.next() as u8).collect::<Vec<u8>>());
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let expected = values.iter().map(|value| json!(value.as_ref().map(hex))).collect();
            let array: ArrayRef = match data_type {
                DataType::Binary => Arc::new(BinaryArray::from_iter(values)),
                DataType::LargeBinary => Arc::new(LargeBinaryArray::from_iter(values)),
                _ => Arc::new(BinaryViewArray::from_iter(values)),
            };
            (array, expected)
        }
        DataType::Date32 => primitive::<Date32Type>(rng, data_type, rows, |rng| {
            let value = rng.int(32) as i32;
            (value, date(value.into(), value.into()))
        }),
        DataType::Date64 => primitive::<Date64Type>(rng, data_type, rows, |rng| {
            let value = instant(rng, TimeUnit::Millisecond);
            (value, date(value.div_euclid(86_400_000), value))
        }),
        DataType::Time64(_) => primitive::<Time64NanosecondType>(rng, data_type, rows, |rng| {
            let value = if rng.one_in(5) { rng.int(64) } else { rng.int(47).abs() };
            (value, time(value))
        }),
        DataType::Timestamp(TimeUnit::Second, _) => timestamps::<TimestampSecondType>(rng, data_type, rows),
        DataType::Timestamp(TimeUnit::Millisecond, _) => timestamps::<TimestampMillisecondType>(rng, data_type, rows),
        DataType::Timestamp(TimeUnit::Microsecond, _) => timestamps::<TimestampMicrosecondType>(rng, data_type, rows),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => timestamps::<TimestampNanosecondType>(rng, data_type, rows),
        DataType::Dictionary(key, value) => {
            let count = 1 + rng.below(5);
            let (values, json) = array(rng, value, count);
            let keys = options(rng, rows, |rng| rng.below(count));
            let expected = keys.iter().map(|key| key.map_or(Value::Null, |key| json[key].clone())).collect();
            let dictionary: ArrayRef = if **key == DataType::Int16 {
                let keys: Int16Array = keys.into_iter().map(|key| key.map(|key| key as i16)).collect();
                Arc::new(DictionaryArray::new(keys, values))
            } else {
                let keys: UInt8Array = keys.into_iter().map(|key| key.map(|key| key as u8)).collect();
                Arc::new(DictionaryArray::new(keys, values))
            };
            (dictionary, expected)
        }
        DataType::RunEndEncoded(_, value) => {
            let mut ends = Vec::new();
            let mut at = 0;
            while at < rows {
                at = (at + 1 + rng.below(4)).min(rows);
                ends.push(at as i32);
            }
            let (values, json) = array(rng, value.data_type(), ends.len());
            let mut expected = Vec::new();
            for (run, &end) in ends.iter().enumerate() {
                expected.resize(end as usize, json[run].clone());
            }
            (Arc::new(RunArray::<Int32Type>::try_new(&Int32Array::from(ends), values.as_ref()).unwrap()), expected)
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) => {
            let valid: Vec<bool> = (0..rows).map(|_| !rng.one_in(5)).collect();
            let lengths: Vec<usize> = (0..rows).map(|_| rng.below(4)).collect();
            let total: usize = lengths.iter().sum();
            let (values, json) = array(rng, item.data_type(), total);
            let mut starts = Vec::new();
            let mut start = 0;
            for length in &lengths {
                starts.push(start);
                start += length;
            }
            // A view may point anywhere.
            if matches!(data_type, DataType::ListView(_)) {
                starts = lengths.iter().map(|length| rng.below(total - length + 1)).collect();
            }
            let expected = (0..rows)
                .map(|row| if valid[row] { json!(json[starts[row]..starts[row] + lengths[row]]) } else { Value::Null })
                .collect();
            let nulls = Some(NullBuffer::from(valid));
            let array: ArrayRef = match data_type {
                DataType::List(_) => {
                    Arc::new(ListArray::new(item.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
                }
                DataType::LargeList(_) => {
                    Arc::new(LargeListArray::new(item.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
                }
                _ => {
                    let starts: ScalarBuffer<i32> = starts.into_iter().map(|at| at as i32).collect();
                    let lengths: ScalarBuffer<i32> = lengths.into_iter().map(|length| length as i32).collect();
                    Arc::new(ListViewArray::new(item.clone(), starts, lengths, values, nulls))
                }
            };
            (array, expected)
        }
        DataType::FixedSizeList(item, size) => {
            let valid: Vec<bool> = (0..rows).map(|_| !rng.one_in(5)).collect();
            let size = *size as usize;
            let (values, json) = array(rng, item.data_type(), rows * size);
            let expected = (0..rows)
                .map(|row| if valid[row] { json!(json[row * size..(row + 1) * size]) } else { Value::Null })
                .collect();
            let nulls = Some(NullBuffer::from(valid));
            (Arc::new(FixedSizeListArray::new(item.clone(), size as i32, values, nulls)), expected)
        }
        DataType::Struct(fields) => {
            let valid: Vec<bool> = (0..rows).map(|_| !rng.one_in(5)).collect();
            let columns: Vec<(ArrayRef, Vec<Value>)> =
                fields.iter().map(|field| array(rng, field.data_type(), rows)).collect();
            let expected = (0..rows)
                .map(|row| {
                    let pairs = fields.iter().zip(&columns).map(|(field, (_, json))| (field.name(), json[row].clone()));
                    if !valid[row] { Value::Null } else { object_or_pairs(pairs.collect()) }
                })
                .collect();
            let nulls = Some(NullBuffer::from(valid));
            let arrays: Vec<ArrayRef> = columns.into_iter().map(|(array, _)| array).collect();
            let array = if fields.is_empty() {
                StructArray::new_empty_fields(rows, nulls)
            } else {
                StructArray::new(fields.clone(), arrays, nulls)
            };
            (Arc::new(array), expected)
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(fields) = entries.data_type() else { unreachable!() };
            let valid: Vec<bool> = (0..rows).map(|_| !rng.one_in(5)).collect();
            let lengths: Vec<usize> = (0..rows).map(|_| rng.below(4)).collect();
            let total: usize = lengths.iter().sum();
            let names: Vec<String> =
                (0..total).map(|_| ["k", "l", "m|\u{2028}", ""][rng.below(4)].to_string()).collect();
            let numbers: Vec<i64> = (0..total).map(|_| rng.int(64)).collect();
            let keys: ArrayRef = match fields[0].data_type() {
                DataType::Int64 => Arc::new(Int64Array::from(numbers.clone())),
                DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(&names)),
                _ => Arc::new(StringArray::from(names.clone())),
            };
            let are_text = !matches!(fields[0].data_type(), DataType::Int64);
            let (values, json) = array(rng, fields[1].data_type(), total);
            let mut expected = Vec::new();
            let mut start = 0;
            for row in 0..rows {
                let range = start..start + lengths[row];
                start = range.end;
                expected.push(if !valid[row] {
                    Value::Null
                } else if are_text {
                    object_or_pairs(range.map(|at| (&names[at], json[at].clone())).collect())
                } else {
                    Value::Array(range.map(|at| json!([integer(numbers[at].into()), json[at]])).collect())
                });
            }
            let entries_array = StructArray::new(fields.clone(), vec![keys, values], None);
            let nulls = Some(NullBuffer::from(valid));
            let offsets = OffsetBuffer::from_lengths(lengths);
            (Arc::new(MapArray::new(entries.clone(), offsets, entries_array, nulls, false)), expected)
        }
        DataType::Union(fields, _) => {
            let children: Vec<(ArrayRef, Vec<Value>)> =
                fields.iter().map(|(_, field)| array(rng, field.data_type(), rows)).collect();
            let picks: Vec<usize> = (0..rows).map(|_| rng.below(children.len())).collect();
            let ids: Vec<i8> = fields.iter().map(|(id, _)| id).collect();
            let type_ids: ScalarBuffer<i8> = picks.iter().map(|&pick| ids[pick]).collect();
            let expected = picks.iter().enumerate().map(|(row, &pick)| children[pick].1[row].clone()).collect();
            let arrays = children.into_iter().map(|(array, _)| array).collect();
            (Arc::new(UnionArray::try_new(fields.clone(), type_ids, None, arrays).unwrap()), expected)
        }
        other => unreachable!("{other} is not generated"),
    }
}

fn object_or_pairs(pairs: Vec<(&String, Value)>) -> Value {
    let mut object = Map::new();
    for (name, value) in &pairs {
        object.insert((*name).clone(), value.clone());
    }
    if object.len() == pairs.len() {
        return Value::Object(object);
    }
    Value::Array(pairs.into_iter().map(|(name, value)| json!([name, value])).collect())
}

/// A batch of random columns and the JSON of its rows.
pub(super) fn random_batch(seed: u64, columns: usize, rows: usize, depth: usize) -> (RecordBatch, Vec<Value>) {
    let mut rng = Rng(seed);
    let names = ["id", "Name", "a|b", "x\u{2028}y", "", "id", "long name, with a comma"];
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    let mut expected = vec![Vec::new(); rows];
    for column in 0..columns {
        let data_type = data_type(&mut rng, depth);
        let (array, values) = array(&mut rng, &data_type, rows);
        fields.push(Field::new(names[(column + seed as usize % 7) % 7], array.data_type().clone(), true));
        arrays.push(array);
        for (row, value) in expected.iter_mut().zip(values) {
            row.push(value);
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).unwrap();
    (batch, expected.into_iter().map(Value::Array).collect())
}
