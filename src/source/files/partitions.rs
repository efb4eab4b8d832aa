//! Folders named `key=value` → partition columns.
//!
//! The columns are the keys found in any file's folders, in the order of first appearance, and those that the source
//! declares. They are `Utf8` unless declared. A file without such a folder (a stray one) and the value
//! `__HIVE_DEFAULT_PARTITION__` have null. Values and keys are percent-decoded, as Hive and Spark write them.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;

use super::listing::DataFile;
use super::place::Place;
use crate::error::Error;
use crate::source::store::percent_decode;

const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Partition columns, and for each file its values in their order.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    pub(crate) fields: Vec<FieldRef>,
    pub(crate) values: Vec<Vec<ScalarValue>>,
}

/// Finds the columns and reads the values.
///
/// # Errors
/// If a declared partition has no folder, or a value does not have the declared type; both by name.
pub(crate) fn find(place: &Place, files: &[DataFile], declared: &[(String, DataType)]) -> Result<Partitions, Error> {
    let of_files: Vec<Vec<(String, String)>> = files.iter().map(|file| pairs(&file.relative)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in of_files.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if let Some((name, _)) = declared.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        let why = format!("has no folder `{name}=…`, which the source's `partitions` declares");
        return Err(place.unavailable("", &why));
    }
    let fields: Vec<FieldRef> = names
        .iter()
        .map(|name| {
            let data_type =
                declared.iter().find(|(key, _)| key == name).map_or(DataType::Utf8, |(_, found)| found.clone());
            Arc::new(Field::new(*name, data_type, true))
        })
        .collect();
    let mut values = Vec::with_capacity(files.len());
    for (file, pairs) in files.iter().zip(&of_files) {
        let row = fields.iter().map(|field| value(place, file, pairs, field)).collect::<Result<Vec<_>, _>>()?;
        values.push(row);
    }
    Ok(Partitions { fields, values })
}

fn value(place: &Place, file: &DataFile, pairs: &[(String, String)], field: &Field) -> Result<ScalarValue, Error> {
    // The innermost folder wins when a key is there twice.
    let text = pairs.iter().rev().find(|(key, _)| key == field.name()).map(|(_, text)| text.as_str());
    let bad = |text: &str| {
        let why = format!(
            "is in the folder `{}={text}`, which is no {}; correct the type in `partitions` or the folder's name",
            field.name(),
            field.data_type()
        );
        place.unavailable(&file.relative, &why)
    };
    match text {
        None | Some(NULL) => ScalarValue::try_from(field.data_type()).map_err(|_| bad(NULL)),
        Some("") if !matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            ScalarValue::try_from(field.data_type()).map_err(|_| bad(""))
        }
        Some(text) => {
            let value = ScalarValue::try_from_string(text.to_owned(), field.data_type()).map_err(|_| bad(text))?;
            // A cast that fails softly gives null, which would hide the rows from every filter.
            if value.is_null() { Err(bad(text)) } else { Ok(value) }
        }
    }
}

fn pairs(relative: &str) -> Vec<(String, String)> {
    let folders = relative.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders
        .split('/')
        .filter_map(|segment| segment.split_once('='))
        .filter(|(key, _)| !key.is_empty())
        .map(|(key, text)| {
            let decode = |text: &str| percent_decode(text).unwrap_or_else(|| text.to_owned());
            (decode(key), decode(text))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_as_pairs() {
        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        assert_eq!(pairs("y=2024/city=S%C3%A3o%2FPaulo/a=b.csv"), [pair("y", "2024"), pair("city", "São/Paulo")]);
        assert_eq!(pairs("x=1=2/=3/plain/f"), [pair("x", "1=2")]);
        assert_eq!(pairs("f"), []);
    }
}
