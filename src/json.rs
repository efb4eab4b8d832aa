//! JSON text for strings, by the contract's rule: U+0085, U+2028 and U+2029 are escaped because line-based clients cut
//! a message at them, and all other non-ASCII text stands as it is.

/// Bytes looked at together while nothing needs an escape; the comparison of one block compiles to vector code.
const BLOCK: usize = 32;

/// The same for text that is shorter than a block.
const HALF: usize = BLOCK / 2;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// What a byte needs: 0 nothing, `u` a `\u00xx`, `M` a look at the bytes after it (it may start U+0085, U+2028 or
/// U+2029), anything else a backslash and that byte.
const ESCAPE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[0xc2] = b'M';
    table[0xe2] = b'M';
    table
};

/// A byte's text and its length, 1 or 2; 0 for what takes a longer look.
const SHORT: [[u8; 3]; 256] = {
    let mut table = [[0; 3]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match ESCAPE[byte] {
            0 => [byte as u8, 0, 1],
            b'u' | b'M' => [0, 0, 0],
            short => [b'\\', short, 2],
        };
        byte += 1;
    }
    table
};

/// Appends `text` as a JSON string, quotes included.
pub(crate) fn write_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text.as_bytes(), usize::MAX);
    out.push(b'"');
}

/// Appends as much of `text` as fits into `max_bytes` encoded bytes, quotes included; a cut text ends in `…`.
/// `max_bytes` is at least 5.
pub(crate) fn write_str_within(out: &mut Vec<u8>, text: &str, max_bytes: usize) {
    let start = out.len();
    out.push(b'"');
    let mut keep = out.len();
    let mut char_bytes = [0; 4];
    for c in text.chars() {
        escape(out, c.encode_utf8(&mut char_bytes).as_bytes(), usize::MAX);
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

/// Appends the inside of a JSON string, and stops soon after `out` has become longer than `limit`. Returns how many
/// bytes of `text`, which is UTF-8, were not looked at.
pub(crate) fn escape(out: &mut Vec<u8>, text: &[u8], limit: usize) -> usize {
    let mut clean = 0; // start of the run that is not yet copied
    let mut at = 0;
    while let Some(block) = text[at..].first_chunk::<BLOCK>() {
        if is_clean(block) {
            at += BLOCK;
            continue;
        }
        out.extend_from_slice(&text[clean..at]);
        at = escape_block(out, text, at, at + BLOCK);
        clean = at;
        if out.len() > limit {
            return text.len() - at;
        }
    }
    // What is left is looked at together with bytes before it, which only costs the short way when they are not clean.
    let is_rest_clean = if let Some(last) = text.last_chunk::<BLOCK>() {
        is_clean(last)
    } else if let (Some(first), Some(last)) = (text.first_chunk::<HALF>(), text.last_chunk::<HALF>()) {
        is_clean(first) && is_clean(last)
    } else {
        text.iter().all(|&byte| ESCAPE[byte as usize] == 0)
    };
    if is_rest_clean {
        out.extend_from_slice(&text[clean..]);
    } else {
        out.extend_from_slice(&text[clean..at]);
        escape_block(out, text, at, text.len());
    }
    0
}

/// Whether none of the bytes may need an escape. One flag per byte and no branch, so that it compiles to vector
/// comparisons; 0xc2 and 0xe2 differ in one bit.
#[inline]
fn is_clean<const N: usize>(block: &[u8; N]) -> bool {
    let mut dirty = [0; N];
    for (dirty, &byte) in dirty.iter_mut().zip(block) {
        *dirty =
            u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte & 0xdf == 0xc2);
    }
    dirty.iter().fold(0, |all, dirty| all | dirty) == 0
}

/// Appends `text[at..end]` byte by byte, and up to two bytes more when a character crosses `end`. Returns where it
/// stopped. `end - at` is at most [`BLOCK`].
fn escape_block(out: &mut Vec<u8>, text: &[u8], mut at: usize, end: usize) -> usize {
    let mut block = [0; 2 * BLOCK];
    let mut len = 0;
    while at < end {
        let [first, second, bytes] = SHORT[text[at] as usize];
        if bytes == 0 {
            out.extend_from_slice(&block[..len]);
            len = 0;
            at = escape_long(out, text, at);
            continue;
        }
        // The second byte is written over when it is none.
        block[len..len + 2].copy_from_slice(&[first, second]);
        len += usize::from(bytes);
        at += 1;
    }
    out.extend_from_slice(&block[..len]);
    at
}

/// Appends the character at `at` as `\u00xx`, `\u0085`, `\u2028` or `\u2029`, or the byte there when it starts none of
/// them. Returns where the next one starts.
fn escape_long(out: &mut Vec<u8>, text: &[u8], at: usize) -> usize {
    let (code, next) = match (text[at], text.get(at + 1), text.get(at + 2)) {
        (0xc2, Some(0x85), _) => (0x85, at + 2),
        (0xe2, Some(0x80), Some(&last @ (0xa8 | 0xa9))) => (0x2028 + u32::from(last - 0xa8), at + 3),
        (byte @ (0xc2 | 0xe2), _, _) => {
            out.push(byte);
            return at + 1;
        }
        (control, _, _) => (u32::from(control), at + 1),
    };
    out.extend_from_slice(&unicode_escape(code));
    next
}

/// `\uXXXX` of a code point below U+10000.
pub(crate) fn unicode_escape(code: u32) -> [u8; 6] {
    let digit = |shift: u32| HEX[(code >> shift & 15) as usize];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        write_str(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_what_json_and_line_readers_need() {
        assert_eq!(json("a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{1f}"), r#""a\"b\\c\n\r\t\b\f\u0001\u001f""#);
        assert_eq!(json("\u{85}\u{2028}\u{2029}"), r#""\u0085\u2028\u2029""#);
        assert_eq!(json("\u{7f}é\u{a0}\u{201c}日本🎉\u{feff}"), "\"\u{7f}é\u{a0}\u{201c}日本🎉\u{feff}\"");
    }

    #[test]
    fn reads_back_wherever_a_character_falls_in_a_block() {
        for c in ['"', '\\', '\n', '\u{0}', '\u{85}', '\u{2028}', '\u{2029}', '\u{201d}', 'é', '¢', '日', '🎉', 'x']
        {
            for before in 0..40 {
                for after in [0, 1, 2, 7, 15, 16, 17, 33] {
                    let text = format!("{}{c}{c}{}", "a".repeat(before), "b".repeat(after));
                    let written = json(&text);
                    assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
                    assert!(!written.contains(['\u{85}', '\u{2028}', '\u{2029}']));
                }
            }
        }
    }

    #[test]
    fn stops_soon_after_the_limit() {
        let text = "\u{1}".repeat(100_000);
        let mut out = Vec::new();
        let left = escape(&mut out, text.as_bytes(), 1_000);
        assert!(out.len() > 1_000 && out.len() <= 1_000 + BLOCK * 6);
        assert_eq!(left, text.len() - out.len() / 6);
    }

    #[test]
    fn cuts_to_the_room_there_is() {
        for max in 5..40 {
            let mut out = Vec::new();
            write_str_within(&mut out, "a\"é\u{2028}\nlong enough to be cut", max);
            assert!(out.len() <= max);
            assert!(serde_json::from_slice::<String>(&out).is_ok());
        }
    }
}
