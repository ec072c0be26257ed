use bytes::Bytes;
use ha_core::error::Result;
use object_store::{ObjectStoreExt as _, PutMode, PutOptions, PutPayload};

use super::fault::Fault;
use super::retry::Retry;
use super::{ConditionalPuts, DurableFolder, RelativePath};

/// The outcome of a create-only write. Losing is a value, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creation {
    /// The file is there, durable, and this call put it there.
    Created,
    /// Another one is there, untouched.
    Exists,
}

impl DurableFolder {
    /// Puts a new file in place, whole and durable, unless there is one.
    ///
    /// A store without conditional puts is asked before, so that of two at once both may put theirs, and the later
    /// one stays.
    ///
    /// # Errors
    /// Not applied when the file is certainly not there; else effect `Unknown`.
    pub(crate) async fn create(&self, path: &RelativePath, content: Bytes) -> Result<Creation> {
        let mode = if self.conditional_puts().is_none_or(ConditionalPuts::are_honoured) {
            PutMode::Create
        } else if self.stat(path).await?.is_some() {
            return Ok(Creation::Exists);
        } else {
            PutMode::Overwrite
        };
        let mut retry = Retry::new(self.environment());
        let fault = loop {
            match self.put(path, content.clone(), mode.clone()).await {
                Ok(()) => return Ok(Creation::Created),
                // Nothing of this call can have put it there: the first attempt came too late.
                Err(fault) if fault.is_already_exists() && retry.is_first() => {
                    if self.local().is_some() || self.stat(path).await?.is_some() {
                        return Ok(Creation::Exists);
                    }
                    // Stores refuse so what meets another put under way, which may fail.
                    if !retry.again(&Fault::crossed()).await {
                        break fault;
                    }
                }
                Err(fault) if fault.is_already_exists() => break fault,
                Err(fault) => {
                    if !retry.again(&fault).await {
                        break fault;
                    }
                }
            }
        };
        // An attempt that failed late may have put the file in place: what is there decides.
        let may_come = self.may_come_later(&fault);
        let error = fault.into_error("write the file", &self.display(path));
        match self.read(path, |_| Ok(())).await {
            Ok(None) if may_come => Err(error),
            Ok(None) => Err(error.not_applied()),
            Ok(Some(found)) if found == content => match self.sync_parent(path).await {
                Ok(()) => Ok(Creation::Created),
                Err(_) => Err(error),
            },
            Ok(Some(_)) => Ok(Creation::Exists),
            Err(_) => Err(error),
        }
    }

    /// Puts a file in place, whole and durable, instead of the one that is there, if any. The caller keeps other
    /// writers away.
    ///
    /// # Errors
    /// Effect `Unknown` when it could not be read back; not applied when other content is there, or none.
    pub(crate) async fn replace(&self, path: &RelativePath, content: Bytes) -> Result<()> {
        let mut retry = Retry::new(self.environment());
        let fault = loop {
            match self.put(path, content.clone(), PutMode::Overwrite).await {
                Ok(()) => return Ok(()),
                Err(Fault::Refused(error)) => return Err(error),
                Err(fault) => {
                    if !retry.again(&fault).await {
                        break fault;
                    }
                }
            }
        };
        // An attempt that failed late may have put it in place: what is there decides.
        let may_come = self.may_come_later(&fault);
        let error = fault.into_error("write the file", &self.display(path));
        match self.read(path, |_| Ok(())).await {
            Ok(Some(found)) if found == content => match self.sync_parent(path).await {
                Ok(()) => Ok(()),
                Err(_) => Err(error),
            },
            Ok(_) if may_come => Err(error),
            Ok(_) => Err(error.not_applied()),
            Err(_) => Err(error),
        }
    }

    /// Deletes a file durably. `false`: it was not there.
    pub(crate) async fn delete(&self, path: &RelativePath) -> Result<bool> {
        if self.stat(path).await?.is_none() {
            return Ok(false);
        }
        let deleted = self
            .retrying("delete the file", path, || async {
                self.guard(path, false).await?;
                Ok(self.store.delete(&self.key(path)).await?)
            })
            .await
            .map_err(|error| error.with_effect(ha_core::Effect::Unknown))?;
        if deleted.is_some() {
            self.sync_parent(path)
                .await
                .map_err(|fault| fault.into_error("make the deletion durable", &self.display(path)))?;
        }
        Ok(deleted.is_some())
    }

    /// Whether a put that failed may be applied after it was looked for.
    fn may_come_later(&self, fault: &Fault) -> bool {
        self.is_remote() && fault.is_without_answer()
    }

    pub(super) async fn put(&self, path: &RelativePath, content: Bytes, mode: PutMode) -> Result<(), Fault> {
        self.guard(path, false).await?;
        let options = PutOptions::from(mode);
        self.store
            .put_opts(&self.key(path), PutPayload::from(content), options)
            .await?;
        Ok(())
    }
}
