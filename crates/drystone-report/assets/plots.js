// Plots of a comparison as options for Apache ECharts. Pure: data in, options out; run by a browser and by Rust alike.
'use strict';

// Text as it can stand in a tooltip's HTML. What would not be seen is shown as a replacement character.
function escapeHtml(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}

// Text as it can stand in a plot: on one line and not too long.
function shortText(text, most) {
  const clean = Array.from(String(text).slice(0, 4 * most)
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '\ufffd'));
  return clean.length > most || String(text).length > 4 * most ? clean.slice(0, most - 1).join('') + '…' : clean.join('');
}

// 12345.6 as 12,345.6.
function numberText(value, decimals) {
  if (value === null || value === undefined || !isFinite(value)) return '–';
  const parts = Math.abs(value).toFixed(decimals).split('.');
  parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  const text = parts.join('.');
  return (value < 0 && /[1-9]/.test(text) ? '−' : '') + text;
}

// Seconds in the unit that suits them.
function durationText(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  const s = Math.abs(seconds);
  const short = (v, unit) => numberText(v, Math.abs(v) < 10 && v !== Math.round(v) ? 1 : 0) + ' ' + unit;
  if (s < 120) return short(seconds, 's');
  if (s < 7200) return short(seconds / 60, 'min');
  if (s < 172800) return short(seconds / 3600, 'h');
  return short(seconds / 86400, 'days');
}

function percentText(share, decimals) {
  return share === null || share === undefined ? '–' : numberText(share * 100, decimals) + '%';
}

function signedPercent(share) {
  if (share === null || share === undefined) return '–';
  return (share > 0 ? '+' : '') + numberText(share * 100, 1) + '%';
}

// A tick of an axis: no more digits than it needs.
function tickText(value) {
  if (value !== 0 && Math.abs(value) < 0.01) return String(Number(value.toPrecision(1)));
  const text = numberText(value, 2);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

// Of at most three digits: for values that may be of any size.
function figureText(value) {
  if (value === null || value === undefined) return '–';
  return numberText(value, Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

const LOOKS = {
  light: {
    ink: '#1b1f24', soft: '#57606a', line: '#d0d7de', paper: '#ffffff', better: '#0072b2', worse: '#c2410c', unsure: '#8a929b',
    hues: ['#0072b2', '#d55e00', '#009e73', '#aa4499', '#b8860b', '#56b4e9', '#882255', '#6b7280'],
    low: '#0072b2', middle: '#f3f4f6', high: '#c2410c', none: '#ffffff'
  },
  dark: {
    ink: '#e6edf3', soft: '#9aa5b1', line: '#3a424c', paper: '#14181d', better: '#5ab4f0', worse: '#ff9359', unsure: '#8a929b',
    hues: ['#5ab4f0', '#ff9359', '#3ccfa0', '#d98fd0', '#e6c229', '#8fd3ff', '#f27aa5', '#aab2bd'],
    low: '#3b9ae0', middle: '#22282f', high: '#f07c3c', none: '#14181d'
  }
};
const FONT = 'system-ui, "Liberation Sans", Arial, Helvetica, sans-serif';
const DASHES = ['solid', 'dashed', 'dotted'];
const LENGTHS = ['up to 100 s', 'up to 1,000 s', 'up to 10,000 s', 'more than 10,000 s'];

// A comparison in the form in which all plots want it.
function readResults(data) {
  const single = data.schema === 'drystone/run/1';
  const results = single ? [data] : data.results;
  const baseline = single ? data.policy.text : data.baseline;
  const choices = data.summary && data.summary.choices;
  const policies = results.map((result, index) => ({
    index, name: result.policy.text, report: result.report, details: result.details || null,
    clairvoyant: result.policy.clairvoyant, preemptive: !!result.policy.preemptive, baseline: result.policy.text === baseline,
    leads: choices ? choices.includes(result.policy.text) : true
  }));
  let hue = 0;
  for (const policy of policies) {
    policy.hue = policy.baseline ? -1 : hue++;
    policy.changes = ((data.comparison || {policies: []}).policies.find(p => p.name === policy.name) || {changes: []}).changes;
  }
  return {policies, baseline: policies.find(p => p.baseline) || null, workload: data.workload, loads: data.loads || [],
    comparison: data.comparison || null, clock: clockOf(data.workload, policies)};
}

// The first instant that plots over time show: in seconds of the log, and since 1970 where that is known.
function clockOf(workload, policies) {
  const starts = policies.filter(p => p.details && p.details.timeline).map(p => p.details.timeline.start);
  const origin = starts.length ? Math.min(...starts) : 0;
  // Generators write 0: nothing was recorded in 1970.
  const known = workload && typeof workload.unix_start === 'number' && workload.unix_start > 0;
  return {origin, unix: known ? workload.unix_start + origin : null};
}

// Those that are shown at first: the baseline and the best by mean bounded slowdown, five in all. What leads no list comes last.
function chooseSome(results) {
  const mean = p => { const m = p.report.measures.bounded_slowdown.mean; return m === null ? Infinity : m; };
  const rest = results.policies.filter(p => !p.baseline && !p.clairvoyant && !p.preemptive).sort((a, b) => (a.details === null) - (b.details === null) || b.leads - a.leads || mean(a) - mean(b) || a.index - b.index);
  return results.policies.filter(p => p.baseline).concat(rest.slice(0, 4)).map(p => p.index);
}

// The colour of the thing with this number, unlike that of any other: chosen ones first, then hues a golden angle apart, each
// round lighter or darker than the one before.
function colorAt(i, look) {
  const n = look.hues.length;
  if (i < n) return look.hues[i];
  const k = i - n, dark = look === LOOKS.dark;
  const lightness = [dark ? 70 : 30, dark ? 56 : 44, dark ? 82 : 22][k % 3];
  return hslHex((k * 137.508 + 20) % 360, [72, 50][Math.floor(k / 3) % 2], lightness);
}

// A colour by hue in degrees, saturation and lightness in per cent, as #rrggbb.
function hslHex(hue, saturation, lightness) {
  const l = lightness / 100, a = saturation / 100 * Math.min(l, 1 - l);
  const part = n => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, '0');
  };
  return '#' + part(0) + part(8) + part(4);
}

// The colour and dash of a policy: the same in every plot.
function lookOf(policy, look) {
  if (policy.hue < 0) return {color: look.ink, type: 'solid', width: 2.6};
  return {color: colorAt(policy.hue, look), type: DASHES[Math.floor(policy.hue / look.hues.length) % DASHES.length], width: 1.8};
}

// What every plot shares. `view` has `look`, `narrow`, `still` (for files) and `chosen`.
function frame(view, extra) {
  const look = view.look;
  return Object.assign({
    animation: false, backgroundColor: view.still ? look.paper : 'transparent',
    textStyle: {fontFamily: view.font || FONT, color: look.ink, fontSize: 12},
    aria: {enabled: true, label: {description: extra.describes}},
    grid: {left: 12, right: 22, top: 34, bottom: 34, containLabel: true},
    tooltip: tip(look, {trigger: 'axis'})
  }, extra);
}

function tip(look, extra) {
  return Object.assign({
    confine: true, backgroundColor: look.paper, borderColor: look.line, textStyle: {color: look.ink, fontSize: 12},
    extraCssText: 'max-width:min(28rem,90vw);white-space:normal;overflow-wrap:anywhere;'
  }, extra);
}

function axis(view, extra) {
  const look = view.look;
  return Object.assign({
    axisLine: {show: true, onZero: false, lineStyle: {color: look.soft}}, axisTick: {lineStyle: {color: look.soft}},
    axisLabel: {color: look.soft, hideOverlap: true}, splitLine: {show: true, lineStyle: {color: look.line, opacity: 0.6}},
    minorSplitLine: {show: false}, nameTextStyle: {color: look.soft}, nameLocation: 'middle', nameGap: 26
  }, extra, {axisLabel: Object.assign({color: look.soft, hideOverlap: true}, extra.axisLabel || {})});
}

// An axis upwards: its name stands above it, where there is room for it.
function upAxis(view, extra) {
  return axis(view, Object.assign({nameLocation: 'end', nameGap: 12,
    nameTextStyle: {color: view.look.soft, align: 'left', padding: [0, 0, 0, -30]}}, extra));
}

// Round lengths of time, in seconds, and how an axis writes them.
const LENGTH_TICKS = [[1, '1 s'], [10, '10 s'], [60, '1 min'], [600, '10 min'], [3600, '1 h'], [6 * 3600, '6 h'], [86400, '1 day'], [7 * 86400, '1 week'],
  [30 * 86400, '30 days'], [365 * 86400, '1 year'], [3650 * 86400, '10 years'], [36500 * 86400, '100 years']];

// Ticks of an axis at these values only.
function ticksAt(values, write) {
  return {axisTick: {customValues: values}, splitLine: {customValues: values}, axisLabel: {customValues: values, formatter: write}};
}

// A logarithmic axis of lengths of time: ticks at a minute, an hour, a day, not at powers of ten of seconds.
function lengthAxis(make, view, low, high, extra) {
  const from = Math.max(low, 1e-9), until = Math.max(high, from * 2);
  const ticks = LENGTH_TICKS.map(t => t[0]).filter(t => t >= from * 0.999 && t <= until * 1.001);
  const names = new Map(LENGTH_TICKS);
  // Too few to read a value by: the usual ticks of the axis, written as lengths of time.
  const few = ticks.length < 2 ? [] : ticks;
  const narrow = view.narrow && few.length > 5 ? few.filter((_, i) => i % 2 === 0) : few;
  const marks = few.length ? ticksAt(narrow, v => names.get(Math.round(v)) || durationText(v)) : {axisLabel: {formatter: durationText}};
  return mergedAxis(make, view, marks, Object.assign({type: 'log', min: from, max: until}, extra));
}

// A linear axis of lengths of time from 0: steps of whole minutes, hours or days.
const LENGTH_STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 4 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 90 * 86400, 365 * 86400];
function spanAxis(make, view, high, extra) {
  const step = LENGTH_STEPS.find(s => high / s <= 6) || nice(high / 6, 1);
  const unit = step % 86400 === 0 ? [86400, high > 86400 ? 'days' : 'day'] : step % 3600 === 0 ? [3600, 'h'] : step % 60 === 0 ? [60, 'min'] : [1, 's'];
  return mergedAxis(make, view, {axisLabel: {formatter: v => v === 0 ? '0' : tickText(v / unit[0]) + ' ' + (unit[0] === 86400 && v === 86400 ? 'day' : unit[1])}},
    Object.assign({type: 'value', min: 0, max: Math.max(step, Math.ceil(high / step) * step), interval: step}, extra));
}

