//! Each table's bounded schema as a resource: `toolset://tables/{name}`.

use rmcp::model::{ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use crate::result::TablesResult;

/// The shape of a table's address.
pub(super) const TEMPLATE: &str = "toolset://tables/{name}";

const PREFIX: &str = "toolset://tables/";
const JSON: &str = "application/json";

/// Tables on one page of the list.
const PAGE: usize = 100;

/// The page of the list that starts at `cursor`.
///
/// # Errors
/// If the cursor is none of ours.
pub(super) fn page(tables: &TablesResult, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let names = tables.tables();
    let start = match cursor {
        None => 0,
        Some(cursor) => match cursor.parse() {
            Ok(start) if start < names.len() => start,
            _ => return Err(ErrorData::invalid_params("the cursor is not valid; list from the beginning", None)),
        },
    };
    let end = names.len().min(start + PAGE);
    let payload: Value = serde_json::from_str(tables.json()).unwrap_or_default();
    let listed = names[start..end].iter().map(|name| {
        let resource = Resource::new(uri(name), name.clone()).with_mime_type(JSON);
        match payload["descriptions"][name.as_str()].as_str() {
            Some(description) => resource.with_description(description),
            None => resource,
        }
    });
    let mut page = ListResourcesResult::with_all_items(listed.collect());
    page.next_cursor = (end < names.len()).then(|| end.to_string());
    Ok(page)
}

/// The template that the resources follow.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "table")
        .with_title("Schema of a table")
        .with_description(
            "What get_schema answers for the table: its columns and types, summed up when there are many.",
        )
        .with_mime_type(JSON)
}

/// The payload as a resource's contents.
pub(super) fn contents(payload: String, uri: String) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(payload, uri).with_mime_type(JSON)])
}

fn uri(table: &str) -> String {
    let mut uri = PREFIX.to_owned();
    for byte in table.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The table that an address names, if it is one of ours. A name that nobody encoded is taken as it stands.
pub(super) fn table(uri: &str) -> Option<String> {
    let encoded = uri.strip_prefix(PREFIX).filter(|name| !name.is_empty())?.as_bytes();
    let mut name = Vec::with_capacity(encoded.len());
    let mut at = 0;
    while at < encoded.len() {
        let byte = (encoded[at] == b'%').then(|| encoded.get(at + 1..at + 3)).flatten().and_then(hex);
        name.push(byte.unwrap_or(encoded[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(name).ok()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? << 4 | digit(digits[1])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_its_address() {
        for name in ["orders", "sales.returns", "\"My Table\"", "\"50%\"", "\"größe\"", "\"a/b?c#d\""] {
            let uri = uri(name);
            assert!(uri[PREFIX.len()..].bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)), "{uri}");
            assert_eq!(table(&uri).as_deref(), Some(name));
        }
        assert_eq!(table("toolset://tables/My Table%").as_deref(), Some("My Table%"));
        for other in ["toolset://tables/", "toolset://table/x", "file:///etc/passwd", "toolset://tables/%FF"] {
            assert_eq!(table(other), None, "{other}");
        }
    }
}
