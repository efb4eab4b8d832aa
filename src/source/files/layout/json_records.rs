//! JSON text → its top-level values with the line each of them starts on.
//!
//! Values may stand on lines of their own (NDJSON), be spread over several, or be the items of one top-level array.

use super::FileName;
use super::text::Text;
use crate::error::Error;

/// No value is longer; an open brace would otherwise take the rest of the file into memory.
const MAX_RECORD: usize = 256 << 20;

/// Finds where values begin and end; whether they are valid is for their reader.
pub(crate) struct JsonRecords {
    text: Text,
    name: FileName,
    line: u64,
    /// Whether the values are the items of a top-level array; `None` before the first byte.
    in_array: Option<bool>,
    ended: bool,
}

/// Values one after another in one buffer.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) data: Vec<u8>,
    /// For each value: where it ends in `data`, and the line it starts on.
    pub(crate) ends: Vec<(usize, u64)>,
}

impl Values {
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, line)| (&self.data[std::mem::replace(&mut start, end)..end], line))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Between values.
    Between,
    /// In an object or array, so many deep.
    Nested(usize),
    /// In a string, so many deep; at 0 the string is the value itself.
    Quoted(usize),
    /// Behind a backslash in a string.
    Escaped(usize),
    /// In a number or word that is the value itself.
    Bare,
}

impl JsonRecords {
    pub(crate) fn new(text: Text, name: FileName) -> Self {
        Self { text, name, line: 1, in_array: None, ended: false }
    }

    /// Appends the next value; `false` at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or ends within a value.
    pub(crate) fn read(&mut self, values: &mut Values) -> Result<bool, Error> {
        let start = values.data.len();
        let mut state = State::Between;
        let mut line = self.line;
        while !self.ended {
            let input = self.text.fill()?;
            if input.is_empty() {
                self.ended = true;
                return match state {
                    State::Between if self.in_array == Some(true) => Err(self
                        .name
                        .execution("ends before the array that it begins with is closed; it may be cut off")),
                    State::Between => Ok(false),
                    State::Bare => {
                        values.ends.push((values.data.len(), line));
                        Ok(true)
                    }
                    // What it holds is given on, so that the reader can say where it stops being JSON.
                    _ => {
                        values.ends.push((values.data.len(), line));
                        Ok(true)
                    }
                };
            }
            let (mut taken, mut from, mut complete) = (0, 0, false);
            for &byte in input {
                taken += 1;
                if byte == b'\n' {
                    self.line += 1;
                }
                state = match (state, byte) {
                    (State::Between, b' ' | b'\t' | b'\r' | b'\n' | 0x1E) => {
                        from = taken;
                        continue;
                    }
                    (State::Between, b'[') if self.in_array.is_none() => {
                        self.in_array = Some(true);
                        from = taken;
                        continue;
                    }
                    (State::Between, b',') if self.in_array == Some(true) => {
                        from = taken;
                        continue;
                    }
                    (State::Between, b']') if self.in_array == Some(true) => {
                        self.in_array = Some(false);
                        from = taken;
                        continue;
                    }
                    (State::Between, _) => {
                        self.in_array.get_or_insert(false);
                        line = self.line;
                        from = taken - 1;
                        match byte {
                            b'{' | b'[' => State::Nested(1),
                            b'"' => State::Quoted(0),
                            _ => State::Bare,
                        }
                    }
                    (State::Nested(deep), b'{' | b'[') => State::Nested(deep + 1),
                    (State::Nested(1), b'}' | b']') => {
                        complete = true;
                        break;
                    }
                    (State::Nested(deep), b'}' | b']') => State::Nested(deep - 1),
                    (State::Nested(deep), b'"') => State::Quoted(deep),
                    (State::Quoted(deep), b'\\') => State::Escaped(deep),
                    (State::Quoted(0), b'"') => {
                        complete = true;
                        break;
                    }
                    (State::Quoted(deep), b'"') => State::Nested(deep),
                    (State::Escaped(deep), _) => State::Quoted(deep),
                    (State::Bare, b'\n') => {
                        complete = true;
                        break;
                    }
                    (State::Bare, b',' | b']') if self.in_array == Some(true) => {
                        // The end of the array is looked at again.
                        taken -= 1;
                        complete = true;
                        break;
                    }
                    (state, _) => state,
                };
            }
            if state != State::Between || complete {
                values.data.extend_from_slice(&input[from.min(taken)..taken]);
            }
            self.text.consume(taken);
            if complete {
                values.ends.push((values.data.len(), line));
                return Ok(true);
            }
            if values.data.len() - start > MAX_RECORD {
                return Err(self.name.execution(&format!(
                    "has a value of more than {} MiB that starts on line {line}; a brace or quote may be open",
                    MAX_RECORD >> 20
                )));
            }
        }
        Ok(false)
    }
}
