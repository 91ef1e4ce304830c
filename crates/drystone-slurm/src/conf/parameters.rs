//! Words of `SchedulerParameters`, changed.

use super::Knob;

/// Returns the words of `SchedulerParameters` with these values: a word keeps its place, a new one
/// comes last, a flag that is to be off goes.
pub fn merge_parameters(now: &str, words: &[(&'static str, &str)]) -> String {
    let mut parameters: Vec<String> =
        now.split(',').map(str::trim).filter(|word| !word.is_empty()).map(String::from).collect();
    for &(name, value) in words {
        let flag = Knob::find_knob(name).is_some_and(Knob::is_flag);
        let word = match (flag, value) {
            (true, "yes") => Some(name.to_string()),
            (true, _) => None,
            (false, value) => Some(format!("{name}={value}")),
        };
        let same = |old: &String| old.split('=').next().is_some_and(|key| key.trim().eq_ignore_ascii_case(name));
        let place = parameters.iter().position(same);
        parameters.retain(|old| !same(old));
        if let Some(word) = word {
            parameters.insert(place.unwrap_or(parameters.len()).min(parameters.len()), word);
        }
    }
    parameters.join(",")
}
