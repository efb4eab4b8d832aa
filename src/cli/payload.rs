//! A payload taken apart without being parsed into values: a number is shown as the tool wrote it, digit for digit.

/// The top level of a payload: its keys and the JSON text of each value.
#[derive(Debug)]
pub(super) struct Payload<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Payload<'a> {
    /// Takes the text of a JSON object apart.
    pub(super) fn new(text: &'a str) -> Self {
        Self(fields(text))
    }

    /// The JSON text of a value.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// A string.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.get(key).and_then(string)
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// A list of strings.
    pub(super) fn strings(&self, key: &str) -> Option<Vec<String>> {
        self.get(key).map(|list| items(list).into_iter().filter_map(string).collect())
    }
}

/// The JSON texts of an array's items.
pub(super) fn items(array: &str) -> Vec<&str> {
    parts(array).into_iter().map(str::trim).collect()
}

/// The keys of an object, as they are written, and the JSON texts of their values.
pub(super) fn fields(object: &str) -> Vec<(&str, &str)> {
    let field = |part| {
        let (key, value) = split_field(part)?;
        Some((key.trim().trim_matches('"'), value.trim()))
    };
    parts(object).into_iter().filter_map(field).collect()
}

/// A JSON string's text.
pub(super) fn string(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

fn split_field(field: &str) -> Option<(&str, &str)> {
    let mut at = Position::default();
    let colon = field.bytes().position(|byte| at.step(byte) && byte == b':')?;
    Some((&field[..colon], &field[colon + 1..]))
}

/// Splits what is between the outer brackets at the commas of that level.
fn parts(json: &str) -> Vec<&str> {
    let inner = json.trim();
    let Some(inner) = inner.get(1..inner.len().saturating_sub(1)).filter(|inner| !inner.trim().is_empty()) else {
        return Vec::new();
    };
    let mut at = Position::default();
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, byte) in inner.bytes().enumerate() {
        if at.step(byte) && byte == b',' {
            parts.push(&inner[start..index]);
            start = index + 1;
        }
    }
    parts.push(&inner[start..]);
    parts
}

/// Where in a JSON text a byte stands.
#[derive(Default)]
struct Position {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Position {
    /// Goes past a byte; whether it stands outside strings and brackets.
    fn step(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => return self.depth == 0,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_split_at_its_own_level() {
        let payload =
            Payload::new(r#"{"columns":["a,b","c\"]"],"rows":[[1.10,{"x":[1,2]}],[null,"}"]],"row_count":2}"#);
        assert_eq!(payload.strings("columns"), Some(vec!["a,b".to_owned(), "c\"]".to_owned()]));
        assert_eq!(payload.number("row_count"), Some(2));
        let rows: Vec<_> = payload.get("rows").map(items).into_iter().flatten().map(items).collect();
        assert_eq!(rows, [["1.10", r#"{"x":[1,2]}"#], ["null", r#""}""#]]);
        assert_eq!(payload.get("hint"), None);
        assert_eq!(items("[]"), Vec::<&str>::new());
        assert_eq!(items("[[]]"), ["[]"]);
        assert_eq!(fields(r#"{"a:b":{"c":1}}"#), [("a:b", r#"{"c":1}"#)]);
        assert_eq!(items(""), Vec::<&str>::new());
    }
}
