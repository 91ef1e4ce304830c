// A Gantt chart as options for Apache ECharts. Pure: data in, options out.
'use strict';

const WAITS = [[0, 'none'], [600, 'up to 10 min'], [3600, 'up to 1 h'], [28800, 'up to 8 h'], [Infinity, 'more than 8 h']];
const RAMPS = {
  light: ['#9bd0f0', '#4fa3d1', '#e69f00', '#d55e00', '#8b1a1a'],
  dark: ['#2f6f98', '#5ab4f0', '#e6c229', '#ff9359', '#f0506a']
};

// What each job is coloured by: names of groups, and the group of each job.
function ganttGroups(data, by, look) {
  const jobs = data.jobs, n = jobs.number.length, of = new Array(n);
  const ramp = look === LOOKS.dark ? RAMPS.dark : RAMPS.light;
  if (by === 'class') {
    for (let i = 0; i < n; i++) of[i] = jobs.class[i];
    return {names: LENGTHS.map(l => 'run time ' + l), colors: [ramp[0], ramp[1], ramp[2], ramp[3]], of};
  }
  if (by === 'wait') {
    for (let i = 0; i < n; i++) of[i] = WAITS.findIndex(w => jobs.start[i] - jobs.submit[i] <= w[0]);
    return {names: WAITS.map(w => 'waited ' + w[1]), colors: ramp, of};
  }
  const work = new Map();
  for (let i = 0; i < n; i++) work.set(jobs.user[i], (work.get(jobs.user[i]) || 0) + jobs.procs[i] * Math.max(1, jobs.run[i]));
  const first = Array.from(work.keys()).sort((a, b) => work.get(b) - work.get(a) || a - b).slice(0, 7);
  const place = new Map(first.map((u, i) => [u, i]));
  for (let i = 0; i < n; i++) of[i] = place.has(jobs.user[i]) ? place.get(jobs.user[i]) : first.length;
  const names = first.map(u => u === -1 ? 'user unknown' : 'user ' + u);
  if (work.size > first.length) names.push(numberText(work.size - first.length, 0) + ' other users');
  return {names, colors: look.hues.slice(0, 7).concat([look.unsure]), of};
}

// Bars that can be told apart one by one, and how busy the rest was in cells, and whose most of it: the level of detail for a window of so many
// pixels. Never more than a few ten thousand shapes.
function ganttDetail(data, groups, from, until, width, height) {
  const bars = data.bars, span = Math.max(1, until - from), least = 0.8 * span / width;
  const marked = data.mark ? data.jobs.number.indexOf(data.mark.number) : -1;
  const single = [], fine = [];
  for (let i = 0; i < bars.length; i += 5) {
    if (bars[i + 1] >= until || bars[i + 2] <= from) continue;
    const alone = bars[i + 2] - bars[i + 1] >= least || bars[i] === marked || bars[i] === -marked - 1;
    (alone ? single : fine).push(i);
  }
  // Too many even so: only what is long stays single.
  const most = 12000;
  if (single.length > most) {
    single.sort((a, b) => (bars[b + 2] - bars[b + 1]) - (bars[a + 2] - bars[a + 1]) || a - b);
    for (const i of single.splice(most)) fine.push(i);
    single.sort((a, b) => a - b);
  }
  // Few small ones are drawn one by one, too.
  if (fine.length <= 400) return {single: single.concat(fine).sort((a, b) => a - b), cells: [], fine: 0};
  const columns = Math.max(1, Math.min(400, Math.floor(width / 3))), lines = Math.max(1, Math.min(data.procs, 60, Math.floor(height / 5)));
  const dx = span / columns, dy = data.procs / lines;
  // For each group of jobs: processor-seconds in each cell.
  const grids = groups.names.map(() => new Float64Array(columns * lines));
  for (const i of fine) {
    const grid = grids[groups.of[bars[i] < 0 ? -bars[i] - 1 : bars[i]]];
    const start = Math.max(from, bars[i + 1]), end = Math.min(until, bars[i + 2]);
    for (let x = Math.floor((start - from) / dx); x < columns && from + x * dx < end; x++) {
      const wide = Math.min(end, from + (x + 1) * dx) - Math.max(start, from + x * dx);
      for (let y = Math.floor(bars[i + 3] / dy); y < lines && y * dy < bars[i + 4]; y++) {
        grid[y * columns + x] += wide * (Math.min(bars[i + 4], (y + 1) * dy) - Math.max(bars[i + 3], y * dy));
      }
    }
  }
  const cells = [];
  for (let y = 0; y < lines; y++) {
    for (let x = 0; x < columns; x++) {
      let all = 0, first = 0;
      grids.forEach((grid, g) => {
        all += grid[y * columns + x];
        if (grid[y * columns + x] > grids[first][y * columns + x]) first = g;
      });
      const share = all / (dx * dy);
      if (share > 0.004) cells.push([from + x * dx, from + (x + 1) * dx, y * dy, (y + 1) * dy, Math.min(1, share), first]);
    }
  }
  return {single, cells, fine: fine.length};
}

