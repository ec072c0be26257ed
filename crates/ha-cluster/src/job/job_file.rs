use std::path::{Path, PathBuf};
use std::time::Duration;

use ha_services::Result;
use ha_services::configuration::ConfigValue as _;
use ha_services::ids::{ClusterId, JobId};
use serde_json::Value;
use uuid::Uuid;

use super::fields::{Fields, kind_of};
use super::job_spec::{FORMAT, JobSpec};

/// The longest job file, in bytes.
pub const MAX_JOB_FILE_LENGTH: u64 = 64 * 1024;
/// The longest name, in characters.
const MAX_NAME_LENGTH: usize = 200;
/// The fields of a job file.
const FIELDS: &[&str] = &[
    "format",
    "name",
    "source",
    "sink",
    "checkpoint_interval",
    "lines_per_second",
    "job_id",
];
/// The longest interval; anything longer is a mistyped unit.
const MAX_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// The namespace of the ids of jobs that are named by their content (an arbitrary, fixed UUID).
const CONTENT_NAMESPACE: Uuid = Uuid::from_u128(0x6c1d_54a9_2f0b_5e83_9a77_1c90_44be_d21f);

/// A job file as it was read: what the job does, and its id where the file says one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// What the job does.
    pub spec: JobSpec,
    /// The id that the file gives.
    pub job_id: Option<JobId>,
}

impl JobFile {
    /// Reads a job file. `origin` names it in errors. Relative paths in it are below `base`; where there is no
    /// base (the file came over the network) they are refused.
    ///
    /// # Errors
    /// `Invalid`, with the field and what is wrong with it.
    pub fn parse(text: &[u8], origin: &str, base: Option<&Path>) -> Result<Self> {
        let mut fields = Fields::parse(text, origin, FIELDS)?;
        check_format(&mut fields)?;
        let name = name(&mut fields)?;
        let source = path(&mut fields, "source", base)?;
        let sink = path(&mut fields, "sink", base)?;
        let checkpoint_interval = interval(&mut fields)?;
        let lines_per_second = lines_per_second(&mut fields)?;
        let job_id = fields
            .take_text("job_id")?
            .map(|text| text.parse::<JobId>())
            .transpose()
            .map_err(|error| fields.error("job_id", error.message()))?;
        Ok(Self {
            spec: JobSpec {
                name,
                source,
                sink,
                checkpoint_interval,
                lines_per_second,
            },
            job_id,
        })
    }

    /// The id of a job that was given none: the same for the same content in the same cluster, so that the same
    /// file, run by several processes or again after a crash, is one job.
    pub fn content_id(cluster_id: &ClusterId, content: &[u8]) -> JobId {
        let mut name = cluster_id.as_str().as_bytes().to_vec();
        name.push(0);
        name.extend_from_slice(content);
        JobId::from_bytes(*Uuid::new_v5(&CONTENT_NAMESPACE, &name).as_bytes())
    }
}

fn check_format(fields: &mut Fields<'_>) -> Result<()> {
    match fields.take("format") {
        None => Ok(()),
        Some(value) if value.as_u64() == Some(FORMAT) => Ok(()),
        Some(other) => Err(fields.error(
            "format",
            &format!("{other} is not a format that this version reads"),
        )),
    }
}

fn name(fields: &mut Fields<'_>) -> Result<String> {
    let name = fields.require_text("name")?;
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_LENGTH {
        return Err(fields.error("name", &format!("1 to {MAX_NAME_LENGTH} characters are expected")));
    }
    if name.chars().any(char::is_control) {
        return Err(fields.error("name", "control characters are not allowed"));
    }
    Ok(name)
}

fn path(fields: &mut Fields<'_>, field: &str, base: Option<&Path>) -> Result<PathBuf> {
    let text = fields.require_text(field)?;
    if text.is_empty() || text.contains('\0') {
        return Err(fields.error(field, "a path is expected"));
    }
    let path = PathBuf::from(text);
    match base {
        _ if path.is_absolute() => Ok(path),
        Some(base) => Ok(base.join(path)),
        None => Err(fields.error(field, "an absolute path is expected here")),
    }
}

fn interval(fields: &mut Fields<'_>) -> Result<Duration> {
    const FIELD: &str = "checkpoint_interval";
    let text = match fields.take(FIELD) {
        None => return Err(fields.error(FIELD, "the field is missing")),
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => {
            let reason = format!(
                "a duration such as \"200 ms\" is expected, not {}",
                kind_of(&other)
            );
            return Err(fields.error(FIELD, &reason));
        }
    };
    let interval =
        Duration::parse(&text).map_err(|reason| fields.error(FIELD, &format!("{text:?} {reason}")))?;
    if interval < Duration::from_millis(1) || interval > MAX_INTERVAL {
        return Err(fields.error(FIELD, "1 ms to 1 day are expected"));
    }
    Ok(interval)
}

