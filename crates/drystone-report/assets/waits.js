// Plots of the waits that a site recorded: pure functions from data to chart options.
'use strict';

const WEEK_DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

// A line over the 168 hours of the week.
function weekLine(data, view, [key, title, label, name]) {
  const values = data.week[key];
  if (!values.length) return null;
  const series = [{
    name: title, type: 'line', step: 'end', symbol: 'none', silent: true, data: values.map((v, i) => [i / 24, v]),
    lineStyle: {color: colorAt(0, view.look), width: 1.4}, itemStyle: {color: colorAt(0, view.look)}
  }];
  return {
    id: 'week-' + key, title, height: 240, note: 'Means by the hour of the week, in ' + data.time_zone + '.',
    option: frame(view, {
      describes: title, series,
      grid: {left: 12, right: 26, top: 34, bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', min: 0, max: 7, interval: 1, axisLabel: {formatter: v => WEEK_DAYS[v] || ''}}),
      yAxis: upAxis(view, {type: 'value', name, min: 0, axisLabel: {formatter: label}})
    })
  };
}

// Medians and 95 % of the groups of one property.
function groupsPlot(division, view) {
  const groups = division.groups.filter(g => g.figures.jobs > 0).slice(0, 20).reverse();
  if (!groups.length) return null;
  const point = (key, name, symbol, i) => ({
    name, type: 'scatter', symbol, symbolSize: 9,
    data: groups.map((g, at) => [Math.max(g.figures[key], 1), at]), itemStyle: {color: colorAt(i, view.look)}
  });
  const series = [point('median', 'median', 'circle', 0), point('mean', 'mean', 'emptyCircle', 1), point('p95', '95 %', 'diamond', 2)];
  return {
    id: 'by-' + division.by, title: 'Waits by ' + division.by, height: 90 + 26 * groups.length,
    note: 'Jobs in brackets. Waits below 1 s are drawn at 1 s.',
    option: frame(view, {
      describes: 'waits by ' + division.by, series, legend: legend(view, series.map(s => ({name: s.name}))),
      grid: {left: 12, right: 26, top: below(view, series), bottom: 34, containLabel: true},
      xAxis: lengthAxis(axis, view, 1, Math.max(...series.flatMap(s => s.data.map(d => d[0]))), {name: 'wait'}),
      yAxis: axis(view, {type: 'category', data: groups.map(g => shortText(g.name, 30) + ' (' + tickText(g.figures.jobs) + ')'), splitLine: {show: true}})
    })
  };
}

function monthsPlot(data, view) {
  if (data.months.length < 2) return null;
  const parts = [['mean', 'mean'], ['median', 'median'], ['p95', '95 %']];
  const series = parts.map(([key, name], i) => ({
    name, type: 'line', symbolSize: 6, data: data.months.map(m => m.figures[key]),
    lineStyle: {color: colorAt(i, view.look)}, itemStyle: {color: colorAt(i, view.look)}
  }));
  return {
    id: 'months', title: 'Waits by the month', height: 280, note: 'By the month in which jobs began to wait.',
    option: frame(view, {
      describes: 'waits by the month', series, legend: legend(view, parts.map(([, name]) => ({name}))),
      grid: {left: 12, right: 26, top: below(view, parts), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'category', data: data.months.map(m => m.name)}),
      yAxis: spanAxis(upAxis, view, Math.max(...series.flatMap(s => s.data)), {name: 'wait'})
    })
  };
}

function waitsPlots(data, view) {
  return [
    ...data.divisions.map(division => groupsPlot(division, view)),
    weekLine(data, view, ['queue', 'Jobs that wait, by the hour of the week', tickText, 'jobs']),
    weekLine(data, view, ['use_of_machine', 'Use of the machine by the hour of the week', v => percentText(v, 0), 'in use']),
    monthsPlot(data, view)
  ].filter(plot => plot !== null);
}
