//! The bytes of a text file: decompressed, without byte order mark, and known to be no UTF-16.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use datafusion::common::parsers::CompressionTypeVariant as Compression;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;

use super::{FileName, Input};
use crate::error::Error;
use crate::source::files::listing::reason;

/// A text file that is being read.
pub(crate) struct Text {
    input: Box<dyn BufRead + Send>,
    name: FileName,
    compression: Compression,
}

const BUFFER: usize = 128 * 1024;
const HEAD: usize = 64;

impl Text {
    /// # Errors
    /// If the first bytes cannot be decompressed, or are UTF-16 or binary.
    pub(crate) fn open(name: &FileName, compression: Compression, input: Box<dyn Input>) -> Result<Self, Error> {
        // The wrapper is only there to give the trait object a size.
        let decoded = FileCompressionType::from(compression)
            .convert_read(input)
            .map_err(|error| name.unavailable(&format!("cannot be read ({error})")))?;
        let mut text = Self { input: Box::new(io::empty()), name: name.clone(), compression };
        let mut decoded = BufReader::with_capacity(BUFFER, decoded);
        let mut head = Vec::with_capacity(HEAD);
        decoded.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(|error| text.error(&error))?;
        if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) || head.contains(&0) {
            let what = if head.starts_with(&[0xFF, 0xFE]) || head.get(1) == Some(&0) {
                "UTF-16LE"
            } else if head.starts_with(&[0xFE, 0xFF]) || head.first() == Some(&0) {
                "UTF-16BE"
            } else {
                "binary"
            };
            return Err(text.name.unavailable(&format!(
                "is not UTF-8 on line 1 (it looks like {what}); convert it, for example with `iconv -f UTF-16 -t UTF-8`, \
                 or check the source's `format`"
            )));
        }
        if head.starts_with(&[0xEF, 0xBB, 0xBF]) {
            head.drain(..3);
        }
        text.input = Box::new(Cursor::new(head).chain(decoded));
        Ok(text)
    }

    /// Bytes that have not been consumed; none at the end.
    ///
    /// # Errors
    /// If the file cannot be read or decompressed.
    pub(crate) fn fill(&mut self) -> Result<&[u8], Error> {
        // The borrow checker does not see that the first borrow ends with its error.
        match self.input.fill_buf() {
            Ok(_) => {}
            Err(error) => return Err(self.error(&error)),
        }
        self.input.fill_buf().map_err(|error| self.name.unavailable(&format!("cannot be read ({})", reason(&error))))
    }

    /// Takes `bytes` of what [`Self::fill`] gave.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.input.consume(bytes);
    }

    fn error(&self, error: &io::Error) -> Error {
        let format = match self.compression {
            Compression::UNCOMPRESSED => {
                return self.name.unavailable(&format!("cannot be read ({})", reason(error)));
            }
            Compression::GZIP => "gzip",
            Compression::BZIP2 => "bzip2",
            Compression::XZ => "xz",
            Compression::ZSTD => "zstd",
        };
        self.name.unavailable(&format!(
            "cannot be decompressed as {format} ({error}); if it is not compressed so, correct its name or set the \
             option `compression`"
        ))
    }
}

/// Says on which line the text stops being UTF-8.
pub(crate) fn not_utf8(line: u64) -> String {
    format!(
        "is not UTF-8 on line {line} (it looks like Latin-1 or Windows-1252); convert it, for example with `iconv -f \
         WINDOWS-1252 -t UTF-8`"
    )
}
