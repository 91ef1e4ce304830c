// What a page does: draws the plots, lets people choose policies and light or dark, saves the data.
'use strict';
(function () {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById('data').textContent);
  const results = readResults(data);
  const figures = document.getElementById('figures');
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const charts = new Map();
  let chosen = chooseSome(results);
  let theme = 'auto', printing = false;

  function look() {
    const wanted = printing ? 'light' : theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
    return LOOKS[wanted];
  }

  // The first picture stands on the sheet, with every policy unless they are too many for a screen.
  const lead = document.getElementById('lead');
  const leading = results.policies.length > 12 ? chooseSome(results) : results.policies.map(p => p.index);
  // Pixels that a page of paper is wide.
  const PAPER = 680;

  function plotsOf(narrow) {
    const view = {look: look(), narrow, still: false, chosen};
    const plots = reportPlots(results, view);
    const first = lead && leadPlot(results, Object.assign({}, view, {chosen: leading}));
    return first ? [first, ...plots.filter(p => p.id !== first.id)] : plots;
  }

  function draw() {
    if (!figures) return;
    const narrow = figures.clientWidth < 560;
    const wide = id => /^(heat|class|users|partitions)/.test(id);
    const plots = plotsOf(narrow);
    const ids = new Set(plots.map(p => p.id));
    for (const [id, chart] of charts) {
      if (!ids.has(id)) {
        chart.dispose();
        charts.delete(id);
        document.getElementById('figure-' + id).remove();
      }
    }
    for (const plot of plots) {
      let figure = document.getElementById('figure-' + plot.id);
      if (!figure) {
        figure = document.createElement('figure');
        figure.id = 'figure-' + plot.id;
        if (wide(plot.id)) figure.className = 'wide';
        const caption = document.createElement('figcaption');
        caption.append(document.createElement('h3'), document.createElement('p'));
        const place = document.createElement('div');
        place.className = 'plot';
        figure.append(caption, place);
      }
      // In the order of the plots, also where some come and go.
      (lead && plot.id === 'change-wait' ? lead : figures).append(figure);
      figure.querySelector('h3').textContent = plot.title;
      figure.querySelector('p').textContent = plot.note || '';
      const place = figure.querySelector('.plot');
      place.style.height = plot.height + 'px';
      let chart = charts.get(plot.id);
      if (!chart) {
        chart = echarts.init(place, null, {renderer: 'svg'});
        if (plot.group) chart.group = plot.group;
        charts.set(plot.id, chart);
      }
      chart.resize(printing ? {width: PAPER} : undefined);
      chart.setOption(plot.option, {notMerge: true});
    }
    // Plots over the same time zoom together.
    echarts.connect('time');
    root.dataset.plots = plots.length;
  }

  function paintChips() {
    document.querySelectorAll('#policies .swatch').forEach((swatch, i) => {
      const style = lookOf(results.policies[i], look());
      swatch.style.borderTopColor = style.color;
      swatch.style.borderTopStyle = style.type;
    });
    document.querySelectorAll('#policies input').forEach((input, i) => { input.checked = chosen.includes(i); });
  }

  function choose(next) {
    chosen = next.slice().sort((a, b) => a - b);
    paintChips();
    draw();
  }

  const box = document.getElementById('policies');
  if (box && results.policies.length > 1) {
    const chips = box.querySelector('.chips');
    for (const policy of results.policies) {
      const label = document.createElement('label'), input = document.createElement('input'), swatch = document.createElement('span');
      input.type = 'checkbox';
      input.value = policy.index;
      input.addEventListener('change', () => choose(input.checked ? chosen.concat(policy.index) : chosen.filter(i => i !== policy.index)));
      swatch.className = 'swatch';
      label.append(input, swatch, document.createTextNode(shortText(policy.name, 60) + (policy.baseline ? ' (baseline)' : policy.clairvoyant ? ' (knows run times)' : policy.preemptive ? ' (preemptive)' : '')));
      chips.append(label);
    }
    const baseline = results.policies.filter(p => p.baseline).map(p => p.index);
    const picks = {some: () => chooseSome(results), all: () => results.policies.map(p => p.index), none: () => baseline};
    box.querySelectorAll('[data-pick]').forEach(button => button.addEventListener('click', () => choose(picks[button.dataset.pick]())));
    box.hidden = false;
  }

  const themeButton = document.getElementById('theme');
  const themes = {auto: 'automatic', light: 'light', dark: 'dark'};
  function setTheme(next) {
    theme = next;
    if (next === 'auto') delete root.dataset.theme; else root.dataset.theme = next;
    themeButton.textContent = 'Theme: ' + themes[next];
    paintChips();
    draw();
  }
  // From automatic to what it is not, then to what it is, then back.
  themeButton.addEventListener('click', () => {
    const order = dark.matches ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
    setTheme(order[(order.indexOf(theme) + 1) % 3]);
  });
  themeButton.hidden = false;
  dark.addEventListener('change', () => { paintChips(); draw(); });

  const save = document.getElementById('save');
  if (save) {
    save.hidden = false;
    save.addEventListener('click', () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([JSON.stringify(data)], {type: 'application/json'}));
      link.download = 'drystone.json';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Tables: a click on a head sorts by its column, another one the other way round.
  function sortBy(table, column, descending) {
    const body = table.tBodies[0];
    const key = row => {
      const cell = row.cells[column];
      return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
    };
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
      const less = typeof x === 'number' ? x - y : x.localeCompare(y, 'en', {numeric: true});
      return descending ? -less : less;
    };
    body.append(...Array.from(body.rows).map((row, i) => [row, i]).sort((a, b) => order(a[0], b[0]) || a[1] - b[1]).map(both => both[0]));
    Array.from(table.tHead.rows[0].cells).forEach((head, i) => {
      if (i === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending'); else head.removeAttribute('aria-sort');
    });
  }
  document.querySelectorAll('table').forEach(table => {
    if (!table.tHead || table.tBodies[0].rows.length < 2) return;
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      if (!head.textContent) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.append(...head.childNodes);
      button.addEventListener('click', () => sortBy(table, column, head.getAttribute('aria-sort') === 'ascending'));
      head.append(button);
    });
  });

  // On paper there is the sheet, and everything on request.
  const print = document.getElementById('print');
  if (print) {
    print.hidden = false;
    print.addEventListener('click', () => {
      root.dataset.print = 'all';
      window.print();
      delete root.dataset.print;
    });
  }

  let width = 0, waiting = 0;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 120);
  });
  // On paper: light, whatever the screen is.
  window.addEventListener('beforeprint', () => { printing = true; draw(); });
  window.addEventListener('afterprint', () => { printing = false; draw(); });

  paintChips();
  draw();
  root.dataset.ready = 'true';
})();
