//! Statements that a model, or the author of a text that it read, could send: what is refused and with which code,
//! what is accepted, and that `query` and `check_query` agree.

mod harmless;
mod mixed;
mod refused;

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, ListArray, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_toolset::Toolset;

/// `t(id, name, "userId", price, day, tags, address)` and `u(id, label)`.
pub(crate) fn context() -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    let address = StructArray::from(vec![(
        Arc::new(Field::new("city", DataType::Utf8, true)),
        Arc::new(StringArray::from(vec!["Lyon", "Bonn", "Oslo"])) as ArrayRef,
    )]);
    let tags = ListArray::from_iter_primitive::<Int64Type, _, _>(vec![
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(2)]),
        Some(vec![]),
    ]);
    let t: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("name", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ("userId", Arc::new(Int64Array::from(vec![7, 8, 9]))),
        ("price", Arc::new(Float64Array::from(vec![1.5, 2.5, 3.5]))),
        ("day", Arc::new(Date32Array::from(vec![19_000, 19_001, 19_030]))),
        ("tags", Arc::new(tags)),
        ("address", Arc::new(address)),
    ];
    let u: Vec<(&str, ArrayRef)> =
        vec![("id", Arc::new(Int64Array::from(vec![1, 2]))), ("label", Arc::new(StringArray::from(vec!["x", "y"])))];
    context.register_batch("t", RecordBatch::try_from_iter(t).expect("t")).expect("t");
    context.register_batch("u", RecordBatch::try_from_iter(u).expect("u")).expect("u");
    context
}

pub(crate) fn toolset() -> Toolset {
    Toolset::builder().session_context(&context()).build().expect("a toolset")
}
