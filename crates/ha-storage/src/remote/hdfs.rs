use std::sync::Arc;

use ha_core::configuration::RemoteStorage;
use ha_core::error::{Error, Result};
use hdfs_native_object_store::HdfsObjectStoreBuilder;
use object_store::ObjectStore;

/// The Hadoop Distributed File System. Its options are those of the Hadoop configuration.
pub(super) fn open(remote: RemoteStorage<'_>) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = HdfsObjectStoreBuilder::new();
    // Without a name node it is `fs.defaultFS`.
    if !remote.container.is_empty() {
        builder = builder.with_url(format!("hdfs://{}", remote.container));
    }
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(Error::invalid("the HDFS client cannot be built")
            .at(remote.to_string())
            .advise("check HADOOP_CONF_DIR, and the configuration there")
            .caused_by(error)),
    }
}
