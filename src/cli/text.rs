//! Text that a terminal may be given: data cannot move its cursor, colour it or turn its writing around.

use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The lines of a text, each without characters that act on a terminal.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(|line| visible(line.strip_suffix('\r').unwrap_or(line))).collect()
}

/// One line of text; what acts on a terminal is written as an escape, such as `\u{1b}`.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Columns of a terminal that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// As much of a line as fits into `width` columns; a cut one ends in `…`.
pub(super) fn cut(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut taken = 0;
    let mut shown = String::new();
    for c in line.chars() {
        taken += c.width().unwrap_or(0);
        if taken + 1 > width {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

/// A number with commas between its thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `2 rows`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Line and paragraph separators, marks that turn the direction of writing, and the byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(visible("\u{1b}[31mred\u{7}\t\u{9b}2J\u{202e}"), r"\u{1b}[31mred\u{7}\t\u{9b}2J\u{202e}");
        assert_eq!(visible("naïve 数据 👩‍💻"), "naïve 数据 👩‍💻");
        assert_eq!(lines("a\r\nb\rc"), ["a", r"b\rc"]);
    }

    #[test]
    fn lines_are_cut_by_their_width() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("数据数据", 6), "数据…");
        assert_eq!(cut("数据数据", 5), "数据…");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 5_000_000].map(grouped), ["0", "999", "1,000", "5,000,000"]);
        assert_eq!(counted(1, "row"), "1 row");
    }
}
