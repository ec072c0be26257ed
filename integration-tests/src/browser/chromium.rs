use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities as _, DesiredCapabilities, WebDriver};

use super::BrowserInstallation;
use crate::process::{CapturedOutput, ManagedProcess};

/// A browser on a machine that stalls takes long to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// What a page is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// How wide it is, in CSS pixels.
    pub width: u32,
    /// How high it is.
    pub height: u32,
    /// Whether its user asked for dark pages.
    pub dark: bool,
}

/// A browser of its own, with an empty profile. It is ended when this is dropped.
#[derive(Debug)]
pub struct Chromium {
    // Dropped in this order: the session, which ends the browser, then the driver, then its folder.
    session: WebDriver,
    _driver: ManagedProcess,
    _folder: TempDir,
}

impl Chromium {
    /// Starts one.
    ///
    /// # Errors
    /// It cannot be installed or does not start.
    pub async fn start(screen: Screen) -> Result<Self> {
        let installation = BrowserInstallation::find_or_install()?;
        let folder = tempfile::Builder::new().prefix("ha-test-browser-").tempdir()?;
        let output = CapturedOutput::new(folder.path().to_owned());
        let (stdout, stderr) = output.files()?;
        let mut command = Command::new(&installation.driver);
        command
            .arg("--port=0")
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr);
        let driver = ManagedProcess::spawn("chromedriver", &mut command)?;
        let started = "started successfully on port ";
        let line = output
            .wait_for_line("the driver of the browser runs", START_TIMEOUT, |line| {
                line.contains(started)
            })
            .await?;
        let port = line
            .split(started)
            .nth(1)
            .context("no port")?
            .trim_end_matches('.');

        let mut capabilities = DesiredCapabilities::chrome();
        capabilities.set_binary(&installation.browser.display().to_string())?;
        for argument in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--no-proxy-server",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--disable-sync",
        ] {
            capabilities.add_arg(argument)?;
        }
        let profile = folder.path().join("profile");
        capabilities.add_arg(&format!("--user-data-dir={}", profile.display()))?;
        // The numbers of Chromium's enumeration: 0 is dark, 1 is light.
        let scheme = u8::from(!screen.dark);
        capabilities.add_arg(&format!("--blink-settings=preferredColorScheme={scheme}"))?;
        // A window cannot be as narrow as a telephone.
        let metrics = json!({"width": screen.width, "height": screen.height, "pixelRatio": 2.0});
        capabilities.add_experimental_option("mobileEmulation", json!({"deviceMetrics": metrics}))?;
        ha_services::choose_tls_provider();
        let session = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities)
            .await
            .with_context(|| format!("the end of the driver's output:\n{}", output.end()))?;
        Ok(Self {
            session,
            _driver: driver,
            _folder: folder,
        })
    }

    /// Loads a page.
    ///
    /// # Errors
    /// Nothing answers there.
    pub async fn open(&self, url: &str) -> Result<()> {
        Ok(self.session.goto(url).await?)
    }

    /// The title of the page.
    ///
    /// # Errors
    /// The browser does not answer.
    pub async fn title(&self) -> Result<String> {
        Ok(self.session.title().await?)
    }

    /// The value of a JavaScript expression on the page, which itself needs no script.
    ///
    /// # Errors
    /// The expression fails.
    pub async fn evaluate(&self, expression: &str) -> Result<Value> {
        let answer = self.session.execute(format!("return {expression};"), []).await;
        let answer = answer.with_context(|| format!("cannot evaluate {expression}"))?;
        Ok(answer.json().clone())
    }

    /// What the page looks like, as PNG.
    ///
    /// # Errors
    /// The browser does not answer.
    pub async fn screenshot(&self) -> Result<Vec<u8>> {
        Ok(self.session.screenshot_as_png().await?)
    }

    /// Ends it.
    ///
    /// # Errors
    /// It does not end.
    pub async fn end(self) -> Result<()> {
        Ok(self.session.quit().await?)
    }
}
