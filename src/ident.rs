//! Names as SQL takes them.

use std::borrow::Cow;

use datafusion::sql::sqlparser::keywords::{
    ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER,
    RESERVED_FOR_TABLE_ALIAS,
};

/// `name` as it is written in SQL: as it stands where the parser would read it back unchanged, else in double quotes.
///
/// Unquoted names are folded to lower case, so only `[a-z_][a-z0-9_]*` that is no reserved word may go without quotes.
pub(crate) fn quote(name: &str) -> Cow<'_, str> {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !is_reserved(name);
    if plain { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))) }
}

/// Whether the parser can take the word for something else than a name, wherever a column or a table may stand.
fn is_reserved(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let Ok(index) = ALL_KEYWORDS.binary_search(&upper.as_str()) else {
        return false;
    };
    let keyword = ALL_KEYWORDS_INDEX[index];
    RESERVED_FOR_COLUMN_ALIAS.contains(&keyword)
        || RESERVED_FOR_TABLE_ALIAS.contains(&keyword)
        || RESERVED_FOR_IDENTIFIER.contains(&keyword)
        || STARTS_AN_EXPRESSION.contains(&keyword)
}

/// Words that the parser does not reserve but reads as the beginning of an expression, a function or a typed literal.
const STARTS_AN_EXPRESSION: &[Keyword] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_would_be_folded_or_read_as_something_else() {
        for (name, sql) in [
            ("a", "a"),
            ("_x9", "_x9"),
            ("userId", "\"userId\""),
            ("unit price", "\"unit price\""),
            ("order.total", "\"order.total\""),
            ("select", "\"select\""),
            ("quo\"te", "\"quo\"\"te\""),
            ("9a", "\"9a\""),
            ("été", "\"été\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote(name), sql);
        }
    }
}
