//! The one redaction that every text passes on its way out of the crate.
//!
//! Two layers: [`redact`] knows what secrets look like, [`Secrets`] knows the very values that the toolset was given.
//! Both take linear time, never fail, and leave text without secrets as it stands.

use std::borrow::Cow;

const STARS: &str = "***";

/// Words that name a secret wherever they are a whole word of a key: `aws_secret_access_key`, `sessionToken`.
const SECRET_WORDS: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
    "signature",
    "sas",
    "apikey",
    "passphrase",
    "authorization",
];

/// Pairs of words that do: `access_key`, `account-key`.
const SECRET_PAIRS: [(&str, &str); 7] = [
    ("access", "key"),
    ("account", "key"),
    ("api", "key"),
    ("private", "key"),
    ("encryption", "key"),
    ("shared", "key"),
    ("master", "key"),
];

/// Replaces keys, tokens, passwords and signed query strings by `***`.
///
/// In a URL every value of the query string and the password go; host, path and parameter names stay. Elsewhere a
/// value goes when the key before it names a secret and the value is one (quoted, or more than a small number), after
/// `Bearer` and `Basic`, in `<SessionToken>…</SessionToken>`, in PEM blocks, and where it is an AWS key id.
///
/// Payloads, error texts and `Debug` output have passed it. A program that logs the [source](std::error::Error::source)
/// of an [`Error`](crate::Error) does the same with its text:
///
/// ```
/// let text = datafusion_toolset::redact("GET https://host/key?X-Amz-Signature=0a1b2c failed");
/// assert_eq!(text, "GET https://host/key?X-Amz-Signature=*** failed");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = Output { text, copied: 0, out: String::new() };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("://") {
            at = url(&mut out, at + 3);
        } else if rest.starts_with("-----BEGIN ") {
            at = pem(&mut out, at);
        } else if is_word(bytes[at]) && (at == 0 || !is_word(bytes[at - 1])) {
            at = word(&mut out, at);
        } else {
            at = next(text, at);
        }
    }
    out.finish()
}

/// What has been written so far, copied only from the first replacement on.
struct Output<'a> {
    text: &'a str,
    copied: usize,
    out: String,
}

