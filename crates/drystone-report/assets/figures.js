// Plots of any data, as options for Apache ECharts: what a Figure says, no more.
'use strict';

// How the numbers of an axis are written.
function figureReading(axis) {
  return axis.reading === 'share' ? v => percentText(v, v !== 0 && Math.abs(v) < 0.01 ? 2 : 0) : axis.reading === 'seconds' ? durationText : tickText;
}

// The values of all series, across (0) or upwards (1), that a scale can have.
function figureValues(figure, at, log) {
  const own = s => s.points.map(p => p[at]).concat(at ? s.whiskers.flatMap(w => [w[1], w[2]]) : []);
  return figure.series.flatMap(own).filter(v => v !== null && (!log || v > 0));
}

// The value below which a share of sorted values lies, between two of them where it must.
function quantileOf(sorted, share) {
  const at = share * (sorted.length - 1), low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

// A box from quartile to quartile with the median, over the category of a series; its points lie beside each other.
function swarmSeries(s, color, look) {
  const values = s.points.filter(p => p[1] !== null), sorted = values.map(p => p[1]).sort((a, b) => a - b);
  if (!sorted.length) return [];
  const box = [values[0][0], ...[0.25, 0.5, 0.75].map(share => quantileOf(sorted, share))];
  const aside = at => 0.26 * (((at * 5) % 9) - 4) / 4;
  return [
    {name: s.name, type: 'custom', silent: true, z: 1, data: [box], encode: {x: 0, y: [1, 2, 3]}, itemStyle: {color},
      renderItem: (params, api) => {
        const half = Math.min(34, api.size([1, 0])[0] * 0.32), at = k => api.coord([api.value(0), api.value(k)]);
        const [, low] = at(1), [x, middle] = at(2), [, high] = at(3);
        return {type: 'group', children: [
          {type: 'rect', shape: {x: x - half, y: high, width: 2 * half, height: Math.max(low - high, 1)}, style: {fill: color, opacity: 0.18, stroke: color}},
          {type: 'line', shape: {x1: x - half, y1: middle, x2: x + half, y2: middle}, style: {stroke: look.ink, lineWidth: 2}}]};
      }},
    {name: s.name, type: 'scatter', z: 2, symbolSize: 6, itemStyle: {color, opacity: 0.8}, data: values.map((p, at) => [p[0] + aside(at), p[1]])}
  ];
}

// Lines from low to high over the points of a series, a little beside those of the others.
function whiskerSeries(s, color, aside) {
  if (!s.whiskers.length) return [];
  return [{type: 'custom', silent: true, z: 3, data: s.whiskers, encode: {x: 0, y: [1, 2]}, itemStyle: {color},
    renderItem: (params, api) => {
      const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]), x = low[0] + aside;
      const bar = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: color, lineWidth: 1.2, fill: 'none'}});
      return {type: 'group', children: [bar(x, low[1], x, high[1]), bar(x - 4, low[1], x + 4, low[1]), bar(x - 4, high[1], x + 4, high[1])]};
    }}];
}

function figureAxis(make, view, figure, at, extra) {
  const spec = at ? figure.y : figure.x;
  if (!at && figure.marks === 'swarm') {
    // Points lie beside their category, which only an axis of numbers has room for.
    const names = spec.categories, turned = 6.2 * Math.max(...names.map(n => Math.min(n.length, 24))) > 800 / names.length;
    return make(view, Object.assign({type: 'value', name: spec.name, min: -0.5, max: names.length - 0.5, interval: 1, nameGap: turned ? 60 : 26},
      ticksAt(names.map((_, i) => i), i => shortText(names[i] || '', 24)), extra, {splitLine: {show: false}, axisLabel: {customValues: names.map((_, i) => i),
      formatter: i => shortText(names[i] || '', 24), hideOverlap: false, rotate: turned ? 20 : 0}}));
  }
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
  return make(view, Object.assign({type: 'value', name: spec.name, min: at || low <= high / 2 ? Math.min(0, low) : 'dataMin', axisLabel: {formatter: figureReading(spec)}}, at ? {} : {max: 'dataMax'}, extra));
}

function figurePlot(figure, view) {
  const look = view.look, bars = figure.marks === 'bars' || figure.marks === 'stack', many = figure.series.length > 1 && figure.marks !== 'swarm';
  const fits = p => p[1] !== null && (!figure.x.log || p[0] > 0) && (!figure.y.log || p[1] > 0);
  const swarm = figure.marks === 'swarm';
  const series = figure.series.flatMap((s, i) => {
    if (swarm) return swarmSeries(Object.assign({}, s, {points: s.points.filter(fits)}), colorAt(i, look), look);
    const color = colorAt(i, look), data = s.points.map(p => [p[0], fits(p) ? p[1] : '-']);
    if (figure.marks === 'points') return {name: s.name, type: 'scatter', data, symbolSize: 4, itemStyle: {color, opacity: 0.6}};
    if (bars) return {name: s.name, type: 'bar', data, stack: figure.marks === 'stack' ? 'all' : undefined, barGap: '5%', itemStyle: {color}};
    const line = {name: s.name, type: 'line', data, step: figure.marks === 'steps' ? 'end' : undefined, showSymbol: s.points.length < 40, symbolSize: 5, itemStyle: {color},
      lineStyle: {color, width: 1.8, type: DASHES[Math.floor(i / look.hues.length) % DASHES.length]}};
    return [line, ...whiskerSeries(s, color, 3 * (i - (figure.series.length - 1) / 2))];
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
