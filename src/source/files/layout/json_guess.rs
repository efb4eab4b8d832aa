//! JSON values → the types of their columns.

use datafusion::arrow::datatypes::{DataType, Field};
use serde_json::{Map, Number, Value};

use super::guess::Guess;

/// What the values of a key have been so far.
#[derive(Debug, Clone, Default)]
pub(crate) enum JsonGuess {
    /// Only nulls.
    #[default]
    Nothing,
    /// Booleans, numbers or strings.
    Scalar(Guess),
    List(Box<JsonGuess>),
    Object(Keys),
}

/// The keys of an object in the order in which they were first seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    keys: Vec<(String, JsonGuess)>,
    index: std::collections::HashMap<String, usize>,
}

/// Two values of one key that no type holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Conflict {
    /// The key, with those above it: `a.b`.
    pub(crate) path: String,
    /// What it was before.
    pub(crate) before: &'static str,
    /// What it is now.
    pub(crate) now: &'static str,
}

impl Keys {
    /// Takes in a record's keys; those of `stated` columns are only noted.
    pub(crate) fn add(&mut self, record: &Map<String, Value>, stated: impl Fn(&str) -> bool) -> Result<(), Conflict> {
        for (key, value) in record {
            let at = *self.index.entry(key.clone()).or_insert_with(|| {
                self.keys.push((key.clone(), JsonGuess::Nothing));
                self.keys.len() - 1
            });
            if let Some((_, guess)) = self.keys.get_mut(at)
                && !stated(key)
            {
                guess.add(value).map_err(|conflict| conflict.below(key))?;
            }
        }
        Ok(())
    }

    pub(crate) fn fields(&self) -> Vec<Field> {
        self.keys.iter().map(|(key, guess)| Field::new(key, guess.data_type(), true)).collect()
    }
}

impl Conflict {
    fn below(mut self, key: &str) -> Self {
        self.path = if self.path.is_empty() { key.to_owned() } else { format!("{key}.{}", self.path) };
        self
    }
}

impl JsonGuess {
    fn add(&mut self, value: &Value) -> Result<(), Conflict> {
        let before = self.kind();
        let conflict = || Conflict { path: String::new(), before, now: kind_of(value) };
        match (&mut *self, value) {
            (_, Value::Null) => {}
            (guess @ Self::Nothing, value) => {
                *guess = match value {
                    Value::Object(_) => Self::Object(Keys::default()),
                    Value::Array(_) => Self::List(Box::default()),
                    scalar => Self::Scalar(of_scalar(scalar)),
                };
                return guess.add(value);
            }
            (Self::Scalar(guess), value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                let merged = guess.or(of_scalar(value));
                // A number beside a text or a boolean has no common type but text; that is for the source to say.
                if merged == Guess::Text && *guess != Guess::Text {
                    return Err(conflict());
                }
                if *guess == Guess::Text && !value.is_string() {
                    return Err(conflict());
                }
                *guess = merged;
            }
            (Self::List(item), Value::Array(items)) => {
                for value in items {
                    item.add(value)?;
                }
            }
            (Self::Object(keys), Value::Object(record)) => keys.add(record, |_| false)?,
            _ => return Err(conflict()),
        }
        Ok(())
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Nothing => "null",
            Self::Scalar(Guess::Text) => "a string",
            Self::Scalar(Guess::Boolean) => "a boolean",
            Self::Scalar(_) => "a number",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Nothing => DataType::Null,
            // Text holds what a float would round; the digits come out as they are written.
            Self::Scalar(guess) => guess.data_type().unwrap_or(DataType::Null),
            Self::List(item) => DataType::List(Field::new("item", item.data_type(), true).into()),
            Self::Object(keys) => DataType::Struct(keys.fields().into()),
        }
    }
}

fn of_scalar(value: &Value) -> Guess {
    match value {
        Value::Bool(_) => Guess::Boolean,
        Value::Number(number) => of_number(number),
        _ => Guess::Text,
    }
}

fn of_number(number: &Number) -> Guess {
    if number.is_i64() {
        Guess::Int64
    } else if number.is_u64() {
        Guess::UInt64
    } else {
        // serde_json has made a float of a whole number beyond u64, whose digits are still in the file.
        match number.as_f64() {
            Some(float)
                if float.fract() == 0.0 && float.abs() >= 18_446_744_073_709_551_615.0 && float.abs() < 1e38 =>
            {
                Guess::Decimal
            }
            _ => Guess::Float64,
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Null types, which no value told anything of, become `Utf8`, at every depth.
pub(crate) fn settle_nulls(data_type: &DataType) -> DataType {
    let field = |field: &Field| field.clone().with_data_type(settle_nulls(field.data_type()));
    match data_type {
        DataType::Null => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|inner| field(inner)).collect()),
        DataType::List(item) => DataType::List(field(item).into()),
        _ => data_type.clone(),
    }
}
