//! Schemas of many files → the schema of the table: by name, in the order of first appearance, widened where nothing is
//! lost by it.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use super::place::Place;
use crate::error::Error;
use crate::source::options::nearest;

/// What the types of a file's schema rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// The file states them.
    Typed,
    /// Guessed from JSON.
    Json,
    /// Guessed from delimited text, which can be read as `Utf8` whatever it holds.
    Csv,
}

/// Merges the schemas of files.
///
/// # Errors
/// Names the file and column whose type cannot be brought together with the earlier files'.
pub(crate) fn merge(
    place: &Place,
    schemas: &[(&str, SchemaRef)],
    settled: &[(String, DataType)],
    kind: Kind,
) -> Result<Vec<FieldRef>, Error> {
    if let [(_, only)] = schemas {
        return Ok(only.fields().iter().cloned().collect());
    }
    let mut fields: Vec<(Field, usize)> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for (file, schema) in schemas {
        for field in schema.fields() {
            let Some(&at) = index.get(field.name()) else {
                index.insert(field.name().clone(), fields.len());
                fields.push((field.as_ref().clone(), 1));
                continue;
            };
            let Some((known, seen)) = fields.get_mut(at) else { continue };
            *seen += 1;
            if field.is_nullable() {
                known.set_nullable(true);
            }
            if known.data_type() == field.data_type() {
                continue;
            }
            let merged = match widen(known.data_type(), field.data_type(), kind != Kind::Typed) {
                Some(merged) => merged,
                None if kind == Kind::Csv => DataType::Utf8,
                // The source's `columns` says the type, whatever the files say.
                None if settled.iter().any(|(name, _)| name == field.name()) => known.data_type().clone(),
                None => {
                    let why = format!(
                        "has column `{name}` as {}, but earlier files have it as {}; declare its type with `columns = \
                         {{ {name} = \"…\" }}` or split the files into two tables",
                        field.data_type(),
                        known.data_type(),
                        name = field.name()
                    );
                    return Err(place.unavailable(file, &why));
                }
            };
            known.set_data_type(merged);
        }
    }
    Ok(fields
        .into_iter()
        .map(|(mut field, seen)| {
            if seen < schemas.len() {
                field.set_nullable(true);
            }
            Arc::new(field)
        })
        .collect())
}

/// Puts the types of the source's `columns` in the place of those found.
///
/// # Errors
/// Names a column that does not exist, with the nearest one that does.
pub(crate) fn override_types(
    place: &Place,
    fields: &mut [FieldRef],
    columns: &[(String, DataType)],
    also: &[String],
) -> Result<(), Error> {
    for (name, data_type) in columns {
        let Some(field) = fields.iter_mut().find(|field| field.name() == name) else {
            let names = || fields.iter().map(|field| field.name().as_str()).chain(also.iter().map(String::as_str));
            if also.contains(name) {
                let why =
                    format!("has `{name}` as a partition column; declare its type with `partitions`, not `columns`");
                return Err(place.unavailable("", &why));
            }
            let near = nearest(name, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let why = format!("has no column `{name}`, which the source's `columns` declares{near}");
            return Err(place.unavailable("", &why));
        };
        *field = Arc::new(field.as_ref().clone().with_data_type(data_type.clone()));
    }
    Ok(())
}

/// A schema with two columns of one name cannot be asked for either of them.
///
/// # Errors
/// Names the file and the column.
pub(crate) fn refuse_repeated(place: &Place, file: &str, schema: &Schema) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::with_capacity(schema.fields().len());
    match schema.fields().iter().find(|field| !seen.insert(field.name().as_str())) {
        None => Ok(()),
        Some(field) => {
            let why = format!("has two columns named `{}`; rename one and write the file again", field.name());
            Err(place.unavailable(file, &why))
        }
    }
}

/// The narrowest type that holds every value of both, if there is one. In `text`, whose digits are still there when a
/// value is read, a whole number beside floats becomes one of them; the reader refuses what a float would round.
pub(crate) fn widen(a: &DataType, b: &DataType, text: bool) -> Option<DataType> {
    use DataType::{
        Binary, BinaryView, Date32, Date64, Decimal128, Dictionary, FixedSizeBinary, LargeBinary, LargeList, LargeUtf8,
        List, Map, Null, Struct, Timestamp, Utf8, Utf8View,
    };
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (Null, other) | (other, Null) => Some(other.clone()),
        (Dictionary(_, value), other) | (other, Dictionary(_, value)) => widen(value, other, text),
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => {
            Some(if *a == Utf8View || *b == Utf8View { Utf8View } else { LargeUtf8 })
        }
        (
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
        ) => Some(if *a == BinaryView || *b == BinaryView { BinaryView } else { LargeBinary }),
        (Date32 | Date64, Date32 | Date64) => Some(Date64),
        (Timestamp(one, zone), Timestamp(other, other_zone)) if zone == other_zone => {
            Some(Timestamp(finer(*one, *other), zone.clone()))
        }
        (Date32, Timestamp(unit, None)) | (Timestamp(unit, None), Date32) => Some(Timestamp(*unit, None)),
        (Decimal128(p, s), Decimal128(q, t)) => {
            decimal((*p).checked_sub((*s).try_into().ok()?)?, *s, (*q).checked_sub((*t).try_into().ok()?)?, *t)
        }
        (Decimal128(p, s), other) | (other, Decimal128(p, s)) if other.is_integer() => {
            decimal((*p).checked_sub((*s).try_into().ok()?)?, *s, digits(other)?, 0)
        }
        (List(one), List(other)) => Some(List(widen_field(one, other, text)?)),
        (LargeList(one) | List(one), LargeList(other) | List(other)) => Some(LargeList(widen_field(one, other, text)?)),
        (Struct(one), Struct(other)) => Some(Struct(widen_fields(one, other, text)?)),
        (Map(one, sorted), Map(other, also)) => Some(Map(widen_field(one, other, text)?, *sorted && *also)),
        (DataType::Float64, DataType::Int64) | (DataType::Int64, DataType::Float64) if text => Some(DataType::Float64),
        (one, other) => widen_number(one, other),
    }
}

