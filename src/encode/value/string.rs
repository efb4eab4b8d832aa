//! Text and bytes.

use datafusion::arrow::array::{Array, ArrayAccessor, AsArray, DictionaryArray, RunArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    ArrowDictionaryKeyType, DataType, Int8Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

use super::{Cell, Out, is_null, validity};

/// Strings of any layout.
pub(super) struct Text<'a, A> {
    array: A,
    nulls: Option<&'a NullBuffer>,
}

impl<'a, A: Array> Text<'a, &'a A>
where
    &'a A: ArrayAccessor<Item = &'a str>,
{
    pub(super) fn new(array: &'a A) -> Self {
        Self { array, nulls: validity(array) }
    }
}

impl<'a, A: ArrayAccessor<Item = &'a str>> Cell for Text<'a, A> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        out.text(self.array.value(row));
    }
}

/// Bytes of any layout, as lowercase hex.
pub(super) struct Hex<'a, A> {
    array: A,
    nulls: Option<&'a NullBuffer>,
}

impl<'a, A: Array> Hex<'a, &'a A>
where
    &'a A: ArrayAccessor<Item = &'a [u8]>,
{
    pub(super) fn new(array: &'a A) -> Self {
        Self { array, nulls: validity(array) }
    }
}

impl<'a, A: ArrayAccessor<Item = &'a [u8]>> Cell for Hex<'a, A> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        let value = self.array.value(row);
        let length = value.len().saturating_mul(2);
        if length > out.room() {
            return out.skip(length.saturating_add(2));
        }
        if length == 0 {
            return out.text("");
        }
        out.reserve(length);
        out.quote();
        for chunk in value.chunks(32) {
            let mut text = [0; 64];
            for (pair, &byte) in text.chunks_exact_mut(2).zip(chunk) {
                pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
            out.bytes(&text[..chunk.len() * 2]);
        }
        out.quote();
    }
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

/// The string at an index, `None` for a null.
pub(super) type Lookup<'a> = Box<dyn Fn(usize) -> Option<&'a str> + 'a>;

/// How to find the strings of `array`, if strings are what it holds, plainly or encoded.
pub(super) fn lookup<'a>(array: &'a dyn Array) -> Option<Lookup<'a>> {
    fn plain<'a, A: ArrayAccessor<Item = &'a str> + 'a>(array: A) -> Lookup<'a> {
        Box::new(move |index| array.is_valid(index).then(|| array.value(index)))
    }
    match array.data_type() {
        DataType::Utf8 => Some(plain(array.as_string::<i32>())),
        DataType::LargeUtf8 => Some(plain(array.as_string::<i64>())),
        DataType::Utf8View => Some(plain(array.as_string_view())),
        DataType::Dictionary(key, _) => match key.as_ref() {
            DataType::Int8 => dictionary(array.as_dictionary::<Int8Type>()),
            DataType::Int16 => dictionary(array.as_dictionary::<Int16Type>()),
            DataType::Int32 => dictionary(array.as_dictionary::<Int32Type>()),
            DataType::Int64 => dictionary(array.as_dictionary::<Int64Type>()),
            DataType::UInt8 => dictionary(array.as_dictionary::<UInt8Type>()),
            DataType::UInt16 => dictionary(array.as_dictionary::<UInt16Type>()),
            DataType::UInt32 => dictionary(array.as_dictionary::<UInt32Type>()),
            DataType::UInt64 => dictionary(array.as_dictionary::<UInt64Type>()),
            _ => None,
        },
        DataType::RunEndEncoded(run_ends, _) => match run_ends.data_type() {
            DataType::Int16 => runs(array.as_run::<Int16Type>()),
            DataType::Int32 => runs(array.as_run::<Int32Type>()),
            DataType::Int64 => runs(array.as_run::<Int64Type>()),
            _ => None,
        },
        _ => None,
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(array: &DictionaryArray<K>) -> Option<Lookup<'_>> {
    let values = lookup(array.values().as_ref())?;
    Some(Box::new(move |index| values(array.key(index)?)))
}

fn runs<R: RunEndIndexType>(array: &RunArray<R>) -> Option<Lookup<'_>> {
    let values = lookup(array.values().as_ref())?;
    Some(Box::new(move |index| values(array.get_physical_index(index))))
}
