//! File names and first bytes → the format, and which files of a folder belong to it.
//!
//! Without a stated format, files with an extension that is no data format's are left out beside those that have one;
//! files of two formats are an error, and so is a file without extension whose first bytes say nothing. With a stated
//! format, every file is taken but those whose extension says another format.

use datafusion::common::parsers::CompressionTypeVariant as Compression;
use futures::future::BoxFuture;

use super::listing::{DataFile, Listing};
use crate::error::Error;
use crate::source::Format;

/// What an extension says, in any case.
pub(crate) fn format_of(name: &str) -> Option<Format> {
    let lower = name.to_ascii_lowercase();
    let (stem, compression) = split_compression(&lower);
    let (_, extension) = stem.rsplit_once('.')?;
    let format = match extension {
        "parquet" | "parq" | "pq" => Format::Parquet,
        "csv" | "tsv" | "tab" => Format::Csv,
        "json" | "ndjson" | "jsonl" => Format::Json,
        "avro" => Format::Avro,
        "arrow" | "arrows" | "ipc" | "feather" => Format::Arrow,
        _ => return None,
    };
    let text = matches!(format, Format::Csv | Format::Json);
    (text || compression == Compression::UNCOMPRESSED).then_some(format)
}

/// What the last extension says of a text file's compression.
pub(crate) fn compression_of(name: &str) -> Compression {
    split_compression(&name.to_ascii_lowercase()).1
}

/// Whether a name is `….tsv` or `….tab`, compressed or not.
pub(crate) fn is_tsv(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let (stem, _) = split_compression(&lower);
    stem.ends_with(".tsv") || stem.ends_with(".tab")
}

fn split_compression(lower: &str) -> (&str, Compression) {
    match lower.rsplit_once('.') {
        Some((stem, "gz" | "gzip")) => (stem, Compression::GZIP),
        Some((stem, "zst" | "zstd")) => (stem, Compression::ZSTD),
        Some((stem, "bz2" | "bzip2")) => (stem, Compression::BZIP2),
        Some((stem, "xz")) => (stem, Compression::XZ),
        _ => (lower, Compression::UNCOMPRESSED),
    }
}

/// What the first bytes say.
pub(crate) fn sniff(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"PAR1") || head.starts_with(b"PARE") {
        Some(Format::Parquet)
    } else if head.starts_with(b"ARROW1") {
        Some(Format::Arrow)
    } else if head.starts_with(b"Obj\x01") {
        Some(Format::Avro)
    } else {
        None
    }
}

/// Settles the format and drops the files that do not belong to it. `head` reads a file's first bytes.
///
/// # Errors
/// If the format cannot be told, or there are files of two.
pub(crate) async fn settle(
    listing: &mut Listing,
    stated: Option<Format>,
    head: impl Fn(DataFile) -> BoxFuture<'static, Result<Vec<u8>, Error>>,
) -> Result<Format, Error> {
    let place = std::sync::Arc::clone(&listing.place);
    if let Some(format) = stated {
        if !listing.single {
            listing.files.retain(|file| format_of(file.name()).is_none_or(|found| found == format));
        }
        if listing.files.is_empty() {
            let why = format!("holds no file of the format `{}`; check `format` and the location", format.as_str());
            return Err(place.unavailable("", &why));
        }
        return Ok(format);
    }
    let mut settled: Option<(Format, String)> = None;
    let mut kept = Vec::with_capacity(listing.files.len());
    for file in std::mem::take(&mut listing.files) {
        let found = match format_of(file.name()) {
            Some(format) => format,
            None => match sniff(&head(file.clone()).await?) {
                Some(format) => format,
                None if listing.single => {
                    return Err(place.unavailable(
                        &file.relative,
                        "has no extension that names a format; set `format` (parquet, csv, json, avro or arrow)",
                    ));
                }
                None if !file.name().contains('.') => {
                    return Err(place.unavailable(
                        &file.relative,
                        "does not say its format by its name or first bytes; set `format` for the source, or use a \
                         glob that leaves it out",
                    ));
                }
                None => continue,
            },
        };
        match &settled {
            None => settled = Some((found, file.relative.clone())),
            Some((format, _)) if *format == found => {}
            Some((format, first)) => {
                let why = format!(
                    "is {}, but `{}` is {}: one table has one format; set `format`, or use a glob such as `*.{}`",
                    found.as_str(),
                    place.show(first),
                    format.as_str(),
                    format.as_str()
                );
                return Err(place.unavailable(&file.relative, &why));
            }
        }
        kept.push(file);
    }
    listing.files = kept;
    settled.map(|(format, _)| format).ok_or_else(|| {
        place.unavailable("", "holds no file with an extension that names a format; set `format` for the source")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_format_and_compression() {
        assert_eq!(format_of("A.PARQUET"), Some(Format::Parquet));
        assert_eq!(format_of("x.csv.gz"), Some(Format::Csv));
        assert_eq!(format_of("x.2024.JSONL.ZST"), Some(Format::Json));
        assert_eq!(format_of("x.feather"), Some(Format::Arrow));
        for none in ["x", "csv", "x.gz", "x.parquet.gz", "x.txt"] {
            assert_eq!(format_of(none), None, "{none}");
        }
        assert_eq!(compression_of("x.csv.BZ2"), Compression::BZIP2);
        assert!(is_tsv("a.TSV.gz") && !is_tsv("a.csv"));
        assert_eq!(sniff(b"Obj\x01..."), Some(Format::Avro));
        assert_eq!(sniff(b"id,name"), None);
    }
}