impl<'a> Output<'a> {
    fn replace(&mut self, start: usize, end: usize) {
        if start < end && &self.text[start..end] != STARS {
            self.out.push_str(&self.text[self.copied..start]);
            self.out.push_str(STARS);
            self.copied = end;
        }
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out.push_str(&self.text[self.copied..]);
        Cow::Owned(self.out)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The next character boundary.
fn next(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// The first position from `at` on whose byte ends the run; every byte asked about is ASCII, so it is a boundary.
fn run(text: &str, at: usize, ends: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[at..].iter().position(|byte| ends(*byte)).map_or(text.len(), |length| at + length)
}

/// From behind `://` to the end of the URL.
fn url(out: &mut Output<'_>, start: usize) -> usize {
    let text = out.text;
    let end =
        run(text, start, |b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|'));
    let authority_end = run(&text[..end], start, |b| matches!(b, b'/' | b'?' | b'#'));
    // A password may hold an `@` that nobody escaped.
    if let Some(at_sign) = text[start..authority_end].rfind('@')
        && let Some(colon) = text[start..start + at_sign].find(':')
    {
        out.replace(start + colon + 1, start + at_sign);
    }
    let Some(question) = text[authority_end..end].find('?') else { return end };
    let mut at = authority_end + question + 1;
    while at < end {
        let parameter_end = run(&text[..end], at, |b| matches!(b, b'&' | b';' | b'#'));
        if let Some(equals) = text[at..parameter_end].find('=') {
            let mut value_end = parameter_end;
            // A sentence may end here; the value does not.
            if parameter_end == end {
                while matches!(text.as_bytes()[value_end - 1], b')' | b']' | b'}' | b',' | b'.' | b':')
                    && value_end > at + equals + 1
                {
                    value_end -= 1;
                }
            }
            out.replace(at + equals + 1, value_end);
        }
        at = parameter_end + 1;
    }
    end
}

/// A PEM block, to its end or to the end of the text.
fn pem(out: &mut Output<'_>, start: usize) -> usize {
    let text = out.text;
    let line_end = start + 11 + run(&text[start + 11..], 0, |b| b == b'-' || b == b'\n');
    if !text[start..line_end].contains("PRIVATE") {
        return line_end;
    }
    let from = text.len().min(line_end + 5);
    let from = if text.is_char_boundary(from) { from } else { line_end };
    let end = text[from..].find("-----END ").map_or(text.len(), |end| from + end);
    out.replace(from, end);
    text.len().min(end + 9)
}

/// A word: an AWS key id, `Bearer`, or a key with its value.
fn word(out: &mut Output<'_>, start: usize) -> usize {
    let text = out.text;
    let end = run(text, start, |b| !(is_word(b) || b == b'-'));
    let word = text[start..end].trim_end_matches('-');
    let end = start + word.len();
    if is_aws_key_id(word) {
        out.replace(start, end);
        return end;
    }
    if (word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic"))
        && text.as_bytes().get(end) == Some(&b' ')
    {
        let value_end = run(text, end + 1, |b| !(b.is_ascii_alphanumeric() || b"-._~+/=%".contains(&b)));
        // "Basic types" is English; a token has more to it.
        if value_end - end > 16 || text[..start].trim_end().ends_with([':', '=']) {
            out.replace(end + 1, value_end);
            return value_end;
        }
        return end;
    }
    if !names_a_secret(word) {
        return end;
    }
    value(out, end, start > 0 && text.as_bytes()[start - 1] == b'<')
}

fn is_aws_key_id(word: &str) -> bool {
    word.len() == 20
        && ["AKIA", "ASIA", "AROA", "AIDA"].iter().any(|prefix| word.starts_with(prefix))
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Whether one of the key's words, split at `_`, `-` and where capitals begin, names a secret.
fn names_a_secret(key: &str) -> bool {
    let mut words: Vec<String> = Vec::new();
    let mut lower_before = false;
    for c in key.chars() {
        let breaks = matches!(c, '_' | '-') || (c.is_ascii_uppercase() && lower_before);
        if breaks || words.is_empty() {
            words.push(String::new());
        }
        if !matches!(c, '_' | '-')
            && let Some(last) = words.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
        lower_before = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    // `token_count` counts tokens.
    let names_an_amount = words.last().is_some_and(|last| {
        ["count", "counts", "total", "number", "id", "ids", "name", "type", "usage", "limit", "length", "age", "at"]
            .contains(&last.as_str())
    });
    let aws_key_id = words.windows(3).any(|three| three == ["access", "key", "id"]);
    if aws_key_id {
        return true;
    }
    !names_an_amount
        && (words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
            || words.windows(2).any(|two| SECRET_PAIRS.iter().any(|(a, b)| two[0] == *a && two[1] == *b)))
}

/// The value behind a key that names a secret: `= value`, `: value`, `": "value"`, `>value<`, `' => 'value'`.
fn value(out: &mut Output<'_>, key_end: usize, in_tag: bool) -> usize {
    let text = out.text;
    let bytes = text.as_bytes();
    if in_tag && bytes.get(key_end) == Some(&b'>') {
        let end = run(text, key_end + 1, |b| b == b'<');
        out.replace(key_end + 1, end);
        return end;
    }
    let mut at = key_end;
    // The quote that closes the key, escaped inside a string of JSON.
    while bytes.get(at).is_some_and(|b| matches!(b, b'"' | b'\'' | b'`' | b'\\')) {
        at += 1;
    }
    let quoted = at > key_end;
    at = run(text, at, |b| b != b' ');
    // `OPTIONS ('aws.secret_access_key' 'abc')` has nothing between the two.
    let follows = quoted && bytes.get(at) == Some(&b'\'') && bytes[at - 1] == b' ';
    if !follows && !bytes.get(at).is_some_and(|b| matches!(b, b'=' | b':')) {
        return key_end;
    }
    at = run(text, at, |b| !matches!(b, b'=' | b':' | b'>'));
    at = run(text, at, |b| b != b' ');
    for wrapper in ["Some(", "String("] {
        if text[at..].starts_with(wrapper) {
            at += wrapper.len();
        }
    }
    let escaped = bytes.get(at) == Some(&b'\\');
    at += usize::from(escaped);
    match bytes.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            let start = at + 1;
            let end = run(text, start, |b| b == *quote || escaped && b == b'\\');
            out.replace(start, end);
            end
        }
        Some(_) => {
            // `authorization: Bearer abc`: the scheme stays, its value goes.
            for scheme in ["bearer ", "basic "] {
                if text.get(at..at + scheme.len()).is_some_and(|found| found.eq_ignore_ascii_case(scheme)) {
                    at += scheme.len();
                }
            }
            let end = run(text, at, |b| {
                b.is_ascii_whitespace()
                    || matches!(b, b',' | b';' | b'&' | b'"' | b'\'' | b')' | b'}' | b']' | b'<' | b'|')
            });
            // `token = 5` and `token = t.id` are SQL.
            let value = &text[at..end];
            let is_sql = value.len() < 8 || value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let spaced = bytes.get(at.wrapping_sub(1)) == Some(&b' ');
            if !(spaced && is_sql) {
                out.replace(at, end);
            }
            end.max(key_end)
        }
        None => text.len(),
    }
}

/// The secret values that the toolset itself was given, for texts whose shape tells nothing.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Values of fewer than four bytes are not kept: they would hit words that are no secrets.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= 4).collect();
        // The longest first: one value can be the beginning of another.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self(values)
    }

    /// [`redact`], and the known values as well.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), STARS));
            }
        }
        match redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => Cow::Owned(redacted),
        }
    }
}

