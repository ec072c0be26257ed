use std::collections::BTreeMap;
use std::time::Duration;

use ha_cli::write_stdout;
use ha_services::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::memory::peak_rss_mb;
use crate::meter::Measured;
use crate::reference::Reference;
use crate::samples::Samples;

/// One result, as it is printed.
#[derive(Debug, Serialize)]
pub(crate) struct ResultLine {
    peer: &'static str,
    workload: &'static str,
    variant: String,
    n: u64,
    median_us: f64,
    p99_us: f64,
    mean_us: f64,
    min_us: f64,
    ops_per_s: f64,
    req_per_op: f64,
    txn_per_op: f64,
    requests: u64,
    transactions: u64,
    background_at_most: u64,
    total_ms: f64,
    #[serde(flatten)]
    more: BTreeMap<&'static str, f64>,
    ref_set_us: f64,
    ratio_to_set: f64,
    peak_rss_mb: f64,
}

impl ResultLine {
    /// The line of `n` operations. `background` is what the process asked the server for besides, at most.
    ///
    /// # Errors
    /// `Internal` where the system does not tell how much memory was used.
    pub(crate) fn new(
        workload: &'static str,
        variant: impl Into<String>,
        n: u64,
        measured: &Measured,
        reference: &Reference,
        background: u64,
    ) -> Result<Self> {
        let (samples, counted) = (&measured.samples, measured.counted);
        Ok(Self {
            peer: "rust",
            workload,
            variant: variant.into(),
            n,
            median_us: rounded(samples.median_us()),
            p99_us: rounded(samples.quantile_us(0.99)),
            mean_us: rounded(samples.mean_us()),
            min_us: rounded(samples.quantile_us(0.0)),
            ops_per_s: rounded(as_f64(n) / measured.wall.as_secs_f64().max(1e-9)),
            req_per_op: rounded(as_f64(counted.requests) / as_f64(n)),
            txn_per_op: rounded(as_f64(counted.transactions) / as_f64(n)),
            requests: counted.requests,
            transactions: counted.transactions,
            background_at_most: background,
            total_ms: rounded(measured.wall.as_secs_f64() * 1e3),
            more: BTreeMap::new(),
            ref_set_us: rounded(reference.set_us()),
            ratio_to_set: rounded(samples.median_us() / reference.set_us().max(1e-3)),
            peak_rss_mb: rounded(peak_rss_mb()?),
        })
    }

    /// The same with a time of its own, in milliseconds.
    #[must_use]
    pub(crate) fn with_ms(mut self, name: &'static str, time: Duration) -> Self {
        self.more.insert(name, rounded(time.as_secs_f64() * 1e3));
        self
    }

    /// The same with the median and the 99th percentile of a part, in microseconds.
    #[must_use]
    pub(crate) fn with_part(mut self, [median, p99]: [&'static str; 2], samples: &Samples) -> Self {
        self.more.insert(median, rounded(samples.median_us()));
        self.more.insert(p99, rounded(samples.quantile_us(0.99)));
        self
    }

    /// Prints it.
    ///
    /// # Errors
    /// `Internal` when stdout cannot be written.
    pub(crate) fn print(&self) -> Result<()> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Internal, "the result cannot be printed").caused_by(error)
        };
        let text = serde_json::to_string(self).map_err(|error| failed(error.into()))?;
        write_stdout(&format!("{text}\n")).map_err(failed)
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn as_f64(count: u64) -> f64 {
    count as f64
}
