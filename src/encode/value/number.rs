//! Integers, floats and decimals.

use datafusion::arrow::datatypes::i256;
use half::f16;

use super::Out;

/// The integers that a reader with doubles only, such as JavaScript, keeps exactly: ±(2^53 − 1).
const MAX_SAFE: u64 = (1 << 53) - 1;

/// An integer of at most 32 bits.
#[inline]
pub(super) fn small(value: impl itoa::Integer, out: &mut Out) {
    out.bytes(itoa::Buffer::new().format(value).as_bytes());
}

/// An integer as a number, or as a string of digits where a double would round it.
#[inline]
pub(super) fn int64(value: i64, out: &mut Out) {
    if value.unsigned_abs() <= MAX_SAFE {
        small(value, out);
    } else {
        quoted(itoa::Buffer::new().format(value).as_bytes(), out);
    }
}

/// As [`int64`].
#[inline]
pub(super) fn uint64(value: u64, out: &mut Out) {
    if value <= MAX_SAFE {
        small(value, out);
    } else {
        quoted(itoa::Buffer::new().format(value).as_bytes(), out);
    }
}

fn quoted(text: &[u8], out: &mut Out) {
    out.quote();
    out.bytes(text);
    out.quote();
}

/// The shortest digits that read back as the same double.
#[inline]
pub(super) fn float64(value: f64, out: &mut Out) {
    if value.is_finite() {
        finite(zmij::Buffer::new().format_finite(value).as_bytes(), value.abs() >= 1e15, out);
    } else {
        quoted(not_finite(value), out);
    }
}

/// The shortest digits that read back as the same `f32`.
#[inline]
pub(super) fn float32(value: f32, out: &mut Out) {
    if value.is_finite() {
        finite(zmij::Buffer::new().format_finite(value).as_bytes(), value.abs() >= 1e5, out);
    } else {
        quoted(not_finite(f64::from(value)), out);
    }
}

/// The digits without the `+` of a large number's exponent, which `zmij` writes and nobody needs.
#[inline]
fn finite(text: &[u8], is_large: bool, out: &mut Out) {
    if is_large && let Some(plus) = text.iter().position(|&byte| byte == b'+') {
        out.bytes(&text[..plus]);
        return out.bytes(&text[plus + 1..]);
    }
    out.bytes(text);
}

fn not_finite(value: f64) -> &'static [u8] {
    if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"Infinity"
    } else {
        b"-Infinity"
    }
}

/// The shortest digits that read back as the same half.
pub(super) fn float16(value: f16, out: &mut Out) {
    float64(shortest_half(value), out);
}

/// The double nearest to the shortest decimal number that reads back as `half`; a double prints as exactly that number.
///
/// A half needs at most five digits. Both factors below are exact in a double (at most five digits, and a power of ten
/// below 10^13), so each division or product is the double nearest to its decimal number.
fn shortest_half(half: f16) -> f64 {
    let exact = f64::from(half);
    if exact == 0.0 || !exact.is_finite() {
        return exact;
    }
    // 65504 is the largest half and 5.96e-8 the smallest.
    let magnitude = exact.abs().log10().floor() as i32;
    for digits in 1..=5 {
        let places = digits - 1 - magnitude;
        let power = 10f64.powi(places.abs());
        let number = if places >= 0 { (exact * power).round() / power } else { (exact / power).round() * power };
        if f16::from_f64(number) == half {
            return number;
        }
    }
    exact
}

/// A decimal of up to 128 bits: every digit, in quotes.
pub(super) fn decimal(value: i128, scale: i8, out: &mut Out) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value.unsigned_abs());
    write_decimal(value < 0, digits.as_bytes(), scale, out);
}

