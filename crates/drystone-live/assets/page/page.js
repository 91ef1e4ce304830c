// Shows what a daemon publishes, as it comes. Every text is set as text: names from users are never HTML.
'use strict';

const get = id => document.getElementById(id);

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function span(seconds) {
  if (seconds === null || seconds === undefined) return '';
  const sign = seconds < 0 ? '−' : '';
  const s = Math.abs(Math.round(seconds)), two = n => String(n).padStart(2, '0');
  if (s < 60) return sign + s + ' s';
  if (s < 3600) return sign + Math.floor(s / 60) + ':' + two(s % 60) + ' min';
  if (s < 172800) return sign + Math.floor(s / 3600) + ':' + two(Math.floor(s / 60) % 60) + ' h';
  return sign + (s / 86400).toFixed(1) + ' d';
}

function clock(second) {
  if (second === null || second === undefined) return '';
  const at = new Date(second * 1000), today = at.toDateString() === new Date().toDateString();
  return at.toLocaleTimeString() + (today ? '' : ' ' + at.toLocaleDateString());
}

function table(id, columns, rows) {
  const head = element('tr'), body = element('tbody');
  for (const [name, , kind] of columns) head.append(element('th', name, kind));
  for (const row of rows) {
    const line = element('tr');
    for (const [, value, kind] of columns) {
      const shown = value(row), cell = element('td', Array.isArray(shown) ? shown[0] : shown, kind);
      if (Array.isArray(shown) && shown[1]) cell.classList.add(shown[1]);
      line.append(cell);
    }
    body.append(line);
  }
  if (!rows.length) {
    const line = element('tr'), cell = element('td', 'none', 'text');
    cell.colSpan = columns.length;
    line.append(cell);
    body.append(line);
  }
  const top = element('thead');
  top.append(head);
  get(id).replaceChildren(top, body);
}

function foretold(row, level) {
  const at = row.foretold && row.foretold[level];
  return at ? clock(at) : row.foretold ? 'not in 14 days' : '';
}

function list(id, lines) {
  get(id).replaceChildren(...(lines.length ? lines : ['nothing']).map(line => element('li', line)));
}

// A difference in seconds, marked where it matters.
const apart = (a, b) => a === null || b === null ? '' : [span(a - b), Math.abs(a - b) < 5 ? '' : a > b ? 'late' : 'early'];

function tiles(d) {
  const of = name => d.jobs[name] || 0;
  const all = [
    ['waiting', of('waiting')], ['held back', of('held')], ['running', of('running')],
    ['suspended', of('suspended') + of('suspended by others')], ['on their way', d.health.in_flight],
    ['free processors', d.machine.free + ' of ' + d.machine.procs], ['nodes up', d.machine.up + ' of ' + d.machine.nodes],
  ];
  if (d.machine.offline) all.push(['processors out', d.machine.offline]);
  get('tiles').replaceChildren(...all.map(([name, value]) => {
    const tile = element('div');
    tile.append(element('b', value), element('span', name));
    return tile;
  }));
}

// Each set of nodes, where there are several.
function sets(d) {
  const all = d.sets || [];
  get('sets-part').hidden = !all.length;
  const of = (s, name) => s.jobs[name] || 0;
  table('sets', [
    ['partitions', s => s.name, 'text'], ['waiting', s => of(s, 'waiting')], ['held back', s => of(s, 'held')], ['running', s => of(s, 'running')],
    ['suspended', s => of(s, 'suspended') + of(s, 'suspended by others')], ['on their way', s => s.in_flight],
    ['free processors', s => s.machine.free + ' of ' + s.machine.procs], ['nodes up', s => s.machine.up + ' of ' + s.machine.nodes],
    ['', s => s.stalled ? ['released jobs do not start', 'late'] : s.differences ? [s.differences + ' differences', 'late'] : 'in order', 'text'],
  ], all);
}

function plot(d) {
  const shadow = d.mode === 'shadow';
  const said = job => shadow ? job.wanted : job.promised && job.promised[0];
  const points = d.finished.filter(job => job.started !== null && said(job) !== null && said(job) !== undefined)
    .map(job => [said(job) - job.submit, job.started - job.submit, job]);
  get('plot-title').textContent = shadow ? 'The policy against the cluster' : 'Announced and actual starts';
  get('plot-note').textContent = points.length
    ? (shadow ? 'Across: the wait until the policy would have started a job. Up: the wait until the cluster did.'
      : 'Across: the wait that was announced first. Up: the wait that it was.') + ' The last ' + points.length + ' jobs; on the line both are the same.'
    : 'Nothing to compare yet.';
  if (!points.length) { get('plot').replaceChildren(); return; }
  const W = 640, H = 360, L = 76, B = 52, T = 26, longest = Math.max(10, ...points.flatMap(p => [p[0], p[1]]));
  // Ticks at whole seconds, minutes, hours or days.
  const step = [2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800].find(s => longest / s <= 5) || Math.ceil(longest / 5 / 86400) * 86400;
  const most = Math.ceil(longest / step) * step;
  const x = v => L + (W - L - 10) * Math.max(0, v) / most, y = v => H - B - (H - B - T) * Math.max(0, v) / most;
  const make = (name, attributes, text) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const svg = make('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': get('plot-title').textContent });
  const names = shadow ? ['wait until the policy would have started the job', 'wait until the cluster did'] : ['wait that was announced first', 'wait that it was'];
  svg.append(make('text', { x: (L + W - 10) / 2, y: H - 8, 'text-anchor': 'middle' }, names[0]), make('text', { x: 8, y: 14 }, names[1]));
  for (let v = 0; v <= most; v += step) {
    svg.append(make('line', { class: 'axis', x1: L, x2: W - 10, y1: y(v), y2: y(v) }), make('line', { class: 'axis', x1: x(v), x2: x(v), y1: T, y2: H - B }));
    svg.append(make('text', { x: L - 6, y: y(v) + 4, 'text-anchor': 'end' }, span(v)), make('text', { x: x(v), y: H - B + 18, 'text-anchor': v === most ? 'end' : 'middle' }, span(v)));
  }
  svg.append(make('line', { class: 'same', x1: x(0), y1: y(0), x2: x(most), y2: y(most) }));
  for (const [a, b, job] of points) {
    const dot = make('circle', { class: 'dot', cx: x(a), cy: y(b), r: 3.5 });
    dot.append(make('title', {}, `job ${job.job}: ${span(a)}, ${span(b)}`));
    svg.append(dot);
  }
  get('plot').replaceChildren(svg);
}

