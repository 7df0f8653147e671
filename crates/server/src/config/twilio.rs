//! Settings of SMS.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use tidewatch_accounts::secrets::secret_settings::secret_setting;
use tidewatch_accounts::sso::settings::is_plain_http;
use tidewatch_alerts::channels::delivery::{TwilioAccount, twilio};

/// Settings of the Twilio account that sends SMS. Without them there are no contact methods of type `sms`.
#[derive(Debug, Clone, clap::Args)]
pub struct TwilioSettings {
    /// SMS to people on call: SID of the Twilio account; `TWILIO_AUTH_TOKEN` and `TWILIO_FROM` belong to it.
    #[arg(long, env = "TWILIO_ACCOUNT_SID")]
    pub twilio_account_sid: Option<String>,
    /// Auth token of the Twilio account.
    #[arg(long, env = "TWILIO_AUTH_TOKEN", hide_env_values = true, hide = true)]
    pub twilio_auth_token: Option<String>,
    /// A file with that token.
    #[arg(long, env = "TWILIO_AUTH_TOKEN_FILE", conflicts_with = "twilio_auth_token")]
    pub twilio_auth_token_file: Option<PathBuf>,
    /// Sender of SMS: a number such as `+12025550100`, or the SID of a Messaging Service, which begins with `MG`.
    #[arg(long, env = "TWILIO_FROM")]
    pub twilio_from: Option<String>,
    /// API of Twilio.
    #[arg(long, env = "TWILIO_API_URL", default_value = twilio::API)]
    pub twilio_api_url: String,
}

impl Default for TwilioSettings {
    fn default() -> TwilioSettings {
        TwilioSettings {
            twilio_account_sid: None,
            twilio_auth_token: None,
            twilio_auth_token_file: None,
            twilio_from: None,
            twilio_api_url: twilio::API.to_owned(),
        }
    }
}

impl TwilioSettings {
    /// The account; `None`: no setting of it is set. Fails if only some are, if one is malformed, or if the file cannot
    /// be read.
    pub fn account(&self) -> anyhow::Result<Option<TwilioAccount>> {
        let auth_token = secret_setting(&self.twilio_auth_token, &self.twilio_auth_token_file, "Twilio auth token")?;
        let (sid, auth_token, from) = match (&self.twilio_account_sid, auth_token, &self.twilio_from) {
            (None, None, None) => return Ok(None),
            (Some(sid), Some(auth_token), Some(from)) => (sid, auth_token, from),
            _ => bail!("twilio_account_sid, twilio_auth_token and twilio_from need each other"),
        };
        // It becomes a part of the address.
        ensure!(is_sid(sid, "AC"), "twilio_account_sid is not AC with letters and digits");
        ensure!(!auth_token.is_empty(), "twilio_auth_token is empty");
        let from = match is_sid(from, twilio::MESSAGING_SERVICE) {
            true => from.clone(),
            false => twilio::phone_number(from)
                .context("twilio_from is neither a number such as +12025550100 nor the SID of a Messaging Service")?,
        };
        let api_url = self.twilio_api_url.clone();
        let is_web = api_url.starts_with("https://") || api_url.starts_with("http://");
        ensure!(is_web && !is_plain_http(&api_url), "twilio_api_url {api_url} is not https");
        Ok(Some(TwilioAccount { sid: sid.clone(), auth_token, from, api_url }))
    }
}

fn is_sid(value: &str, begin: &str) -> bool {
    let rest = value.strip_prefix(begin);
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(change: impl Fn(&mut TwilioSettings)) -> Result<Option<String>, String> {
        let mut settings = TwilioSettings {
            twilio_account_sid: Some("AC0f".into()),
            twilio_auth_token: Some("t0ken".into()),
            twilio_from: Some("+1 202 555-0100".into()),
            ..TwilioSettings::default()
        };
        change(&mut settings);
        settings.account().map(|account| account.map(|account| account.from)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_account_is_complete_or_absent() {
        assert_eq!(TwilioSettings::default().account().map(|account| account.is_none()).ok(), Some(true));
        assert_eq!(set(|_| {}), Ok(Some("+12025550100".to_owned())));
        assert_eq!(set(|settings| settings.twilio_from = Some("MG7a".into())), Ok(Some("MG7a".to_owned())));
        assert!(set(|settings| settings.twilio_api_url = "http://127.0.0.1:1".into()).is_ok());
        for (change, expected) in [
            (
                (|settings| settings.twilio_account_sid = None) as fn(&mut TwilioSettings),
                "twilio_account_sid, twilio_auth_token and twilio_from need each other",
            ),
            (|settings| settings.twilio_auth_token = None, "twilio_account_sid, twilio_auth_token and twilio_from"),
            (|settings| settings.twilio_from = None, "twilio_account_sid, twilio_auth_token and twilio_from"),
            (|settings| settings.twilio_account_sid = Some("AC1/../x".into()), "twilio_account_sid is not"),
            (|settings| settings.twilio_account_sid = Some("SK1".into()), "twilio_account_sid is not"),
            (|settings| settings.twilio_auth_token = Some(" ".into()), "twilio_auth_token is empty"),
            (|settings| settings.twilio_from = Some("TIDE".into()), "twilio_from is neither"),
            (|settings| settings.twilio_from = Some("MG".into()), "twilio_from is neither"),
            (|settings| settings.twilio_api_url = "http://a.example".into(), "twilio_api_url http://a.example is not"),
            (|settings| settings.twilio_api_url = String::new(), "twilio_api_url  is not"),
            (
                |settings| {
                    settings.twilio_auth_token = None;
                    settings.twilio_auth_token_file = Some("/no/such/file".into());
                },
                "cannot read the Twilio auth token",
            ),
        ] {
            let error = set(change).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
