// Plots of any data, as options for Apache ECharts: what a Figure says, no more.
'use strict';

// How the numbers of an axis are written.
function figureReading(axis) {
  return axis.reading === 'share' ? v => percentText(v, v !== 0 && Math.abs(v) < 0.01 ? 2 : 0) : axis.reading === 'seconds' ? durationText : tickText;
}

// The values of all series, across (0) or upwards (1), that a scale can have.
function figureValues(figure, at, log) {
  return figure.series.flatMap(s => s.points.map(p => p[at])).filter(v => v !== null && (!log || v > 0));
}

function figureAxis(make, view, figure, at, extra) {
  const spec = at ? figure.y : figure.x;
  if (spec.categories.length) {
    // Every name is shown unless there are many; those that are wider than their place are turned.
    const data = spec.categories.map(n => shortText(n, 24)), many = data.length > 24;
    const rotate = !many && 6.2 * Math.max(...data.map(n => n.length)) > 900 / data.length ? 30 : 0;
    return make(view, Object.assign({type: 'category', name: spec.name, data, splitLine: {show: false},
      axisLabel: {interval: many ? 'auto' : 0, hideOverlap: many, rotate}}, extra));
  }
  const values = figureValues(figure, at, spec.log), high = Math.max(...values, spec.log ? 1 : 0), low = Math.min(...values, high);
  if (spec.log && spec.reading === 'seconds') return lengthAxis(make, view, low, high, Object.assign({name: spec.name}, extra));
  if (spec.log) {
    return make(view, Object.assign({type: 'log', name: spec.name, min: Math.pow(10, Math.floor(Math.log10(low))), max: Math.pow(10, Math.ceil(Math.log10(high))), axisLabel: {formatter: figureReading(spec)}}, extra));
  }
  if (spec.reading === 'seconds') return spanAxis(make, view, Math.max(high, 1), Object.assign({name: spec.name}, extra));
  return make(view, Object.assign({type: 'value', name: spec.name, min: Math.min(0, low), axisLabel: {formatter: figureReading(spec)}}, at ? {} : {max: 'dataMax'}, extra));
}

function figurePlot(figure, view) {
  const look = view.look, bars = figure.marks === 'bars' || figure.marks === 'stack', many = figure.series.length > 1;
  const fits = p => p[1] !== null && (!figure.x.log || p[0] > 0) && (!figure.y.log || p[1] > 0);
  const series = figure.series.map((s, i) => {
    const color = colorAt(i, look), data = s.points.map(p => [p[0], fits(p) ? p[1] : '-']);
    if (figure.marks === 'points') return {name: s.name, type: 'scatter', data, symbolSize: 4, itemStyle: {color, opacity: 0.6}};
    if (bars) return {name: s.name, type: 'bar', data, stack: figure.marks === 'stack' ? 'all' : undefined, barGap: '5%', itemStyle: {color}};
    return {name: s.name, type: 'line', data, step: figure.marks === 'steps' ? 'end' : undefined, showSymbol: s.points.length < 40, symbolSize: 5, itemStyle: {color},
      lineStyle: {color, width: 1.8, type: DASHES[Math.floor(i / look.hues.length) % DASHES.length]}};
  });
  const top = many ? 34 + 22 * Math.ceil(figure.series.length / 4) : 40;
  return {
    id: figure.id, title: figure.title, note: figure.note, height: 280 + top,
    option: frame(view, {
      describes: figure.title, series,
      legend: many ? {show: true, type: 'plain', top: 0, left: 'center', textStyle: {color: look.ink}, itemWidth: 26, data: figure.series.map(s => s.name), formatter: name => shortText(name, 30)} : {show: false},
      grid: {left: 12, right: 30, top, bottom: 34, containLabel: true},
      xAxis: figureAxis(axis, view, figure, 0, {}), yAxis: figureAxis(upAxis, view, figure, 1, {}), tooltip: {show: false}
    })
  };
}
