//! Servers in containers, of the official image or of one that is configured by the same variables.

mod container_server;
mod engine;
mod image_name;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use container_server::{ContainerServer, Description};
use futures::future::try_join_all;
use testcontainers::core::IntoContainerPort as _;
use testcontainers::{ContainerRequest, GenericImage, ImageExt as _};

pub use engine::engine_version;
pub use image_name::ImageName;

use super::processes::JVM_FLAGS;
use super::{EnsembleOptions, OwnEnsemble, ReservedPort, Server};
use crate::waiting::{scaled, unique_name};

const CLIENT_PORT: u16 = 2181;
const START_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

/// Starts the servers, without waiting until they serve.
///
/// # Errors
/// No engine answers, or the image is neither there nor can it be pulled.
pub(super) async fn start(image: &ImageName, options: &EnsembleOptions) -> Result<OwnEnsemble> {
    let count = options.servers.max(1);
    let name = unique_name("ha-test-zookeeper");
    let ports = (0..count)
        .map(|_| ReservedPort::reserve())
        .collect::<Result<Vec<_>>>()?;
    let descriptions: Vec<Description> = ports
        .iter()
        .enumerate()
        .map(|(index, port)| {
            let (image, options, name, port) = (image.clone(), options.clone(), name.clone(), port.port());
            Arc::new(move || describe(&image, &options, &name, index, port)) as Description
        })
        .collect();
    // Together: a server looks for the names of its peers when it starts.
    let starting = try_join_all(descriptions.into_iter().map(ContainerServer::start_new));
    let containers = engine::request(starting).await?.with_context(|| {
        format!(
            "a container of {image} cannot be started: is an engine there (DOCKER_HOST, else the default socket), and \
             is the image, or can it be pulled? HA_TEST_ZOOKEEPER_IMAGE names another one; `.ci/containers run` starts \
             an engine and makes an image"
        )
    })?;
    let servers = ports
        .into_iter()
        .zip(containers)
        .map(|(port, container)| Server::new(port, Box::new(container)))
        .collect();
    Ok(OwnEnsemble {
        servers,
        kind: "container",
        origin: image.to_string(),
        links: None,
        _resources: Box::new(()),
    })
}

/// The container of one server. Its port on 127.0.0.1 is fixed: one that the engine chose would change when the
/// container is started again.
fn describe(
    image: &ImageName,
    options: &EnsembleOptions,
    name: &str,
    index: usize,
    port: u16,
) -> ContainerRequest<GenericImage> {
    let force_sync = if options.force_sync { "yes" } else { "no" };
    let request = GenericImage::new(image.name(), image.tag())
        .with_startup_timeout(scaled(START_TIMEOUT))
        .with_mapped_port(port, CLIENT_PORT.tcp())
        .with_host_config_modifier(|host| {
            let bindings = host.port_bindings.iter_mut().flat_map(|map| map.values_mut());
            for binding in bindings.flatten().flatten() {
                binding.host_ip = Some("127.0.0.1".to_owned());
            }
        })
        .with_container_name(server_name(name, index))
        .with_env_var("ZOO_MY_ID", (index + 1).to_string())
        .with_env_var("ZOO_TICK_TIME", options.tick_time.as_millis().to_string())
        .with_env_var("ZOO_INIT_LIMIT", EnsembleOptions::INIT_LIMIT.to_string())
        .with_env_var("ZOO_SYNC_LIMIT", options.sync_limit.to_string())
        .with_env_var("ZOO_MAX_CLIENT_CNXNS", "0")
        .with_env_var("ZOO_ADMINSERVER_ENABLED", "false")
        .with_env_var("ZOO_4LW_COMMANDS_WHITELIST", "*")
        .with_env_var(
            "ZOO_CFG_EXTRA",
            format!(
                "maxSessionTimeout={} forceSync={force_sync}",
                options.max_session_timeout.as_millis()
            ),
        )
        // A peer that is started again has another address, which the others must ask for.
        .with_env_var(
            "SERVER_JVMFLAGS",
            format!(
                "{} {} -Dsun.net.inetaddr.ttl=1 -Dsun.net.inetaddr.negative.ttl=0",
                options.heap_flag(),
                JVM_FLAGS.join(" ")
            ),
        );
    if options.servers <= 1 {
        return request;
    }
    let servers: Vec<_> = (0..options.servers)
        .map(|peer| {
            let host = server_name(name, peer);
            format!("server.{}={host}:2888:3888;{CLIENT_PORT}", peer + 1)
        })
        .collect();
    request
        .with_network(name)
        .with_env_var("ZOO_SERVERS", servers.join(" "))
}

fn server_name(name: &str, index: usize) -> String {
    format!("{name}-{}", index + 1)
}