// Marks of an axis together with what else is said of it.
function mergedAxis(make, view, marks, extra) {
  const made = make(view, Object.assign({}, extra, {axisLabel: Object.assign({}, marks.axisLabel, extra.axisLabel || {})}));
  for (const part of ['axisTick', 'splitLine']) made[part] = Object.assign({}, made[part], marks[part] || {});
  return made;
}

// Seconds since 1970 as a date in UTC: 1996-09-23.
function dateText(unix) { return new Date(unix * 1000).toISOString().slice(0, 10); }

// First days of months, of weeks or days between two instants, in seconds since 1970: at most `most`.
function calendarTicks(from, until, most) {
  const days = (until - from) / 86400, start = new Date(from * 1000), ticks = [];
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find(m => days / 30.4 / m <= most) || 1200;
  if (days > 60) {
    for (let y = start.getUTCFullYear(), m = 0; ; m += months) {
      const at = Date.UTC(y, m, 1) / 1000;
      if (at > until) break;
      if (at >= from) ticks.push(at);
    }
    return {ticks, write: unix => dateText(unix).slice(0, months % 12 ? 7 : 4)};
  }
  const step = ([1, 2, 7, 14].find(d => days / d <= most) || 30) * 86400;
  for (let at = Math.ceil(from / step) * step; at <= until; at += step) ticks.push(at);
  return {ticks, write: unix => dateText(unix).slice(5)};
}

// An axis over the time of a log, in days since its first submit: with dates where the log has them.
function clockAxis(view, clock, end, extra) {
  if (clock.unix === null || end < 2) {
    return axis(view, Object.assign({type: 'value', name: 'days since the first submit', min: 0, max: 'dataMax', axisLabel: {formatter: tickText, showMaxLabel: false}}, extra));
  }
  const {ticks, write} = calendarTicks(clock.unix, clock.unix + end * 86400, view.narrow ? 4 : 8);
  return mergedAxis(axis, view, ticksAt(ticks.map(t => (t - clock.unix) / 86400), v => write(Math.round(clock.unix + v * 86400))),
    Object.assign({type: 'value', name: 'date', min: 0, max: 'dataMax'}, extra));
}

// An instant of such an axis in words.
function clockText(clock, day) {
  return clock.unix === null ? 'day ' + numberText(day, 1) : dateText(clock.unix + day * 86400);
}

// A slider below the plot, in pages only.
function zoom(view, xs) {
  if (view.still) return [];
  const look = view.look;
  return [
    {type: 'inside', xAxisIndex: xs || 'all', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true},
    {type: 'slider', xAxisIndex: xs || 'all', filterMode: 'none', height: 18, bottom: 6, borderColor: look.line, brushSelect: false,
      fillerColor: 'rgba(120,130,140,0.18)', textStyle: {color: look.soft}, showDetail: false, showDataShadow: false}
  ];
}

// What stands for what, above the plot: in several lines in a file, in one that can be turned over in a page.
function legend(view, policies, extra) {
  const look = view.look;
  return Object.assign({show: true, type: view.still ? 'plain' : 'scroll', top: 0, left: view.still ? 'center' : 0, textStyle: {color: look.ink},
    itemWidth: 26, icon: undefined, pageTextStyle: {color: look.soft}, pageIconColor: look.ink, pageIconInactiveColor: look.line,
    data: policies.map(p => p.name), formatter: name => shortText(name, view.narrow ? 18 : 30) + (policies.some(p => p.baseline && p.name === name) ? ' (baseline)' : '')}, extra || {});
}

// Where a plot with a legend and a name above its axis begins.
function below(view, policies) { return view.still ? 34 + 22 * Math.ceil(policies.length / 4) : 58; }

function line(policy, look, points, extra) {
  const style = lookOf(policy, look);
  return Object.assign({
    name: policy.name, type: 'line', data: points, showSymbol: false, symbolSize: 5, itemStyle: {color: style.color},
    lineStyle: {color: style.color, type: style.type, width: style.width}, emphasis: {focus: 'series', lineStyle: {width: 3}}
  }, extra);
}

function dot(color) { return '<span class="dot" style="background:' + color + '"></span>'; }

// A tooltip over lines: one row per line.
function rows(head, params, show) {
  const list = Array.isArray(params) ? params : [params];
  return escapeHtml(head) + list.map(p =>
    '<br>' + dot(p.color) + escapeHtml(shortText(p.seriesName, 40)) + ': <b>' + escapeHtml(show(p)) + '</b>').join('');
}

// Days since the first submit.
function days(seconds) { return Math.round(seconds / 86400 * 1000) / 1000; }

function shown(results, view, has) {
  return results.policies.filter(p => view.chosen.includes(p.index) && (!has || has(p)));
}

// The points of a cumulative distribution, where a logarithmic axis begins at `least`.
function cdf(quantiles, least) {
  return quantiles.points.map(([share, value]) => [Math.max(value, least), share, value]);
}

