//! Lists, structs, maps, unions, and the encodings that stand for another array.
//!
//! Each writer first asks whether the least that its value can take fits: a list of ten million items, or a struct of a
//! hundred thousand fields, is left out without a look at its items.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

use datafusion::arrow::array::{
    Array, AsArray, DictionaryArray, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, RunArray, StructArray, UnionArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    ArrowDictionaryKeyType, DataType, Fields, Int8Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

use super::string::{Lookup, lookup};
use super::{Cell, Null, Out, cell, is_null, validity};
use crate::json;

/// Up to this many names or keys are compared one by one to find a double; more are hashed.
const FEW: usize = 8;

/// The items of a row are those at `range(row)` of the child.
struct List<'a, R> {
    items: Box<dyn Cell + 'a>,
    nulls: Option<&'a NullBuffer>,
    range: R,
}

impl<R: Fn(usize) -> (usize, usize)> Cell for List<'_, R> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        let (start, length) = (self.range)(row);
        // An item takes a byte and a comma or the closing bracket.
        let least = length.saturating_mul(2).saturating_add(1);
        if least > out.room() {
            return out.skip(least);
        }
        out.nested(|out| {
            out.byte(b'[');
            for item in start..start + length {
                if item > start {
                    out.byte(b',');
                }
                out.reserve(0);
                self.items.write(item, out);
                if out.is_spent() {
                    return out.skip((start + length - item) * 2 - 1);
                }
            }
            out.byte(b']');
        });
    }
}

pub(super) fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Box<dyn Cell + '_> {
    let offsets = array.value_offsets();
    let range = move |row: usize| {
        let start = offsets[row].as_usize();
        (start, offsets[row + 1].as_usize() - start)
    };
    Box::new(List { items: cell(array.values().as_ref()), nulls: validity(array), range })
}

pub(super) fn list_view<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> Box<dyn Cell + '_> {
    let (offsets, sizes) = (array.value_offsets(), array.value_sizes());
    let range = move |row: usize| (offsets[row].as_usize(), sizes[row].as_usize());
    Box::new(List { items: cell(array.values().as_ref()), nulls: validity(array), range })
}

pub(super) fn fixed_size_list(array: &FixedSizeListArray) -> Box<dyn Cell + '_> {
    let length = usize::try_from(array.value_length()).unwrap_or(0);
    let range = move |row: usize| (row * length, length);
    Box::new(List { items: cell(array.values().as_ref()), nulls: validity(array), range })
}

/// A struct: an object, or pairs of name and value when a name is there twice.
struct Struct<'a> {
    array: &'a StructArray,
    nulls: Option<&'a NullBuffer>,
    /// The least bytes that a value takes, as far as it matters.
    least: OnceCell<usize>,
    has_double: OnceCell<bool>,
    /// Made when a row first comes so far: of a very wide struct only the first fields are ever written.
    fields: RefCell<Vec<StructField<'a>>>,
}

struct StructField<'a> {
    /// `{"name":`, `,"name":`, `[["name",` or `],["name",`.
    before: Vec<u8>,
    value: Box<dyn Cell + 'a>,
}

pub(super) fn structure(array: &StructArray) -> Box<dyn Cell + '_> {
    Box::new(Struct {
        array,
        nulls: validity(array),
        least: OnceCell::new(),
        has_double: OnceCell::new(),
        fields: RefCell::default(),
    })
}

impl<'a> Struct<'a> {
    fn field(&self, index: usize, pairs: bool) -> StructField<'a> {
        let before: &[u8] = match (pairs, index) {
            (false, 0) => b"{",
            (false, _) => b",",
            (true, 0) => b"[[",
            (true, _) => b"],[",
        };
        let mut before = before.to_vec();
        json::write_str(&mut before, self.array.fields()[index].name());
        before.push(if pairs { b',' } else { b':' });
        StructField { before, value: cell(self.array.column(index).as_ref()) }
    }
}

impl Cell for Struct<'_> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        // What is counted once may have stopped at the room of that row, and is still a lower bound for the others.
        let room = out.room();
        let least = *self.least.get_or_init(|| least_bytes(self.array.fields(), room));
        if least > room {
            return out.skip(least);
        }
        let count = self.array.num_columns();
        if count == 0 {
            return out.nested(|out| out.bytes(b"{}"));
        }
        let pairs = *self.has_double.get_or_init(|| has_double(self.array.fields()));
        out.nested(|out| {
            let mut fields = self.fields.borrow_mut();
            for index in 0..count {
                if index == fields.len() {
                    fields.push(self.field(index, pairs));
                }
                out.reserve(0);
                let StructField { before, value } = &fields[index];
                out.bytes(before);
                value.write(row, out);
                if out.is_spent() {
                    return out.skip((count - index - 1) * 5 + 1);
                }
            }
            out.bytes(if pairs { b"]]" } else { b"}" });
        });
    }
}

/// The bytes of the names with quotes, colon, a one-byte value and a comma or brace; counted until it is over `room`.
fn least_bytes(fields: &Fields, room: usize) -> usize {
    let mut least: usize = 1;
    for field in fields {
        least = least.saturating_add(field.name().len()).saturating_add(5);
        if least > room {
            // Each field that was not looked at takes five bytes at least.
            return least.max(fields.len().saturating_mul(5));
        }
    }
    least
}

