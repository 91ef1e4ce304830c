//! Files that go into every page, unchanged.

/// Apache ECharts 6.1.0, `dist/echarts.min.js` of the npm package, unchanged. Apache-2.0; see
/// `assets/echarts`.
pub(crate) const ECHARTS: &str = include_str!("../assets/echarts/echarts.min.js");
pub(crate) const PAGE_CSS: &str = include_str!("../assets/page.css");
pub(crate) const PAGE_JS: &str = include_str!("../assets/page.js");
/// Script that draws a Gantt chart of a schedule.
pub(crate) const GANTT_JS: &str = include_str!("../assets/gantt.js");
pub(crate) const GANTT_PAGE_JS: &str = include_str!("../assets/gantt-page.js");
