//! Dates, times, timestamps, durations and intervals, by arithmetic on the stored integers.

use chrono::{DateTime, Offset, TimeZone};
use datafusion::arrow::array::timezone::Tz;

use super::Out;
use super::number::int64;
use crate::encode::out::Plain;

const SECONDS_PER_DAY: i64 = 86_400;

/// The calendar is that of `chrono`, which DataFusion reckons with: -262143-01-01 to +262142-12-31, as days since
/// 1970-01-01.
const FIRST_DAY: i64 = -96_465_292;
const LAST_DAY: i64 = 95_026_236;

/// Year, month and day of a day since 1970-01-01 in the proleptic Gregorian calendar.
///
/// The year is counted from March, so that the leap day is its last: day `d` of such a year lies in month
/// `(5 d + 2) / 153`. 400 years are 146,097 days. (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// `civil_from_days`.)
#[inline]
fn civil(day: i64) -> (i64, u32, u32) {
    let shifted = day + 719_468; // days since 0000-03-01
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097) as u32;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + i64::from(year_of_era) + i64::from(month <= 2), month, day_of_month)
}

/// `2024-02-29`; a year outside 0..=9999 has a sign and at least four digits. The day is in the calendar.
#[inline]
fn date(day: i64, text: &mut Plain) {
    let (year, month, day) = civil(day);
    if (0..10_000).contains(&year) {
        text.two(year as u32 / 100);
        text.two(year as u32 % 100);
    } else {
        text.byte(if year < 0 { b'-' } else { b'+' });
        let year = year.unsigned_abs();
        if year < 1_000 {
            text.two(year as u32 / 100);
            text.two(year as u32 % 100);
        } else {
            text.bytes(itoa::Buffer::new().format(year).as_bytes());
        }
    }
    text.byte(b'-');
    text.two(month);
    text.byte(b'-');
    text.two(day);
}

/// `13:45:01`, of a second of the day.
#[inline]
fn clock(second: u32, text: &mut Plain) {
    text.two(second / 3_600);
    text.byte(b':');
    text.two(second / 60 % 60);
    text.byte(b':');
    text.two(second % 60);
}

/// How many digits the fraction of a second has in a unit of which `per_second` make one.
const fn digits(per_second: i64) -> usize {
    per_second.ilog10() as usize
}

pub(super) fn date32(day: i32, out: &mut Out) {
    date_or_stored(i64::from(day), i64::from(day), out);
}

/// A date as well: what is left of a day is dropped, as DataFusion does.
pub(super) fn date64(millis: i64, out: &mut Out) {
    date_or_stored(millis.div_euclid(SECONDS_PER_DAY * 1_000), millis, out);
}

fn date_or_stored(day: i64, stored: i64, out: &mut Out) {
    if !(FIRST_DAY..=LAST_DAY).contains(&day) {
        return int64(stored, out);
    }
    let mut text = Plain::new();
    date(day, &mut text);
    out.plain(&mut text);
}

/// A time of day in units of which `PER_SECOND` make a second; the stored integer when it is no time of a day.
pub(super) fn time<const PER_SECOND: i64>(value: i64, out: &mut Out) {
    if !(0..SECONDS_PER_DAY * PER_SECOND).contains(&value) {
        return int64(value, out);
    }
    let mut text = Plain::new();
    clock((value / PER_SECOND) as u32, &mut text);
    text.fraction((value % PER_SECOND) as u32, digits(PER_SECOND));
    out.plain(&mut text);
}

/// What a timestamp's zone says about the text.
#[derive(Debug)]
pub(super) enum Zone {
    /// No zone: the stored time is the local one.
    None,
    /// UTC by any of its names, or a zone that nobody knows: the instant with `Z`.
    Utc,
    /// A fixed offset or a named zone.
    Local(Tz),
}

impl Zone {
    pub(super) fn new(name: Option<&str>) -> Self {
        const UTC: [&str; 13] = [
            "UTC",
            "Z",
            "+00:00",
            "-00:00",
            "+0000",
            "-0000",
            "+00",
            "-00",
            "UCT",
            "Zulu",
            "Universal",
            "Etc/UTC",
            "Etc/UCT",
        ];
        match name {
            None => Self::None,
            Some(name) if UTC.iter().any(|utc| utc.eq_ignore_ascii_case(name)) => Self::Utc,
            Some(name) => name.parse().map_or(Self::Utc, Self::Local),
        }
    }

