// What the page of a Gantt chart does: zooming in brings detail.
'use strict';
(function () {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById('data').textContent);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const place = document.getElementById('gantt'), detail = document.getElementById('detail');
  const colour = document.getElementById('colour'), themeButton = document.getElementById('theme');
  const least = 10;
  let theme = 'auto', printing = false, from = data.from, until = Math.max(data.until, data.from + 1), size = '', waiting = 0;
  colour.value = data.colour || 'user';
  const chart = (place.style.height = '70vh', place.style.minHeight = '20rem', echarts.init(place, null, {renderer: 'canvas'}));

  function look() {
    return LOOKS[printing ? 'light' : theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme];
  }

  function draw() {
    chart.resize();
    const view = {look: look(), still: false, colour: colour.value, from, until, width: Math.max(200, place.clientWidth - 80), height: Math.max(100, place.clientHeight - 110)};
    const option = ganttOption(data, view);
    chart.setOption(option, {notMerge: true});
    const shapes = option.series.reduce((n, s) => n + s.data.length, 0);
    detail.textContent = 'Shown: ' + durationText(until - from) + (option.series.some(s => s.name === 'many short jobs') ? '; short jobs as shades' : '');
    root.dataset.shapes = shapes;
  }

  function show(start, end) {
    const whole = Math.max(data.until, data.from + 1), span = Math.min(whole - data.from, Math.max(Math.min(least, whole - data.from), end - start));
    from = Math.max(data.from, Math.min(start, whole - span));
    until = from + span;
    draw();
  }

  chart.on('datazoom', () => {
    const zoomed = chart.getOption().dataZoom[0];
    from = zoomed.startValue;
    until = Math.max(zoomed.endValue, from + 1);
    clearTimeout(waiting);
    // When the hand rests, not at every step.
    waiting = setTimeout(draw, 150);
  });
  document.getElementById('whole').addEventListener('click', () => show(data.from, data.until));
  colour.addEventListener('change', draw);
  place.addEventListener('keydown', event => {
    const span = until - from, middle = (from + until) / 2;
    const keys = {ArrowLeft: [from - span / 4, until - span / 4], ArrowRight: [from + span / 4, until + span / 4],
      '+': [middle - span / 4, middle + span / 4], '-': [middle - span, middle + span], Home: [data.from, data.until]};
    if (!keys[event.key]) return;
    event.preventDefault();
    show(keys[event.key][0], keys[event.key][1]);
  });
  themeButton.addEventListener('click', () => {
    const order = dark.matches ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
    theme = order[(order.indexOf(theme) + 1) % 3];
    if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
    themeButton.textContent = 'Theme: ' + {auto: 'automatic', light: 'light', dark: 'dark'}[theme];
    draw();
  });
  dark.addEventListener('change', draw);
  window.addEventListener('resize', () => {
    if (window.innerWidth + '×' + window.innerHeight === size) return;
    size = window.innerWidth + '×' + window.innerHeight;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 120);
  });
  window.addEventListener('beforeprint', () => { printing = true; draw(); });
  window.addEventListener('afterprint', () => { printing = false; draw(); });
  document.getElementById('tools').hidden = false;
  themeButton.hidden = false;
  draw();
  root.dataset.ready = 'true';
})();