function distribution(results, view, spec) {
  const policies = shown(results, view, p => p.details && p.details[spec.key] && p.details[spec.key].count > 0);
  if (!policies.length) return null;
  const look = view.look;
  const series = policies.map(p => line(p, look, cdf(p.details[spec.key], spec.least), {dimensions: ['x', 'share', 'value']}));
  const most = Math.max(...policies.map(p => p.details[spec.key].points[p.details[spec.key].points.length - 1][1]));
  return {
    id: spec.id, title: spec.title, note: spec.note, height: 340,
    option: frame(view, {
      describes: spec.title + ', for ' + policies.map(p => shortText(p.name, 30)).join(', '), series,
      legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: view.still ? 34 : 58, containLabel: true},
      xAxis: spec.label === durationText ? lengthAxis(axis, view, spec.least, most, {name: spec.axis})
        : axis(view, {type: 'log', name: spec.axis, axisLabel: {formatter: tickText}, min: spec.least}),
      yAxis: upAxis(view, {type: 'value', name: 'share of jobs', min: 0, max: 1, axisLabel: {formatter: v => percentText(v, 0)}}),
      // Across the lines at one share: what as many jobs do not exceed under each policy.
      tooltip: tip(look, {trigger: 'axis', axisPointer: {axis: 'y', snap: false},
        formatter: ps => ps.length ? rows(percentText(ps[0].data[1], ps[0].data[1] > 0.99 ? 2 : 1) + ' of jobs: at most', ps, p => spec.label(p.data[2])) : ''}),
      dataZoom: zoom(view)
    })
  };
}

// What the colours of better, worse and unsure stand for.
function verdictKinds(look, names) {
  return [look.better, look.worse, look.unsure].map((color, i) => ({name: names[i], color}));
}

// Changes against the baseline with their intervals.
function changesPlot(results, view, metric, id, title) {
  const of = p => p.changes.find(c => same(c.metric, metric));
  const all = shown(results, view, p => !p.baseline && of(p) !== undefined && of(p).relative !== null);
  // What got many times worse would press all others into one line.
  const least = Math.min(...all.map(p => of(p).relative)), far = p => of(p).relative > 2 && of(p).relative > 3 * Math.abs(least);
  const policies = all.some(p => !far(p)) ? all.filter(p => !far(p)) : all, beyond = all.filter(p => !policies.includes(p));
  if (!policies.length) return null;
  const look = view.look;
  const color = c => c.verdict === 'better' ? look.better : c.verdict === 'worse' ? look.worse : look.unsure;
  const word = c => ({better: 'clearly better', worse: 'clearly worse', same: 'the same', alike: 'no difference worth the name', unclear: 'not decided: may be noise'})[c.verdict] || 'no interval';
  const ordered = policies.slice().sort((a, b) => of(b).relative - of(a).relative);
  const data = ordered.map((p, i) => {
    const c = of(p), [low, high] = c.interval || [c.relative, c.relative];
    return {value: [c.relative, i, low, high], name: p.name, itemStyle: {color: color(c)}, word: word(c), has: !!c.interval};
  });
  const wide = view.narrow ? 14 : 22;
  const kinds = verdictKinds(look, ['clearly better', 'clearly worse', 'may be noise']);
  return {
    id, title, height: Math.max(170, 98 + 24 * ordered.length),
    note: 'Dots: change of the mean against ' + shortText(results.baseline ? results.baseline.name : '', 40) + '; bars: its interval, where there is one. Left is better.' +
      (beyond.length ? ' Too far right to draw: ' + beyond.map(p => shortText(p.name, 30) + ' (' + figureText(1 + of(p).relative) + ' times)').join(', ') + '.' : ''),
    option: frame(view, {
      describes: title + ': ' + data.map(d => shortText(d.name, 30) + ' ' + signedPercent(d.value[0]) + ' ' + d.word).join(', '),
      legend: legend(view, kinds, {icon: 'circle', itemWidth: 12}),
      grid: {left: 20, right: 34, top: 38, bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', scale: false, name: 'change against ' + shortText(results.baseline ? results.baseline.name : 'the baseline', 30), axisLabel: {formatter: v => signedPercent(v).replace('.0', '')}}),
      yAxis: axis(view, {type: 'category', data: ordered.map(p => p.name), axisLabel: {formatter: n => shortText(n, wide), color: look.ink},
        splitLine: {show: false}, axisTick: {show: false}}),
      tooltip: tip(look, {trigger: 'item', formatter: p => escapeHtml(shortText(p.data.name, 60)) + '<br>' + dot(p.color) + '<b>' +
        escapeHtml(signedPercent(p.data.value[0])) + '</b>' + (p.data.has ? ' (' + escapeHtml(signedPercent(p.data.value[2]) + ' to ' + signedPercent(p.data.value[3])) + ')' : '') + '<br>' + escapeHtml(p.data.word)}),
      series: [
        {type: 'custom', silent: true, z: 1, data: data.map(d => ({value: d.value, itemStyle: d.itemStyle})), encode: {x: [0, 2, 3], y: 1},
          renderItem: (params, api) => {
            const low = api.coord([api.value(2), api.value(1)]), high = api.coord([api.value(3), api.value(1)]);
            const style = {stroke: api.visual('color'), lineWidth: 2, fill: 'none'};
            const bar = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style});
            return {type: 'group', children: [bar(low[0], low[1], high[0], high[1]), bar(low[0], low[1] - 5, low[0], low[1] + 5), bar(high[0], high[1] - 5, high[0], high[1] + 5)]};
          }},
        ...kinds.map((kind, k) => Object.assign({type: 'scatter', name: kind.name, z: 3, symbolSize: 10, itemStyle: {color: kind.color},
          data: data.filter(d => d.itemStyle.color === kind.color), encode: {x: 0, y: 1}}, k ? {} : {markLine: {silent: true, symbol: 'none',
          label: {show: false}, lineStyle: {color: look.ink, type: 'solid', width: 1}, data: [{xAxis: 0}]}}))
      ]
    })
  };
}

function same(a, b) { return JSON.stringify(a) === JSON.stringify(b); }

// Least value that would stretch an axis until all others pile up: the first above a gap of a factor of three, in the worse half.
function farOut(policies, of) {
  const values = policies.map(of).sort((a, b) => a - b);
  for (let i = Math.ceil(values.length / 2); i < values.length; i++) {
    if (values[i] > 3 * Math.max(values[i - 1], 1e-9)) return values[i];
  }
  return Infinity;
}

// A side for the name of each point, so that no name covers a point or another name: right, left, above or below; null where every
// side is taken. Sizes in pixels, of letters of 11, with some room since the width of the plot is known roughly.
function namePlaces(spots, names, [across, down]) {
  const taken = spots.map(([x, y]) => [x - 8, y - 8, x + 8, y + 8]);
  const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return spots.map(([x, y], i) => {
    const width = 6.8 * names[i].length, boxes = {
      right: [x + 8, y - 9, x + 14 + width, y + 9], left: [x - 14 - width, y - 9, x - 8, y + 9],
      top: [x - 4 - width / 2, y - 26, x + 4 + width / 2, y - 8], bottom: [x - 4 - width / 2, y + 8, x + 4 + width / 2, y + 26]
    };
    const clash = side => taken.reduce((n, box, j) => n + (j !== i && meets(box, boxes[side]) ? 1 : 0), 0) +
      (boxes[side][0] < 0 || boxes[side][2] > across || boxes[side][1] < 0 || boxes[side][3] > down ? 2 : 0);
    const best = Object.keys(boxes).reduce((a, b) => clash(b) < clash(a) ? b : a);
    if (clash(best) > 0) return null;
    taken.push(boxes[best]);
    return best;
  });
}

