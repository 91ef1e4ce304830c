// Draws plots into SVG text where there is no browser.
'use strict';

const STILL_FONT = "'Liberation Sans', Arial, Helvetica, sans-serif";
const TOGETHER = 9;

function still(plot, width) {
  const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width, height: plot.height});
  chart.setOption(plot.option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return {id: plot.id, title: plot.title, note: plot.note || '', svg};
}

// A file stands alone, so its title is part of the picture; a page has it above.
function titled(drawing, width, height, look) {
  const head = 34, title = escapeHtml(shortText(drawing.title, Math.floor(width / 9)));
  drawing.svg = '<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="' + (height + head) + '" viewBox="0 0 ' + width + ' ' + (height + head) + '">' +
    '<rect width="' + width + '" height="' + (height + head) + '" fill="' + look.paper + '"/>' +
    '<text x="14" y="23" font-family="' + STILL_FONT.replace(/"/g, "'") + '" font-size="15" font-weight="bold" fill="' + look.ink + '">' + title + '</text>' +
    drawing.svg.replace('<svg ', '<svg y="' + head + '" ') + '</svg>';
  return drawing;
}

function drawReport(json, width) {
  const results = readResults(JSON.parse(json));
  const all = results.policies.map(p => p.index);
  const chosen = all.length > TOGETHER ? chooseSome(results) : all;
  const view = {look: LOOKS.light, narrow: false, still: true, font: STILL_FONT, chosen};
  return JSON.stringify(reportPlots(results, view).map(plot => titled(still(plot, width), width, plot.height, view.look)));
}

// The pictures of a page without scripts.
function drawStill(plots) {
  return (json, width) => JSON.stringify(plots(JSON.parse(json), {look: LOOKS.light, narrow: false, still: true, font: STILL_FONT}).map(plot => still(plot, width)));
}

var drawFidelity = drawStill(fidelityPlots), drawWaits = drawStill(waitsPlots), drawAdvice = drawStill(advicePlots), drawWhatif = drawStill(whatifPlots);
var drawPictures = drawStill((figures, view) => figures.map(figure => figurePlot(figure, view)));

function drawFigures(json, width) {
  const view = {look: LOOKS.light, narrow: false, still: true, font: STILL_FONT};
  return JSON.stringify(JSON.parse(json).map(figure => {
    const plot = figurePlot(figure, view);
    return titled(still(plot, width), width, plot.height, view.look);
  }));
}

function drawGantt(json, width) {
  const {gantt, colour, height} = JSON.parse(json);
  const view = {look: LOOKS.light, still: true, font: STILL_FONT, colour, from: gantt.from, until: Math.max(gantt.until, gantt.from + 1), width: width - 80, height: height - 110};
  const title = gantt.policy + ' on ' + gantt.workload;
  return JSON.stringify([still({id: 'gantt', title, height, option: ganttOption(gantt, view)}, width)]);
}
