use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use ha_services::ids::JobId;
use ha_services::{Error, ErrorKind};
use serde_json::json;

use super::error_document::{RestError, refused};
use super::status_handlers::status_routes;
use super::{RestState, Submission};
use crate::job::{JobFile, JobOverview, MAX_JOB_FILE_LENGTH};

type Shared = State<Arc<RestState>>;
type IdOfPath = Result<Path<String>, PathRejection>;

/// All routes: some answered by the process that is asked, the others by the leader.
pub(super) fn router(state: Arc<RestState>) -> Router {
    let limit = usize::try_from(MAX_JOB_FILE_LENGTH).unwrap_or(usize::MAX);
    let of_the_leader = Router::new()
        .route("/v1/jobs", get(list_jobs).post(submit_job))
        .route("/v1/jobs/{id}", get(show_job).delete(cancel_job))
        .layer(DefaultBodyLimit::max(limit))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), to_the_leader));
    Router::new()
        .route("/v1/overview", get(overview))
        .route("/healthz", get(healthz))
        .merge(status_routes())
        .merge(of_the_leader)
        .method_not_allowed_fallback(async || {
            refused(
                StatusCode::METHOD_NOT_ALLOWED,
                "this resource has no such method; the header allow lists those that it has",
            )
        })
        .fallback(async || RestError(Error::new(ErrorKind::NotFound, "there is no such resource")))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&state),
            no_foreign_pages,
        ))
        .with_state(state)
}

/// Refuses requests that a browser sends for a page from elsewhere: a loopback address does not keep them out.
async fn no_foreign_pages(State(state): Shared, request: Request, next: Next) -> Response {
    match request.headers().get(header::ORIGIN) {
        Some(origin) if !origin.as_bytes().eq_ignore_ascii_case(state.address.as_bytes()) => refused(
            StatusCode::FORBIDDEN,
            "pages from elsewhere may not use this endpoint",
        ),
        _ => next.run(request).await,
    }
}

async fn overview(State(state): Shared) -> Response {
    Json(state.overview()).into_response()
}

async fn healthz() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Lets a request through when this endpoint leads, else sends the client to the leader.
async fn to_the_leader(State(state): Shared, request: Request, next: Next) -> Response {
    if state.leadership.leads().await {
        return next.run(request).await;
    }
    match elsewhere(&state, request.uri()) {
        Some(location) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response(),
        None => RestError(
            Error::new(ErrorKind::Unavailable, "no leader of the REST endpoint is known")
                .not_applied()
                .at("rest_server"),
        )
        .into_response(),
    }
}

/// The same resource at the leader. `None`: none is known, or it is this process, which leads no more.
fn elsewhere(state: &RestState, uri: &Uri) -> Option<HeaderValue> {
    let leader = state.rest_leader.leader()?;
    if leader.leader_address == state.address {
        return None;
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    HeaderValue::from_str(&format!("{}{path}", leader.leader_address.trim_end_matches('/'))).ok()
}

async fn list_jobs(State(state): Shared) -> Result<Json<serde_json::Value>, RestError> {
    let jobs = state.dispatcher.jobs().await?;
    Ok(Json(json!({ "jobs": jobs })))
}

async fn submit_job(
    State(state): Shared,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, RestError> {
    // A page from elsewhere cannot send this type without asking first, which is never granted.
    if !is_json(&headers) {
        return Ok(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the header content-type: application/json is expected",
        ));
    }
    let body = match body {
        Ok(body) => body,
        Err(rejection) => {
            let message = match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => {
                    format!("the request is longer than {MAX_JOB_FILE_LENGTH} bytes")
                }
                _ => rejection.body_text(),
            };
            return Ok(refused(rejection.status(), message));
        }
    };
    let file = JobFile::parse(&body, "the request", None)?;
    let id = file
        .job_id
        .unwrap_or_else(|| JobId::random(state.environment.ids.as_ref()));
    let submitted = state.dispatcher.submit(id, file.spec).await?;
    Ok((StatusCode::ACCEPTED, Json(Submission::from(submitted))).into_response())
}

async fn show_job(State(state): Shared, id: IdOfPath) -> Result<Json<JobOverview>, RestError> {
    let id = parsed(id)?;
    match state.dispatcher.job(id).await? {
        Some(job) => Ok(Json(job)),
        None => Err(unknown(id)),
    }
}

async fn cancel_job(State(state): Shared, id: IdOfPath) -> Result<Response, RestError> {
    let id = parsed(id)?;
    if !state.dispatcher.cancel(id).await? {
        return Err(unknown(id));
    }
    Ok((StatusCode::ACCEPTED, Json(Submission { id, ended: None })).into_response())
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str);
    let Some(Ok(value)) = value else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn parsed(id: IdOfPath) -> Result<JobId, RestError> {
    match id {
        Ok(Path(id)) => Ok(id.parse()?),
        Err(rejection) => Err(RestError(Error::invalid(rejection.body_text()))),
    }
}

fn unknown(id: JobId) -> RestError {
    RestError(
        Error::new(ErrorKind::NotFound, format!("nothing is known of job {id}"))
            .not_applied()
            .at(id.to_string()),
    )
}