/// A decimal of 256 bits: every digit, in quotes.
pub(super) fn decimal256(value: i256, scale: i8, out: &mut Out) {
    if let Some(small) = value.to_i128() {
        return decimal(small, scale, out);
    }
    // 18 digits at a time, from the last; a remainder has the sign of the value, so that the least value needs no care.
    const GROUP: usize = 18;
    let divisor = i256::from_i128(1_000_000_000_000_000_000);
    let mut digits = [b'0'; 5 * GROUP];
    let mut start = digits.len();
    let mut rest = value;
    while rest != i256::ZERO && start >= GROUP {
        let mut group = (rest % divisor).as_i128().unsigned_abs() as u64;
        rest /= divisor;
        start -= GROUP;
        for digit in digits[start..start + GROUP].iter_mut().rev() {
            *digit = b'0' + (group % 10) as u8;
            group /= 10;
        }
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    write_decimal(value < i256::ZERO, &digits[zeros..], scale, out);
}

/// `digits` are those of the unscaled value, without sign and leading zeros.
fn write_decimal(negative: bool, digits: &[u8], scale: i8, out: &mut Out) {
    const ZEROS: [u8; 128] = [b'0'; 128];
    out.quote();
    if negative {
        out.byte(b'-');
    }
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        out.bytes(digits);
        if digits != b"0" {
            out.bytes(&ZEROS[..places]);
        }
    } else if let Some(whole) = digits.len().checked_sub(places).filter(|&whole| whole > 0) {
        out.bytes(&digits[..whole]);
        out.byte(b'.');
        out.bytes(&digits[whole..]);
    } else {
        out.bytes(b"0.");
        out.bytes(&ZEROS[..places - digits.len()]);
        out.bytes(digits);
    }
    out.quote();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::ResultFormat;

    fn written(write: impl FnOnce(&mut Out)) -> String {
        let mut out = Out::new(ResultFormat::Json, 1 << 20);
        write(&mut out);
        String::from_utf8(out.buf).unwrap()
    }

    #[test]
    fn integers_that_a_double_rounds_are_strings() {
        let max = 9_007_199_254_740_991;
        for (value, expected) in [(max, "9007199254740991"), (-max, "-9007199254740991")] {
            assert_eq!(written(|out| int64(value, out)), expected);
        }
        assert_eq!(written(|out| int64(max + 1, out)), "\"9007199254740992\"");
        assert_eq!(written(|out| int64(i64::MIN, out)), "\"-9223372036854775808\"");
        assert_eq!(written(|out| uint64(max as u64, out)), "9007199254740991");
        assert_eq!(written(|out| uint64(u64::MAX, out)), "\"18446744073709551615\"");
    }

    #[test]
    fn every_half_reads_back_and_none_has_a_shorter_form() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let text = written(|out| float16(half, out));
            if !half.is_finite() {
                assert!(text.starts_with('"'));
                continue;
            }
            let number: f64 = serde_json::from_str(&text).unwrap();
            assert_eq!(f16::from_f64(number).to_bits(), bits, "{text}");
            let digits = text.split('e').next().unwrap().trim_start_matches('-').replace('.', "");
            let digits = digits.trim_matches('0').len();
            if digits > 1 {
                let shorter: f64 = format!("{:.*e}", digits - 2, f64::from(half)).parse().unwrap();
                assert_ne!(f16::from_f64(shorter).to_bits(), bits, "{text} could be {shorter}");
            }
        }
    }

    #[test]
    fn floats_are_shortest_in_their_own_width() {
        assert_eq!(written(|out| float32(0.1, out)), "0.1");
        assert_eq!(written(|out| float64(0.1, out)), "0.1");
        assert_eq!(written(|out| float64(-0.0, out)), "-0.0");
        assert_eq!(written(|out| float64(f64::NAN, out)), "\"NaN\"");
        assert_eq!(written(|out| float32(f32::NEG_INFINITY, out)), "\"-Infinity\"");
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e16, 1e15, 123456789012345680.0, 1e-7, 1e300] {
            let text = written(|out| float64(value, out));
            assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn decimals_keep_digits_and_scale() {
        for (value, scale, expected) in [
            (110, 2, "\"1.10\""),
            (0, 2, "\"0.00\""),
            (-750, 2, "\"-7.50\""),
            (-1, 10, "\"-0.0000000001\""),
            (123, -2, "\"12300\""),
            (0, -2, "\"0\""),
            (7, 0, "\"7\""),
            (i128::MIN, 38, "\"-1.70141183460469231731687303715884105728\""),
        ] {
            assert_eq!(written(|out| decimal(value, scale, out)), expected);
            assert_eq!(written(|out| decimal256(i256::from_i128(value), scale, out)), expected);
        }
        for value in [i256::MIN, i256::MAX, i256::from_i128(i128::MAX) * i256::from_i128(1_000_000_007)] {
            assert_eq!(written(|out| decimal256(value, 0, out)), format!("\"{value}\""));
        }
    }
}
