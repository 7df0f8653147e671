//! Metadata of symbol files from the command line.

use anyhow::Context;
use tidewatch_ingest::symbols::classify_upload::Fields;
use tidewatch_symbols::DebugId;

/// Metadata that files may lack.
#[derive(Debug, Default, clap::Args)]
pub struct FileOptions {
    /// The id that an Android app reports for its R8 mapping.
    #[arg(long, value_name = "UUID")]
    pub proguard_uuid: Option<String>,
    /// Of Dart `.symbols` files whose name does not end in it: arm64, x64, arm or ia32.
    #[arg(long)]
    pub arch: Option<String>,
    /// Of Dart `.symbols` files without a build id.
    #[arg(long, value_name = "HEX")]
    pub debug_id: Option<String>,
    /// Of the app: the files resolve stack traces of this version only.
    #[arg(long = "version", id = "app_version", value_name = "TEXT")]
    pub app_version: Option<String>,
    /// Distribution of the app, if one version has several builds.
    #[arg(long, value_name = "TEXT")]
    pub dist: Option<String>,
}

impl FileOptions {
    /// The metadata as an upload has it.
    pub fn fields(&self) -> Fields<'_> {
        Fields {
            arch: self.arch.as_deref(),
            debug_id: self.debug_id.as_deref(),
            proguard_uuid: self.proguard_uuid.as_deref(),
            version: self.app_version.as_deref(),
            dist: self.dist.as_deref(),
        }
    }
}

/// Parses a hexadecimal debug id, with or without dashes.
pub fn debug_id(text: &str) -> anyhow::Result<DebugId> {
    DebugId::parse(text).with_context(|| format!("not a hexadecimal debug id: {text}"))
}
