//! Sources as a library user sets them up.

use datafusion_toolset::{Format, Source};

#[test]
fn a_source_is_data_and_shows_no_secret() {
    let source = Source::new("sales", "s3://bucket/sales/")
        .with_format(Format::Csv)
        .with_option("delimiter", ";")
        .with_store_option("secret_access_key", "hunter2");
    assert_eq!(source.name(), "sales");
    assert!(!format!("{source:?}").contains("hunter2"));
}