function ganttOption(data, view) {
  const look = view.look, groups = ganttGroups(data, view.colour, look), jobs = data.jobs, bars = data.bars;
  const detail = ganttDetail(data, groups, view.from, view.until, view.width, view.height);
  const rectangle = (params, api, low, high, style, least) => {
    const a = api.coord([api.value(0), high]), b = api.coord([api.value(1), low]), area = params.coordSys;
    const left = Math.max(a[0], area.x), right = Math.min(Math.max(b[0], a[0] + (least || 0)), area.x + area.width);
    if (right <= left) return null;
    return {type: 'rect', shape: {x: left, y: a[1], width: right - left, height: Math.max(0.5, b[1] - a[1])}, style};
  };
  const series = [], marked = data.mark ? data.mark.number : NaN;
  if (detail.cells.length) {
    series.push({name: 'many short jobs', type: 'custom', silent: true, z: 1, progressive: 0, data: detail.cells, encode: {x: [0, 1], y: [2, 3]}, itemStyle: {color: look.soft},
      renderItem: (params, api) => rectangle(params, api, api.value(2), api.value(3), {fill: groups.colors[api.value(5) % groups.colors.length], opacity: 0.15 + 0.75 * api.value(4)}, 0.5)});
  }
  const members = groups.names.map(() => []);
  for (const i of detail.single) {
    const job = bars[i] < 0 ? -bars[i] - 1 : bars[i];
    members[groups.of[job]].push([bars[i + 1], bars[i + 2], bars[i + 3], bars[i + 4], job, bars[i] < 0 ? 1 : 0]);
  }
  groups.names.forEach((name, g) => {
    if (!members[g].length) return;
    const color = groups.colors[g % groups.colors.length];
    series.push({name, type: 'custom', z: 2, data: members[g], encode: {x: [0, 1], y: [2, 3]}, itemStyle: {color}, progressive: 0,
      renderItem: (params, api) => {
        const outline = api.size([api.value(1) - api.value(0), 0])[0] > 4;
        const bar = rectangle(params, api, api.value(2), api.value(3), jobs.number[api.value(4)] === marked ? {fill: color, stroke: look.worse, lineWidth: 3} : {fill: color, stroke: look.paper, lineWidth: outline ? 0.6 : 0}, 0.7);
        if (!bar || api.value(5) === 0) return bar;
        const s = bar.shape;
        return {type: 'group', children: [bar, {type: 'rect', silent: true, shape: {x: s.x + Math.max(0, s.width - 3), y: s.y, width: Math.min(3, s.width), height: s.height}, style: {fill: look.ink}}]};
      }});
  });
  if (data.gaps.length) {
    const gaps = [];
    for (let i = 0; i < data.gaps.length && gaps.length < 6000; i += 5) {
      if (data.gaps[i + 1] < view.until && data.gaps[i + 2] > view.from) gaps.push([data.gaps[i + 1], data.gaps[i + 2], (data.gaps[i + 3] + data.gaps[i + 4]) / 2, 0, data.gaps[i]]);
    }
    series.push({name: 'suspended', type: 'custom', z: 3, data: gaps, encode: {x: [0, 1], y: 2}, itemStyle: {color: look.ink},
      renderItem: (params, api) => {
        const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]), area = params.coordSys;
        const x1 = Math.max(a[0], area.x), x2 = Math.min(b[0], area.x + area.width);
        return x2 <= x1 ? null : {type: 'line', shape: {x1, y1: a[1], x2, y2: b[1]}, style: {stroke: look.ink, lineWidth: 1.2, lineDash: [3, 2], opacity: 0.8}};
      }});
  }
  const mark = data.mark;
  if (mark) {
    const lines = [{xAxis: mark.submit, name: 'submitted', lineStyle: {type: 'dotted'}}];
    // The first and the last reservation by name, those between them faintly.
    mark.reserved.forEach(([at, start], i) => {
      const ends = i === 0 || i === mark.reserved.length - 1;
      if (ends || mark.reserved.length < 200) lines.push({xAxis: start, name: !ends ? '' : mark.reserved.length === 1 ? 'reserved (shadow time)' : i === 0 ? 'first reserved' : 'last reserved (shadow time)', lineStyle: {type: 'dashed', opacity: ends ? 1 : 0.3}});
    });
    if (mark.start !== null) lines.push({xAxis: mark.start, name: 'started', lineStyle: {type: 'solid'}});
    const last = mark.reserved.length ? mark.reserved[mark.reserved.length - 1][1] : null;
    series.push({name: 'job ' + mark.number, type: 'line', data: [], itemStyle: {color: look.worse}, z: 6,
      markLine: {silent: true, symbol: 'none', animation: false, lineStyle: {color: look.worse, width: 1.6},
        label: {show: true, color: look.ink, formatter: p => p.name, position: 'end', rotate: 0, fontSize: 11, backgroundColor: look.paper, padding: 1}, data: lines.map((l, i) => l.name ? Object.assign({}, l, {label: {distance: 2 + 13 * (i === lines.length - 1 ? 1 : i % 2 ? 0 : 2)}}) : l)},
      markArea: last === null ? undefined : {silent: true, itemStyle: {color: look.worse, opacity: 0.13}, data: [[{coord: [last, 0]}, {coord: [last + Math.max(1, mark.estimate), mark.procs]}]]}});
  }
  const unit = view.until - view.from > 3 * 86400 ? 86400 : view.until - view.from > 3 * 3600 ? 3600 : view.until - view.from > 180 ? 60 : 1;
  const step = [1, 2, 3, 5, 10, 15, 20, 30, 60, 100, 200, 500, 1000, 2000, 5000].find(s => s * unit * 9 >= view.until - view.from) || 10000;
  const named = {86400: 'days', 3600: 'hours', 60: 'minutes', 1: 'seconds'}[unit];
  const ticks = [];
  for (let t = Math.ceil(view.from / (step * unit)) * step * unit; t <= view.until; t += step * unit) ticks.push(t);
  return {
    animation: false, backgroundColor: view.still ? look.paper : 'transparent', textStyle: {fontFamily: view.font || FONT, color: look.ink, fontSize: 12},
    aria: {enabled: true, label: {description: 'Gantt chart of ' + numberText(jobs.number.length, 0) + ' jobs on ' + numberText(data.procs, 0) + ' processors under ' + shortText(data.policy, 60) + ', from ' + data.from + ' s to ' + data.until + ' s'}},
    title: view.still ? {text: shortText(data.policy, 60) + ' on ' + shortText(data.workload, 60), left: 'center', top: 4, textStyle: {fontSize: 14, color: look.ink, fontFamily: view.font || FONT}} : undefined,
    legend: {show: true, top: view.still ? 28 : 0, type: view.still ? 'plain' : 'scroll', textStyle: {color: look.ink}, data: series.map(s => ({name: s.name, icon: 'rect'})), itemWidth: 14, itemHeight: 10},
    grid: {left: 12, right: 24, top: (view.still ? 64 : 44) + (mark ? 34 : 0), bottom: view.still ? 34 : 64, containLabel: true},
    xAxis: axis(view, {type: 'value', min: view.still ? view.from : data.from, max: view.still ? view.until : Math.max(data.until, data.from + 1), name: named + ' of the log', axisLabel: {formatter: seconds => tickText(seconds / unit), customValues: ticks}, axisTick: {customValues: ticks}, splitLine: {show: false}}),
    yAxis: upAxis(view, {type: 'value', min: 0, max: data.procs, minInterval: 1, name: data.packed ? 'processors (packed)' : 'processors', nameGap: 8}),
    tooltip: tip(look, {trigger: 'item', formatter: p => {
      const i = p.data && p.data[4];
      if (i === undefined || jobs.number[i] === undefined) return '';
      const wait = jobs.start[i] - jobs.submit[i];
      return '<b>job ' + jobs.number[i] + '</b>' + (p.seriesName === 'suspended' ? ', suspended here' : '') + '<br>' + (jobs.user[i] === -1 ? 'user unknown' : 'user ' + jobs.user[i]) + ', ' + numberText(jobs.procs[i], 0) + ' processors<br>submitted at ' + jobs.submit[i] + ' s, started at ' + jobs.start[i] + ' s<br>waited ' +
        escapeHtml(durationText(wait)) + ', ran ' + escapeHtml(durationText(jobs.run[i])) + ', asked for ' + escapeHtml(durationText(jobs.estimate[i]));
    }}),
    dataZoom: view.still ? [] : [
      {type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, startValue: view.from, endValue: view.until, throttle: 60},
      {type: 'slider', filterMode: 'none', height: 20, bottom: 6, brushSelect: false, borderColor: look.line, fillerColor: 'rgba(120,130,140,0.18)', showDetail: false, showDataShadow: false, startValue: view.from, endValue: view.until, throttle: 60}
    ],
    series
  };
}
