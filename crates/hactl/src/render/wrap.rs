use unicode_width::UnicodeWidthChar as _;

use super::WIDTH;

/// Appends `line` in lines of the table's width, broken anywhere; those that follow begin with `indent`.
pub(crate) fn push_wrapped(text: &mut String, line: &str, indent: &str) {
    let mut column = 0;
    for c in line.chars() {
        column = push_char(text, c, column, indent);
    }
    text.push('\n');
}

/// Appends prose in lines of the table's width, broken between words; the first begins with `first`, those that
/// follow with `indent`. A path stays whole, on a line of its own where it is wider than all; another word of that
/// width is broken.
pub(crate) fn push_words(text: &mut String, first: &str, words: &str, indent: &str) {
    text.push_str(first);
    let mut column = columns(first);
    let mut line_is_empty = first.trim().is_empty();
    for word in words.split_whitespace() {
        let width = columns(word);
        let space = usize::from(!line_is_empty && !first_ends_in_space(text));
        if !line_is_empty && column + space + width > usize::from(WIDTH) {
            trim_line(text);
            text.push('\n');
            text.push_str(indent);
            column = columns(indent);
        } else if space == 1 {
            text.push(' ');
            column += 1;
        }
        if word.contains('/') {
            text.push_str(word);
            column += width;
        } else {
            for c in word.chars() {
                column = push_char(text, c, column, indent);
            }
        }
        line_is_empty = false;
    }
    text.push('\n');
}

fn first_ends_in_space(text: &str) -> bool {
    text.ends_with([' ', '\n'])
}

fn trim_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
}

/// Appends one character, in a new line where the present one is full. Gives the column after it.
fn push_char(text: &mut String, c: char, column: usize, indent: &str) -> usize {
    let width = c.width().unwrap_or(0);
    let column = if column + width > usize::from(WIDTH) {
        text.push('\n');
        text.push_str(indent);
        columns(indent)
    } else {
        column
    };
    text.push(c);
    column + width
}

/// How many columns of a terminal a text takes.
fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(first: &str, words: &str) -> String {
        let mut text = String::new();
        push_words(&mut text, first, words, "    ");
        text
    }

    #[test]
    fn prose_is_broken_between_words() {
        let text = words("x failed: ", &"word ".repeat(60));
        assert!(text.starts_with("x failed: word word"), "{text}");
        assert!(
            text.lines()
                .all(|line| columns(line) <= 100 && !line.ends_with(' ')),
            "{text}"
        );
        assert_eq!(text.matches("word").count(), 60);
        assert_eq!(text.matches("\n    word").count(), text.lines().count() - 1);
        assert_eq!(words("  ", "a b"), "  a b\n");
    }

    #[test]
    fn a_long_path_stands_whole_on_its_own_line_and_other_long_words_are_broken() {
        let path = format!("/{}", "p".repeat(150));
        let text = words("x failed: ", &format!("before {path} after {}", "q".repeat(300)));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[..3],
            ["x failed: before", &format!("    {path}"), "    after"]
        );
        assert!(lines[3..].iter().all(|line| columns(line) <= 100), "{text}");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        for text in [words("", &"数".repeat(300)), {
            let mut text = String::new();
            push_wrapped(&mut text, &"数".repeat(300), "  ");
            text
        }] {
            assert!(text.lines().all(|line| columns(line) <= 100), "{text}");
            assert_eq!(text.matches('数').count(), 300);
        }
    }
}
