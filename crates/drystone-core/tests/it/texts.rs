//! Texts of policies: errors that point at the character.

use drystone_core::policy::PolicySpec;

#[test]
fn errors_say_where_and_what_was_perhaps_meant() {
    let long = format!("easy(order={}log(r)+)", "r+".repeat(60));
    for (text, position, suggestion) in [
        ("esy", Some(0), Some("easy")),
        ("easy(oder=sjf)", Some(5), Some("order")),
        ("easy(a=1))", Some(8), None),
        ("easy(order=r+)", Some(13), None),
        (&long, None, None),
    ] {
        let error = text.parse::<PolicySpec>().expect_err(text);
        assert_eq!(error.suggestion(), suggestion, "{error}");
        assert_eq!(error.position(), position, "{error}");
    }
}