// Every policy as a point with its name; the line joins those that none beats in both.
function paretoPlot(results, view) {
  const x = p => p.report.measures.bounded_slowdown.mean, y = p => p.report.measures.wait.max;
  const all = results.policies.filter(p => x(p) !== null && y(p) !== null);
  const farX = farOut(all, x), farY = farOut(all, y);
  const policies = all.filter(p => p.baseline || (x(p) < farX && y(p) < farY)), beyond = all.filter(p => !policies.includes(p));
  if (policies.length < 2) return null;
  const look = view.look;
  const low = of => Math.min(...policies.map(of)), high = of => Math.max(...policies.map(of));
  // What knows run times is a bound, not a choice.
  const real = policies.filter(p => !p.clairvoyant && !p.preemptive);
  const front = real.filter(p => !real.some(q => q !== p && x(q) <= x(p) && y(q) <= y(p) && (x(q) < x(p) || y(q) < y(p))))
    .sort((a, b) => x(a) - x(b) || y(b) - y(a));
  const data = policies.map(p => {
    const style = lookOf(p, look);
    return {name: p.name, value: [x(p), y(p)], symbol: p.baseline ? 'diamond' : p.clairvoyant || p.preemptive ? 'emptyCircle' : 'circle', symbolSize: p.baseline ? 15 : 11,
      itemStyle: {color: style.color, borderColor: style.color},
      label: {show: true, formatter: () => shortText(p.name, view.narrow ? 16 : 24), color: look.ink, fontSize: 11}};
  });
  // Some room on all sides, and never an axis of a single value.
  const room = of => Math.max((high(of) - low(of)) * 0.12, high(of) * 0.02, 1e-9);
  const slowdowns = {min: Math.max(0, low(x) - room(x)), max: high(x) + room(x)}, waits = {min: Math.max(0, low(y) - room(y)), max: high(y) + room(y)};
  // Days are written with one decimal at most: half a day is the least step of them.
  const step = LENGTH_STEPS.find(s => (waits.max - waits.min) / s <= 7 && (waits.max <= 172800 || s >= 43200)) || nice((waits.max - waits.min) / 7, 1);
  waits.min = Math.floor(waits.min / step) * step;
  waits.max = Math.ceil(waits.max / step) * step;
  const across = view.narrow ? 230 : view.still ? 560 : 380, down = 290;
  const spots = data.map(d => [(d.value[0] - slowdowns.min) / (slowdowns.max - slowdowns.min) * across, (waits.max - d.value[1]) / (waits.max - waits.min) * down]);
  const places = namePlaces(spots, data.map(d => shortText(d.name, view.narrow ? 16 : 24)), [across + (view.narrow ? 80 : 110), down]);
  places.forEach((position, i) => { Object.assign(data[i].label, position ? {position} : {show: false}); });
  const unnamed = data.filter((_, i) => !places[i]).map(d => shortText(d.name, 30));
  return {
    id: 'pareto', title: 'Mean bounded slowdown and longest wait of every policy', height: 380,
    note: 'Left and down is better. The line joins policies that no other beats in both. Diamond: the baseline' +
      (policies.some(p => p.clairvoyant || p.preemptive) ? '; hollow: uses true run times (an upper bound, not an option) or suspends jobs.' : '.') +
      (beyond.length ? ' Too far out to draw: ' + beyond.map(p => shortText(p.name, 30) + ' (' + figureText(x(p)) + ', ' + durationText(y(p)) + ')').join(', ') + '.' : '') +
      (unnamed.length ? ' No room for the names of ' + unnamed.join(', ') + ': their colours are those of the list of policies.' : ''),
    option: frame(view, {
      describes: 'Mean bounded slowdown against longest wait; not beaten in both: ' + front.map(p => shortText(p.name, 30)).join(', '),
      grid: {left: 12, right: view.narrow ? 84 : 120, top: 34, bottom: 34, containLabel: true},
      xAxis: axis(view, Object.assign({type: 'value', name: 'mean bounded slowdown', axisLabel: {formatter: tickText, showMinLabel: false, showMaxLabel: false}}, slowdowns)),
      yAxis: upAxis(view, Object.assign({type: 'value', name: 'longest wait', interval: step, axisLabel: {formatter: durationText}}, waits)),
      tooltip: tip(look, {trigger: 'item', formatter: p => escapeHtml(shortText(p.name, 60)) + '<br>mean bounded slowdown <b>' + figureText(p.value[0]) + '</b><br>longest wait <b>' + escapeHtml(durationText(p.value[1])) + '</b>'}),
      series: [
        {type: 'line', name: 'front', silent: true, showSymbol: false, step: false, data: front.map(p => [x(p), y(p)]), lineStyle: {color: look.soft, type: 'dashed', width: 1}, z: 1, tooltip: {show: false}},
        {type: 'scatter', name: 'policies', data, z: 3}
      ]
    })
  };
}

// A round number not above (or not below) a value.
function nice(value, direction) {
  const power = Math.pow(10, Math.floor(Math.log10(value)));
  const steps = [1, 2, 5, 10].map(s => s * power);
  return direction < 0 ? steps.filter(s => s <= value * 1.0000001).pop() : steps.find(s => s >= value);
}

const RUNS = ['≤10 min', '≤1 h', '≤4 h', '≤8 h', '>8 h'];
const SIZES = ['1', '2–8', '9–32', '33–64', '>64'];

// Small multiples: run time across, width up, colour the change against the baseline.
function heatPlot(results, view, key, id, title) {
  const base = results.baseline;
  const policies = shown(results, view, p => !p.baseline && p.details && p.details.classes.length);
  if (!base || !base.details || !base.details.classes.length || !policies.length) return null;
  const met = base.details.classes.filter(c => c.jobs > 0 || c[key] !== null).concat(...policies.map(p => p.details.classes));
  // Only lengths and widths of which there are jobs.
  const lengths = RUNS.map((_, i) => i).filter(i => met.some(c => Math.floor(c.key / 5) === i));
  const widths = SIZES.map((_, i) => i).filter(i => met.some(c => c.key % 5 === i));
  const look = view.look, columns = Math.min(policies.length, view.narrow ? 1 : policies.length === 4 ? 2 : 3), lines = Math.ceil(policies.length / columns);
  const cell = 250, head = 26, grids = [], xs = [], ys = [], series = [], titles = [];
  const most = 1.5;
  policies.forEach((p, i) => {
    const row = Math.floor(i / columns), column = i % columns;
    const width = 100 / columns;
    grids.push({left: (column * width + (column ? 1 : 0) + (view.narrow ? 14 : 6)) + '%', width: (width - (view.narrow ? 18 : 8)) + '%', top: row * cell + head + 6, height: cell - head - 50});
    titles.push({text: shortText(p.name, view.narrow ? 34 : 30), left: (column * width + width / 2 + 1) + '%', top: row * cell, textAlign: 'center', textStyle: {fontSize: 12, fontWeight: 'bold', color: look.ink, fontFamily: view.font || FONT}});
    xs.push(axis(view, {type: 'category', gridIndex: i, data: lengths.map(i => RUNS[i]), splitLine: {show: false}, axisLabel: {fontSize: 10, interval: 0, hideOverlap: false}, axisTick: {show: false}}));
    ys.push(axis(view, {type: 'category', gridIndex: i, data: widths.map(i => SIZES[i]), splitLine: {show: false}, axisLabel: {fontSize: 10, interval: 0, hideOverlap: false}, axisTick: {show: false}}));
    const data = p.details.classes.map(c => {
      const before = base.details.classes.find(b => b.key === c.key);
      const old = before ? before[key] : null;
      const change = old === null || c[key] === null || old === undefined ? null : old === c[key] ? 0 : old > 0 ? c[key] / old - 1 : null;
      return {value: [lengths.indexOf(Math.floor(c.key / 5)), widths.indexOf(c.key % 5), change === null ? '-' : Math.max(-most, Math.min(most, Math.log2(Math.max(1e-9, 1 + change))))],
        cell: c, before: old, change, label: {color: change !== null && Math.abs(Math.log2(Math.max(1e-9, 1 + change))) > 0.75 ? '#ffffff' : look.ink}};
    });
    series.push({type: 'heatmap', name: p.name, xAxisIndex: i, yAxisIndex: i, data, itemStyle: {borderColor: look.paper, borderWidth: 2},
      label: {show: true, fontSize: 10, formatter: q => q.data.change === null ? '' : q.data.change > 9.99 ? '×' + figureText(1 + q.data.change) : (q.data.change >= 0.005 ? '+' : '') + numberText(q.data.change * 100, 0)}});
  });
  const show = key === 'wait' ? durationText : figureText;
  return {
    id, title, height: lines * cell + 40,
    note: 'Change in per cent against ' + shortText(base.name, 40) + '; run time across, processors up. Blue is better, orange worse; empty: no such job, or no value to compare with.',
    option: frame(view, {
      describes: title + ', for ' + policies.map(p => shortText(p.name, 30)).join(', ') + '; the table by run time × processors has the numbers',
      title: titles, grid: grids, xAxis: xs, yAxis: ys, series,
      visualMap: {type: 'continuous', min: -most, max: most, dimension: 2, calculable: false, show: true, orient: 'horizontal', left: 'center', bottom: 0, itemWidth: 12, itemHeight: 160,
        text: ['worse', 'better'], textStyle: {color: look.soft}, inRange: {color: [look.low, look.middle, look.high]}},
      tooltip: tip(look, {trigger: 'item', formatter: p => escapeHtml(shortText(p.seriesName, 40)) + '<br>' + escapeHtml(p.data.cell.name) + ' processors, ' + numberText(p.data.cell.jobs, 0) + ' jobs<br>' +
        escapeHtml(show(p.data.cell[key])) + ' against ' + escapeHtml(show(p.data.before)) + ': <b>' + escapeHtml(signedPercent(p.data.change)) + '</b>'})
    })
  };
}

