use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width};
use ha_core::health::BrokenEntry;

use super::cell::NO_BREAK;
use super::{Cell, View, escaped, push_words};

/// The most columns that are used.
pub(crate) const WIDTH: u16 = 100;

/// `job-` and a job id.
const LONGEST_ID: usize = 36;

/// A table with these headings; cells are wrapped where the width does not do. Ends with a newline. Text that came
/// from outside must be escaped before.
pub(crate) fn table<const N: usize, C: Into<Cell>>(
    view: &View,
    headings: [&str; N],
    rows: impl IntoIterator<Item = [C; N]>,
) -> String {
    let mut table = Table::new();
    match view.has_colours() {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(headings);
    let mut longest = 0;
    let mut least = [0; N];
    for row in rows {
        let row = row.map(Into::into);
        for (least, cell) in least.iter_mut().zip(&row) {
            *least = cell.width.max(*least);
        }
        longest = longest.max(row.first().map_or(0, |id| id.text.chars().count()));
        table.add_row(row.map(|cell| {
            let shown = comfy_table::Cell::new(cell.text);
            match cell.tone {
                Some(tone) => shown.fg(tone.colour()),
                None => shown,
            }
        }));
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
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.replace(NO_BREAK, " ").trim_end());
        text.push('\n');
    }
    text
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
}