fn widen_number(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType::{Decimal128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    // (bits of the integer part that it holds exactly, kind)
    let rank = |data_type: &DataType| match data_type {
        Int8 | UInt8 => Some(8),
        Int16 | UInt16 => Some(16),
        Int32 | UInt32 => Some(32),
        Int64 | UInt64 => Some(64),
        Float16 => Some(11),
        Float32 => Some(24),
        Float64 => Some(53),
        _ => None,
    };
    let (wide, narrow) = (rank(a)?, rank(b)?);
    let signed = |bits: i32| match bits {
        ..=8 => Some(Int8),
        9..=16 => Some(Int16),
        17..=32 => Some(Int32),
        33..=64 => Some(Int64),
        _ => None,
    };
    let floating = |bits: i32| match bits {
        ..=11 => Some(Float16),
        12..=24 => Some(Float32),
        25..=53 => Some(Float64),
        _ => None,
    };
    match (a.is_floating(), b.is_floating()) {
        (false, false) => match (a.is_unsigned_integer(), b.is_unsigned_integer()) {
            (true, true) => Some(if wide > narrow { a.clone() } else { b.clone() }),
            (false, false) => signed(wide.max(narrow)),
            // One bit more for the sign.
            (true, false) => signed(narrow.max(wide + 1)).or(Some(Decimal128(20, 0))),
            (false, true) => signed(wide.max(narrow + 1)).or(Some(Decimal128(20, 0))),
        },
        _ => floating(wide.max(narrow)),
    }
}

fn digits(integer: &DataType) -> Option<u8> {
    Some(match integer {
        DataType::Int8 | DataType::UInt8 => 3,
        DataType::Int16 | DataType::UInt16 => 5,
        DataType::Int32 | DataType::UInt32 => 10,
        DataType::Int64 => 19,
        DataType::UInt64 => 20,
        _ => return None,
    })
}

fn decimal(whole: u8, scale: i8, other_whole: u8, other_scale: i8) -> Option<DataType> {
    let scale = scale.max(other_scale);
    let precision = whole.max(other_whole).checked_add(u8::try_from(scale).ok()?)?;
    (precision <= 38).then_some(DataType::Decimal128(precision, scale))
}

fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    let rank = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    };
    if rank(&a) >= rank(&b) { a } else { b }
}

fn widen_field(a: &FieldRef, b: &FieldRef, text: bool) -> Option<FieldRef> {
    let merged = widen(a.data_type(), b.data_type(), text)?;
    let nullable = a.is_nullable() || b.is_nullable();
    Some(Arc::new(a.as_ref().clone().with_data_type(merged).with_nullable(nullable)))
}

fn widen_fields(a: &Fields, b: &Fields, text: bool) -> Option<Fields> {
    let mut fields = Vec::with_capacity(a.len());
    for field in a {
        fields.push(match b.iter().find(|other| other.name() == field.name()) {
            Some(other) => widen_field(field, other, text)?,
            None => Arc::new(field.as_ref().clone().with_nullable(true)),
        });
    }
    for other in b {
        if !a.iter().any(|field| field.name() == other.name()) {
            fields.push(Arc::new(other.as_ref().clone().with_nullable(true)));
        }
    }
    Some(fields.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataType::{Decimal128, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt32, UInt64, Utf8};

    #[test]
    fn types_widen_only_where_nothing_is_lost() {
        let cases = [
            (Int32, Int64, Some(Int64)),
            (UInt8, Int8, Some(Int16)),
            (UInt32, Int32, Some(Int64)),
            (UInt64, Int64, Some(Decimal128(20, 0))),
            (Int32, Float64, Some(Float64)),
            (Int32, Float32, Some(Float64)),
            (Int64, Float64, None),
            (Float32, Float64, Some(Float64)),
            (DataType::Null, Utf8, Some(Utf8)),
            (Utf8, DataType::Utf8View, Some(DataType::Utf8View)),
            (Utf8, Int64, None),
            (Decimal128(10, 2), Decimal128(5, 4), Some(Decimal128(12, 4))),
            (Decimal128(10, 2), Int64, Some(Decimal128(21, 2))),
        ];
        for (a, b, expected) in cases {
            assert_eq!(widen(&a, &b, false), expected, "{a} {b}");
            assert_eq!(widen(&b, &a, false), expected, "{b} {a}");
        }
    }
}
