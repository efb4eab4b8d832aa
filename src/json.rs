//! JSON text for strings, by the contract's rule: U+0085, U+2028 and U+2029 are escaped because line-based clients cut
//! a message at them, and all other non-ASCII text stands as it is.

/// Appends `text` as a JSON string, quotes included.
pub(crate) fn write_str(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        write_char(out, c);
    }
    out.push(b'"');
}

/// Appends as much of `text` as fits into `max_bytes` encoded bytes, quotes included; a cut text ends in `…`.
/// `max_bytes` is at least 5.
pub(crate) fn write_str_within(out: &mut Vec<u8>, text: &str, max_bytes: usize) {
    let start = out.len();
    out.push(b'"');
    let mut keep = out.len();
    for c in text.chars() {
        write_char(out, c);
        // Room for the closing quote.
        if out.len() - start + 1 > max_bytes {
            out.truncate(keep);
            out.extend_from_slice("…\"".as_bytes());
            return;
        }
        // Room for the closing quote and the ellipsis.
        if out.len() - start + 4 <= max_bytes {
            keep = out.len();
        }
    }
    out.push(b'"');
}

fn write_char(out: &mut Vec<u8>, c: char) {
    match c {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let code = c as usize;
            out.extend_from_slice(&[
                b'\\',
                b'u',
                HEX[code >> 12 & 15],
                HEX[code >> 8 & 15],
                HEX[code >> 4 & 15],
                HEX[code & 15],
            ]);
        }
        c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}