// A level of the machine over time.
function timePlot(results, view, key, id, title, label, extra) {
  const policies = shown(results, view, p => p.details && p.details.timeline);
  if (!policies.length) return null;
  const look = view.look, clock = results.clock, bundle = weekBundle(policies);
  const series = policies.map(p => {
    const t = p.details.timeline, scale = extra && extra.scale ? extra.scale : 1, means = bundled(t[key], bundle), style = lookOf(p, look);
    const points = means.map((v, i) => [days(t.start - clock.origin + i * bundle * t.width), v * scale]);
    if (points.length) points.push([days(t.start - clock.origin + t[key].length * t.width), points[points.length - 1][1]]);
    return line(p, look, points, {step: 'end', lineStyle: {color: style.color, type: style.type, width: p.baseline ? 2 : 1.4}});
  });
  const width = policies.map(p => durationText(p.details.timeline.width * bundle)).sort().pop();
  const end = Math.max(...series.map(s => s.data.length ? s.data[s.data.length - 1][0] : 0));
  return {
    id, title, height: 280, group: 'time',
    note: 'Time-weighted means over ' + width + ' each.' + (extra && extra.note ? ' ' + extra.note : ''),
    option: frame(view, {
      describes: title + ', for ' + policies.map(p => shortText(p.name, 30)).join(', '), series, legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: view.still ? 34 : 58, containLabel: true},
      xAxis: clockAxis(view, clock, end, {}),
      yAxis: upAxis(view, Object.assign({type: 'value', name: extra && extra.axis || '', min: 0, axisLabel: {formatter: label}}, extra && extra.top ? {max: extra.top} : {})),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('from ' + clockText(clock, ps[0].value[0]), ps, p => label(p.value[1])) : ''}),
      dataZoom: zoom(view)
    })
  };
}

// Bins of a timeline that are drawn as one: about a week of them in a log of two months or more, where single bins would only
// be noise.
function weekBundle(policies) {
  const widest = Math.max(...policies.map(p => p.details.timeline.width));
  const longest = Math.max(...policies.map(p => p.details.timeline.width * p.details.timeline.utilisation.length));
  return longest < 60 * 86400 ? 1 : Math.max(1, Math.round(7 * 86400 / widest));
}

// Means of so many values each.
function bundled(values, many) {
  if (many === 1) return values;
  const means = [];
  for (let i = 0; i < values.length; i += many) {
    const some = values.slice(i, i + many);
    means.push(some.reduce((a, b) => a + b, 0) / some.length);
  }
  return means;
}

// The mean slowdown of each class of run times, week by week.
function weeklyPlot(results, view) {
  const policies = shown(results, view, p => p.details && p.details.weekly.jobs[0].length);
  if (!policies.length) return null;
  const weeks = Math.max(...policies.map(p => p.details.weekly.jobs[0].length));
  const look = view.look, columns = view.narrow ? 1 : 2, cell = 200, grids = [], xs = [], ys = [], series = [], titles = [];
  for (let k = 0; k < 4; k++) {
    const row = Math.floor(k / columns), column = k % columns, width = 100 / columns;
    grids.push({left: column * width + (view.narrow ? 12 : 6) + '%', width: width - (view.narrow ? 16 : 8) + '%', top: row * cell + 56, height: cell - 66});
    titles.push({text: 'run time ' + LENGTHS[k], left: column * width + (view.narrow ? 12 : 6) + '%', top: row * cell + 30, textStyle: {fontSize: 12, fontWeight: 'normal', color: look.soft, fontFamily: view.font || FONT}});
    xs.push(axis(view, {type: 'value', gridIndex: k, min: Math.min(1, weeks - 1), max: 'dataMax', name: row === 4 / columns - 1 ? 'week' : '', minInterval: 1}));
    ys.push(axis(view, {type: 'log', gridIndex: k, min: 1, axisLabel: {formatter: tickText}}));
    for (const p of policies) {
      const points = p.details.weekly.slowdown[k].map((s, week) => [week + 1, s]).filter(w => w[1] !== null);
      series.push(line(p, look, points, {xAxisIndex: k, yAxisIndex: k, showSymbol: points.length < 3, lineStyle: {color: lookOf(p, look).color, type: lookOf(p, look).type, width: 1.4}}));
    }
  }
  return {
    id: 'class-slowdown', title: 'Mean slowdown by run time, week by week', height: cell * 4 / columns + 46,
    note: 'By week of submit; slowdown is 1 + wait / run time, on logarithmic axes.',
    option: frame(view, {
      describes: 'Mean weekly slowdown of four classes of run times', title: titles, grid: grids, xAxis: xs, yAxis: ys, series, legend: legend(view, policies),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('week ' + ps[0].value[0], ps, p => figureText(p.value[1])) : ''})
    })
  };
}

// Submissions per batch of R: results of older versions do not say.
function batchOf(policy) { return policy.details.ratios.batch || 1000; }

// R against the baseline per batch of submissions.
function ratioPlot(results, view) {
  const policies = shown(results, view, p => !p.baseline && p.details && p.details.ratios && p.details.ratios.batches.length);
  if (!policies.length) return null;
  const look = view.look;
  const series = policies.map(p => line(p, look, p.details.ratios.batches.map((r, i) => [(i + 1) * batchOf(p) / 1000, r === null ? '-' : r]), {showSymbol: p.details.ratios.batches.length < 40}));
  series[0].markLine = {silent: true, symbol: 'none', label: {show: false}, lineStyle: {color: look.ink, type: 'solid', width: 1}, data: [{yAxis: 0}]};
  return {
    id: 'ratio', title: 'Slowdown ratio R against ' + shortText(results.baseline.name, 40) + ', per ' + numberText(batchOf(policies[0]), 0) + ' submissions', height: 300,
    note: 'R = (s − t) / min(s, t) of the mean slowdowns s under ' + shortText(results.baseline.name, 40) + ' and t under the policy: above 0 the policy is better; +1 is twice as good, −1 twice as bad.',
    option: frame(view, {
      describes: 'Slowdown ratio per batch of submissions: ' + policies.map(p => shortText(p.name, 30) + ' overall ' + figureText(p.details.ratios.overall)).join(', '), series, legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: view.still ? 34 : 58, containLabel: true},
      xAxis: axis(view, {type: 'value', name: 'thousands of submissions', min: 0, max: 'dataMax'}),
      yAxis: upAxis(view, {type: 'value', name: 'R'}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('submissions up to ' + numberText(ps[0].value[0] * 1000, 0), ps, p => figureText(p.value[1])) : ''}),
      dataZoom: zoom(view)
    })
  };
}

// How accurate predictions were.
function accuracyPlot(results, view) {
  const total = p => p.details.accuracy.counts.reduce((a, b) => a + b, 0);
  const policies = shown(results, view, p => p.details && p.details.accuracy.counts.length && total(p) > 0);
  if (!policies.length) return null;
  const look = view.look;
  const series = policies.map(p => {
    const bars = p.details.accuracy, all = total(p);
    const points = bars.counts.map((c, i) => [bars.start + i * bars.width, c / all]);
    points.push([1, points[points.length - 1][1]]);
    return line(p, look, points, {step: 'end'});
  });
  return {
    id: 'accuracy', title: 'Accuracy of predictions', height: 300,
    note: 'Shares of jobs in twentieths of accuracy: the smaller of prediction and run time divided by the larger, over the life of the job; 1 is perfect.',
    option: frame(view, {
      describes: 'Accuracy of predictions: ' + policies.map(p => shortText(p.name, 30) + ' mean ' + percentText((p.report.predictability || {accuracy: {mean: null}}).accuracy.mean, 1)).join(', '), series, legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', name: 'accuracy', min: 0, max: 1}),
      yAxis: upAxis(view, {type: 'value', name: 'share of jobs', min: 0, axisLabel: {formatter: v => percentText(v, 0)}}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('accuracy from ' + numberText(ps[0].value[0], 2), ps, p => percentText(p.value[1], 1)) : ''})
    })
  };
}

