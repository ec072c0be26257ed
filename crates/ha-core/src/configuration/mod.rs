//! Configuration: a map of keys as written, typed options over it, and the ways to fill it.

mod config_option;
mod config_value;
mod configuration;
mod duration_text;
mod high_availability_mode;
mod host_port;
mod loader;
mod nearest_key;
mod option_definition;
mod options;
mod origin;
mod reference;
mod remote_storage;
mod secrets;
mod storage_uri;
mod validation;
mod znode_path;
mod zookeeper_connect_string;

pub use config_option::ConfigOption;
pub use config_value::ConfigValue;
pub use configuration::Configuration;
pub use high_availability_mode::HighAvailabilityMode;
pub use host_port::HostPort;
pub use loader::ConfigurationLoader;
pub use option_definition::{OptionDefinition, OptionSupport};
pub use options::{
    ClusterOptions, HighAvailabilityOptions, JobResultStoreOptions, ObjectStoreOptions, all_options,
};
pub use origin::Origin;
pub use reference::options_markdown;
pub use remote_storage::{RemoteStorage, RemoteStore};
pub use storage_uri::StorageUri;
pub use znode_path::ZNodePath;
pub use zookeeper_connect_string::ZooKeeperConnectString;