impl Secrets {
    /// [`redact`](Self::redact) for the value of a setting, which is a secret also when only its name says so.
    pub(crate) fn redact_value(&self, name: &str, value: &str) -> String {
        // Two names in one: `aws.secret_access_key` ends in the one that counts.
        let is_secret = name.split('.').any(names_a_secret) && !value.is_empty() && value != "true" && value != "false";
        if is_secret && value.parse::<f64>().is_err() { STARS.to_owned() } else { self.redact(value).into_owned() }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        for (text, expected) in [
            (
                "https://u:p@ss@host/b/k.parquet?X-Amz-Signature=abc&X-Amz-Date=1",
                "https://u:***@host/b/k.parquet?X-Amz-Signature=***&X-Amz-Date=***",
            ),
            (
                "GET https://acc.blob.core.windows.net/c/k?sv=2024&sig=a%2Fb: 403",
                "GET https://acc.blob.core.windows.net/c/k?sv=***&sig=***: 403",
            ),
            ("s3://bucket/data/sales/x.parquet is gone", "s3://bucket/data/sales/x.parquet is gone"),
            ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
            ("sent Basic dXNlcjpwYXNzd29yZA== to it", "sent Basic *** to it"),
            ("Basic types are allowed", "Basic types are allowed"),
            ("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key=***"),
            ("AccountName=acc;AccountKey=abc==;EndpointSuffix=x", "AccountName=acc;AccountKey=***;EndpointSuffix=x"),
            ("{\"password\": \"hunter2\", \"user\": \"bob\"}", "{\"password\": \"***\", \"user\": \"bob\"}"),
            ("{\\\"secret\\\":\\\"hunter2\\\"}", "{\\\"secret\\\":\\\"***\\\"}"),
            (
                "<SessionToken>FwoGZXIvYXdz//x</SessionToken><Code>A</Code>",
                "<SessionToken>***</SessionToken><Code>A</Code>",
            ),
            ("key AKIAIOSFODNN7EXAMPLE was refused", "key *** was refused"),
            ("secret_access_key: Some(\"abc\")", "secret_access_key: Some(\"***\")"),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----",
            ),
            ("token=abcd", "token=***"),
            (
                "OPTIONS ('aws.secret_access_key' 'abc', 'aws.region' 'eu')",
                "OPTIONS ('aws.secret_access_key' '***', 'aws.region' 'eu')",
            ),
            ("'password' 'hunter2'", "'password' '***'"),
            ("IN ('token', 'secret')", "IN ('token', 'secret')"),
            ("SELECT token FROM t", "SELECT token FROM t"),
            ("token_count = 5 and token = 5", "token_count = 5 and token = 5"),
            ("No column named token. Use secret", "No column named token. Use secret"),
            ("été://x?é=é", "été://x?é=***"),
            ("", ""),
            ("password:", "password:"),
            ("://", "://"),
        ] {
            assert_eq!(redact(text), expected);
            assert_eq!(redact(&redact(text)), expected, "twice");
        }
    }

    #[test]
    fn known_values_go_wherever_they_stand() {
        let secrets = Secrets::new(["hunter22".into(), "abc".into(), "hunter2200".into()]);
        assert_eq!(secrets.redact("x hunter2200y hunter22 abc"), "x ***y *** abc");
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }

    #[test]
    fn a_settings_name_tells_on_its_value() {
        let secrets = Secrets::new(["hunter22".into()]);
        for (name, value, shown) in [
            ("aws.secret_access_key", "abc", "***"),
            ("my.apiKey", "abc", "***"),
            ("store.url", "https://h/x?sig=abc", "https://h/x?sig=***"),
            ("store.note", "is hunter22", "is ***"),
            ("datafusion.execution.batch_size", "8192", "8192"),
            ("x.token_limit", "100", "100"),
            ("x.token", "", ""),
        ] {
            assert_eq!(secrets.redact_value(name, value), shown, "{name}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,200}") {
            redact(&text);
        }

        #[test]
        fn never_panics_on_what_it_looks_for(parts in prop::collection::vec(prop::sample::select(vec![
            "://", "?", "=", "&", "@", ":", "password", "token", "-----BEGIN ", "PRIVATE", "-----END ", "-", "é", " ",
            "<", ">", "\"", "'", "\\", "Bearer", "Basic ", "AKIAIOSFODNN7EXAMPLE", "Some(", "\n", "access_key", "a", "/", ".",
        ]), 0..40)) {
            redact(&parts.concat());
        }

        #[test]
        fn words_and_sql_survive(text in "[a-z ,.()*]{0,100}") {
            prop_assert!(matches!(redact(&text), Cow::Borrowed(_)));
        }

        #[test]
        fn no_query_value_survives(value in "[A-Za-z0-9%+/]{6,40}", key in "[a-zA-Z-]{1,10}") {
            let text = format!("cannot get https://host/bucket/key.parquet?{key}={value} now");
            let redacted = redact(&text).into_owned();
            prop_assert!(redacted.ends_with("=*** now"), "{}", redacted);
        }
    }
}
