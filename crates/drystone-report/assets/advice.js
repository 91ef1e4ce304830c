// Plots of what a site can change: pure functions from data to chart options.
'use strict';

// What is three times as bad is as bad as any: it is drawn at the edge.
const FARTHEST = 2;

function atMost(value) { return Math.max(-1, Math.min(FARTHEST, value)); }

// Points over changes of two figures. `kinds` are the series: name, colour, symbol and points; some points have names beside them.
function changesScatter(view, spec) {
  const look = view.look, points = spec.kinds.flatMap(kind => kind.points);
  const range = at => {
    const values = points.map(p => p.value[at]), low = Math.min(-0.02, ...values), high = Math.max(0.02, ...values), room = (high - low) * 0.08;
    return {min: Math.max(-1, low - room), max: Math.min(FARTHEST, high + room)};
  };
  const across = range(0), up = range(1), percent = v => signedPercent(v).replace('.0', '');
  const named = points.filter(p => p.name), text = p => shortText(p.name, 34);
  const spots = named.map(p => [(p.value[0] - across.min) / (across.max - across.min) * 780, (up.max - p.value[1]) / (up.max - up.min) * 340]);
  const places = namePlaces(spots, named.map(text), [780, 340]);
  named.forEach((p, i) => { p.label = places[i] ? {show: true, position: places[i], formatter: () => text(p), color: look.ink, fontSize: 11} : {show: false}; });
  const unnamed = named.filter((_, i) => !places[i]).map(text);
  const kinds = spec.kinds.filter(kind => kind.points.length);
  const zero = {silent: true, symbol: 'none', label: {show: false}, lineStyle: {color: look.ink, type: 'solid', width: 1}, data: [{xAxis: 0}, {yAxis: 0}]};
  const from = Math.max(across.min, up.min), until = Math.min(across.max, up.max);
  const line = {type: 'line', name: 'kept', silent: true, symbol: 'none', data: [[from, from], [until, until]], lineStyle: {color: look.soft, type: 'dashed', width: 1}};
  return {
    id: spec.id, title: spec.title, height: 460, note: spec.note + (unnamed.length ? ' No room for the names of ' + unnamed.join(', ') + '.' : ''),
    option: frame(view, {
      describes: spec.across + ' against ' + spec.up, tooltip: {show: false},
      legend: legend(view, kinds, {icon: undefined, itemWidth: 12}),
      grid: {left: 12, right: 30, top: below(view, kinds) + 10, bottom: 34, containLabel: true},
      xAxis: axis(view, Object.assign({type: 'value', name: spec.across, axisLabel: {formatter: percent, showMinLabel: false, showMaxLabel: false}}, across)),
      yAxis: upAxis(view, Object.assign({type: 'value', name: spec.up, axisLabel: {formatter: percent, showMinLabel: false, showMaxLabel: false}}, up)),
      series: [...(spec.diagonal ? [line] : []), ...kinds.map((kind, i) => Object.assign({
        type: 'scatter', name: kind.name, symbol: kind.symbol, z: kind.faint ? 2 : 3, data: kind.points.map(p => Object.assign({symbolSize: p.name ? 12 : 8}, p)),
        itemStyle: {color: kind.color, opacity: 0.75}
      }, i ? {} : {markLine: zero}))]
    })
  };
}

// Every candidate by its change of two figures; the site as it is lies where the lines cross.
function tradeOffPlot(data, view) {
  const look = view.look, advice = data.advice, figures = [];
  data.baseline.figures.forEach((figure, at) => {
    if (!figures.some(known => known.figure === figure.figure)) figures.push(Object.assign({at}, figure));
  });
  const [x, y] = figures;
  if (!x || !y) return null;
  const relative = (figure, tried) => atMost(figure.value > 0 ? tried.values[figure.at] / figure.value - 1 : 0);
  const best = [advice.settings, advice.live, advice.limits].map(answer => answer && answer.best && answer.best.name).filter(name => name);
  const kinds = [
    {name: 'a guard is broken', color: look.unsure, symbol: 'circle', faint: true, points: []}, {name: 'settings and limits', color: look.hues[0], symbol: 'circle', points: []},
    {name: 'policies to run live', color: look.hues[1], symbol: 'rect', points: []}, {name: 'as it is', color: look.ink, symbol: 'diamond', points: []}
  ];
  for (const tried of advice.tried) {
    const now = tried.name === 'as it is', point = {value: [relative(x, tried), relative(y, tried)]};
    if (now || best.includes(tried.name)) point.name = tried.name;
    kinds[now ? 3 : !tried.keeps ? 0 : tried.live ? 2 : 1].points.push(point);
  }
  if (kinds.every(kind => !kind.points.length)) return null;
  return changesScatter(view, {
    id: 'trade-off', title: 'The trade-off: change of the ' + x.name + ' against that of the ' + y.name, across: 'change of ' + x.figure, up: 'change of ' + y.figure, kinds,
    note: 'Left and down is better than today, where the lines cross. What is far off is drawn at the edge. Over all periods, which include those that choices were made on.'
  });
}

// The gain of each choice on its own periods, and on the others.
function promisedPlot(data, view) {
  const look = view.look;
  const kinds = [['settings', look.hues[0], 'circle'], ['live', look.hues[1], 'rect'], ['limits', look.hues[2], 'triangle']].map(([name, color, symbol]) => {
    const answer = data.advice[name], pairs = answer && answer.judged && answer.judged.pairs || [];
    return {name, color, symbol, points: pairs.map(pair => ({value: pair.map(atMost)}))};
  });
  if (kinds.every(kind => !kind.points.length)) return null;
  return changesScatter(view, {
    id: 'promised', title: 'Promised and achieved changes', across: 'promised where it was chosen', up: 'worth where it was judged', kinds, diagonal: true,
    note: 'One point for each choice: the change of the goal on the half of the periods that it was made on, and on the other half. On the dashed line a promise is kept to the letter; below zero the choice is better than today.'
  });
}

function advicePlots(data, view) { return [tradeOffPlot(data, view), promisedPlot(data, view)].filter(plot => plot !== null); }
