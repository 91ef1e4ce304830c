// Plots of how faithful a simulation of a site is: pure functions from data to chart options.
'use strict';

const HOUR_SERIES = [
  ['utilisation', 'Use of the machine by the hour', v => percentText(v, 0), 'in use'],
  ['queue_jobs', 'Jobs that wait, by the hour', tickText, 'jobs'],
  ['queue_work', 'Work that waits, by the hour', tickText, 'unit-seconds']
];

function fidelityColour(view, which) { return which === 'recorded' ? view.look.ink : colorAt(0, view.look); }

function hoursPlot(pool, view, [key, title, label, name], several) {
  const own = pool.hours[key], theirs = pool.recorded_hours[key];
  if (!own.length) return null;
  const series = [['recorded', theirs], ['replayed', own]].map(([what, values]) => ({
    name: what, type: 'line', step: 'end', symbol: 'none', silent: true, data: values.map((v, i) => [i / 24, v]),
    lineStyle: {color: fidelityColour(view, what), width: what === 'recorded' ? 1.6 : 1.2}, itemStyle: {color: fidelityColour(view, what)}
  }));
  return {
    id: 'hours-' + key + '-' + pool.name, title: title + (several ? ', ' + pool.name : ''), height: 260,
    note: 'Means over each hour of the part of the window that is measured.',
    option: frame(view, {
      describes: title, series, legend: legend(view, [{name: 'recorded'}, {name: 'replayed'}]),
      grid: {left: 12, right: 26, top: below(view, [1, 2]), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', name: 'days', min: 0, max: 'dataMax', axisLabel: {formatter: tickText, showMaxLabel: false}}),
      yAxis: upAxis(view, {type: 'value', name, min: 0, axisLabel: {formatter: label}})
    })
  };
}

// The week in which the queue is furthest from what was recorded.
function worstWeekPlot(pool, view, several) {
  if (pool.worst_week === null || pool.hours.queue_work.length < 8 * 24) return null;
  const from = pool.worst_week, part = {};
  for (const side of ['hours', 'recorded_hours']) part[side] = {queue_jobs: pool[side].queue_jobs.slice(from, from + 168)};
  const plot = hoursPlot(Object.assign({}, pool, part), view, ['queue_jobs', 'Jobs that wait in the worst week', tickText, 'jobs'], several);
  return plot && Object.assign(plot, {id: 'worst-week-' + pool.name, note: 'From day ' + numberText(from / 24, 0) + ' on: the week in which the work that waits is furthest from what was recorded.'});
}

// Shares of jobs that start within a minute, ten minutes, an hour: the replay beside its baselines and the noise.
function withinPlot(pool, view, several) {
  const rows = [['replayed', pool.errors], ...(pool.noise.runs ? [['noise', pool.noise.median]] : []),
    ...pool.repetitions.map(r => ['again: ' + r.name, r.errors]), ...pool.baselines.map(b => [b.name, b.errors])].reverse();
  const parts = [['within_minute', 'within 1 min'], ['within_ten_minutes', 'within 10 min'], ['within_hour', 'within 1 h']];
  const series = parts.map(([key, name], i) => ({
    name, type: 'bar', data: rows.map(([, e]) => e[key]), itemStyle: {color: colorAt(i, view.look)}, barGap: 0
  }));
  return {
    id: 'within-' + pool.name, title: 'Share of jobs that start near their recorded start' + (several ? ', ' + pool.name : ''), height: 90 + 46 * rows.length,
    note: 'The noise is what the replay differs from itself when arrivals are moved by seconds.',
    option: frame(view, {
      describes: 'shares of jobs near their recorded start', series, legend: legend(view, parts.map(([, name]) => ({name}))),
      grid: {left: 12, right: 26, top: below(view, parts), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', min: 0, max: 1, axisLabel: {formatter: v => percentText(v, 0)}}),
      yAxis: axis(view, {type: 'category', data: rows.map(([name]) => shortText(name, 30)), splitLine: {show: false}})
    })
  };
}

// Medians and 90 % of waits by class, recorded and replayed.
function classesPlot(pool, view, several) {
  const classes = pool.classes.filter(c => c.jobs >= 10);
  if (!classes.length) return null;
  const point = (what, at, symbol) => ({
    name: what + (at === 1 ? ', median' : ', 90 %'), type: 'scatter', symbol, symbolSize: 9,
    data: classes.map((c, i) => [Math.max(c[what][at], 1), i]), itemStyle: {color: fidelityColour(view, what)}
  });
  const series = [point('recorded', 1, 'emptyCircle'), point('replayed', 1, 'circle'), point('recorded', 2, 'emptyDiamond'), point('replayed', 2, 'diamond')];
  return {
    id: 'classes-' + pool.name, title: 'Waits by size and length' + (several ? ', ' + pool.name : ''), height: 90 + 26 * classes.length,
    note: 'Classes of ten jobs or more: units, and how long they were held. Waits below 1 s are drawn at 1 s.',
    option: frame(view, {
      describes: 'waits by class', series, legend: legend(view, series.map(s => ({name: s.name}))),
      grid: {left: 12, right: 26, top: below(view, series), bottom: 34, containLabel: true},
      xAxis: lengthAxis(axis, view, 1, Math.max(...series.flatMap(s => s.data.map(d => d[0]))), {name: 'wait'}),
      yAxis: axis(view, {type: 'category', data: classes.map(c => c.size + ', ' + c.length + ' (' + tickText(c.jobs) + ')'), splitLine: {show: true}})
    })
  };
}

function fidelityPlots(data, view) {
  const several = data.pools.length > 1;
  return data.pools.flatMap(pool => [
    withinPlot(pool, view, several), classesPlot(pool, view, several),
    ...HOUR_SERIES.map(series => hoursPlot(pool, view, series, several)), worstWeekPlot(pool, view, several)
  ]).filter(plot => plot !== null);
}