function health(d) {
  const h = d.health, at = get('health');
  const trouble = h.silent ? 'The cluster does not answer.' : h.stalled ? 'Released jobs do not start although processors are idle.' : h.differences ? h.differences + ' differences between the books and the cluster.' : '';
  at.textContent = trouble || 'The cluster answers, and the books agree.';
  at.className = trouble ? 'bad' : 'good';
  const numbers = [
    ['looks', `${h.counters.looks}, every ${span(h.period_ms / 1000) === '0 s' ? Math.round(h.period_ms) + ' ms' : (h.period_ms / 1000).toFixed(1) + ' s'}`],
    ['a look costs', h.look_ms.toFixed(1) + ' ms of a processor, ' + (100 * h.core_share).toFixed(1) + '% of a core'],
    ['decisions', h.counters.decisions], ['starts', h.counters.starts], ['looks without an answer', h.counters.failures],
    ['jobs that came and went unseen', h.counters.missed],
    ...Object.entries(h.counters.orders).map(([name, count]) => ['orders: ' + name, count]),
  ];
  get('numbers').replaceChildren(...numbers.flatMap(([name, value]) => [element('dt', name), element('dd', value)]));
  list('left', Object.entries(d.left_out).map(([why, count]) => `${count} ${why}`));
  list('notes', h.notes.map(note => clock(note.at) + ' · ' + note.text));
}

function show(d) {
  const shadow = d.mode === 'shadow';
  document.title = `Drystone live · ${d.cluster}`;
  get('title').textContent = `${d.cluster}: ${shadow ? 'shadow' : 'driven'}`;
  get('what').textContent = `${shadow ? 'Touches nothing. What ' : ''}${d.policy}${d.on_nodes ? ' on nodes' : ''}${shadow ? ' would do beside the cluster’s own scheduler' : ' starts the jobs'} · ${clock(d.at)} · ${d.instance}`;
  tiles(d);
  sets(d);
  const set = d.sets ? [['partitions', r => r.set, 'text']] : [];
  const wanted = shadow ? [['would have started', r => clock(r.wanted)]] : [];
  get('queue-note').textContent = 'A planned start is what the policy has in mind now; a promise is kept as long as predictions hold. Policies that plan only the head of the queue show one. ' +
    (d.not_foretold ? `No starts are foretold: ${d.not_foretold}.` : 'Likely start and 90 % by come from sampled futures of the queue, corrected by past answers; nothing decides by them.');
  table('waiting', [
    ['job', r => r.job, 'text'], ...set, ['user', r => r.user, 'text'], ['processors', r => r.procs], ['limit', r => span(r.limit)],
    ['predicted', r => span(r.predicted)], ['has waited', r => span(d.at - r.submit)], ['', r => r.held || '', 'text reason'], ['likely start', r => foretold(r, 'p50')],
    ['90 % by', r => foretold(r, 'p90')], ['planned start', r => clock(r.planned)],
    ['promised by', r => clock(r.promised)], ...wanted,
  ], d.waiting);
  table('running', [
    ['job', r => r.job, 'text'], ...set, ['user', r => r.user, 'text'], ['processors', r => r.procs], ['since', r => clock(r.since)],
    ['predicted end', r => clock(r.ends)], ['announced start', r => clock(r.promised)], ['start − announced', r => apart(r.since, r.promised)],
    ...wanted, ['', r => r.state, 'text'],
  ], d.running);
  table('finished', [
    ['job', r => r.job, 'text'], ...set, ['user', r => r.user, 'text'], ['processors', r => r.procs], ['waited', r => r.started === null ? '' : span(r.started - r.submit)],
    ['started', r => clock(r.started)], ['announced start', r => clock(r.promised && r.promised[0])], ['start − announced', r => apart(r.started, r.promised && r.promised[0])],
    ...(shadow ? [['would have started', r => clock(r.wanted)], ['start − that', r => apart(r.started, r.wanted)]] : []),
    ['ended', r => clock(r.ended)], ['how', r => r.ending || '', 'text'],
  ], d.finished);
  plot(d);
  health(d);
  document.documentElement.dataset.at = d.at;
  document.documentElement.dataset.ready = 'true';
}

let last = 0;
const events = new EventSource('events');
events.onmessage = event => {
  if (!event.data) return;
  last = Date.now();
  show(JSON.parse(event.data));
};
// A daemon that is gone must not look alive.
setInterval(() => {
  if (Date.now() - last < 30000) return;
  const at = get('health');
  at.textContent = 'Nothing has come from the daemon for ' + (last ? span((Date.now() - last) / 1000) : 'a while') + '.';
  at.className = 'bad';
}, 5000);
