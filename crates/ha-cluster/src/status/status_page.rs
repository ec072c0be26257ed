use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ha_services::health::{BrokenEntry, ConnectionState};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::jobs_section::jobs_section;
use super::units::{age, span, time_before};
use super::{ComponentStatus, LeaderView, ProcessStatus};

/// How often the page is loaded again, in seconds.
const REFRESH_SECONDS: u32 = 5;
/// The most broken entries, and other reasons to be degraded, that are listed.
const MAX_LISTED: usize = 100;
/// The longest text from elsewhere that is shown, in characters.
const MAX_TEXT: usize = 1000;

const STYLE: &str = include_str!("status_page.css");

/// Nothing is loaded, run, framed or sent by the page; its own style is known by its hash.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// Whether the page loads itself again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshing {
    /// Every few seconds.
    On,
    /// Whoever reads it slowly asked for that.
    Off,
}

/// The policy under which the page is to be sent.
pub fn content_security_policy() -> &'static str {
    &CONTENT_SECURITY_POLICY
}

/// The page. Every text in it is escaped by the template: names of jobs, paths and addresses are whatever somebody
/// wrote.
pub fn render_page(status: &ProcessStatus, refreshing: Refreshing) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if refreshing == Refreshing::On {
                    meta http-equiv="refresh" content=(REFRESH_SECONDS);
                }
                title { (status.name) ": " (role(status).0) }
                // Else a browser asks for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { bdi { (status.name) } }
                    p class="soft" {
                        "ha-cluster " (status.version) ", process " (status.pid) " at " bdi { (status.address) }
                    }
                    (badges(status))
                }
                main {
                    (attention(status))
                    (leaders(status))
                    (jobs_section(status))
                }
                (foot(status, refreshing))
            }
        }
    };
    page.into_string()
}

/// The address, where a link to it can do nothing but lead to a page.
pub(super) fn link_to(address: &str) -> Markup {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| address.starts_with(scheme));
    html! {
        @if is_web {
            a href=(address) rel="noreferrer" { bdi { (shortened(address)) } }
        } @else {
            bdi { (shortened(address)) }
        }
    }
}

/// A text from elsewhere, no longer than a person reads.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What the process is to its cluster, and how that is shown.
fn role(status: &ProcessStatus) -> (&'static str, &'static str) {
    if status.leads {
        ("leads", "good")
    } else if status.leader_elsewhere().is_some() {
        ("stands by", "")
    } else {
        ("no leader known", "bad")
    }
}

fn badges(status: &ProcessStatus) -> Markup {
    let (role, role_class) = role(status);
    let (connection, connection_class) = match status.health.connection {
        ConnectionState::None => ("no ZooKeeper", ""),
        ConnectionState::Connected => ("ZooKeeper connected", "good"),
        ConnectionState::Suspended => ("ZooKeeper suspended", "note"),
        ConnectionState::Lost => ("ZooKeeper lost", "bad"),
    };
    html! {
        ul.badges aria-label="State of this process" {
            li.badge.(role_class) { (role) }
            li.badge.(connection_class) { (connection) }
            @if let Some(left) = status.lease_left {
                li.badge { "lease: " (span(left)) " left" }
            }
            @if status.health.is_degraded() {
                li.badge.bad { "degraded" }
            }
        }
    }
}