// Who wins and who loses: a dot per user and policy.
function usersPlot(results, view) {
  const base = results.baseline;
  const policies = shown(results, view, p => !p.baseline && p.details && p.details.users.length);
  if (!base || !base.details || !policies.length) return null;
  const look = view.look, before = new Map(base.details.users.map(u => [u.key, u]));
  const most = Math.max(...base.details.users.map(u => u.jobs), 1);
  const data = [];
  policies.forEach((p, row) => {
    for (const user of p.details.users) {
      const old = before.get(user.key);
      if (!old || !(old.bounded_slowdown > 0) || user.bounded_slowdown === null) continue;
      const ratio = user.bounded_slowdown / old.bounded_slowdown;
      // Spread in a fixed way, so that dots do not hide each other.
      const spread = ((Math.abs(user.key) * 7919) % 101) / 101 - 0.5;
      data.push({name: user.name, value: [ratio, row + spread * 0.62, user.jobs], policy: p.name, old: old.bounded_slowdown, now: user.bounded_slowdown,
        symbolSize: 4 + 12 * Math.sqrt(user.jobs / most), itemStyle: {color: ratio < 0.98 ? look.better : ratio > 1.02 ? look.worse : look.unsure, opacity: 0.65}});
    }
  });
  if (!data.length) return null;
  const better = policies.map(p => data.filter(d => d.policy === p.name && d.value[0] < 0.98).length);
  const worse = policies.map(p => data.filter(d => d.policy === p.name && d.value[0] > 1.02).length);
  const kinds = verdictKinds(look, ['better off', 'worse off', 'about the same']);
  const low = Math.min(...data.map(d => d.value[0])), high = Math.max(...data.map(d => d.value[0]));
  return {
    id: 'users', title: 'Users who win and users who lose', height: Math.max(200, 104 + 62 * policies.length),
    note: 'A dot per user: their mean bounded slowdown divided by that under ' + shortText(base.name, 40) + '. Left of 1 they are better off. Large dots: many jobs.' +
      (base.details.user_count > base.details.users.length ? ' The ' + base.details.users.length + ' users with most jobs of ' + base.details.user_count + '.' : ''),
    option: frame(view, {
      describes: 'Users better and worse off: ' + policies.map((p, i) => shortText(p.name, 30) + ' ' + better[i] + ' better, ' + worse[i] + ' worse').join('; '),
      legend: legend(view, kinds, {icon: 'circle', itemWidth: 12}),
      grid: {left: 30, right: 34, top: 38, bottom: 48},
      xAxis: axis(view, {type: 'log', name: 'mean bounded slowdown ÷ that under the baseline', axisLabel: {formatter: v => '×' + tickText(v)}, min: Math.min(0.5, nice(low, -1)), max: Math.max(2, nice(high, 1))}),
      yAxis: axis(view, {type: 'value', min: -0.5, max: policies.length - 0.5, interval: 1, inverse: true, splitLine: {show: false}, axisTick: {show: false},
        axisLabel: {show: false}, axisLine: {show: false}}),
      tooltip: tip(look, {trigger: 'item', formatter: p => p.data.policy === undefined ? '' : escapeHtml(shortText(p.data.name, 60)) + ', ' + numberText(p.data.value[2], 0) + ' jobs<br>' + escapeHtml(shortText(p.data.policy, 40)) + ': <b>×' + figureText(p.data.value[0]) + '</b> (' + figureText(p.data.now) + ' against ' + figureText(p.data.old) + ')'}),
      series: [
        ...kinds.map((kind, k) => Object.assign({type: 'scatter', name: kind.name, data: data.filter(d => d.itemStyle.color === kind.color), itemStyle: {color: kind.color}, z: 2},
          k ? {} : {markLine: {silent: true, symbol: 'none', label: {show: false}, lineStyle: {color: look.ink, type: 'solid', width: 1}, data: [{xAxis: 1}]}})),
        {type: 'scatter', silent: true, symbol: 'rect', symbolSize: 1, itemStyle: {color: 'transparent'}, clip: false, z: 4, data: policies.map((p, i) => ({value: [Math.min(0.5, nice(low, -1)), i - 0.4],
          label: {show: true, position: 'right', color: look.ink, fontWeight: 'bold', formatter: () => shortText(p.name, view.narrow ? 16 : 30) + ': ' + better[i] + ' better, ' + worse[i] + ' worse'}}))}
      ]
    })
  };
}

// Power drawn, under the cap, and what a kilowatt-hour emits and costs, over time.
function powerPlots(results, view) {
  const policies = shown(results, view, p => p.details && p.details.power);
  if (!policies.length) return [];
  const look = view.look, clock = results.clock, first = policies[0].details.power;
  const points = (power, values) => {
    const list = values.map((v, i) => [days(power.start - clock.origin + i * power.width), v]);
    if (list.length) list.push([days(power.end - clock.origin), list[list.length - 1][1]]);
    return list;
  };
  const other = (name, color, values) => ({name, type: 'line', step: 'end', data: points(first, values), showSymbol: false,
    itemStyle: {color}, lineStyle: {color, type: 'dashed', width: 1.4}});
  const plot = (id, title, note, series, names, axisName, show) => ({
    id, title, height: 280, group: 'time', note,
    option: frame(view, {
      describes: title, series, legend: legend(view, policies, {data: names}),
      grid: {left: 12, right: 26, top: below(view, names), bottom: view.still ? 34 : 58, containLabel: true},
      xAxis: clockAxis(view, clock, Math.max(...policies.map(p => days(p.details.power.end - clock.origin))), {}),
      yAxis: upAxis(view, {type: 'value', name: axisName, min: 0, axisLabel: {formatter: tickText}}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('from ' + clockText(clock, ps[0].value[0]), ps, p => show(p.value[1])) : ''}),
      dataZoom: zoom(view)
    })
  });
  const drawn = policies.map(p => line(p, look, points(p.details.power, p.details.power.draw), {step: 'end'}));
  const cap = first.cap && first.cap.length ? [other('cap', look.worse, first.cap)] : [];
  const width = policies.map(p => durationText(p.details.power.width)).sort().pop();
  const plots = [plot('power', 'Power drawn over time', 'Time-weighted means over ' + width + ' each, of jobs and idle processors.',
    drawn.concat(cap), policies.map(p => p.name).concat(cap.map(s => s.name)), 'watts', v => numberText(v, 0) + ' W')];
  const known = [['carbon intensity, g/kWh', first.carbon], ['price per MWh', first.price]].filter(one => one[1] && one[1].length);
  if (known.length) {
    const series = known.map(([name, values], i) => other(name, look.hues[i], values));
    plots.push(plot('intensity', 'Carbon intensity and price over time', 'Time-weighted means over ' + durationText(first.width) + ' each.',
      series, known.map(one => one[0]), '', figureText));
  }
  return plots;
}

