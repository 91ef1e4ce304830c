//! Tables for programs that read columns: Parquet, where the build has it.

#[cfg(feature = "parquet")]
mod parquet;

/// The feature that this build lacks for such files.
pub(crate) const MISSING: Option<&str> = if cfg!(feature = "parquet") { None } else { Some("parquet") };

#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no file is written"))]
pub(crate) enum ColumnGetter<'a, R> {
    Long(&'a dyn Fn(&R) -> i64),
    MaybeLong(&'a dyn Fn(&R) -> Option<i64>),
    Double(&'a dyn Fn(&R) -> f64),
    MaybeDouble(&'a dyn Fn(&R) -> Option<f64>),
    Bool(&'a dyn Fn(&R) -> bool),
    MaybeText(&'a dyn Fn(&R) -> Option<&str>),
}

#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no file is written"))]
pub(crate) struct ColumnarFile<'a, R> {
    pub(crate) columns: &'a [(&'a str, ColumnGetter<'a, R>)],
    pub(crate) metadata: &'a [(&'a str, &'a str)],
}

#[cfg(not(feature = "parquet"))]
impl<R> ColumnarFile<'_, R> {
    pub(crate) fn write_rows(
        &self,
        out: &mut super::file::OutputFile,
        _: &[R],
    ) -> Result<(), crate::exit::CommandFailure> {
        Err(super::format::missing_feature_error(out.name(), "parquet"))
    }
}
