use std::time::Duration;

use ha_core::Result;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use serde::Serialize;

use super::check::{Verdict, judge};
use super::finding::{Finding, Severity, Skipped};
use super::reading;
use crate::cluster::Cluster;
use crate::render::{self, Tone, View};
use crate::report::{Body, Report};

/// How many checks that were not made for one reason are named to people.
const NAMED: usize = 5;

/// What the checks say of a cluster.
///
#[doc = include_str!("checks.md")]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Doctor {
    /// What was found, the worst first: `{"id","severity","znode","file","found","why","advice"}` each.
    pub findings: Vec<Finding>,
    /// The ids of the checks that were made.
    pub checks: Vec<&'static str>,
    /// Those that could not be made: `{"id","reason"}` each.
    pub skipped: Vec<Skipped>,
}

impl Doctor {
    /// Reads the cluster once, and runs all checks. Writes nothing.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster.
    pub async fn examine(
        cluster: &Cluster,
        configuration: &Configuration,
        environment: &Environment,
        dirty_after: Duration,
    ) -> Result<Report<Self>> {
        let (snapshot, broken) = reading::read(cluster, configuration, environment, dirty_after).await?;
        Ok(Report {
            cluster: cluster.header(),
            body: Self::from(judge(&snapshot)),
            broken,
        })
    }

    fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.severity == severity).count()
    }
}

impl From<Verdict> for Doctor {
    fn from(verdict: Verdict) -> Self {
        Self {
            findings: verdict.findings,
            checks: verdict.checks,
            skipped: verdict.skipped,
        }
    }
}

impl Body for Doctor {
    fn is_healthy(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Info)
    }

    fn table(&self, view: &View) -> String {
        let mut text = String::new();
        let mut rest = self.findings.as_slice();
        while let Some(first) = rest.first() {
            // Why and what to do are told once for findings that are alike.
            let alike = |finding: &&Finding| (finding.severity, finding.id) == (first.severity, first.id);
            let length = rest.iter().take_while(alike).count();
            let (group, others) = rest.split_at(length);
            push_group(&mut text, view, first, group);
            rest = others;
        }
        if self.findings.is_empty() {
            text.push_str(&format!("Healthy: {} checks found nothing.\n", self.checks.len()));
        } else {
            text.push_str(&format!(
                "Errors: {}. Warnings: {}. For information: {}. Checks made: {}.\n",
                self.count(Severity::Error),
                self.count(Severity::Warning),
                self.count(Severity::Info),
                self.checks.len()
            ));
        }
        // In one mode many are skipped for one reason.
        let mut reasons = Vec::<(&str, Vec<&str>)>::new();
        for Skipped { id, reason } in &self.skipped {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, ids)) => ids.push(id),
                None => reasons.push((reason, vec![id])),
            }
        }
        for (reason, ids) in reasons {
            let named = match ids.len() {
                0..=NAMED => ids.join(", "),
                // It is another mode's.
                count => format!("{count} checks"),
            };
            let words = format!("{named}: {}", render::escaped(reason));
            render::push_words(&mut text, "Not made: ", &words, "  ");
        }
        text
    }
}

fn push_group(text: &mut String, view: &View, first: &Finding, group: &[Finding]) {
    let tone = match first.severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Notable,
        Severity::Info => Tone::Good,
    };
    let severity = first.severity.name().to_uppercase();
    text.push_str(&format!("{} {}", view.paint(tone, &severity), first.id));
    if group.len() > 1 {
        text.push_str(&format!(" ({} times)", group.len()));
    }
    text.push('\n');
    for finding in group {
        for place in finding.znode.iter().chain(&finding.file) {
            render::push_words(text, "  ", &render::escaped(place), "  ");
        }
        render::push_words(text, "    ", &render::escaped(&finding.found), "    ");
    }
    render::push_words(text, "  why: ", first.why, "    ");
    render::push_words(text, "  do:  ", first.advice, "    ");
    text.push('\n');
}