// Partitions and other quantities inside a policy.
function gaugePlots(results, view) {
  const plots = [];
  for (const p of shown(results, view, q => q.details && q.details.gauges.length)) {
    const look = view.look, parts = p.details.gauges.filter(g => g.name.startsWith('partition '));
    const end = p.details.timeline ? p.details.timeline.start + p.details.timeline.width * p.details.timeline.utilisation.length : Math.max(...p.details.gauges.flatMap(g => g.points.map(q => q[0])));
    const start = p.details.timeline ? p.details.timeline.start : 0;
    if (parts.length) {
      // All change points, so that areas can be stacked.
      const times = [...new Set(parts.flatMap(g => g.points.map(q => q[0])))].sort((a, b) => a - b);
      times.push(Math.max(end, times[times.length - 1] + 1));
      const series = parts.map((g, i) => {
        let at = 0, value = 0;
        const points = times.map(t => {
          while (at < g.points.length && g.points[at][0] <= t) value = g.points[at++][1];
          return [days(t - start), value];
        });
        const color = colorAt(i, look);
        return {name: g.name, type: 'line', stack: 'all', step: 'end', data: points, showSymbol: false, lineStyle: {width: 0.8, color}, itemStyle: {color}, areaStyle: {opacity: 0.55, color}};
      });
      plots.push({
        id: 'partitions-' + p.index, title: 'Partitions over time: ' + shortText(p.name, 60), height: 300, group: 'time',
        note: 'Processors that belong to each partition; their borders move.' + (parts.some(g => g.changes > g.points.length) ? ' Thinned out: not every move is drawn.' : ''),
        option: frame(view, {
          describes: 'Processors of each partition over time', series, legend: {show: true, type: view.still ? 'plain' : 'scroll', top: 0, textStyle: {color: look.ink}},
          grid: {left: 12, right: 26, top: 58, bottom: view.still ? 34 : 58, containLabel: true},
          xAxis: clockAxis(view, {origin: start, unix: results.clock.unix === null ? null : results.clock.unix - results.clock.origin + start}, days(end - start), {}),
          yAxis: upAxis(view, {type: 'value', name: 'processors', min: 0}),
          tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('from ' + clockText({unix: results.clock.unix === null ? null : results.clock.unix - results.clock.origin + start}, ps[0].value[0]), ps, q => numberText(q.value[1], 0)) : ''}),
          dataZoom: zoom(view)
        })
      });
    }
  }
  return plots.concat(delayPlot(results, view) || []);
}

// The delay of queues' own jobs, as it adapts, under every policy that has one.
function delayPlot(results, view) {
  const gauge = p => p.details.gauges.find(g => g.name === 'delay');
  const policies = shown(results, view, p => p.details && gauge(p));
  if (!policies.length) return null;
  const look = view.look, clock = results.clock;
  const start = p => p.details.timeline ? p.details.timeline.start : 0;
  const last = p => p.details.timeline ? start(p) + p.details.timeline.width * p.details.timeline.utilisation.length : 0;
  const series = policies.map(p => {
    const points = gauge(p).points.map(q => [days(q[0] - clock.origin), q[1]]);
    points.push([days(Math.max(last(p) - clock.origin, (gauge(p).points[points.length - 1] || [0])[0] - clock.origin)), points.length ? points[points.length - 1][1] : 0]);
    return line(p, look, points, {step: 'end'});
  });
  const end = Math.max(...series.map(s => s.data[s.data.length - 1][0]));
  return {
    id: 'delay', title: 'Delay before a partition takes processors of another', height: 280, group: 'time',
    note: policies.some(p => gauge(p).changes > gauge(p).points.length) ? 'Thinned out: not every change is drawn.' : '',
    option: frame(view, {
      describes: 'Delay over time: ' + policies.map(p => shortText(p.name, 30) + ' ' + numberText(gauge(p).changes, 0) + ' changes').join(', '), series, legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: view.still ? 34 : 58, containLabel: true},
      xAxis: clockAxis(view, clock, end, {}),
      yAxis: spanAxis(upAxis, view, Math.max(1, ...series.flatMap(s => s.data.map(d => d[1]))), {name: 'delay D'}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('from ' + clockText(clock, ps[0].value[0]), ps, p => durationText(p.value[1])) : ''}),
      dataZoom: zoom(view)
    })
  };
}

// Measures of categories as bars: of each its name in files, its summary, and how it is written.
const OF_CATEGORIES = [
  ['slowdown', 'mean bounded slowdown', m => m.bounded_slowdown.mean, figureText],
  ['response', 'mean turnaround', m => m.response.mean, durationText],
  ['worst-slowdown', 'largest bounded slowdown', m => m.bounded_slowdown.max, figureText],
  ['worst-response', 'longest turnaround', m => m.response.max, durationText]
];
// More categories than this are no bars to look at.
const MOST_BARS = 40;

// The scheme as a part of a file's name.
function schemeId(scheme) { return scheme.replace(/[^A-Za-z0-9]+/g, '-').replace(/-+$/, ''); }

// Every category that some of these have, in order.
function categoryNames(all) {
  const names = new Map();
  for (const categorised of all) for (const c of categorised.categories) names.set(c.key, c.name);
  return [...names.entries()].sort((a, b) => a[0] - b[0]);
}

// Bars of every policy for each category, under each scheme that was asked for.
function categoryPlots(results, view) {
  const policies = shown(results, view, p => (p.report.categories || []).length), plots = [];
  if (!policies.length) return plots;
  const look = view.look;
  policies[0].report.categories.forEach((first, at) => {
    const all = policies.map(p => p.report.categories[at]).filter(c => c && c.scheme === first.scheme);
    const names = categoryNames(all);
    if (all.length !== policies.length || names.length < 2 || names.length > MOST_BARS) return;
    for (const [id, what, value, label] of OF_CATEGORIES) {
      const series = policies.map((p, i) => ({name: p.name, type: 'bar', barGap: '5%', itemStyle: {color: lookOf(p, look).color},
        data: names.map(([key]) => { const c = all[i].categories.find(c => c.key === key); const v = c ? value(c.measures) : null; return v === null || v === undefined ? '-' : v; })}));
      const known = series.flatMap(s => s.data).filter(v => v !== '-' && v > 0);
      if (!known.length) continue;
      // Bars of a logarithmic axis stand below all of them.
      const high = Math.max(...known), low = Math.min(...known), wide = high / low > 30;
      const lengths = label === durationText, from = lengths ? low / 2 : Math.pow(10, Math.floor(Math.log10(low)));
      const up = lengths && wide ? lengthAxis(upAxis, view, from, high, {name: what}) : lengths ? spanAxis(upAxis, view, high, {name: what})
        : upAxis(view, Object.assign({name: what, axisLabel: {formatter: tickText}}, wide ? {type: 'log', min: from} : {type: 'value', min: 0}));
      plots.push({
        id: 'category-' + id + '-' + schemeId(first.scheme), title: what[0].toUpperCase() + what.slice(1) + ' by category', height: 320,
        note: (wide ? 'On a logarithmic axis. ' : '') + 'No bar: no such job.',
        option: frame(view, {
          describes: what + ' of ' + names.length + ' categories, for ' + policies.map(p => shortText(p.name, 30)).join(', '), series, legend: legend(view, policies),
          grid: {left: names.length > 6 ? 44 : 12, right: 26, top: below(view, policies), bottom: 12, containLabel: true},
          xAxis: axis(view, {type: 'category', data: names.map(n => shortText(n[1], 30)), splitLine: {show: false}, axisLabel: {interval: 0, hideOverlap: false, rotate: names.length > 6 ? 40 : 0, fontSize: 11}}),
          yAxis: up,
          tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows(names[ps[0].dataIndex][1], ps, q => q.value === '-' ? '–' : label(q.value)) : ''})
        })
      });
    }
  });
  return plots;
}

// More categories than this are too many curves to look at.
const MOST_CURVES = 6;

// Curves of each category against the load, or against the utilisation that came of it: a small plot per category.
function categoryLoadPlots(results, view) {
  const plots = [], points = results.loads.filter(l => (l.categories || []).length && l.load !== null);
  if (!points.length) return plots;
  const policies = shown(results, view, p => points.some(l => l.policy === p.name));
  points[0].categories.forEach((first, at) => {
    const names = categoryNames(points.map(l => l.categories[at]).filter(c => c && c.scheme === first.scheme));
    if (!policies.length || names.length > MOST_CURVES) return;
    for (const [x, key, axisName] of [['load', 'load', 'offered load'], ['used', 'utilisation', 'utilisation']]) {
      for (const [id, what, value, label] of OF_CATEGORIES.slice(0, 2)) {
        plots.push(smallCurves(view, policies, names, {
          id: x + '-' + id + '-' + schemeId(first.scheme), title: what[0].toUpperCase() + what.slice(1) + ' by category against the ' + axisName, what, axisName, label,
          of: (p, category) => points.filter(l => l.policy === p.name && l[key] !== null).map(l => {
            const c = l.categories[at].categories.find(c => c.key === category), v = c ? value(c.measures) : null;
            return [l[key], v];
          }).filter(q => q[1] !== null && q[1] !== undefined).sort((a, b) => a[0] - b[0])
        }));
      }
    }
  });
  return plots;
}

