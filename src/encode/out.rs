//! The buffer that cells are written to, and the point at which work on it stops.

use super::{ResultFormat, text};
use crate::json;

/// A cell that is not text, binary or nested never takes more bytes: a Decimal256 with a scale of -128 is the longest.
const LONGEST_SCALAR: usize = 320;

/// The text so far, and how far it may go.
///
/// A writer appends first and asks [`is_spent`](Self::is_spent) afterwards, so the buffer passes the limit by one
/// scalar at most; what can be longer than that looks at [`room`](Self::room) before.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) buf: Vec<u8>,
    /// The longest that `buf` may be in the end.
    limit: usize,
    /// A lower bound for the bytes that were not written because the limit was in the way.
    skipped: usize,
    /// How scalars are written: JSON inside a nested value, whatever the result is in.
    format: ResultFormat,
    scratch: Vec<u8>,
}

impl Out {
    pub(super) fn new(format: ResultFormat, max_bytes: usize) -> Self {
        // The usual budget is taken at once, so that the usual payload is never moved.
        let capacity = max_bytes.min(64 << 10) + 1024;
        Self { buf: Vec::with_capacity(capacity), limit: max_bytes, skipped: 0, format, scratch: Vec::new() }
    }

    /// Starts a row or a cell anew, with `limit` as the longest that the buffer may become.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.skipped = 0;
    }

    /// Whether the limit is passed. What was written last is not whole then.
    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.skipped > 0 || self.buf.len() > self.limit
    }

    /// Bytes that may still be written.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.buf.len())
    }

    /// Leaves out `bytes` bytes that are more than there is room for.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.skipped = self.skipped.saturating_add(bytes.max(1));
    }

    /// Bytes left out, at least.
    pub(super) fn skipped(&self) -> usize {
        self.skipped
    }

    /// Makes sure that the next scalar does not move the buffer by `Vec`'s own doubling, which knows no budget.
    #[inline]
    pub(super) fn reserve(&mut self, bytes: usize) {
        let bytes = bytes + LONGEST_SCALAR;
        if self.buf.capacity() - self.buf.len() < bytes {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let least = self.buf.len().saturating_add(bytes);
        let most = self.limit.saturating_add(1024);
        let capacity = least.max(self.buf.capacity().saturating_mul(2).min(most));
        self.buf.reserve_exact(capacity - self.buf.len());
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.buf.push(byte);
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// A null, as the format has it.
    #[inline]
    pub(super) fn null(&mut self) {
        self.buf.extend_from_slice(match self.format {
            ResultFormat::Json => b"null".as_slice(),
            ResultFormat::Markdown => b"NULL",
            ResultFormat::Csv => b"",
        });
    }

    /// A quote where plain text needs one: in JSON.
    #[inline]
    pub(super) fn quote(&mut self) {
        if self.format == ResultFormat::Json {
            self.buf.push(b'"');
        }
    }

    /// A scalar that JSON has as a string, made of characters that no format escapes.
    #[inline]
    pub(super) fn plain(&mut self, text: &mut Plain) {
        if self.format == ResultFormat::Json {
            text.byte(b'"');
            let start = self.buf.len();
            // A copy of constant length is a few vector moves; one of the true length is a call.
            self.buf.extend_from_slice(&text.bytes);
            self.buf.truncate(start + text.len);
        } else {
            self.buf.extend_from_slice(&text.bytes[1..text.len]);
        }
    }

    /// A text value, quoted and escaped as the format needs it.
    pub(super) fn text(&mut self, value: &str) {
        let bytes = value.as_bytes();
        let quotes = if self.format == ResultFormat::Json { 2 } else { 0 };
        if bytes.len() + quotes > self.room() {
            return self.skip(bytes.len() + quotes);
        }
        self.reserve(bytes.len());
        match self.format {
            ResultFormat::Json => {
                self.buf.push(b'"');
                let left = json::escape(&mut self.buf, bytes, self.limit);
                if left > 0 {
                    return self.skip(left);
                }
                self.buf.push(b'"');
            }
            ResultFormat::Markdown => self.formatted(|out, limit| text::markdown(out, bytes, limit)),
            ResultFormat::Csv => self.formatted(|out, limit| text::csv(out, bytes, limit)),
        }
    }

    /// Runs a writer that returns how much of its input it left when it reached the limit.
    fn formatted(&mut self, write: impl FnOnce(&mut Vec<u8>, usize) -> usize) {
        let left = write(&mut self.buf, self.limit);
        if left > 0 {
            self.skip(left);
        }
    }

    /// A value that is JSON in every format.
    pub(super) fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        if self.format == ResultFormat::Json {
            return write(self);
        }
        let format = std::mem::replace(&mut self.format, ResultFormat::Json);
        let start = self.buf.len();
        write(self);
        self.format = format;
        // JSON that does not fit is not shorter with more escapes.
        if self.is_spent() {
            return;
        }
        let mut json = std::mem::take(&mut self.scratch);
        json.clear();
        json.extend_from_slice(&self.buf[start..]);
        self.buf.truncate(start);
        match format {
            ResultFormat::Csv => self.formatted(|out, limit| text::csv(out, &json, limit)),
            _ => self.formatted(|out, limit| text::markdown(out, &json, limit)),
        }
        self.scratch = json;
    }
}

/// A short text built on the stack, for [`Out::plain`].
pub(super) struct Plain {
    /// Starts with the quote that JSON needs.
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

impl Plain {
    /// The longest is an interval with all its parts, 57 bytes.
    const CAPACITY: usize = 64;

    #[inline]
    pub(super) fn new() -> Self {
        let mut bytes = [0; Self::CAPACITY];
        bytes[0] = b'"';
        Self { bytes, len: 1 }
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Two digits of a number below 100.
    #[inline]
    pub(super) fn two(&mut self, number: u32) {
        let at = (number as usize % 100) * 2;
        self.bytes[self.len..self.len + 2].copy_from_slice(&PAIRS[at..at + 2]);
        self.len += 2;
    }

    /// `.` and the `digits` digits of `fraction` without the zeros at the end; nothing when all are zero.
    #[inline]
    pub(super) fn fraction(&mut self, mut fraction: u32, digits: usize) {
        if fraction == 0 {
            return;
        }
        let start = self.len;
        let mut place = digits;
        while place > 0 {
            self.bytes[start + place] = b'0' + (fraction % 10) as u8;
            fraction /= 10;
            place -= 1;
        }
        self.bytes[start] = b'.';
        self.len = start + digits + 1;
        while self.bytes[self.len - 1] == b'0' {
            self.len -= 1;
        }
    }
}

const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[number * 2] = b'0' + (number / 10) as u8;
        pairs[number * 2 + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};