    /// Seconds east of UTC at an instant that is in the calendar.
    fn offset(&self, second: i64) -> i64 {
        let Self::Local(zone) = self else { return 0 };
        let Some(instant) = DateTime::from_timestamp(second, 0) else { return 0 };
        i64::from(zone.offset_from_utc_datetime(&instant.naive_utc()).fix().local_minus_utc())
    }
}

/// A timestamp in units of which `PER_SECOND` make a second; the stored integer when its UTC or local date is outside
/// the calendar.
#[inline]
pub(super) fn timestamp<const PER_SECOND: i64>(value: i64, zone: &Zone, out: &mut Out) {
    let in_calendar = FIRST_DAY * SECONDS_PER_DAY..(LAST_DAY + 1) * SECONDS_PER_DAY;
    let mut second = value.div_euclid(PER_SECOND);
    let fraction = value.rem_euclid(PER_SECOND) as u32;
    if !in_calendar.contains(&second) {
        return int64(value, out);
    }
    let offset = match zone {
        Zone::None | Zone::Utc => 0,
        Zone::Local(_) => {
            let offset = zone.offset(second);
            second += offset;
            if !in_calendar.contains(&second) {
                return int64(value, out);
            }
            offset
        }
    };
    let mut text = Plain::new();
    date(second.div_euclid(SECONDS_PER_DAY), &mut text);
    text.byte(b'T');
    clock(second.rem_euclid(SECONDS_PER_DAY) as u32, &mut text);
    text.fraction(fraction, digits(PER_SECOND));
    match zone {
        Zone::None => {}
        Zone::Utc => text.byte(b'Z'),
        Zone::Local(_) => {
            text.byte(if offset < 0 { b'-' } else { b'+' });
            let offset = offset.unsigned_abs() as u32;
            text.two(offset / 3_600);
            text.byte(b':');
            text.two(offset / 60 % 60);
            // Only before zones were set by the hour: local mean time, as in +00:49:56.
            if !offset.is_multiple_of(60) {
                text.byte(b':');
                text.two(offset % 60);
            }
        }
    }
    out.plain(&mut text);
}

/// A duration in units of which `PER_SECOND` make a second: hours, minutes and seconds, since a day of a clock that is
/// put forward or back is not 24 hours.
pub(super) fn duration<const PER_SECOND: i64>(value: i64, out: &mut Out) {
    let nanos = (value % PER_SECOND) * (1_000_000_000 / PER_SECOND);
    interval(0, 0, value / PER_SECOND, nanos as i32, out);
}

