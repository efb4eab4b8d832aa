//! A grid of text for people, no wider than the terminal.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::text;

/// A column is not made narrower than this; columns that do not fit then are left out.
const LEAST_WIDTH: usize = 8;

/// Header, rows, and which columns hold numbers.
#[derive(Debug, Default)]
pub(super) struct Grid {
    header: Vec<String>,
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid without rows.
    pub(super) fn new(header: Vec<String>, numeric: Vec<bool>) -> Self {
        Self { header, numeric, rows: Vec::new() }
    }

    /// Adds a row of one text a column. The texts may hold anything.
    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Draws the grid in `width` columns of a terminal, or as wide as it is; each line ends in a line break. The
    /// second value is how many of the grid's columns had no room.
    pub(super) fn draw(&self, width: Option<usize>) -> (String, usize) {
        let cells: Vec<Vec<Vec<String>>> = std::iter::once(&self.header)
            .chain(&self.rows)
            .map(|row| row.iter().map(|cell| text::lines(cell)).collect())
            .collect();
        let natural: Vec<usize> = (0..self.header.len())
            .map(|column| {
                let lines = cells.iter().filter_map(|row| row.get(column)).flatten();
                lines.map(|line| text::width(line)).max().unwrap_or(0).max(1)
            })
            .collect();
        let widths = width.map_or_else(|| natural.clone(), |width| fit(&natural, width));

        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
        for (index, row) in cells.iter().enumerate() {
            let cells = row.iter().zip(&widths).zip(&self.numeric).map(|((lines, width), numeric)| {
                let lines: Vec<_> = lines.iter().map(|line| text::cut(line, *width)).collect();
                let alignment = if *numeric { CellAlignment::Right } else { CellAlignment::Left };
                Cell::new(lines.join("\n")).set_alignment(alignment)
            });
            let cells: Vec<_> = cells.collect();
            if index == 0 {
                table.set_header(cells);
            } else {
                table.add_row(cells);
            }
        }
        (format!("{table}\n"), natural.len() - widths.len())
    }
}

/// Widths whose columns, with their borders, take at most `width`: the widest are cut first, then the last columns
/// are left out.
fn fit(natural: &[usize], width: usize) -> Vec<usize> {
    // Each column has a border and two blanks, and the last one a border more.
    let room = |columns: usize| width.saturating_sub(3 * columns + 1);
    let least = |columns: usize| natural[..columns].iter().map(|width| (*width).min(LEAST_WIDTH)).sum::<usize>();
    let columns = (1..=natural.len()).rev().find(|columns| least(*columns) <= room(*columns)).unwrap_or(1);
    let shown = &natural[..columns.min(natural.len())];

    let taken = |cap: usize| shown.iter().map(|width| (*width).min(cap)).sum::<usize>();
    let widest = shown.iter().copied().max().unwrap_or(0);
    let (mut low, mut high) = (LEAST_WIDTH.min(widest), widest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if taken(middle) <= room(columns) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    shown.iter().map(|width| (*width).min(low)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_no_wider_than_the_terminal() {
        let mut grid = Grid::new(vec!["id".into(), "note".into()], vec![true, false]);
        grid.push(vec!["7".into(), "a long note that goes on".into()]);
        grid.push(vec!["10".into(), "two\nlines".into()]);
        let (text, left_out) = grid.draw(Some(20));
        let expected = "\
┌────┬─────────────┐
│ id ┆ note        │
╞════╪═════════════╡
│  7 ┆ a long not… │
│ 10 ┆ two         │
│    ┆ lines       │
└────┴─────────────┘
";
        assert_eq!(text, expected);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn columns_without_room_are_left_out() {
        assert_eq!(fit(&[3, 30, 4], 80), [3, 30, 4]);
        assert_eq!(fit(&[3, 30, 40], 40), [3, 13, 13]);
        assert_eq!(fit(&[20; 10], 45), [8, 8, 8, 8]);
        assert_eq!(fit(&[20], 2), [8]);
        assert_eq!(fit(&[], 80), Vec::<usize>::new());
    }
}
