//! The arguments of a call: lenient where no meaning is lost, else refused by name.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode};

/// The arguments of one call, of which each is taken by name.
#[derive(Debug)]
pub(crate) struct Arguments {
    tool: &'static str,
    values: Map<String, Value>,
}

impl Arguments {
    /// Reads a JSON object. Nothing at all and `null` are an empty one.
    ///
    /// # Errors
    /// `invalid_arguments` if it is no object, or has a name that is not in `known`.
    pub(crate) fn parse(tool: &'static str, known: &[&str], text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let value = if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(text).map_err(|error| {
                invalid(format!(
                    "the arguments of {tool} are not JSON: {error}; give an object like {{\"{}\":…}}",
                    known[0]
                ))
            })?
        };
        let values = match value {
            Value::Object(values) => values,
            Value::Null => Map::new(),
            other => {
                return Err(invalid(format!("the arguments of {tool} are {}; give an object", kind(&other))));
            }
        };
        if let Some(name) = values.keys().find(|name| !known.contains(&name.as_str())) {
            let shown: String = name.chars().take(60).collect();
            let nearest =
                known.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
            return Err(invalid(format!("{tool} has no argument `{shown}`; it takes {}", list(known)))
                .with_suggestions(nearest.map(|name| (*name).to_owned())));
        }
        Ok(Self { tool, values })
    }

    /// A text that has to be there.
    ///
    /// # Errors
    /// `invalid_arguments` if it is absent or no string.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Error> {
        self.optional_text(name)?.ok_or_else(|| invalid(format!("{} needs the argument `{name}`, a string", self.tool)))
    }

    /// A text that may be absent or `null`.
    ///
    /// # Errors
    /// `invalid_arguments` if it is no string.
    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.mistyped(name, "a string", &other)),
        }
    }

    /// A whole number of at least 1 that may be absent or `null`; `10.0` is 10. One beyond `usize` is its maximum,
    /// which the limits lower anyway.
    ///
    /// # Errors
    /// `invalid_arguments` for anything else.
    pub(crate) fn optional_count(&mut self, name: &str) -> Result<Option<usize>, Error> {
        let value = match self.values.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        if let Some(whole) = value.as_u64()
            && whole >= 1
        {
            return Ok(Some(usize::try_from(whole).unwrap_or(usize::MAX)));
        }
        match value.as_f64() {
            // The cast saturates.
            Some(number) if number >= 1.0 && number.fract() == 0.0 => Ok(Some(number as usize)),
            _ => Err(self.mistyped(name, "a whole number of at least 1", &value)),
        }
    }

    fn mistyped(&self, name: &str, wanted: &str, got: &Value) -> Error {
        invalid(format!("the argument `{name}` of {} is {}; it has to be {wanted}", self.tool, kind(got)))
    }
}

pub(crate) fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidArguments, message)
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
