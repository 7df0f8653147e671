//! Settings as operators use them: the binary's `config` commands, and `docs/operate/configuration.md`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use clap::Args;
use tempfile::TempDir;
use tidewatch_server::config::{Config, show};

#[test]
fn snapshot_of_the_settings() {
    let text = show::documentation(&Config::augment_args(clap::Command::new("serve")));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operate/configuration.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &text).expect("docs can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/operate/configuration.md is old: run `make snapshots`");
}

#[test]
fn every_setting_is_documented() {
    for line in show::documentation(&Config::augment_args(clap::Command::new("serve")))
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
    {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() >= 6 && cells[1..4].iter().all(|cell| cell.len() > 4) && !cells[5].is_empty(), "{line}");
    }
}

fn tidewatch(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.args(arguments).env_clear().envs(environment.iter().copied()).output().expect("the binary runs")
}

#[test]
fn flags_then_environment_then_file_then_default() {
    let folder = TempDir::new().expect("a temporary directory");
    let file = folder.path().join("tidewatch.toml");
    fs::write(
        &file,
        "retention_days = 1\nflush_rows = 2\nflush_seconds = 3\njwt_secret = \"0123456789abcdef0123456789abcdef\"\n",
    )
    .expect("a file");
    let file = file.to_str().expect("a path");
    let environment = [("TIDEWATCH_FLUSH_ROWS", "20"), ("TIDEWATCH_FLUSH_SECONDS", "30"), ("TIDEWATCH_CONFIG", file)];
    let shown = tidewatch(&["config", "show", "--flush-seconds", "300"], &environment);
    let text = String::from_utf8(shown.stdout).expect("text");
    for line in [
        "retention_days = 1  # file",
        "flush_rows = 20  # environment",
        "flush_seconds = 300  # flag",
        "query_threads = 0  # default",
        "jwt_secret = (secret)  # file",
        "trusted_proxies = (not set)  # default",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    assert!(!text.contains("0123456789abcdef"), "secrets are not shown");
    assert!(tidewatch(&["config", "check", "--config", file], &[]).status.success());
}

#[test]
fn invalid_settings_are_reported_before_the_start() {
    let folder = TempDir::new().expect("a temporary directory");
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let unknown = path("unknown.toml", "retention_day = 1\n");
    let wrong = path("wrong.toml", "retention_days = \"many\"\n");
    let short = path("short.key", "short");
    for (arguments, expected) in [
        (vec!["--config", unknown.as_str()], "retention_day is no setting; did you mean retention_days?"),
        (vec!["--config", wrong.as_str()], "invalid value 'many' for '--retention-days"),
        (vec!["--config", "/none.toml"], "cannot read /none.toml"),
        (vec!["--trusted-proxies", "10.0.0.0/99"], "TRUSTED_PROXIES: \"10.0.0.0/99\" is no address"),
        (vec!["--jwt-secret-file", short.as_str()], "the login key is shorter than 32 bytes"),
        (vec!["--listen", "here"], "is no address with a port"),
        (vec!["--jwt-secret", "0123456789abcdef0123456789abcdef"], "set JWT_SECRET, JWT_SECRET_FILE, or jwt_secret"),
        (vec!["--smtp-password", "s3cret"], "set SMTP_PASSWORD, SMTP_PASSWORD_FILE"),
        (vec!["--twilio-auth-token", "s3cret"], "set TWILIO_AUTH_TOKEN, TWILIO_AUTH_TOKEN_FILE"),
        (
            vec!["--twilio-from", "+12025550100"],
            "twilio_account_sid, twilio_auth_token and twilio_from need each other",
        ),
        (vec!["--database-url", "postgres://a:b@c/d"], "set DATABASE_URL, DATABASE_URL_FILE"),
        (vec!["--secrets-key", "0123456789abcdef0123456789abcdef"], "set SECRETS_KEY, SECRETS_KEY_FILE"),
        (vec!["--oidc-client-secret", "s3cret"], "set OIDC_CLIENT_SECRET, OIDC_CLIENT_SECRET_FILE"),
        (vec!["--retention-day", "1"], "--retention-days"),
    ] {
        for command in [&["config", "check"][..], &["serve"]] {
            let output = tidewatch(&[command, &arguments].concat(), &[]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains(expected), "{command:?} {arguments:?}: {said}");
            assert!(!said.contains("s3cret") && !said.contains("0123456789abcdef"), "{said}");
        }
    }
}

#[test]
fn the_settings_are_printed() {
    let output = tidewatch(&["config", "docs"], &[]);
    assert!(
        String::from_utf8_lossy(&output.stdout)
            .contains("| `listen` | `--listen` | `TIDEWATCH_LISTEN` | `127.0.0.1:8080` |")
    );
}

// Spec: limits, row "Ingest concurrency": floor 4; authentication, rules 3 and 4.
#[test]
fn unlikely_settings_are_accepted_with_a_warning() {
    let warnings = |change: fn(&mut Config)| {
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), "data");
        change(&mut config);
        config.check().expect("it can be used");
        (config.ingest_concurrent(), config.warnings())
    };
    assert!(warnings(|_| {}).1.is_empty());
    let (slots, said) = warnings(|config| config.ingest_concurrent_max = 1);
    assert_eq!(slots, 4);
    assert_eq!(said, ["INGEST_MAX_CONCURRENT is 1, below the floor of 4: 4 are worked on at once"]);
    assert_eq!(warnings(|config| config.ingest_concurrent_max = 7), (7, vec![]));
    for (change, start) in [
        ((|config| config.trusted_proxies = Some("10.0.0.1, *".to_owned())) as fn(&mut Config), "TRUSTED_PROXIES is *"),
        (
            |config| config.trusted_proxy_header = Some("X-Real-IP".to_owned()),
            "TRUSTED_PROXY_HEADER is believed from every peer",
        ),
    ] {
        let (_, said) = warnings(change);
        assert!(said.len() == 1 && said[0].starts_with(start), "{said:?}");
    }
    let named = warnings(|config| {
        config.trusted_proxies = Some("10.0.0.0/8".to_owned());
        config.trusted_proxy_header = Some("X-Real-IP".to_owned());
    });
    assert!(named.1.is_empty());
}
