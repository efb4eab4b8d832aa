//! The types of text: what a sample of values can be read as without loss.

use datafusion::arrow::array::types::{Date32Type, TimestampNanosecondType};
use datafusion::arrow::compute::kernels::cast_utils::{Parser, string_to_datetime};
use datafusion::arrow::datatypes::{DataType, TimeUnit};

/// What the values of a column have been so far. Each step up holds everything below it, or it is `Text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Guess {
    /// No value yet.
    #[default]
    Nothing,
    Boolean,
    Int64,
    /// Beyond `i64`, within `u64`, and never negative.
    UInt64,
    /// Whole numbers of up to 38 digits.
    Decimal,
    Float64,
    /// Floats beside whole numbers beyond 2^53, which a float would round.
    InexactFloat,
    Date,
    /// Local times, with at most six digits of a second, or up to nine.
    Micros,
    Nanos,
    /// Times with a zone.
    MicrosUtc,
    NanosUtc,
    Text,
}

impl Guess {
    /// What one value of a text file can be.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let Some(&first) = bytes.first() else { return Self::Nothing };
        match first {
            b'0'..=b'9' | b'-' | b'.' => {
                if let Some(number) = Self::of_number(text) {
                    return number;
                }
                if bytes.len() >= 10 && bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-') {
                    return Self::of_time(text);
                }
                if text == "-inf" { Self::Float64 } else { Self::Text }
            }
            b't' | b'T' | b'f' | b'F' if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
                Self::Boolean
            }
            b'N' | b'n' | b'i' if matches!(text, "NaN" | "nan" | "inf") => Self::Float64,
            _ => Self::Text,
        }
    }

    fn of_number(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let whole = unsigned.bytes().all(|byte| byte.is_ascii_digit()) && !unsigned.is_empty();
        // `00501` is a code; `0.5` and `0` are numbers.
        if matches!(unsigned.as_bytes(), [b'0', next, ..] if next.is_ascii_digit()) {
            return whole.then_some(Self::Text);
        }
        if whole {
            return Some(if text == "-0" {
                Self::Float64
            } else if text.parse::<i64>().is_ok() {
                Self::Int64
            } else if text.parse::<u64>().is_ok() {
                Self::UInt64
            } else if unsigned.len() <= 38 {
                Self::Decimal
            } else {
                Self::Text
            });
        }
        let numeric =
            unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
        (numeric && text.parse::<f64>().is_ok_and(f64::is_finite)).then_some(Self::Float64)
    }

    fn of_time(text: &str) -> Self {
        if text.len() == 10 {
            return if Date32Type::parse(text).is_some() { Self::Date } else { Self::Text };
        }
        let rest = &text.as_bytes()[10..];
        // Seconds are asked for: `2024-01-01 10` is read by the kernel but is no usual time.
        let is_time = matches!(rest, [b'T' | b't' | b' ', _, _, b':', _, _, b':', _, _, ..]);
        if !is_time || string_to_datetime(&chrono::Utc, text).is_err() {
            return Self::Text;
        }
        let zone = rest.iter().any(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
        let digits = match rest.get(9) {
            Some(b'.') => rest[10..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
            _ => 0,
        };
        match (digits, zone) {
            (..=6, false) => Self::Micros,
            (..=6, true) => Self::MicrosUtc,
            (7..=9, zone) if TimestampNanosecondType::parse(text).is_some() => {
                if zone {
                    Self::NanosUtc
                } else {
                    Self::Nanos
                }
            }
            _ => Self::Text,
        }
    }

    /// What holds the values of both.
    pub(crate) fn or(self, other: Self) -> Self {
        use Guess::{
            Boolean, Date, Decimal, Float64, InexactFloat, Int64, Micros, MicrosUtc, Nanos, NanosUtc, Nothing, Text,
            UInt64,
        };
        if self == other {
            return self;
        }
        match (self, other) {
            (Nothing, other) | (other, Nothing) => other,
            (Text | Boolean, _) | (_, Text | Boolean) => Text,
            (Int64 | UInt64 | Decimal, Int64 | UInt64 | Decimal) => {
                // Whether an `Int64` is negative is not kept, so its union with `UInt64` is the wider one.
                Decimal
            }
            (Float64, Int64) | (Int64, Float64) => Float64,
            (Float64 | InexactFloat, UInt64 | Decimal | Int64 | Float64 | InexactFloat)
            | (UInt64 | Decimal | Int64, Float64 | InexactFloat) => InexactFloat,
            (Date, Micros) | (Micros, Date) => Micros,
            (Date | Micros, Nanos) | (Nanos, Date | Micros) => Nanos,
            (MicrosUtc, NanosUtc) | (NanosUtc, MicrosUtc) => NanosUtc,
            _ => Text,
        }
    }

    /// The Arrow type; `None` when there was no value to tell it from.
    pub(crate) fn data_type(self) -> Option<DataType> {
        let utc = || Some("UTC".into());
        Some(match self {
            Self::Nothing => return None,
            Self::Boolean => DataType::Boolean,
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Decimal => DataType::Decimal128(38, 0),
            Self::Float64 => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Micros => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Nanos => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Self::MicrosUtc => DataType::Timestamp(TimeUnit::Microsecond, utc()),
            Self::NanosUtc => DataType::Timestamp(TimeUnit::Nanosecond, utc()),
            Self::InexactFloat | Self::Text => DataType::Utf8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(texts: &[&str]) -> Guess {
        texts.iter().fold(Guess::Nothing, |guess, text| guess.or(Guess::of(text)))
    }

    #[test]
    fn types_are_guessed_without_loss() {
        let cases: &[(&[&str], Guess)] = &[
            (&["1", "", "-2"], Guess::Int64),
            (&["00501", "02134"], Guess::Text),
            (&["0", "0.5"], Guess::Float64),
            (&["007.5"], Guess::Text),
            (&["1", "2.5e3"], Guess::Float64),
            (&["18446744073709551615"], Guess::UInt64),
            (&["1", "18446744073709551615"], Guess::Decimal),
            (&["36893488147419103232"], Guess::Decimal),
            (&["1.5", "18446744073709551615"], Guess::InexactFloat),
            (&["2024-02-29"], Guess::Date),
            (&["2024-01-01", "2024-02-30"], Guess::Text),
            (&["2024-01-01", "2024-01-01 10:00:00"], Guess::Micros),
            (&["2024-01-01T10:00:00.123456789"], Guess::Nanos),
            (&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+02:00"], Guess::MicrosUtc),
            (&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], Guess::Text),
            (&["TRUE", "false"], Guess::Boolean),
            (&["true", "1"], Guess::Text),
            (&["1.2.3"], Guess::Text),
            (&["-"], Guess::Text),
            (&["1e400"], Guess::Text),
            (&["NaN", "1"], Guess::Float64),
            (&["123-456-78"], Guess::Text),
        ];
        for (texts, expected) in cases {
            assert_eq!(guess(texts), *expected, "{texts:?}");
        }
    }
}
