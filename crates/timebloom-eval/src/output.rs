//! The folder that a run writes into.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;

/// A folder for results, made when it is missing.
#[derive(Clone, Debug)]
pub struct Output {
    folder: PathBuf,
}

impl Output {
    /// A folder.
    pub fn in_folder(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
        Ok(Output { folder: folder.to_owned() })
    }

    /// Where `name` is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file, and the folders it is in.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.path(name);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(&path, text)).map_err(|source| Error::Write { path, source })
    }

    /// Writes records as comma-separated values, under the names of their fields.
    pub fn csv<R: Serialize>(&self, name: &str, records: impl IntoIterator<Item = R>) -> Result<(), Error> {
        let path = self.path(name);
        let failed = |source: csv::Error| Error::Write { path: path.clone(), source: source.into() };
        let mut writer = csv::Writer::from_path(&path).map_err(failed)?;
        for record in records {
            writer.serialize(record).map_err(failed)?;
        }
        writer.flush().map_err(|source| Error::Write { path: path.clone(), source })
    }
}
