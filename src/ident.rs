//! Names as SQL needs them.

use std::borrow::Cow;

/// Writes a name so that the engine's parser reads it back: quoted where it is not plain lower case.
pub(crate) fn quote(name: &str) -> Cow<'_, str> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))) }
}