/// What needs a person's eye; nothing where nothing does.
fn attention(status: &ProcessStatus) -> Markup {
    let health = &status.health;
    let connection = match health.connection {
        ConnectionState::None | ConnectionState::Connected => None,
        ConnectionState::Suspended => Some(
            "ZooKeeper does not answer. A leader goes on until its lease ends. What stands below is what this process \
             knew last.",
        ),
        ConnectionState::Lost => Some(
            "The session in ZooKeeper is gone, and a new one is being made. What stands below is what this process \
             knew last.",
        ),
    };
    let problems = health.broken.len() + health.conditions.len();
    html! {
        @if connection.is_some() || problems > 0 {
            section aria-labelledby="attention" {
                h2 id="attention" { "Needs attention" }
                @if let Some(text) = connection {
                    p.card.waits { (text) }
                }
                @if problems > 0 {
                    p.soft {
                        (counted(health.broken.len(), "broken entry", "broken entries"))
                        ", left as found. " code { "hactl doctor" } " says more."
                    }
                    ul.cards {
                        @for (subject, reason) in health.conditions.iter().take(MAX_LISTED) {
                            li.card.trouble {
                                h3 { bdi { (shortened(subject)) } }
                                p { bdi { (shortened(reason)) } }
                            }
                        }
                        @for entry in health.broken.values().take(MAX_LISTED) { (broken_entry(entry)) }
                    }
                    @if health.broken.len() > MAX_LISTED {
                        p.soft { "and " (health.broken.len() - MAX_LISTED) " more" }
                    }
                }
            }
        }
    }
}

fn broken_entry(entry: &BrokenEntry) -> Markup {
    html! {
        li.card.trouble {
            h3 { bdi { (shortened(&entry.name)) } }
            p { bdi { (shortened(&entry.reason)) } }
            p.soft { code { bdi { (shortened(&entry.path)) } } }
            @if let Some(first) = entry.candidates.first() {
                p.soft {
                    "could be used instead: " code { bdi { (shortened(first)) } }
                    @if entry.candidates.len() > 1 { " and " (entry.candidates.len() - 1) " more" }
                }
            }
        }
    }
}

fn leaders(status: &ProcessStatus) -> Markup {
    html! {
        section aria-labelledby="leaders" {
            h2 id="leaders" { "Leaders" }
            p.soft { "As this process has seen them." }
            ul.cards {
                @for component in &status.components { (leader(status, component)) }
            }
        }
    }
}

fn leader(status: &ProcessStatus, component: &ComponentStatus) -> Markup {
    let led = &component.led;
    let since = html! {
        (age(led.age)) br;
        span.soft { "since " time { (time_before(status.wall_time_millis, led.age)) } }
    };
    let name = match component.name {
        "dispatcher" => "Dispatcher",
        "resource_manager" => "Resource manager",
        "rest_server" => "REST endpoint",
        other => other,
    };
    html! {
        li.card.trouble[led.leader.is_none()] {
            h3 { (name) }
            @if let Some(leader) = &led.leader {
                p {
                    (link_to(&leader.leader_address))
                    @if leader.leader_address == status.address { br; span.soft { "this process" } }
                }
                dl {
                    dt { "Seen to lead for" } dd { (since) }
                    dt { "Epoch" } dd { (leader.epoch) }
                    (before(led))
                }
            } @else {
                p { strong { "No leader is known." } }
                dl {
                    dt { "For" } dd { (since) }
                    (before(led))
                }
            }
        }
    }
}

/// What happened since this process started.
fn before(led: &LeaderView) -> Markup {
    html! {
        dt { "Before" }
        dd {
            (counted(usize::try_from(led.changes).unwrap_or(usize::MAX), "change", "changes")) ", "
            (span(led.without)) " without leader"
        }
    }
}

fn foot(status: &ProcessStatus, refreshing: Refreshing) -> Markup {
    html! {
        footer.soft {
            p {
                "As of " time { (time_before(status.wall_time_millis, std::time::Duration::ZERO)) } ". "
                @match refreshing {
                    Refreshing::On => {
                        "Loads itself again every " (REFRESH_SECONDS) " seconds; "
                        a href="?refresh=off" { "stop that" } "."
                    }
                    Refreshing::Off => {
                        "Stands still; " a href="?" { "go on loading it again" } "."
                    }
                }
            }
            p {
                "For programs: " a href="v1/overview" { "overview" } ", " a href="v1/jobs" { "jobs" } ", "
                a href="metrics" { "metrics" } "."
            }
        }
    }
}

/// `1 job`, `2 jobs`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
