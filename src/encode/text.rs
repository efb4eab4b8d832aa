//! Markdown and CSV: how a cell is written so that it cannot be taken for a line or a column.

use crate::json;

/// Appends one cell of a Markdown table, and stops soon after `out` has become longer than `limit`. Returns how many
/// bytes of `text`, which is UTF-8, were not looked at.
///
/// `|` becomes `\|` and `\` becomes `\\`; a line break (LF, CR or both) becomes `<br>`. Other control characters but
/// the tab, and U+0085, U+2028 and U+2029, become `\uXXXX`: a reader of lines cuts at some of them.
pub(super) fn markdown(out: &mut Vec<u8>, text: &[u8], limit: usize) -> usize {
    let mut clean = 0;
    let mut at = 0;
    while at < text.len() {
        let (bytes, unicode) = match text[at] {
            b'|' | b'\\' => (1, None),
            b'\n' => (1, None),
            b'\r' => (if text.get(at + 1) == Some(&b'\n') { 2 } else { 1 }, None),
            b'\t' => (0, None),
            byte @ 0..0x20 => (1, Some(u32::from(byte))),
            0xc2 if text.get(at + 1) == Some(&0x85) => (2, Some(0x85)),
            0xe2 if text.get(at + 1) == Some(&0x80) => match text.get(at + 2) {
                Some(&last @ (0xa8 | 0xa9)) => (3, Some(0x2028 + u32::from(last - 0xa8))),
                _ => (0, None),
            },
            _ => (0, None),
        };
        if bytes == 0 {
            at += 1;
            continue;
        }
        out.extend_from_slice(&text[clean..at]);
        match (unicode, text[at]) {
            (Some(code), _) => out.extend_from_slice(&json::unicode_escape(code)),
            (None, byte @ (b'|' | b'\\')) => out.extend_from_slice(&[b'\\', byte]),
            (None, _) => out.extend_from_slice(b"<br>"),
        }
        at += bytes;
        clean = at;
        if out.len() > limit {
            return text.len() - at;
        }
    }
    out.extend_from_slice(&text[clean..]);
    0
}

/// Appends one CSV field by RFC 4180, and stops soon after `out` has become longer than `limit`. Returns how many
/// bytes of `text` were not looked at.
///
/// A field is quoted when it is empty (nothing at all is a null), when it holds a comma, a quote, a line break or another
/// control character, and when it starts with `#` as the line after the last row does. Nothing else is escaped.
pub(super) fn csv(out: &mut Vec<u8>, text: &[u8], limit: usize) -> usize {
    let needs_quotes = |&byte: &u8| byte < 0x20 || byte == b',' || byte == b'"';
    if !text.is_empty() && text[0] != b'#' && !text.iter().any(needs_quotes) {
        out.extend_from_slice(text);
        return 0;
    }
    out.push(b'"');
    let mut clean = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte == b'"' {
            // The quote itself is the first byte of the next run, and so is written twice.
            out.extend_from_slice(&text[clean..=at]);
            clean = at;
            if out.len() > limit {
                return text.len() - at;
            }
        }
    }
    out.extend_from_slice(&text[clean..]);
    out.push(b'"');
    0
}

/// Appends `text` with all that could end a line as `\uXXXX`.
pub(super) fn one_line(out: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            out.extend_from_slice(&json::unicode_escape(u32::from(c)));
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// The length of each cell in a line break and `|cell|…|`.
pub(super) fn markdown_cells(row: &[u8], cell: &mut impl FnMut(usize)) {
    let row = row.strip_prefix(b"\n|").unwrap_or(row);
    let mut start = 0;
    let mut at = 0;
    while at < row.len() {
        match row[at] {
            b'\\' => at += 1,
            b'|' => {
                cell(at - start);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The length of each field in a line break and `field,…`.
pub(super) fn csv_cells(row: &[u8], cell: &mut impl FnMut(usize)) {
    let row = row.strip_prefix(b"\n").unwrap_or(row);
    let mut in_quotes = false;
    let mut start = 0;
    for (at, &byte) in row.iter().enumerate() {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b',' if !in_quotes => {
                cell(at - start);
                start = at + 1;
            }
            _ => {}
        }
    }
    cell(row.len() - start);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(f: fn(&mut Vec<u8>, &[u8], usize) -> usize, text: &str) -> String {
        let mut out = Vec::new();
        assert_eq!(f(&mut out, text.as_bytes(), usize::MAX), 0);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn markdown_cells_stay_on_their_line() {
        assert_eq!(write(markdown, "a|b\\c"), "a\\|b\\\\c");
        assert_eq!(write(markdown, "a\nb\r\nc\rd"), "a<br>b<br>c<br>d");
        assert_eq!(write(markdown, "\u{b}\u{85}\u{2028}\t“é"), "\\u000b\\u0085\\u2028\t“é");
    }

    #[test]
    fn csv_fields_follow_rfc_4180() {
        assert_eq!(write(csv, "plain text"), "plain text");
        assert_eq!(write(csv, ""), "\"\"");
        assert_eq!(write(csv, "a,b"), "\"a,b\"");
        assert_eq!(write(csv, "say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
        assert_eq!(write(csv, "# no"), "\"# no\"");
        assert_eq!(write(csv, "\""), "\"\"\"\"");
    }
}
