use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::RestState;
use super::error_document::RestError;
use crate::status::{METRICS_CONTENT_TYPE, Refreshing, content_security_policy, render_metrics, render_page};

type Shared = State<Arc<RestState>>;

/// The query by which a reader stops the refreshing.
const STANDING_STILL: &str = "refresh=off";

/// What the process that is asked answers from memory, for people and for Prometheus.
pub(super) fn status_routes() -> Router<Arc<RestState>> {
    Router::new()
        .route("/", get(status_page))
        .route("/metrics", get(metrics))
}

async fn status_page(State(state): Shared, RawQuery(query): RawQuery) -> Response {
    let refreshing = match query.as_deref() {
        Some(STANDING_STILL) => Refreshing::Off,
        _ => Refreshing::On,
    };
    let page = render_page(&state.status().await, refreshing);
    let headers = [
        (header::CONTENT_SECURITY_POLICY, content_security_policy()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(page)).into_response()
}

async fn metrics(State(state): Shared) -> Result<Response, RestError> {
    let text = render_metrics(&state.status().await, &state.checkpoints)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(METRICS_CONTENT_TYPE),
        ),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, text).into_response())
}
