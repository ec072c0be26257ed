use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};
use ha_core::health::BrokenEntry;

use super::cell::NO_BREAK;
use super::{Cell, View, escaped, push_words};

/// The most columns that are used.
pub(crate) const WIDTH: u16 = 100;

/// `job-` and a job id.
const LONGEST_ID: usize = 36;

/// How many rows are laid out, and so held twice in memory, at a time.
const PART: usize = 500;

/// Stands at the right end of each column of a row that is looked at, and never shown.
const MARK: char = '|';

/// A table with these headings; cells are wrapped where the width does not do. Ends with a newline. Text that came
/// from outside must be escaped before.
///
/// The columns get their widths by the first [`PART`] rows. Wider cells that follow are wrapped.
pub(crate) fn table<const N: usize, C: Into<Cell>>(
    view: &View,
    headings: [&str; N],
    rows: impl IntoIterator<Item = [C; N]>,
) -> String {
    long_table(view, headings, rows).collect()
}

/// The same in pieces, for what may be long: each is made when it is asked for.
pub(crate) fn long_table<const N: usize, C: Into<Cell>>(
    view: &View,
    headings: [&str; N],
    rows: impl IntoIterator<Item = [C; N]>,
) -> impl Iterator<Item = String> {
    in_parts(view, headings, rows, PART)
}

fn in_parts<const N: usize, C: Into<Cell>>(
    view: &View,
    headings: [&str; N],
    rows: impl IntoIterator<Item = [C; N]>,
    part: usize,
) -> impl Iterator<Item = String> {
    let mut rows = rows.into_iter().map(|row| row.map(Into::into)).peekable();
    let mut first = empty(view);
    first.set_header(headings);
    arrange(&mut first, rows.by_ref().take(part));
    let mut widths = Vec::new();
    let mut text: String = match rows.peek() {
        None => lines(&first).collect(),
        Some(_) => {
            let mark = comfy_table::Cell::new(MARK).set_alignment(CellAlignment::Right);
            first.add_row(vec![mark; N]);
            let mut lines: Vec<_> = lines(&first).collect();
            widths = widths_by(&lines.pop().unwrap_or_default(), &first);
            lines.concat()
        }
    };
    drop(first);
    let view = *view;
    std::iter::from_fn(move || {
        if text.is_empty() {
            let mut next = empty(&view);
            for row in rows.by_ref().take(part) {
                next.add_row(row.map(shown));
            }
            for (column, width) in next.column_iter_mut().zip(&widths) {
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(*width)));
            }
            text.extend(lines(&next));
        }
        Some(std::mem::take(&mut text)).filter(|text| !text.is_empty())
    })
}

fn empty(view: &View) -> Table {
    let mut table = Table::new();
    match view.has_colours() {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table
}

/// Adds the rows, and says what they ask of their columns.
fn arrange<const N: usize>(table: &mut Table, rows: impl Iterator<Item = [Cell; N]>) {
    let mut longest = 0;
    let mut least = [0; N];
    for row in rows {
        for (least, cell) in least.iter_mut().zip(&row) {
            *least = cell.width.max(*least);
        }
        longest = longest.max(row.first().map_or(0, |id| id.text.chars().count()));
        table.add_row(row.map(shown));
    }
    let whole: u16 = table
        .column_max_content_widths()
        .iter()
        .zip(table.column_iter())
        .fold(0, |sum, (width, column)| {
            sum.saturating_add(width.saturating_add(column.padding_width()))
        });
    for (column, least) in table.column_iter_mut().zip(least) {
        if least > 0 && whole > WIDTH {
            let width = least.saturating_add(column.padding_width());
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
    }
    // Ids stand in the first column; they can be copied only when they are whole.
    if longest <= LONGEST_ID
        && let Some(first) = table.column_mut(0)
    {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
}

fn shown(cell: Cell) -> comfy_table::Cell {
    let shown = comfy_table::Cell::new(cell.text);
    match cell.tone {
        Some(tone) => shown.fg(tone.colour()),
        None => shown,
    }
}

/// The lines, each with its end.
fn lines(table: &Table) -> impl Iterator<Item = String> {
    table.lines().map(|line| {
        let line = line.replace(NO_BREAK, " ");
        format!("{}\n", line.trim_end())
    })
}

/// How wide each column is, with what is left free beside it, by the line of the marks.
fn widths_by(marks: &str, table: &Table) -> Vec<u16> {
    let ends = marks.match_indices(MARK).map(|(place, _)| place + 1);
    let mut start = 0;
    ends.zip(table.column_iter())
        .map(|(end, column)| {
            let end = end + usize::from(column.padding_width() / 2);
            let width = end - start;
            start = end;
            u16::try_from(width).unwrap_or(WIDTH)
        })
        .collect()
}

/// What could not be read; empty when there is nothing.
pub(crate) fn broken_section(broken: &[BrokenEntry]) -> String {
    if broken.is_empty() {
        return String::new();
    }
    let mut text = format!("\nBroken or foreign, left as they are: {}\n", broken.len());
    for entry in broken {
        push_words(&mut text, "  ", &escaped(&entry.path), "  ");
        push_words(&mut text, "    ", &escaped(&entry.reason), "    ");
        for candidate in &entry.candidates {
            push_words(
                &mut text,
                "    could be used instead: ",
                &escaped(candidate),
                "      ",
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Tone;

    #[test]
    fn wide_cells_are_wrapped_within_100_columns() {
        let text = table(
            &View::plain(0),
            ["A", "B"],
            [["x".repeat(90), "word ".repeat(60)]],
        );
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(text.matches('x').count(), 90);
        let id = "job-eff2bc5ed0624b5ea60e7cad943e388d".to_owned();
        let text = table(
            &View::plain(0),
            ["A", "B", "C"],
            [[id.clone(), "y".repeat(60), "z".repeat(60)]],
        );
        assert!(
            text.contains(&id) && text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn a_long_table_looks_as_if_it_were_laid_out_at_once() {
        let row = |number: usize| {
            let wide = if number.is_multiple_of(7) { 5 } else { 1 };
            let id = Cell::from(format!("{number:032}"));
            let words = Cell::toned("word ".repeat(wide * 3), Tone::Bad);
            [id, words, Cell::from("数".repeat(10 * wide))]
        };
        for view in [View::plain(0), View::coloured(0)] {
            let headings = ["JOB", "NAME", "LEADER"];
            let long: String = in_parts(&view, headings, (0..205).map(row), 20).collect();
            let whole: String = in_parts(&view, headings, (0..205).map(row), 1000).collect();
            assert_eq!(long, whole);
            assert_eq!(long.matches("JOB").count(), 1);
            let ids = (0..205).map(|number| format!("{number:032}"));
            assert_eq!(ids.filter(|id| long.contains(id)).count(), 205);
        }
    }

    #[test]
    fn what_follows_the_first_part_is_wrapped_where_it_is_wider() {
        let rows = (0..30).map(|number| [number.to_string(), "y".repeat(1 + number)]);
        let text: String = in_parts(&View::plain(0), ["A", "B"], rows, 10).collect();
        let widest = text.lines().map(str::len).max();
        assert_eq!(widest, Some(" 9  yyyyyyyyyy".len()), "{text}");
        assert_eq!(text.matches('y').count(), (1..=30).sum::<usize>());
    }
}
