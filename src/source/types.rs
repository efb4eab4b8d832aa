//! The text of a column's type → an Arrow type.

use datafusion::arrow::datatypes::{DataType, TimeUnit};

use crate::error::ConfigError;

/// Reads a type: Arrow's own writing (`Int64`, `Decimal128(18, 2)`, `Timestamp(µs, "UTC")`), the short names of
/// `SHOW COLUMNS` in any case, or the common SQL names (`varchar`, `bigint`, `decimal(18, 2)`, `date`, `timestamp`).
/// `timestamp` is in microseconds.
///
/// # Errors
/// If it is none of those.
pub(crate) fn parse_type(text: &str) -> Result<DataType, ConfigError> {
    let text = text.trim();
    let wrong = || {
        ConfigError::new(format!(
            "`{text}` is no type; write an Arrow type such as `Utf8`, `Int64`, `Float64`, `Boolean`, `Date32`, \
             `Decimal128(18, 2)` or `Timestamp(Microsecond, None)`"
        ))
    };
    if let Ok(found) = text.parse::<DataType>() {
        return Ok(found);
    }
    let lower = text.to_ascii_lowercase();
    if let Some(found) = simple(&lower) {
        return Ok(found);
    }
    let (name, arguments) = lower.strip_suffix(')').and_then(|rest| rest.split_once('(')).ok_or_else(wrong)?;
    let numbers: Vec<&str> = arguments.split(',').map(str::trim).collect();
    match (name.trim(), numbers.as_slice()) {
        ("varchar" | "char" | "text" | "string", [_]) => Ok(DataType::Utf8),
        ("decimal" | "numeric" | "decimal128" | "decimal256", [precision, rest @ ..]) if rest.len() <= 1 => {
            let precision: u8 = precision.parse().map_err(|_| wrong())?;
            let scale: i8 = rest.first().map_or(Ok(0), |scale| scale.parse()).map_err(|_| wrong())?;
            match precision {
                1..=38 if name != "decimal256" && scale.unsigned_abs() <= precision => {
                    Ok(DataType::Decimal128(precision, scale))
                }
                1..=76 if scale.unsigned_abs() <= precision => Ok(DataType::Decimal256(precision, scale)),
                _ => Err(wrong()),
            }
        }
        ("timestamp", [unit]) => match *unit {
            "s" | "second" | "0" => Ok(DataType::Timestamp(TimeUnit::Second, None)),
            "ms" | "millisecond" | "3" => Ok(DataType::Timestamp(TimeUnit::Millisecond, None)),
            "us" | "µs" | "microsecond" | "6" => Ok(DataType::Timestamp(TimeUnit::Microsecond, None)),
            "ns" | "nanosecond" | "9" => Ok(DataType::Timestamp(TimeUnit::Nanosecond, None)),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn simple(lower: &str) -> Option<DataType> {
    Some(match lower {
        "utf8" | "text" | "string" | "varchar" | "char" | "str" => DataType::Utf8,
        "largeutf8" => DataType::LargeUtf8,
        "utf8view" => DataType::Utf8View,
        "binary" | "bytea" | "varbinary" | "blob" => DataType::Binary,
        "boolean" | "bool" => DataType::Boolean,
        "int8" | "tinyint" => DataType::Int8,
        "int16" | "smallint" => DataType::Int16,
        "int32" | "int" | "integer" => DataType::Int32,
        "int64" | "bigint" | "long" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "float32" | "float" | "real" => DataType::Float32,
        "float64" | "double" | "double precision" => DataType::Float64,
        "date" | "date32" => DataType::Date32,
        "date64" => DataType::Date64,
        "time" | "time64" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" | "datetime" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "decimal" | "numeric" => DataType::Decimal128(38, 10),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_and_sql_names_are_read() {
        let cases = [
            ("Int32", DataType::Int32),
            ("int64", DataType::Int64),
            (" Utf8 ", DataType::Utf8),
            ("VARCHAR(20)", DataType::Utf8),
            ("Decimal128(18, 2)", DataType::Decimal128(18, 2)),
            ("decimal(18,2)", DataType::Decimal128(18, 2)),
            ("numeric(50)", DataType::Decimal256(50, 0)),
            ("timestamp", DataType::Timestamp(TimeUnit::Microsecond, None)),
            ("Timestamp(µs)", DataType::Timestamp(TimeUnit::Microsecond, None)),
            ("Timestamp(Nanosecond, None)", DataType::Timestamp(TimeUnit::Nanosecond, None)),
            ("Timestamp(ns, \"UTC\")", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_type(text), Ok(expected), "{text}");
        }
        for bad in ["", "Int65", "decimal(99)", "decimal(4, 9)", "Timestamp(week)", "utf8("] {
            assert!(parse_type(bad).is_err(), "{bad}");
        }
    }
}