fn lines_per_second(fields: &mut Fields<'_>) -> Result<Option<u64>> {
    const FIELD: &str = "lines_per_second";
    match fields.take(FIELD) {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(lines) if lines > 0 => Ok(Some(lines)),
            _ => Err(fields.error(FIELD, &format!("a whole number from 1 is expected, not {value}"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"name":"wordcount","source":"in.txt","sink":"/out/counts.txt","checkpoint_interval":"200 ms"}"#;

    fn parse(text: &str) -> Result<JobFile> {
        JobFile::parse(text.as_bytes(), "job.json", Some(Path::new("/data")))
    }

    #[test]
    fn paths_are_the_callers_and_options_are_optional() {
        let file = parse(GOOD).unwrap();
        assert_eq!(file.spec.source, Path::new("/data/in.txt"));
        assert_eq!(file.spec.sink, Path::new("/out/counts.txt"));
        assert_eq!(file.spec.checkpoint_interval, Duration::from_millis(200));
        assert_eq!((file.spec.lines_per_second, file.job_id), (None, None));
    }

    #[test]
    fn the_canonical_form_is_a_job_file_of_the_same_content() {
        let file = parse(GOOD).unwrap();
        let again = JobFile::parse(&file.spec.to_json(), "payload", None).unwrap();
        assert_eq!(again, file);
        assert_eq!(again.spec.digest(), file.spec.digest());
        let id = JobId::from_bytes([7; 16]);
        let posted = JobFile::parse(&file.spec.to_json_with(Some(id)), "body", None).unwrap();
        assert_eq!(posted.job_id, Some(id));
        assert_eq!(posted.spec.digest(), file.spec.digest());
    }

    #[test]
    fn every_error_names_its_field() {
        let cases = [
            ("sauce", GOOD.replace("source", "sauce")),
            ("name", GOOD.replace("\"wordcount\"", "7")),
            ("name", GOOD.replace("wordcount", " ")),
            ("name", GOOD.replace("\"name\":\"wordcount\",", "")),
            ("sink", GOOD.replace("\"/out/counts.txt\"", "\"\"")),
            ("source", GOOD.replace("\"in.txt\"", "[\"in.txt\"]")),
            ("checkpoint_interval", GOOD.replace("200 ms", "200 parsecs")),
            ("checkpoint_interval", GOOD.replace("200 ms", "0 ms")),
            ("checkpoint_interval", GOOD.replace("\"200 ms\"", "true")),
            (
                "lines_per_second",
                GOOD.replace("\"name\"", "\"lines_per_second\":0,\"name\""),
            ),
            (
                "lines_per_second",
                GOOD.replace("\"name\"", "\"lines_per_second\":1.5,\"name\""),
            ),
            ("job_id", GOOD.replace("\"name\"", "\"job_id\":\"xyz\",\"name\"")),
            ("name", GOOD.replace("\"name\"", "\"name\":\"a\",\"name\"")),
            ("format", GOOD.replace("\"name\"", "\"format\":2,\"name\"")),
        ];
        for (field, text) in cases {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.starts_with("job.json: field "), "{error}");
            assert!(error.contains(&format!("{field:?}")), "{field}: {error}");
        }
    }

    #[test]
    fn malformed_json_says_where() {
        for text in ["", "[]", "{\"name\":", "{} x", "\u{0}"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(
                error.starts_with("job.json: ") && error.contains("line 1"),
                "{error}"
            );
        }
    }

    #[test]
    fn relative_paths_are_refused_where_nobody_knows_the_base() {
        let error = JobFile::parse(GOOD.as_bytes(), "body", None).unwrap_err();
        assert!(error.to_string().contains("\"source\""), "{error}");
    }

    #[test]
    fn content_ids_depend_on_cluster_and_content_only() {
        let (a, b) = (ClusterId::new("a").unwrap(), ClusterId::new("b").unwrap());
        assert_eq!(JobFile::content_id(&a, b"x"), JobFile::content_id(&a, b"x"));
        assert_ne!(JobFile::content_id(&a, b"x"), JobFile::content_id(&b, b"x"));
        assert_ne!(JobFile::content_id(&a, b"x"), JobFile::content_id(&a, b"y"));
    }
}
