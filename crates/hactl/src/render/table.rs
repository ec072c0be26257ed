use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table};
use ha_core::health::BrokenEntry;

use super::{escaped, push_words};

/// The most columns that are used.
pub(crate) const WIDTH: u16 = 100;

/// `job-` and a job id.
const LONGEST_ID: usize = 36;

/// A table with these headings; cells are wrapped where the width does not do. Ends with a newline. Text that came
/// from outside must be escaped before.
pub(crate) fn table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(headings);
    let mut longest = 0;
    for row in rows {
        longest = longest.max(row.first().map_or(0, |id| id.chars().count()));
        table.add_row(row);
    }
    // Ids stand in the first column; they can be copied only when they are whole.
    if longest <= LONGEST_ID
        && let Some(first) = table.column_mut(0)
    {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
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
        let text = table(["A", "B"], [["x".repeat(90), "word ".repeat(60)]]);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(text.matches('x').count(), 90);
        let id = "job-eff2bc5ed0624b5ea60e7cad943e388d".to_owned();
        let text = table(["A", "B", "C"], [[id.clone(), "y".repeat(60), "z".repeat(60)]]);
        assert!(
            text.contains(&id) && text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }
}
