//! Makes the files of `testdata/` again, byte for byte: `cargo run --example generate_testdata [FOLDER]`.
//!
//! A small shop: customers, their orders, the shop's web events and its sales by year. Numbers come from a fixed
//! sequence, names and texts are made up here.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Decimal128Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, StructArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;

const NAMES: [&str; 8] =
    ["Ada Lovelace", "Bo Ek", "Chiara Rossi", "Dmitri Orlov", "Eun-ji Park", "Fátima Sá", "Gil", "華 李"];
const CITIES: [(&str, &str); 6] =
    [("Paris", "FR"), ("Rome", "IT"), ("Malmö", "SE"), ("Boston", "US"), ("Seoul", "KR"), ("Lisbon", "PT")];
const GOODS: [&str; 6] = ["lamp", "desk", "chair", "\"Big\" shelf, oak", "rug", "clock"];

/// The same numbers at every run (the constants are those of Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let here = std::env::args_os().nth(1).map_or(testdata, PathBuf::from);
    let mut numbers = Numbers(7);
    customers(&here)?;
    orders(&here, &mut numbers)?;
    events(&here, &mut numbers)?;
    sales(&here, &mut numbers)
}

/// 40 customers. `zip` has leading zeros, `signupDate` needs quoting in SQL, some names hold quotes and commas.
fn customers(here: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::from("id,name,city,country,zip,signupDate\n");
    for id in 1..=40_usize {
        let (city, country) = CITIES[id % CITIES.len()];
        let name = NAMES[id % NAMES.len()];
        let name = if id % 9 == 0 { format!("\"{name}, \"\"Jr.\"\"\"") } else { name.to_owned() };
        writeln!(text, "{id},{name},{city},{country},{:05},20{:02}-{:02}-15", id * 137, 18 + id % 7, 1 + id % 12)?;
    }
    Ok(fs::write(here.join("customers.csv"), text)?)
}

/// 500 orders in Parquet, with a decimal, a zoned timestamp, a struct and a list.
fn orders(here: &Path, numbers: &mut Numbers) -> Result<(), Box<dyn Error>> {
    const ROWS: i64 = 500;
    let mut items = ListBuilder::new(StringBuilder::new());
    let (mut customers, mut prices, mut regions, mut cities, mut countries, mut notes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROWS {
        customers.push(i64::try_from(1 + numbers.below(40))?);
        prices.push(i128::try_from(199 + numbers.below(90_000))?);
        regions.push(["north", "south", "east", "west"][numbers.below(4)]);
        let (city, country) = CITIES[numbers.below(CITIES.len())];
        cities.push(city);
        countries.push(country);
        notes
            .push((numbers.below(3) == 0).then(|| format!("Leave at the door.\nRing {} times.", 1 + numbers.below(3))));
        for _ in 0..=numbers.below(3) {
            items.values().append_value(GOODS[numbers.below(GOODS.len())]);
        }
        items.append(true);
    }
    let ship_to = StructArray::new(
        Fields::from(vec![Field::new("city", DataType::Utf8, false), Field::new("country", DataType::Utf8, false)]),
        vec![Arc::new(StringArray::from(cities)) as ArrayRef, Arc::new(StringArray::from(countries))],
        None,
    );
    // From the first of January 2024 on, an order every seven hours and a bit.
    let ordered = (0..ROWS).map(|row| 1_704_067_200_000_000 + row * 25_217_250_000);
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from_iter_values(1..=ROWS)) as ArrayRef),
        ("customer_id", Arc::new(Int64Array::from(customers))),
        ("price", Arc::new(Decimal128Array::from(prices).with_precision_and_scale(10, 2)?)),
        ("region", Arc::new(StringArray::from(regions))),
        ("ordered_at", Arc::new(TimestampMicrosecondArray::from_iter_values(ordered).with_timezone("Europe/Paris"))),
        ("ship_to", Arc::new(ship_to)),
        ("items", Arc::new(items.finish())),
        ("note", Arc::new(StringArray::from(notes))),
    ])?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer =
        ArrowWriter::try_new(File::create(here.join("orders.parquet"))?, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

/// 120 web events as NDJSON; `detail` is nested and not in every record.
fn events(here: &Path, numbers: &mut Numbers) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for id in 0..120_usize {
        let kind = ["view", "click", "buy"][numbers.below(3)];
        let (hour, minute) = (id / 6, 10 * (id % 6));
        write!(text, r#"{{"id":{id},"kind":"{kind}","at":"2024-03-01T{hour:02}:{minute:02}:00Z""#)?;
        if kind != "view" {
            let good = GOODS[numbers.below(3)];
            write!(text, r#","detail":{{"good":"{good}","count":{}}}"#, 1 + numbers.below(4))?;
        }
        text.push_str("}\n");
    }
    Ok(fs::write(here.join("events.ndjson"), text)?)
}

/// Sales in hive-style folders, one for each year, semicolons between the fields.
fn sales(here: &Path, numbers: &mut Numbers) -> Result<(), Box<dyn Error>> {
    for year in [2023, 2024] {
        let folder = here.join(format!("sales/year={year}"));
        fs::create_dir_all(&folder)?;
        for quarter in 1..=2 {
            let mut text = String::from("day;good;amount\n");
            for day in 1..=10 {
                let good = GOODS[numbers.below(3)];
                writeln!(
                    text,
                    "{year}-{:02}-{day:02};{good};{}.{:02}",
                    quarter * 3,
                    numbers.below(900),
                    numbers.below(100)
                )?;
            }
            fs::write(folder.join(format!("q{quarter}.csv")), text)?;
        }
    }
    Ok(())
}