/// ISO 8601 with a sign for each component: months as `Y` and `M`, days as `D`, the rest as `H`, `M` and `S`. What is
/// zero is left out, and all zero is `PT0S`. `seconds` and `nanos` have the same sign.
pub(super) fn interval(months: i32, days: i32, seconds: i64, nanos: i32, out: &mut Out) {
    let mut text = Plain::new();
    let component = |text: &mut Plain, value: i64, unit: u8| {
        if value != 0 {
            text.bytes(itoa::Buffer::new().format(value).as_bytes());
            text.byte(unit);
        }
    };
    text.byte(b'P');
    component(&mut text, i64::from(months / 12), b'Y');
    component(&mut text, i64::from(months % 12), b'M');
    component(&mut text, i64::from(days), b'D');
    let no_time = seconds == 0 && nanos == 0;
    if !no_time {
        text.byte(b'T');
        component(&mut text, seconds / 3_600, b'H');
        component(&mut text, seconds / 60 % 60, b'M');
        let second = seconds % 60;
        if second != 0 || nanos != 0 {
            if second < 0 || nanos < 0 {
                text.byte(b'-');
            }
            text.bytes(itoa::Buffer::new().format(second.unsigned_abs()).as_bytes());
            text.fraction(nanos.unsigned_abs(), 9);
            text.byte(b'S');
        }
    } else if months == 0 && days == 0 {
        text.bytes(b"T0S");
    }
    out.plain(&mut text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::ResultFormat;
    use chrono::{Datelike, Days, NaiveDate};

    fn written(write: impl FnOnce(&mut Out)) -> String {
        let mut out = Out::new(ResultFormat::Json, 1 << 20);
        write(&mut out);
        String::from_utf8(out.buf).unwrap()
    }

    #[test]
    fn the_calendar_is_chronos() {
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        assert_eq!((NaiveDate::MIN - epoch).num_days(), FIRST_DAY);
        assert_eq!((NaiveDate::MAX - epoch).num_days(), LAST_DAY);
        let mut days: Vec<i64> = (-150_000..150_000).collect();
        days.extend((FIRST_DAY..=LAST_DAY).step_by(9_973));
        days.extend([FIRST_DAY, LAST_DAY]);
        for day in days {
            let expected = if day < 0 {
                epoch.checked_sub_days(Days::new(day.unsigned_abs())).unwrap()
            } else {
                epoch.checked_add_days(Days::new(day as u64)).unwrap()
            };
            assert_eq!(civil(day), (i64::from(expected.year()), expected.month(), expected.day()));
            assert_eq!(written(|out| date32(day as i32, out)), format!("\"{expected}\""));
        }
    }

    #[test]
    fn what_is_outside_the_calendar_is_the_stored_integer() {
        assert_eq!(written(|out| date32(i32::MAX, out)), "2147483647");
        assert_eq!(written(|out| date64(i64::MAX, out)), "\"9223372036854775807\"");
        assert_eq!(written(|out| time::<1_000_000_000>(90_000_000_000_000, out)), "90000000000000");
        assert_eq!(written(|out| time::<1>(-1, out)), "-1");
        assert_eq!(written(|out| time::<1>(86_400, out)), "86400");
        assert_eq!(written(|out| timestamp::<1>(i64::MIN, &Zone::None, out)), "\"-9223372036854775808\"");
        let tokyo = Zone::new(Some("Asia/Tokyo"));
        assert_eq!(written(|out| timestamp::<1>(8_210_266_876_799, &tokyo, out)), "8210266876799");
        assert_eq!(written(|out| timestamp::<1>(0, &tokyo, out)), "\"1970-01-01T09:00:00+09:00\"");
        assert_eq!(written(|out| date32(LAST_DAY as i32, out)), "\"+262142-12-31\"");
        assert_eq!(written(|out| date32(-719_529, out)), "\"-0001-12-31\"");
    }

    #[test]
    fn zones() {
        let winter = 1_705_320_000;
        let summer = 1_721_044_800;
        let at = |zone: Option<&str>, second: i64| {
            let zone = Zone::new(zone);
            written(|out| timestamp::<1_000_000>(second * 1_000_000 + 250_000, &zone, out))
        };
        assert_eq!(at(None, winter), "\"2024-01-15T12:00:00.25\"");
        assert_eq!(at(Some("UTC"), winter), "\"2024-01-15T12:00:00.25Z\"");
        assert_eq!(at(Some("Europe/Rome"), winter), "\"2024-01-15T13:00:00.25+01:00\"");
        assert_eq!(at(Some("Europe/Rome"), summer), "\"2024-07-15T14:00:00.25+02:00\"");
        assert_eq!(at(Some("+05:30"), winter), "\"2024-01-15T17:30:00.25+05:30\"");
        assert_eq!(at(Some("-03:30"), winter), "\"2024-01-15T08:30:00.25-03:30\"");
        assert_eq!(at(Some("Mars/Base"), winter), "\"2024-01-15T12:00:00.25Z\"");
        assert_eq!(at(Some("Europe/Rome"), -4_000_000_000), "\"1843-03-31T17:43:16.25+00:49:56\"");
        assert_eq!(at(None, -1), "\"1969-12-31T23:59:59.25\"");
    }

    #[test]
    fn intervals_have_a_sign_per_component() {
        for (value, expected) in [
            ((12 - 24, 0, 0, 0), "P-1Y"),
            ((14, 3, 0, -500_000_000), "P1Y2M3DT-0.5S"),
            ((-1, 1, -3_661, -1), "P-1M1DT-1H-1M-1.000000001S"),
            ((0, 0, 0, 0), "PT0S"),
            ((0, 0, 86_400, 0), "PT24H"),
            ((0, -1, 0, 0), "P-1D"),
            ((0, 0, 60, 0), "PT1M"),
        ] {
            let (months, days, seconds, nanos) = value;
            assert_eq!(written(|out| interval(months, days, seconds, nanos, out)), format!("\"{expected}\""));
        }
        let longest = written(|out| interval(i32::MIN, i32::MIN, -9_223_372_036, -854_775_808, out));
        assert_eq!(longest, "\"P-178956970Y-8M-2147483648DT-2562047H-47M-16.854775808S\"");
        assert_eq!(written(|out| duration::<1>(i64::MIN, out)), "\"PT-2562047788015215H-30M-8S\"");
        assert_eq!(written(|out| duration::<1_000>(-1_500, out)), "\"PT-1.5S\"");
    }
}
