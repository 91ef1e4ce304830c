// Plots of a changed site: differences, curves, and the classes that gain and pay. Pure functions from data to chart options.
'use strict';

const MOST_PAYERS = 14;

// A difference in seconds as people read it: +3 min, −2 h; no sign where it rounds to nothing.
function signedDuration(seconds) {
  const text = durationText(Math.abs(seconds));
  return text === durationText(0) ? text : (seconds > 0 ? '+' : '−') + text;
}

// A verdict counts all alternatives, or every week; without one the interval decides.
function isLess({verdict, interval}) {
  return verdict ? verdict === 'less' || verdict === 'shorter' : !!interval && interval[1] < 0;
}

function isMore({verdict, interval}) {
  return verdict ? verdict === 'more' || verdict === 'longer' : !!interval && interval[0] > 0;
}

// Bars from the line of the site as it is, with their intervals. A bar: name, difference in seconds, interval or null.
function differencesPlot(view, id, title, note, bars) {
  const look = view.look, ordered = bars.slice().reverse();
  // An interval that is much wider than its bar would press all bars into one line.
  const reach = ({value, interval}) => [value, ...(interval || []).map(v => Math.max(-3, Math.min(3, v / Math.max(Math.abs(value), 1))) * Math.max(Math.abs(value), 1))];
  const ends = bars.flatMap(reach), lowest = Math.min(0, ...ends), highest = Math.max(0, ...ends), span = Math.max(1, highest - lowest);
  const step = LENGTH_STEPS.find(s => span / s <= 7) || nice(span / 7, 1);
  const min = Math.floor(lowest / step) * step, max = Math.max(Math.ceil(highest / step) * step, min + step), within = v => Math.max(min, Math.min(max, v));
  const color = bar => isLess(bar) ? look.better : isMore(bar) ? look.worse : look.unsure;
  const kinds = verdictKinds(look, ['clearly less', 'clearly more', 'may be noise']);
  return {
    id, title, note, height: 96 + 26 * bars.length,
    option: frame(view, {
      describes: title + ': ' + bars.map(bar => shortText(bar.name, 40) + ' ' + signedDuration(bar.value)).join(', '), tooltip: {show: false},
      legend: legend(view, kinds, {icon: 'rect', itemWidth: 12}),
      grid: {left: 12, right: 26, top: 38, bottom: 38, containLabel: true},
      xAxis: axis(view, {type: 'value', min, max, interval: step, name: 'against the site as it is', axisLabel: {formatter: signedDuration}}),
      yAxis: axis(view, {type: 'category', data: ordered.map((bar, i) => i + ' ' + bar.name), splitLine: {show: false}, axisTick: {show: false},
        axisLabel: {color: look.ink, formatter: (name, i) => shortText(ordered[i].name, 44) + '  ' + signedDuration(ordered[i].value)}}),
      series: [
        ...kinds.map((kind, k) => Object.assign({type: 'bar', name: kind.name, stack: 'all', barWidth: 16, itemStyle: {color: kind.color, opacity: 0.8},
          data: ordered.map(bar => color(bar) === kind.color ? within(bar.value) : '-')}, k ? {} : {markLine: {silent: true, symbol: 'none',
          label: {show: false}, lineStyle: {color: look.ink, type: 'solid', width: 1}, data: [{xAxis: 0}]}})),
        {type: 'custom', silent: true, z: 3, data: ordered.flatMap((bar, i) => bar.interval ? [[within(bar.interval[0]), i, within(bar.interval[1])]] : []), encode: {x: [0, 2], y: 1},
          renderItem: (params, api) => {
            const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(2), api.value(1)]);
            return {type: 'line', shape: {x1: low[0], y1: low[1], x2: high[0], y2: high[1]}, style: {stroke: look.ink, lineWidth: 1.5}};
          }}
      ]
    })
  };
}

// The difference of every alternative.
function alternativesPlot(data, view) {
  if (!data.alternatives.length) return null;
  const bars = data.alternatives.map(one => ({name: one.change, value: one.wait.difference, interval: one.wait.interval, verdict: one.verdict}));
  return differencesPlot(view, 'differences', 'Mean wait against the site as it is',
    'The difference of the mean wait of the same jobs, with its interval. Left of the line jobs wait less.', bars);
}

// The classes with most node-hours of waiting gained or lost, of which that is decided.
function payersPlot(one, i, view) {
  const clear = one.classes.filter(c => isLess(c) || isMore(c)).slice(0, MOST_PAYERS);
  if (!clear.length) return null;
  const name = c => c.by === 'partition' || c.by === 'account' ? c.by + ' ' + c.class : c.class;
  return differencesPlot(view, 'payers-' + i, 'Winners and losers: ' + one.change,
    'Difference of the mean wait per class, those with most node-hours of waiting gained or lost first; only clear ones.',
    clear.map(c => ({name: name(c), value: c.difference, interval: c.interval, verdict: c.verdict})));
}

// Mean wait by number of nodes.
function sizesPlot(data, view) {
  const curve = data.curve, look = view.look;
  if (!curve || !curve.points.length) return null;
  const points = [{more: 0, wait: data.before.wait_mean, around: null}, ...curve.points.map(p => ({
    more: p.more, wait: p.wait, around: p.interval && p.interval.map(d => Math.max(0, p.wait - p.difference + d))
  }))].sort((a, b) => a.more - b.more);
  const most = Math.max(1, ...points.map(p => p.around ? Math.max(p.around[1], p.wait) : p.wait)), color = look.hues[0];
  return {
    id: 'sizes', title: 'Mean wait by size of the machine', height: 360,
    note: 'The same jobs on each machine, with the intervals of the differences. ' + (curve.sentence || ''),
    option: frame(view, {
      describes: 'mean wait by size of the machine', tooltip: {show: false},
      grid: {left: 12, right: 30, top: 34, bottom: 34, containLabel: true},
      xAxis: axis(view, Object.assign({type: 'value', name: 'more than today', min: points[0].more, max: points[points.length - 1].more},
        ticksAt(points.map(p => p.more), v => numberText(v, 0)))),
      yAxis: spanAxis(upAxis, view, most, {name: 'mean wait'}),
      series: [
        {type: 'line', silent: true, data: points.map(p => [p.more, p.wait]), symbol: 'circle', symbolSize: 8, showSymbol: true, itemStyle: {color}, lineStyle: {color, width: 2}},
        {type: 'custom', silent: true, z: 1, data: points.filter(p => p.around).map(p => [p.more, p.around[0], p.around[1]]), encode: {x: 0, y: [1, 2]},
          renderItem: (params, api) => {
            const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
            return {type: 'line', shape: {x1: low[0], y1: low[1], x2: high[0], y2: high[1]}, style: {stroke: color, opacity: 0.6, lineWidth: 3}};
          }}
      ]
    })
  };
}

function whatifPlots(data, view) {
  return [alternativesPlot(data, view), sizesPlot(data, view), ...data.alternatives.map((one, i) => payersPlot(one, i, view))].filter(plot => plot);
}