// A plot per category, two in a line.
function smallCurves(view, policies, names, spec) {
  const look = view.look, columns = view.narrow ? 1 : 2, cell = 210, grids = [], xs = [], ys = [], series = [], titles = [];
  names.forEach(([key, name], k) => {
    const row = Math.floor(k / columns), column = k % columns, width = 100 / columns, left = column * width + (view.narrow ? 14 : 8) + '%';
    grids.push({left, width: width - (view.narrow ? 18 : 11) + '%', top: row * cell + 60, height: cell - 90});
    titles.push({text: shortText(name, 40), left, top: row * cell + 34, textStyle: {fontSize: 12, fontWeight: 'normal', color: look.soft, fontFamily: view.font || FONT}});
    xs.push(axis(view, {type: 'value', gridIndex: k, scale: true, name: row === Math.ceil(names.length / columns) - 1 ? spec.axisName : '', nameGap: 22, axisLabel: {formatter: v => percentText(v, 0)}}));
    const curves = policies.map(p => spec.of(p, key)), high = Math.max(1, ...curves.flatMap(c => c.map(q => q[1])));
    ys.push(spec.label === durationText ? spanAxis(axis, view, high, {gridIndex: k}) : axis(view, {type: 'value', gridIndex: k, min: 0, axisLabel: {formatter: tickText}}));
    policies.forEach((p, i) => series.push(line(p, look, curves[i], {xAxisIndex: k, yAxisIndex: k, showSymbol: true})));
  });
  return {
    id: spec.id, title: spec.title, height: cell * Math.ceil(names.length / columns) + 46, note: 'Interarrival times divided by each load factor; every policy simulated again at each.',
    option: frame(view, {
      describes: spec.title + ', for ' + policies.map(p => shortText(p.name, 30)).join(', '), title: titles, grid: grids, xAxis: xs, yAxis: ys, series, legend: legend(view, policies),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows(spec.axisName + ' ' + percentText(ps[0].value[0], 1), ps, p => spec.label(p.value[1])) : ''})
    })
  };
}

// How many nodes searches placed.
function searchPlot(results, view) {
  const policies = shown(results, view, p => p.details && p.details.search);
  if (!policies.length) return null;
  const look = view.look, most = Math.max(...policies.map(p => p.details.search.by_nodes.length));
  const names = Array.from({length: most}, (_, i) => i === 0 ? '≤1' : numberText(2 ** i, 0) + '–' + numberText(2 ** (i + 1) - 1, 0));
  return {
    id: 'search', title: 'Searches by the number of nodes they placed', height: 300,
    note: policies.map(p => shortText(p.name, 40) + ': ' + numberText(p.details.search.effort.searches, 0) + ' searches, ' + percentText(p.details.search.effort.exhausted / p.details.search.effort.searches, 1) + ' exhausted their tree').join('; ') + '.',
    option: frame(view, {
      describes: 'Searches by nodes placed', legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'category', data: names, name: 'nodes', splitLine: {show: false}}),
      yAxis: upAxis(view, {type: 'value', name: 'searches'}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows(ps[0].name + ' nodes', ps, q => numberText(q.value, 0)) : ''}),
      series: policies.map(p => ({name: p.name, type: 'bar', data: names.map((_, i) => p.details.search.by_nodes[i] || 0), itemStyle: {color: lookOf(p, look).color}}))
    })
  };
}

// How policies fare as the load rises.
function loadPlot(results, view, key, id, title, label) {
  const policies = shown(results, view, p => results.loads.some(l => l.policy === p.name && l[key] !== null && l.load !== null));
  if (!policies.length) return null;
  const look = view.look;
  const series = policies.map(p => line(p, look, results.loads.filter(l => l.policy === p.name && l[key] !== null && l.load !== null).map(l => [l.load, l[key], l.factor]).sort((a, b) => a[0] - b[0]), {showSymbol: true}));
  return {
    id, title, height: 300, note: 'Interarrival times divided by each load factor; every policy simulated again at each.',
    option: frame(view, {
      describes: title, series, legend: legend(view, policies),
      grid: {left: 12, right: 26, top: below(view, policies), bottom: 34, containLabel: true},
      xAxis: axis(view, {type: 'value', name: 'offered load', scale: true, axisLabel: {formatter: v => percentText(v, 0)}}),
      yAxis: key === 'utilisation' ? upAxis(view, {type: 'value', name: 'utilisation', scale: true, axisLabel: {formatter: v => percentText(v, 0)}}) : label === durationText ? spanAxis(upAxis, view, Math.max(...series.flatMap(s => s.data.map(d => d[1]))), {name: 'mean wait'})
        : upAxis(view, {type: 'value', name: 'mean bounded slowdown', min: 0, axisLabel: {formatter: tickText}}),
      tooltip: tip(look, {trigger: 'axis', formatter: ps => ps.length ? rows('offered load ' + percentText(ps[0].value[0], 1), ps, p => label(p.value[1])) : ''})
    })
  };
}

// The plot that a page begins with.
function leadPlot(results, view) {
  return changesPlot(results, view, {mean: 'wait'}, 'change-wait', 'Mean wait: change against the baseline');
}

// Every plot that these results have something for.
function reportPlots(results, view) {
  const procs = results.workload && results.workload.procs || 1;
  return [
    leadPlot(results, view),
    changesPlot(results, view, {mean: 'bounded_slowdown'}, 'change-slowdown', 'Mean bounded slowdown: change against the baseline'),
    paretoPlot(results, view),
    distribution(results, view, {key: 'wait', id: 'cdf-wait', title: 'Distribution of waits', axis: 'wait', least: 1, label: durationText,
      note: 'Share of jobs that waited no longer. The axis is logarithmic and begins at 1 s: shorter waits are drawn there.'}),
    distribution(results, view, {key: 'bounded_slowdown', id: 'cdf-slowdown', title: 'Distribution of bounded slowdowns', axis: 'bounded slowdown', least: 1, label: figureText,
      note: 'Share of jobs with no larger bounded slowdown, on a logarithmic axis.'}),
    heatPlot(results, view, 'wait', 'heat-wait', 'Mean wait by run time and width'),
    heatPlot(results, view, 'bounded_slowdown', 'heat-slowdown', 'Mean bounded slowdown by run time and width'),
    usersPlot(results, view),
    timePlot(results, view, 'utilisation', 'utilisation', 'Utilisation over time', v => percentText(v, 0), {axis: 'processors in use', top: 1}),
    timePlot(results, view, 'waiting_jobs', 'queue', 'Queue length over time', tickText, {axis: 'waiting jobs'}),
    timePlot(results, view, 'waiting_procs', 'backlog', 'Backlog over time', v => tickText(v) + ' ×', {axis: 'machines that waiting jobs could fill', scale: 1 / procs,
      note: 'Processors that waiting jobs ask for, divided by those of the machine.'}),
    ...powerPlots(results, view),
    weeklyPlot(results, view),
    ratioPlot(results, view),
    accuracyPlot(results, view),
    distribution(results, view, {key: 'reservation_error', id: 'reservation', title: 'Error of reservations', axis: '|start − start first reserved|', least: 1, label: durationText,
      note: 'Over jobs that waited and had a reservation; errors below 1 s are drawn at 1 s.'}),
    ...gaugePlots(results, view),
    searchPlot(results, view),
    loadPlot(results, view, 'wait', 'load-wait', 'Mean wait as the load rises', durationText),
    loadPlot(results, view, 'bounded_slowdown', 'load-slowdown', 'Mean bounded slowdown as the load rises', figureText),
    loadPlot(results, view, 'utilisation', 'load-utilisation', 'Utilisation as the load rises', v => percentText(v, 1)),
    ...categoryPlots(results, view),
    ...categoryLoadPlots(results, view)
  ].filter(plot => plot !== null);
}
