//! Comparisons and schedules of policies as pages and plots.
//!
//! The data come first: [`Results`] are what `drystone compare --format json` writes,
//! [`render_page`](render_page()) shows them and holds them. The plots are written once, in
//! JavaScript for Apache ECharts (`assets/plots.js`), and drawn by a browser in a page or by
//! [`charts`] into files.

mod assets;
mod budget;
pub mod charts;
mod details;
pub mod document;
mod figure;
mod gantt;
pub mod html;
pub mod meta;
pub mod number;
mod page;
mod pictures;
mod results;
mod server_pages;
mod settings;
mod shared_tables;
mod sheet;
mod spark;
mod still;
mod summary;
mod tables;
mod timeline;

pub use details::{
    Bars, DetailCell, MOST_USERS, Material, PlotDetails, Quantiles, QuantitySteps, SearchDetails, Watcher, Weekly,
};
pub use figure::{AxisReading, Figure, FigureAxis, FigureSeries, SeriesMarks, draw_figures};
pub use gantt::{Colour, GANTT, Gantt, PromiseMark};
pub use page::render_page;
pub use pictures::PictureSubject;
pub use results::{COMPARE, LoadPoint, PLOTS, PolicyResult, PoolResult, RUN, Results, ResultsError, Timing};
pub use server_pages::{ServerParts, pending_page, section_page, served_page};
pub use shared_tables::{
    changes_table, disruptions_table, loads_table, pools_table, power_table, promises_table, sizes_table,
};
pub use spark::{draw_sparkline, highest_mean};
pub use still::{Picture, StillPage};
pub use summary::{ComparisonSummary, Does};
pub use timeline::{MOST_BINS, Timeline, TimelineMeter};
