//! The filter in a file, from one run to the next.
//!
//! A run holds a lock on `FILE.lock` for as long as it lasts, and never on the file itself, which every save replaces: a
//! new file is written beside it, synced and renamed over it, so that a crash at any moment leaves the old state or the
//! new one. A file that cannot be read as a filter ends the run before anything is written.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use fs4::{FileExt, TryLockError};
use timebloom::{CountBloom, DecodeError, SnapshotKind, TimeBloom};

use crate::judge::Filter;

#[derive(Debug)]
pub(crate) enum StateError {
    Locked {
        path: PathBuf,
    },
    Lock {
        path: PathBuf,
        source: io::Error,
    },
    Read {
        path: PathBuf,
        source: io::Error,
    },
    Decode {
        path: PathBuf,
        source: DecodeError,
    },
    /// There is something else than a file.
    NoFile {
        path: PathBuf,
    },
    Save {
        path: PathBuf,
        source: io::Error,
    },
    /// The state was made with another option than this run asks for.
    Differs {
        path: PathBuf,
        option: &'static str,
        stored: String,
        asked: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Locked { path } => {
                write!(f, "the state {} is in use by another run: it can have only one", path.display())
            }
            StateError::Lock { path, source } => write!(f, "cannot lock {}: {source}", path.display()),
            StateError::Read { path, source } => write!(f, "cannot read the state {}: {source}", path.display()),
            StateError::Decode { path, source } => {
                let path = path.display();
                write!(f, "{path} is not a state that can be continued: {source}; it was left as it is")
            }
            StateError::NoFile { path } => {
                write!(f, "{} is not a regular file: a state is one, or is not there yet", path.display())
            }
            StateError::Save { path, source } => {
                write!(f, "cannot save the state {}: {source}; the one from before is still there", path.display())
            }
            StateError::Differs { path, option, stored, asked } => write!(
                f,
                "the state {} was made with {option} {stored}, and this run says {asked}: leave {option} out to go on \
                 with it, or use another file",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StateError {}

#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    /// Held, not used.
    _lock: File,
}

impl StateFile {
    /// Takes the state for this run alone, and reads the filter in it, if there is one.
    pub(crate) fn open(path: &Path) -> Result<(Self, Option<Filter>), StateError> {
        let path = &resolved(path)?;
        let lock = lock(path)?;
        let filter = match File::open(path) {
            Ok(file) => Some(read(file, path)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(StateError::Read { path: path.to_owned(), source }),
        };
        Ok((StateFile { path: path.to_owned(), _lock: lock }, filter))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the state: at every moment the old one or the new one is there, whole.
    pub(crate) fn save(&self, filter: &Filter) -> Result<(), StateError> {
        self.replace(filter).map_err(|source| StateError::Save { path: self.path.clone(), source })
    }

    fn replace(&self, filter: &Filter) -> io::Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // removed again if anything below fails
        let mut file = tempfile::Builder::new().prefix(".timebloom-").tempfile_in(folder)?;
        if let Ok(before) = fs::metadata(&self.path) {
            file.as_file().set_permissions(before.permissions())?;
        }
        let mut output = BufWriter::new(file.as_file_mut());
        filter.write_to(&mut output)?;
        output.flush()?;
        drop(output);
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        // the rename is on the disk once the folder is
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        Ok(())
    }
}

/// Where the state itself is: a file has one lock and one state, whatever links lead to it.
fn resolved(path: &Path) -> Result<PathBuf, StateError> {
    let failed = |source| StateError::Read { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            let path = fs::canonicalize(path).map_err(failed)?;
            resolved(&path)
        }
        Ok(found) if !found.is_file() => Err(StateError::NoFile { path: path.to_owned() }),
        _ => Ok(path.to_owned()),
    }
}

fn lock(path: &Path) -> Result<File, StateError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let failed = |source| StateError::Lock { path: name.clone(), source };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&name).map_err(failed)?;
    match FileExt::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StateError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StateError::Lock { path: name, source }),
    }
}

/// Reads a file that is exactly one filter, of either kind.
pub(crate) fn read(file: File, path: &Path) -> Result<Filter, StateError> {
    let decode = |source| StateError::Decode { path: path.to_owned(), source };
    let mut input = BufReader::new(file);
    let filter = match TimeBloom::read_from(&mut input) {
        Ok(filter) => Filter::Time(filter),
        Err(DecodeError::WrongKind { got: SnapshotKind::Count, .. }) => {
            let reopened = File::open(path).map_err(|source| StateError::Read { path: path.to_owned(), source })?;
            input = BufReader::new(reopened);
            Filter::Count(CountBloom::read_from(&mut input).map_err(decode)?)
        }
        Err(DecodeError::Io(source)) => return Err(StateError::Read { path: path.to_owned(), source }),
        Err(source) => return Err(decode(source)),
    };
    let offset = match &filter {
        Filter::Time(filter) => filter.snapshot_bytes(),
        Filter::Count(filter) => filter.snapshot_bytes(),
    };
    let extra = io::copy(&mut input.take(u64::MAX), &mut io::sink())
        .map_err(|source| StateError::Read { path: path.to_owned(), source })?;
    if extra > 0 {
        return Err(decode(DecodeError::TrailingBytes { offset, extra }));
    }
    Ok(filter)
}