fn has_double(fields: &Fields) -> bool {
    if fields.len() <= FEW {
        return (1..fields.len()).any(|at| fields[..at].iter().any(|field| field.name() == fields[at].name()));
    }
    let mut seen = HashSet::with_capacity(fields.len());
    !fields.iter().all(|field| seen.insert(field.name()))
}

/// A map: an object when its keys are strings and differ, else pairs of key and value.
struct Map<'a> {
    offsets: &'a [i32],
    nulls: Option<&'a NullBuffer>,
    keys: Box<dyn Cell + 'a>,
    /// The keys as strings, if that is what they are.
    names: Option<Lookup<'a>>,
    values: Box<dyn Cell + 'a>,
    seen: RefCell<HashSet<&'a str>>,
}

pub(super) fn map(array: &MapArray) -> Box<dyn Cell + '_> {
    Box::new(Map {
        offsets: array.value_offsets(),
        nulls: validity(array),
        keys: cell(array.keys().as_ref()),
        names: lookup(array.keys().as_ref()),
        values: cell(array.values().as_ref()),
        seen: RefCell::default(),
    })
}

impl Map<'_> {
    fn is_object(&self, start: usize, end: usize) -> bool {
        let Some(names) = &self.names else { return false };
        if end - start <= FEW {
            return (start..end).all(|at| {
                let name = names(at);
                name.is_some() && !(start..at).any(|before| names(before) == name)
            });
        }
        let mut seen = self.seen.borrow_mut();
        seen.clear();
        (start..end).all(|at| names(at).is_some_and(|name| seen.insert(name)))
    }
}

impl Cell for Map<'_> {
    fn write(&self, row: usize, out: &mut Out) {
        if is_null(self.nulls, row) {
            return out.null();
        }
        let (start, end) = (self.offsets[row] as usize, self.offsets[row + 1] as usize);
        // `"":0` and a comma or brace; a pair takes no less.
        let least = (end - start).saturating_mul(5).saturating_add(1);
        if least > out.room() {
            return out.skip(least);
        }
        out.nested(|out| {
            let object = self.is_object(start, end);
            let [open, before, between, after, close] =
                if object { ["{", "", ":", "", "}"] } else { ["[", "[", ",", "]", "]"] };
            out.bytes(open.as_bytes());
            for entry in start..end {
                if entry > start {
                    out.byte(b',');
                }
                out.reserve(0);
                out.bytes(before.as_bytes());
                self.keys.write(entry, out);
                if !out.is_spent() {
                    out.bytes(between.as_bytes());
                    out.reserve(0);
                    self.values.write(entry, out);
                    out.bytes(after.as_bytes());
                }
                if out.is_spent() {
                    return out.skip((end - entry - 1) * 5 + 1);
                }
            }
            out.bytes(close.as_bytes());
        });
    }
}

/// A union: the value of the member that is active in the row.
struct Union<'a> {
    array: &'a UnionArray,
    /// By type id.
    members: Vec<Option<Box<dyn Cell + 'a>>>,
}

pub(super) fn union(array: &UnionArray) -> Box<dyn Cell + '_> {
    let mut members: Vec<Option<Box<dyn Cell + '_>>> = Vec::new();
    members.resize_with(128, || None);
    if let DataType::Union(fields, _) = array.data_type() {
        for (id, _) in fields.iter() {
            if let Ok(at) = usize::try_from(id) {
                members[at] = Some(cell(array.child(id).as_ref()));
            }
        }
    }
    Box::new(Union { array, members })
}

impl Cell for Union<'_> {
    fn write(&self, row: usize, out: &mut Out) {
        let member = usize::try_from(self.array.type_id(row)).ok().and_then(|id| self.members.get(id));
        match member {
            Some(Some(member)) => member.write(self.array.value_offset(row), out),
            _ => out.null(),
        }
    }
}

struct Dictionary<'a, K: ArrowDictionaryKeyType> {
    array: &'a DictionaryArray<K>,
    values: Box<dyn Cell + 'a>,
}

impl<K: ArrowDictionaryKeyType> Cell for Dictionary<'_, K> {
    fn write(&self, row: usize, out: &mut Out) {
        // A null may stand in the keys or in the values.
        match self.array.key(row) {
            Some(key) => self.values.write(key, out),
            None => out.null(),
        }
    }
}

pub(super) fn dictionary<'a>(key: &DataType, array: &'a dyn Array) -> Box<dyn Cell + 'a> {
    fn of<K: ArrowDictionaryKeyType>(array: &dyn Array) -> Box<dyn Cell + '_> {
        let array = array.as_dictionary::<K>();
        Box::new(Dictionary { array, values: cell(array.values().as_ref()) })
    }
    match key {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        // Arrow has no array with other keys.
        _ => Box::new(Null),
    }
}

struct Runs<'a, R: RunEndIndexType> {
    array: &'a RunArray<R>,
    values: Box<dyn Cell + 'a>,
}

impl<R: RunEndIndexType> Cell for Runs<'_, R> {
    fn write(&self, row: usize, out: &mut Out) {
        self.values.write(self.array.get_physical_index(row), out);
    }
}

pub(super) fn run_end_encoded<'a>(run_ends: &DataType, array: &'a dyn Array) -> Box<dyn Cell + 'a> {
    fn of<R: RunEndIndexType>(array: &dyn Array) -> Box<dyn Cell + '_> {
        let array = array.as_run::<R>();
        Box::new(Runs { array, values: cell(array.values().as_ref()) })
    }
    match run_ends {
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        // Arrow has no array with other run ends.
        _ => Box::new(Null),
    }
}
