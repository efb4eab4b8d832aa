//! Near names: what was probably meant.

use std::collections::HashSet;

use super::MAX_SUGGESTIONS;

/// Longer names are not compared: the cost is quadratic, and such a name is copied, not typed.
const MAX_COMPARED: usize = 128;

/// The nearest of `candidates` to `name`, best first, at most [`MAX_SUGGESTIONS`].
///
/// Names that differ in case or underscores alone come first, then by edit distance, then names that contain `name`.
/// Names that are equal count as different things of one name (two tables' columns), and are near as well.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = Folded::new(name);
    let mut seen = HashSet::new();
    let mut ranked: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| seen.insert(*candidate))
        .filter_map(|candidate| Some((wanted.rank(candidate)?, candidate)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(MAX_SUGGESTIONS);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Whether two names differ in case alone.
pub(crate) fn differ_in_case(left: &str, right: &str) -> bool {
    left != right && left.to_lowercase() == right.to_lowercase()
}

struct Folded {
    lower: String,
    length: usize,
    bare: String,
}

impl Folded {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        Self { length: lower.chars().count(), bare: bare(&lower), lower }
    }

    /// Lower is nearer; none is too far away to be worth showing.
    fn rank(&self, candidate: &str) -> Option<usize> {
        let lower = candidate.to_lowercase();
        if lower == self.lower {
            return Some(0);
        }
        if !self.bare.is_empty() && bare(&lower) == self.bare {
            return Some(1);
        }
        let length = lower.chars().count();
        if self.length > MAX_COMPARED || length > MAX_COMPARED {
            return None;
        }
        // A third of the longer name may be wrong, two letters in any case of more than three.
        let most = (self.length.max(length) / 3).max(if self.length > 3 { 2 } else { 1 });
        if self.length.abs_diff(length) <= most {
            let distance = strsim::osa_distance(&self.lower, &lower);
            if distance <= most {
                return Some(1 + distance);
            }
        }
        (self.length >= 3 && lower.contains(&self.lower) || length >= 3 && self.lower.contains(&lower))
            .then(|| 1000 + self.length.abs_diff(length))
    }
}

fn bare(lower: &str) -> String {
    lower.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_then_distance_then_substring() {
        let names = ["user_name", "userId", "user", "UserID", "total_userid_count"];
        assert_eq!(nearest("userid", names), ["userId", "UserID", "user", "total_userid_count"]);
        assert_eq!(nearest("zzz", names), Vec::<&str>::new());
        assert_eq!(nearest("", names), Vec::<&str>::new());
    }

    #[test]
    fn wide_tables_do_not_hide_the_right_name() {
        let mut names: Vec<String> = (0..3000).map(|i| format!("sensor_reading_{i:05}")).collect();
        names.push("temperature_c".to_owned());
        assert_eq!(nearest("temprature_c", names.iter().map(String::as_str)), ["temperature_c"]);
    }
}
